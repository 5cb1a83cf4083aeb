//! Parameters of the kernels of deformable registration. The memory layout of displacement fields and forces is that of
//! [`crate::math::field`].

use super::{Affine, VectorMaps};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};

/// Parameters of [`copy_words`](crate::kernels::flow::copy::copy_words).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct CopyWords {
    /// `len` words.
    pub from: DeviceSlice<u32>,
    /// `len` words, which are written.
    pub to: DeviceSliceMut<u32>,
    /// Words to copy.
    pub len: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Two images and the displacement field between them. The field displaces a voxel of the fixed image; `map` then takes
/// it to the moving image.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowImages {
    /// One 16-bit stored value per voxel.
    pub fixed: DeviceSlice<u16>,
    /// As [`Images::moving`](super::Images::moving) with 16-bit values (`fine`).
    pub moving: DeviceSlice<u32>,
    /// The displacement field on the fixed image's grid, in its voxels.
    pub field: DeviceSlice<f32>,
    /// The mask of the fixed image, a number per voxel: where it is 0, there is no force. Read if `masked[0]` is 1.
    pub fixed_mask: DeviceSlice<u8>,
    /// The mask of the moving image, read at the voxel nearest to a position if `masked[1]` is 1.
    pub moving_mask: DeviceSlice<u8>,
    /// Position in the fixed image to position in the moving image, in voxels.
    pub map: Affine,
    /// Voxels of the fixed image along x, y and z.
    pub size: [u32; 3],
    /// Voxels of the moving image along x, y and z.
    pub moving_size: [u32; 3],
    /// Whether the fixed and the moving image have a mask, 0 or 1.
    pub masked: [u32; 2],
    /// The halves of the fixed image whose voxels count, as the sum of their numbers: 1, 2, or 3 for both. See
    /// [`half`](crate::math::flow::half).
    pub halves: u32,
    /// 1 / the side in voxels, along x, y and z, of the blocks of a half: see [`half`](crate::math::flow::half).
    pub blocks: [f32; 3],
}

/// Parameters of [`flow_pairs`](crate::kernels::flow::pairs::flow_pairs).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowPairs {
    /// The images and the field.
    pub images: FlowImages,
    /// One joint index per voxel, or [`OUTSIDE`](crate::kernels::flow::pairs::OUTSIDE); written.
    pub pairs: DeviceSliceMut<u16>,
    /// Bins of each image, 2 to 255.
    pub bins: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of the kernels of [`table`](crate::kernels::flow::table). All that they write is working space, except
/// `tables` and `value`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowTable {
    /// The joint histogram: the pair (f, m) is at `f + bins * m`. The kernels leave it at 0.
    pub counts: DeviceSliceMut<u32>,
    /// `2 * reach + 1` numbers: the window by which the counts are smoothed.
    pub weights: DeviceSlice<f64>,
    /// A number per pair of bins: the smoothed counts, and later the terms of the information.
    pub smoothed: DeviceSliceMut<f64>,
    /// A number per pair of bins: the joint density.
    pub density: DeviceSliceMut<f64>,
    /// A number per pair of bins: the logarithm of the joint density.
    pub logarithms: DeviceSliceMut<f64>,
    /// `4 * bins + 1` numbers: for each m the sum over f of joint density times logarithm; for each m the density; for
    /// each f the density; for each m the logarithm of the density; and
    /// [`Value::share`](crate::math::table::Value::share).
    pub sums: DeviceSliceMut<f64>,
    /// The counts of each m.
    pub totals: DeviceSliceMut<u64>,
    /// As [`FlowForce::tables`]; written.
    pub tables: DeviceSliceMut<f32>,
    /// Two numbers: the value that the forces maximise, and the information in nats; written.
    pub value: DeviceSliceMut<f64>,
    /// Two counters of the blocks that have finished, one for each of two kernels; 0 before and after.
    pub done: DeviceSliceMut<u32>,
    /// Bins of each image.
    pub bins: u32,
    /// Bins that the window reaches to either side; at most `bins`.
    pub reach: u32,
    /// Not 0 for normalised mutual information.
    pub normalised: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// The forces at the voxels of a grid and their precisions: see [`VoxelForce`](crate::math::flow::VoxelForce).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ForceOutput {
    /// Three planes, [`VoxelForce::force`](crate::math::flow::VoxelForce::force); written.
    pub force: DeviceSliceMut<f32>,
    /// One plane, [`VoxelForce::precision`](crate::math::flow::VoxelForce::precision); written.
    pub precision: DeviceSliceMut<f32>,
    /// 1 / spacing^2 of the fixed grid along x, y and z, mm^-2: see [`voxel_force`](crate::math::flow::voxel_force).
    pub per_square: [f32; 3],
    /// The factor of the forces and their precisions.
    pub weight: f32,
    /// Whether they are added to what is in memory (1) or replace it (0).
    pub adds: u32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`flow_force`](crate::kernels::flow::force::flow_force).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowForce {
    /// The images and the field.
    pub images: FlowImages,
    /// The two tables of [`score`](crate::math::flow::score): `bins * bins` scores, then the information of each of
    /// `bins` fixed bins.
    pub tables: DeviceSlice<f32>,
    /// Where the forces are written, and how.
    pub output: ForceOutput,
    /// Bins of each image.
    pub bins: u32,
    /// How many numbers of the tables a thread block copies to shared memory: all of them, or 0.
    pub table_words: u32,
}

/// Parameters of the kernels of [`local`](crate::kernels::flow::local).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowLocal {
    /// The images and the field.
    pub images: FlowImages,
    /// Two planes: the fixed image's local mean and its local variance.
    pub fixed: DeviceSliceMut<f32>,
    /// Three planes: the numbers that are then smoothed, in place, to local means.
    pub planes: DeviceSliceMut<f32>,
    /// Where the forces are written, and how.
    pub output: ForceOutput,
    /// Two numbers, to which the kernel adds the sum of the squared correlations, in units of 1 /
    /// [`CORRELATION_UNIT`](crate::math::flow::CORRELATION_UNIT), and the number of voxels that count.
    pub totals: DeviceSliceMut<u64>,
}

/// Parameters of [`flow_resample`](crate::kernels::flow::resample::flow_resample).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowResample {
    /// The moving image and the field; the fixed image is not read.
    pub images: FlowImages,
    /// Written: one stored value per voxel of the field's grid, that of the moving image where the field and the map
    /// take the voxel; 0 outside.
    pub resampled: DeviceSliceMut<u16>,
    /// Written: a number per voxel, 1 where that position lies inside the moving image and its mask keeps it, else 0.
    pub kept: DeviceSliceMut<u8>,
}

/// Parameters of [`flow_landmarks`](crate::kernels::flow::landmarks::flow_landmarks).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowLandmarks {
    /// The displacement field.
    pub field: DeviceSlice<f32>,
    /// The index of each landmark's voxel. No two landmarks share a voxel.
    pub voxels: DeviceSlice<u32>,
    /// Four numbers per landmark: the known displacement of its voxel, in voxels, and the precision of that, mm^-2.
    pub targets: DeviceSlice<f32>,
    /// Three planes of force, to which the kernel adds.
    pub force: DeviceSliceMut<f32>,
    /// One plane of precision, to which the kernel adds.
    pub precision: DeviceSliceMut<f32>,
    /// Voxels of the grid along x, y and z.
    pub size: [u32; 3],
    /// Its spacing^2 along x, y and z, mm^2: see [`with_landmark`](crate::math::flow::with_landmark).
    pub squares: [f32; 3],
    /// Landmarks.
    pub len: u32,
    /// The factor of the landmarks' precisions.
    pub weight: f32,
    /// The largest step, in voxels: see [`with_landmark`](crate::math::flow::with_landmark).
    pub limit: f32,
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of the kernels of [`step`](crate::kernels::flow::step).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowStep {
    /// The field before the step.
    pub field: DeviceSlice<f32>,
    /// The sums of the forces around each voxel. The first kernel replaces them by the update field, the second
    /// replaces that by the field after the step.
    pub step: DeviceSliceMut<f32>,
    /// The sums of the precisions around each voxel.
    pub precision: DeviceSlice<f32>,
    /// One number: the bits of the f32 square of the update field's largest displacement, in voxels^2; 0 before.
    pub largest: DeviceSliceMut<u32>,
    /// The same for the next step; set to 0.
    pub next_largest: DeviceSliceMut<u32>,
    /// Voxels of the grid along x, y and z.
    pub size: [u32; 3],
    /// The largest displacement that a step may make, in voxels.
    pub limit: f32,
    /// 1 / variance of the displacement before the images are seen, mm^-2: see [`update`](crate::math::flow::update).
    pub prior: f32,
    /// The fraction of the limited step that is made.
    pub share: f32,
}

/// Parameters of [`flow_subtract`](crate::kernels::flow::field::flow_subtract).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowSubtract {
    /// The field that is changed.
    pub field: DeviceSliceMut<f32>,
    /// The field that is subtracted from it.
    pub other: DeviceSlice<f32>,
    /// Voxels of the grid along x, y and z.
    pub size: [u32; 3],
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`flow_refine`](crate::kernels::flow::field::flow_refine).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowRefine {
    /// The field on the old grid.
    pub field: DeviceSlice<f32>,
    /// The field on the new grid; written.
    pub refined: DeviceSliceMut<f32>,
    /// Voxels of the old grid along x, y and z.
    pub size: [u32; 3],
    /// Voxels of the new grid along x, y and z.
    pub refined_size: [u32; 3],
    /// The new grid's first voxel on the old grid, and the ratio of the spacings: see [`refined`](crate::math::flow::refined).
    pub from: [[f32; 3]; 2],
}

/// Parameters of [`flow_jacobian`](crate::kernels::flow::field::flow_jacobian).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowJacobian {
    /// The field.
    pub field: DeviceSlice<f32>,
    /// One determinant per voxel; written.
    pub determinants: DeviceSliceMut<f32>,
    /// Two numbers: the smallest and the largest determinant as [`ordered`](crate::math::field::ordered) integers. The
    /// smallest has its bits inverted, so that both are found as maxima; 0 before.
    pub range: DeviceSliceMut<u32>,
    /// Voxels of the grid along x, y and z.
    pub size: [u32; 3],
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of the kernels of [`relax`](crate::kernels::flow::relax).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowRelax {
    /// The field.
    pub field: DeviceSlice<f32>,
    /// The relaxed field; written.
    pub relaxed: DeviceSliceMut<f32>,
    /// A number per voxel: 1 where the field is relaxed; 0 before.
    pub marks: DeviceSliceMut<u32>,
    /// One number, to which the kernel adds the number of voxels whose determinants are outside the limits.
    pub outside_limits: DeviceSliceMut<u32>,
    /// Voxels of the grid along x, y and z.
    pub size: [u32; 3],
    /// The smallest and the largest Jacobian determinant that is allowed.
    pub limits: [f32; 2],
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`flow_vectors`](crate::kernels::flow::field::flow_vectors).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowVectors {
    /// The field.
    pub field: DeviceSlice<f32>,
    /// Three numbers per voxel: its displacement vector, mm; written.
    pub vectors: DeviceSliceMut<f32>,
    /// The maps from voxels to mm.
    pub maps: VectorMaps,
    /// Voxels of the field's grid along x, y and z.
    pub size: [u32; 3],
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

/// Parameters of [`flow_moved`](crate::kernels::flow::field::flow_moved).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowMoved {
    /// The field.
    pub field: DeviceSlice<f32>,
    /// The image to resample, one intensity per voxel.
    pub image: DeviceSlice<f32>,
    /// One intensity per voxel of the field's grid; written.
    pub moved: DeviceSliceMut<f32>,
    /// Position on the field's grid to position in the image, in voxels.
    pub map: Affine,
    /// Voxels of the field's grid along x, y and z.
    pub size: [u32; 3],
    /// Voxels of the image along x, y and z.
    pub image_size: [u32; 3],
}

/// Parameters of the kernels of [`inverse`](crate::kernels::flow::inverse).
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct FlowInverse {
    /// The field.
    pub field: DeviceSlice<f32>,
    /// The inverse field on the other grid, in voxels of the field's own grid.
    pub inverse: DeviceSliceMut<f32>,
    /// Two numbers, to which the kernel adds the sum of the errors of the inverse, in units of 1 /
    /// [`MM_UNIT`](crate::math::flow::MM_UNIT) mm, and their number.
    pub totals: DeviceSliceMut<u64>,
    /// One number: the bits of the largest error as f32, in mm; 0 before.
    pub largest: DeviceSliceMut<u32>,
    /// Position on the field's grid to position on the other grid, in voxels.
    pub there: Affine,
    /// The inverse of `there`.
    pub back: Affine,
    /// Voxels of the field's grid along x, y and z.
    pub size: [u32; 3],
    /// Voxels of the other grid along x, y and z.
    pub inverse_size: [u32; 3],
    /// Spacing of the field's grid along x, y and z, mm.
    pub spacing: [f32; 3],
    /// Makes the size a multiple of 8 without padding bytes.
    pub unused: u32,
}

const _: () = assert!(size_of::<CopyWords>() == 40);
const _: () = assert!(size_of::<FlowTable>() == 176);
const _: () = assert!(size_of::<FlowImages>() == 176);
const _: () = assert!(size_of::<FlowPairs>() == 200);
const _: () = assert!(size_of::<ForceOutput>() == 56);
const _: () = assert!(size_of::<FlowForce>() == 256);
const _: () = assert!(size_of::<FlowLocal>() == 280);
const _: () = assert!(size_of::<FlowResample>() == 208);
const _: () = assert!(size_of::<FlowLandmarks>() == 120);
const _: () = assert!(size_of::<FlowStep>() == 104);
const _: () = assert!(size_of::<FlowSubtract>() == 48);
const _: () = assert!(size_of::<FlowRefine>() == 80);
const _: () = assert!(size_of::<FlowJacobian>() == 64);
const _: () = assert!(size_of::<FlowRelax>() == 88);
const _: () = assert!(size_of::<FlowVectors>() == 336);
const _: () = assert!(size_of::<FlowMoved>() == 120);
const _: () = assert!(size_of::<FlowInverse>() == 200);
