//! Parameters of Viola's mutual information, which sums over pairs of samples, and of its derivative.

use cuda_std::global::{DeviceSlice, DeviceSliceMut};

/// Parameters of the kernels of [`viola`](crate::kernels::viola), where slots, blocks, groups and the sets A and B are
/// defined.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Viola {
    /// The moving image as pairs of 16-bit values, as [`Images::moving`](super::Images::moving) with `fine`.
    pub moving: DeviceSlice<u32>,
    /// Per slot, its voxel of the fixed image: in the first word, x in the low half and y in the high half; in the
    /// second, z, with the bit [`EMPTY`](crate::kernels::viola::EMPTY) set if the slot has no sample; in the third, the
    /// bits of its stored value as f32.
    pub slots: DeviceSlice<[u32; 4]>,
    /// Twelve coefficients per group, row by row: voxel of the fixed image to position in the moving image, in voxels.
    /// They may be in page-locked host memory, since each thread block reads its own once.
    pub maps: DeviceSlice<f32>,
    /// Per group: the first slot of A, the samples of A, the first slot of B, and the samples of B.
    pub groups: DeviceSlice<[u32; 4]>,
    /// Per block of slots: its first slot and its group. Blocks of B come before those of A.
    pub blocks: DeviceSlice<[u32; 2]>,
    /// Per slot, its fixed and its moving intensity, [scaled](crate::math::viola::scaled).
    pub scaled: DeviceSliceMut<[f32; 2]>,
    /// Per slot, the gradient of the moving image along x, y and z in stored values per voxel, and 1 if the sample lies inside, else 0.
    pub slopes: DeviceSliceMut<[f32; 4]>,
    /// Per slot of B, its [`Weights`](crate::math::viola::Weights).
    pub weights: DeviceSliceMut<[f32; 2]>,
    /// The partial sums over each part of the other set: part by part, in a part kind by kind, in a kind slot by slot
    /// (`stride` slots).
    pub partials: DeviceSliceMut<f64>,
    /// [`FOLDED`](crate::kernels::viola::finish::FOLDED) numbers per 32 slots.
    pub folded: DeviceSliceMut<f64>,
    /// Per group, the samples of A and of B inside the moving image; 0 before and after.
    pub counts: DeviceSliceMut<u32>,
    /// Per group, the number of thread blocks that have finished; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// [`RESULTS`](crate::kernels::viola::RESULTS) numbers per group.
    pub results: DeviceSliceMut<f64>,
    /// Voxels of the moving image along x, y and z.
    pub moving_size: [u32; 3],
    /// Blocks of B.
    pub b_blocks: u32,
    /// Factors of the stored values of the fixed and of the moving image: their [`scale`](crate::math::viola::scale)s.
    pub scales: [f32; 2],
    /// The two numbers of [`JointGaussian`](crate::math::viola::JointGaussian), if that is the joint window.
    pub joint: [f32; 2],
    /// The scaled difference of fixed intensities from which on all windows have their least value.
    pub far: f32,
    /// The index in `blocks` of the launch's first block.
    pub first_block: u32,
    /// Slots of a part: a whole number of segments that divides a stretch evenly.
    pub part: u32,
    /// Slots that the launch has sums for.
    pub stride: u32,
}

const _: () = assert!(size_of::<Viola>() == 256);
