//! The histogram of an image's intensities, with the range that was used.

use super::strip::sample;
use mireg::Volume;
use mireg::image::Intensities;

/// Size of a plot, in the coordinates of an SVG.
pub const WIDTH: f64 = 420.0;
pub const HEIGHT: f64 = 130.0;
/// Height of the labels of the axis.
pub const BOTTOM: f64 = 20.0;

/// Bars of a plot.
const BARS: usize = 105;
/// How much is shown beyond either end of the range, as a fraction of the range.
const BEYOND: f64 = 0.15;

/// A histogram as lines and numbers.
pub struct Histogram {
    /// The outline of the bars, whose heights are the logarithms of the counts.
    pub points: String,
    /// Where the range begins in the plot.
    pub left: f64,
    /// How wide the range is in the plot.
    pub width: f64,
    /// The intensities at the ends of the range.
    pub low: f32,
    pub high: f32,
}

impl Histogram {
    /// Creates the histogram of a sample of an image's voxels. Intensities beyond what is shown are counted in the
    /// outermost bars.
    pub fn new(image: &Volume, intensities: &Intensities) -> Self {
        let [(low, high), (least, most)] =
            [intensities.range, intensities.full].map(|(a, b)| (f64::from(a), f64::from(b)));
        let beyond = BEYOND * (high - low);
        let from = least.max(low - beyond).min(low);
        let to = most.min(high + beyond).max(high);
        let place = |value: f64| ((value - from) / (to - from)).clamp(0.0, 1.0);
        let mut counts = [0_u64; BARS];
        for voxel in sample(image) {
            counts[((place(f64::from(voxel)) * BARS as f64) as usize).min(BARS - 1)] += 1;
        }
        let logarithm = |count: u64| (count as f64).ln_1p();
        let top = counts.iter().map(|&count| logarithm(count)).fold(f64::MIN_POSITIVE, f64::max);
        let bar = |(n, &count): (usize, &u64)| {
            let [left, right] = [n, n + 1].map(|n| WIDTH * n as f64 / BARS as f64);
            let y = (HEIGHT - BOTTOM) * (1.0 - logarithm(count) / top);
            format!("{left:.1},{y:.1} {right:.1},{y:.1}")
        };
        let bars: Vec<_> = counts.iter().enumerate().map(bar).collect();
        let floor = HEIGHT - BOTTOM;
        let (left, right) = (WIDTH * place(low), WIDTH * place(high));
        Self {
            points: format!("0,{floor} {} {WIDTH},{floor}", bars.join(" ")),
            left,
            width: right - left,
            low: intensities.range.0,
            high: intensities.range.1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::words::left_out;
    use glam::DVec3;
    use mireg::image::IntensityRange;
    use mireg::{Geometry, PixelType};

    #[test]
    fn the_range_is_where_its_intensities_are_drawn() {
        let geometry = Geometry::axis_aligned([100, 100, 10], DVec3::ONE, DVec3::ZERO);
        let mut voxels: Vec<f32> = (0..100_000).map(|n| (n % 101) as f32).collect();
        (voxels[50], voxels[70]) = (30_000.0, f32::NAN);
        let image = Volume { geometry, voxels, pixel: PixelType::F32 };
        let found = Intensities::of(&image, IntensityRange::Auto);
        let drawn = Histogram::new(&image, &found);
        assert_eq!((drawn.low, drawn.high, drawn.left), (0.0, 100.0, 0.0));
        assert!((drawn.width / WIDTH - 100.0 / 115.0).abs() < 1e-9, "{}", drawn.width);
        assert_eq!(left_out(&found), "1 voxels outside (0.00 %), clamped to the range; 1 voxels without data (NaN)");
        let all = Histogram::new(&image, &Intensities::of(&image, IntensityRange::Full));
        assert_eq!((all.left, all.width, all.high), (0.0, WIDTH, 30_000.0));
    }
}
