//! Divides a volume into tiles, of which blocks of threads count one after the other.

/// Tiles per block that suffice to distribute the work evenly.
const ENOUGH: u32 = 3;

/// Returns the number of planes per tile, and the number of tiles: the deepest tiles of which there are still enough
/// for the `resident` blocks that run at the same time. `width` and `rows` are the threads of a block along x and y.
pub fn tiles([x, y, z]: [u32; 3], [width, rows]: [u32; 2], resident: u32) -> (u32, u32) {
    let tiles = |deep: u32| x.div_ceil(width) * y.div_ceil(rows) * z.div_ceil(deep);
    let deep = [32, 16, 8].into_iter().find(|&deep| tiles(deep) >= ENOUGH * resident).unwrap_or(4);
    (deep, tiles(deep))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_images_get_shallow_tiles() {
        assert_eq!(tiles([256; 3], [32; 2], 132), (32, 512));
        assert_eq!(tiles([45, 54, 45], [32; 2], 132), (4, 48));
    }
}
