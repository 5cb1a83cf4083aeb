//! Partial volume interpolation, in which all neighbours of a position are counted with weights.

use super::histogram::in_levels;
use super::position::{indices, inside, position};
use super::{bin, fraction};
use crate::Volume;
use glam::{DAffine3, DVec3};
use ndarray::Array2;

/// The weights of pairs of bins (Shams 2009, section 3.4, eq. 9), indexed `[fixed bin, moving bin]`. Each sample has a
/// total weight of 1. Otherwise as [`joint_histogram`](super::joint_histogram).
pub fn partial_volume(fixed: &Volume, moving: &Volume, transform: &DAffine3, bins: [usize; 2]) -> Array2<f64> {
    let [fixed_range, moving_range] =
        [fixed.range(), moving.range()].map(|(low, high)| (f64::from(low), f64::from(high)));
    let (fixed, moving) = (&in_levels(fixed, bins[0]), &in_levels(moving, bins[1]));
    let size = moving.geometry.size;
    let last = DVec3::from_array(size.map(|n| n as f64 - 1.0));
    let mut table = Array2::zeros(bins);
    for (index, &intensity) in indices(fixed.geometry.size).zip(&fixed.voxels) {
        let position = position(&fixed.geometry, &moving.geometry, transform, index);
        if inside(position, size) {
            let row = bin(fraction(f64::from(intensity), fixed_range.0, fixed_range.1), bins[0]);
            for (neighbour, weight) in neighbours(position.clamp(DVec3::ZERO, last)) {
                let column = bin(fraction(voxel(moving, neighbour), moving_range.0, moving_range.1), bins[1]);
                table[[row, column]] += weight;
            }
        }
    }
    table
}

/// The neighbours of a position with a weight above 0, and their weights. Neighbours beyond the border have a weight of
/// 0.
fn neighbours(position: DVec3) -> impl Iterator<Item = (DVec3, f64)> {
    let corners = indices([2; 3]).map(move |step| position.floor() + DVec3::from_array(step.map(|n| n as f64)));
    let weighted = corners.map(move |corner| (corner, (DVec3::ONE - (position - corner).abs()).element_product()));
    weighted.filter(|&(_, weight)| weight > 0.0)
}

/// The intensity of the voxel at integer coordinates.
fn voxel(volume: &Volume, index: DVec3) -> f64 {
    let [nx, ny, _] = volume.geometry.size;
    let [x, y, z] = index.to_array().map(|n| n as usize);
    f64::from(volume.voxels[x + nx * (y + ny * z)])
}
