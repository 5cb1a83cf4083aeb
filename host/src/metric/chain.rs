//! The chain rule from the elements of a voxel map to the parameters of a step.

use super::pair::{GridPair, Sampled};
use crate::transform::Steps;
use glam::{DAffine3, DMat3};

/// The map from voxels of one grid to voxels of the other, through a transform that is changed by steps.
pub struct Chain<'a> {
    pub grids: &'a GridPair,
    /// The transform that is applied after the step: fixed point to moving point, LPS mm.
    pub base: &'a DAffine3,
    pub steps: &'a Steps,
}

impl Chain<'_> {
    /// Converts derivatives by the elements of the voxel map to derivatives by the parameters, at the parameters `mm`.
    pub fn by_parameters(&self, by_map: &[[f64; 4]; 3], mm: &[f64]) -> Vec<f64> {
        let (outer, inner) = self.outer_and_inner(mm);
        let along = |change: &DAffine3| {
            let turned = outer * change.matrix3 * inner.matrix3;
            let shifted = outer * change.transform_point3(inner.translation);
            let row = |r: usize| {
                let [x, y, z, one] = by_map[r];
                x * turned.x_axis[r] + y * turned.y_axis[r] + z * turned.z_axis[r] + one * shifted[r]
            };
            row(0) + row(1) + row(2)
        };
        self.steps.derivatives(mm).iter().map(along).collect()
    }

    /// Returns the maps that come after and before the change of the step's map in the change of the voxel map.
    fn outer_and_inner(&self, mm: &[f64]) -> (DMat3, DAffine3) {
        let GridPair { which, sampled, interpolated } = self.grids;
        let (first, last) = (sampled.index_to_world(), interpolated.world_to_index().matrix3);
        match which {
            Sampled::Fixed => (last * self.base.matrix3, first),
            // The derivative of an inverse: d(A^-1) = -A^-1 dA A^-1.
            Sampled::Moving => {
                let transform = *self.base * self.steps.map(mm);
                let back = which.from_sampled(&transform);
                (last * back.matrix3 * self.base.matrix3 * -1.0, back * first)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Geometry;
    use crate::transform::{Dimension, Kind};
    use glam::DVec3;

    /// Arbitrary numbers.
    const BY_MAP: [[f64; 4]; 3] = [[0.3, -0.7, 0.2, 1.0], [-0.4, 0.9, 0.5, -0.3], [0.6, 0.1, -0.8, 0.7]];

    /// Returns the sum of the voxel map's elements, each times the derivative by it.
    fn value(chain: &Chain, mm: &[f64]) -> f64 {
        let transform = chain.grids.which.from_sampled(&(*chain.base * chain.steps.map(mm)));
        let map = chain.grids.interpolated.world_to_index() * transform * chain.grids.sampled.index_to_world();
        let row = |r: usize| [map.x_axis[r], map.y_axis[r], map.z_axis[r], map.translation[r]];
        (0..3).flat_map(|r| row(r).into_iter().zip(BY_MAP[r])).map(|(number, by)| number * by).sum()
    }

    #[test]
    fn every_transform_has_the_derivatives_of_its_central_differences() {
        let grid = |size, spacing, angle| Geometry {
            direction: DMat3::from_rotation_z(angle),
            ..Geometry::axis_aligned(size, spacing, DVec3::new(-20.0, 5.0, 0.0))
        };
        let space = [grid([30, 40, 20], DVec3::new(1.0, 1.5, 3.0), 0.3), grid([25, 25, 35], DVec3::splat(1.2), -0.2)];
        let plane = [grid([30, 40, 1], DVec3::new(1.0, 1.5, 1.0), 0.3), grid([25, 35, 1], DVec3::ONE, -0.2)];
        for (dimension, [from, to]) in [(Dimension::Three, space), (Dimension::Two, plane)] {
            let base = DAffine3::from_mat3_translation(DMat3::from_rotation_z(0.4) * 1.1, DVec3::new(4.0, -7.0, 0.0));
            for kind in [Kind::Translation, Kind::Rigid, Kind::Similarity, Kind::Affine] {
                for which in [Sampled::Fixed, Sampled::Moving] {
                    let steps = Steps::new(kind, dimension, &from);
                    let grids = GridPair { which, sampled: from, interpolated: to };
                    let chain = Chain { grids: &grids, base: &base, steps: &steps };
                    let mm: Vec<f64> = (0..steps.count()).map(|n| 1.7 * (1.0 + n as f64).sin()).collect();
                    let found = chain.by_parameters(&BY_MAP, &mm);
                    for parameter in 0..steps.count() {
                        let at = |h: f64| {
                            let mut mm = mm.clone();
                            mm[parameter] += h;
                            value(&chain, &mm)
                        };
                        let expected = (at(1e-4) - at(-1e-4)) / 2e-4;
                        let error = (found[parameter] - expected).abs();
                        assert!(
                            error < 1e-7 * (1.0 + expected.abs()),
                            "{kind:?}, {dimension:?}, {which:?}, {parameter}: {error:e}"
                        );
                    }
                }
            }
        }
    }
}
