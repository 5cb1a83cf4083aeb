//! Converts intensities to bins.

/// The position of an intensity between the lowest (0) and the highest (1) of its image; 0 in a constant image.
pub fn fraction(intensity: f64, low: f64, high: f64) -> f64 {
    if low < high { (intensity - low) / (high - low) } else { 0.0 }
}

/// `round(fraction * (bins - 1))` (Shams 2009, listing 1, with the rounding of eq. 8); halves go up. `bins` is 1 or
/// more.
pub fn bin(fraction: f64, bins: usize) -> usize {
    (fraction * (bins as f64 - 1.0)).round() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outer_bins_are_half_as_wide() {
        let of = |intensity| bin(fraction(intensity, -100.0, 300.0), 5);
        assert_eq!([-100.0, -51.0, -50.0, 49.0, 50.0, 249.0, 250.0, 300.0].map(of), [0, 0, 1, 1, 2, 3, 4, 4]);
        assert_eq!(bin(fraction(7.0, 7.0, 7.0), 64), 0);
    }
}
