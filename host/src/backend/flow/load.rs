//! The memory of a device that a flow takes.

use gpu::math::interpolate;

/// Allowance for small allocations and for rounding of all sizes, in bytes.
const ROUNDED: u64 = 32 << 20;

/// What the memory of a flow depends on besides the grids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowLoad {
    pub channels: u64,
    /// Which metrics of [`Compare`](super::Compare) each channel has.
    pub joint: bool,
    pub local: bool,
}

impl FlowLoad {
    /// Bytes per voxel of the local means of each channel: two of the fixed image, and three of both images if these
    /// need memory of their own because there are several metrics.
    pub fn means(self) -> u64 {
        let several = self.channels > 1 || self.joint;
        if self.local { 8 + if several { 12 } else { 0 } } else { 0 }
    }
}

/// The most bytes of a device's memory that a flow takes, given the sizes of the fixed and the moving image.
pub fn bytes(fixed: [usize; 3], moving: [usize; 3], load: FlowLoad) -> u64 {
    let [(fixed, fixed_padding), (moving, moving_padding)] = [fixed, moving].map(|size| {
        let voxels = size.iter().map(|&n| n as u64).product::<u64>();
        (voxels, interpolate::padding(size.map(|n| n as u32)) as u64)
    });
    let field = |voxels, padding| 4 * (3 * voxels + padding);
    // Two fields and precisions.
    let of_field = 2 * field(fixed, fixed_padding) + 4 * fixed;
    // Per channel: of the fixed image, 16-bit values, a mask, joint indices and local means; of the moving image, pairs
    // of 16-bit values and a mask.
    let joint = if load.joint { 2 } else { 0 };
    let of_channel = (2 + 1 + joint + load.means()) * fixed + 4 * (moving + moving_padding) + moving;
    // First a reference field. At the end, the vectors of the field, which take less, or an inverse field and its
    // vectors. All take more than an image.
    let others = field(fixed, fixed_padding).max(field(moving, moving_padding) + 12 * moving);
    of_field + load.channels * of_channel + others + ROUNDED
}
