//! Simulates the two scanners, with the artefacts of real ones.

use glam::{DAffine3, DMat3, DVec3, Vec3, vec3};
use rayon::prelude::*;

use super::anatomy::Head;
use super::shapes::coverage;
use super::tissue::{MUSCLE, Tissue};
use mireg::random::{mix, normal};
use mireg::transform::Rigid;
use mireg::{Geometry, PixelType, Volume};

/// Value of CT pixels outside the reconstructed circle.
const CT_PADDING: f32 = -1024.0;
/// Standard deviation of the noise.
pub const CT_NOISE_HU: f32 = 9.0;
/// T1-like signal of fat where the bias field is 1.
pub const MR_GAIN: f32 = 800.0;
/// Standard deviation of the noise.
pub const MR_NOISE: f32 = 20.0;

/// Returns the map from the head's own frame to that of the CT, LPS mm: the patient lies slightly turned, as patients
/// do.
pub fn patient_in_ct() -> DAffine3 {
    let angles = DVec3::new(3.0, -2.0, 4.5).map(f64::to_radians);
    Rigid { angles, translation: DVec3::new(-4.0, 6.0, 11.0), centre: DVec3::ZERO }.to_affine()
}

/// Returns a grid of 256 x 256 x 65 voxels of 0.9 x 0.9 x 2.5 mm, for a coarseness of 1.
pub fn ct_grid(coarseness: f64) -> Geometry {
    let centre = DVec3::new(3.0, 14.0, 16.0);
    super::grid([256, 256, 65], DVec3::new(0.9, 0.9, 2.5), coarseness, DMat3::IDENTITY, centre)
}

/// Returns a grid of 232 x 236 x 178 voxels of 1 mm, for a coarseness of 1, in sagittal slices: the axes lead to the
/// back, down and to the right.
pub fn mr_grid(coarseness: f64) -> Geometry {
    let direction = DMat3::from_cols(DVec3::Y, -DVec3::Z, -DVec3::X);
    super::grid([232, 236, 178], DVec3::ONE, coarseness, direction, DVec3::new(0.0, -2.0, -6.0))
}

/// Scans `head` on `grid`, in Hounsfield units; `to_head` maps LPS mm to the head's frame.
pub fn ct(head: &Head, grid: Geometry, to_head: DAffine3, seed: u64) -> Volume {
    let to_world = grid.index_to_world();
    let middle = grid.centre();
    let radius = grid.spacing.x * (grid.size[0] as f64 - 1.0) / 2.0;
    let seed = mix(seed ^ 0xC7);
    scan(grid, |index, number| {
        let world = to_world.transform_point3(index);
        if (world - middle).truncate().length() > radius {
            return CT_PADDING;
        }
        let mut tissue = head.at(to_head.transform_point3(world).as_vec3());
        headrest(&mut tissue, world.as_vec3());
        (tissue.hu + CT_NOISE_HU * normal(seed, number)).round().max(CT_PADDING)
    })
}

/// Paints the shell in which the head lies, which only the CT shows.
fn headrest(tissue: &mut Tissue, world: Vec3) {
    let from_axis = (world - vec3(0.0, 6.0, 0.0)).truncate().length();
    tissue.paint(MUSCLE, coverage((from_axis - 110.0).abs() - 1.2) * coverage(60.0 - world.y));
}

/// Scans `head` on `grid`, T1-like; `to_head` maps LPS mm to the head's frame.
pub fn mr(head: &Head, grid: Geometry, to_head: DAffine3, seed: u64) -> Volume {
    let to_head = to_head * grid.index_to_world();
    let half = DVec3::from_array(grid.size.map(|n| n as f64)) / 2.0;
    let seed = mix(seed ^ 0x31);
    scan(grid, |index, number| {
        let signal =
            head.at(to_head.transform_point3(index).as_vec3()).t1 * MR_GAIN * bias((index / half - 1.0).as_vec3());
        // Rician noise: the magnitude of a complex signal with noise in both parts.
        let real = signal + MR_NOISE * normal(seed, 2 * number);
        let imaginary = MR_NOISE * normal(seed, 2 * number + 1);
        (real * real + imaginary * imaginary).sqrt().round()
    })
}

/// Returns the sensitivity of the coil; `u` runs from -1 to 1 across the grid.
fn bias(u: Vec3) -> f32 {
    let neck = (u.y - 0.5).max(0.0);
    1.0 + 0.12 * u.x - 0.15 * u.y + 0.10 * u.z + 0.18 * u.z * u.z - 0.10 * u.x * u.y - 1.2 * neck * neck
}

/// Makes a volume of the values `voxel(index, number)`, row by row in parallel.
pub fn scan(grid: Geometry, voxel: impl Fn(DVec3, u64) -> f32 + Sync) -> Volume {
    let [nx, ny, _] = grid.size;
    let mut voxels = vec![0.0; grid.voxels()];
    voxels.par_chunks_mut(nx).enumerate().for_each(|(row, values)| {
        for (i, value) in values.iter_mut().enumerate() {
            let index = DVec3::new(i as f64, (row % ny) as f64, (row / ny) as f64);
            *value = voxel(index, (row * nx + i) as u64);
        }
    });
    Volume { geometry: grid, voxels, pixel: PixelType::I16 }
}
