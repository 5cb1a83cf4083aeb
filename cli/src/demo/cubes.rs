//! Pairs of cubes for benchmarks. The same size gives the same voxels on every machine.

use glam::{DMat3, DVec3};

use super::anatomy::Head;
use super::scanners::{self, CT_NOISE_HU, MR_GAIN, MR_NOISE};
use super::tissue::AIR;
use mireg::random::{mix, normal, uniform};
use mireg::{Geometry, Volume};

/// The side of a cube, mm.
const FIELD: f64 = 256.0;

/// Returns two cubes of `side` voxels per side, fixed and moving. Each voxel is uniform in 0 to 1 and independent of
/// all others.
pub fn random(side: usize) -> [Volume; 2] {
    [0, 1].map(|seed| scanners::scan(grid(side), |_, number| uniform(seed, number) as f32))
}

/// Returns two cubes of ones.
pub fn constant(side: usize) -> [Volume; 2] {
    [0, 1].map(|_| scanners::scan(grid(side), |_, _| 1.0))
}

/// Returns a CT-like and a T1-like cube of one synthetic head, aligned, 256 mm per side. Tissue is noisy, the air
/// around it is not.
pub fn head(side: usize) -> [Volume; 2] {
    let head = Head::new(mix(1));
    let grid = grid(side);
    let to_head = grid.index_to_world();
    let tissue = |index: DVec3| head.at(to_head.transform_point3(index).as_vec3());
    let ct = scanners::scan(grid, |index, number| match tissue(index) {
        AIR => AIR.hu,
        tissue => tissue.hu + CT_NOISE_HU * normal(0xC7, number),
    });
    let mr = scanners::scan(grid, |index, number| match tissue(index) {
        AIR => AIR.t1,
        tissue => (MR_GAIN * tissue.t1 + MR_NOISE * normal(0x31, number)).abs(),
    });
    [ct, mr]
}

/// Returns the grid of a cube along the LPS axes, with the head in the middle.
fn grid(side: usize) -> Geometry {
    let spacing = DVec3::splat(FIELD / side as f64);
    super::grid([side; 3], spacing, 1.0, DMat3::IDENTITY, DVec3::new(0.0, -5.0, -20.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_air_around_the_head_is_quiet_and_the_head_is_not() {
        for (volume, air) in head(32).iter().zip([AIR.hu, AIR.t1]) {
            let quiet = volume.voxels.iter().filter(|&&v| v == air).count() as f64 / volume.voxels.len() as f64;
            assert!((0.4..0.9).contains(&quiet), "{quiet}");
            let middle = 16 * (1 + 32 + 32 * 32);
            assert!(volume.voxels[middle] != air && volume.voxels[middle] != volume.voxels[middle + 1]);
        }
    }

    #[test]
    fn random_cubes_fill_their_range_and_differ() {
        let [fixed, moving] = random(16);
        assert!(fixed.range().0 < 0.01 && fixed.range().1 > 0.99);
        assert_ne!(fixed.voxels, moving.voxels);
    }
}
