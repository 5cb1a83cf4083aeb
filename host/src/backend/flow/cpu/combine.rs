//! Combines two fields that start on a grid in the middle into one field from the fixed to the moving image.

use super::FlowOnCpu;
use super::relax::relax;
use super::results;
use super::task::FieldView;
use crate::backend::flow::{Flow, FlowInverse, RELAXED_ROUNDS};
use gpu::math::interpolate;
use gpu::params::{Affine, VectorMaps};
use rayon::prelude::*;

/// Two fields on a grid in the middle. One leads from there to the fixed image, the other to the moving image.
pub struct MiddleFields {
    /// Three planes of each field and their padding.
    fields: [Vec<f32>; 2],
    size: [u32; 3],
}

/// The grid of one image, and its position relative to the middle grid.
pub struct Side<'a> {
    pub size: [usize; 3],
    /// The first maps voxels of this image to voxels of the middle grid. The second maps the end of the other image's
    /// field, in voxels of the middle grid, back to voxels of this image.
    pub maps: [&'a Affine; 2],
    /// Limits of the Jacobian determinant of the combined field from this image, without the initial transform.
    pub limits: [f32; 2],
}

impl MiddleFields {
    pub fn new(fields: [Vec<f32>; 2], size: [usize; 3]) -> Self {
        let size = size.map(|n| n as u32);
        let padded = |mut planes: Vec<f32>| {
            planes.resize(planes.len() + interpolate::padding(size), 0.0);
            planes
        };
        Self { fields: fields.map(padded), size }
    }

    fn view(&self, number: usize) -> FieldView<'_> {
        FieldView { size: self.size, field: &self.fields[number] }
    }

    /// Returns the field from the fixed to the moving image, on the grid of the fixed image with spacing `spacing_mm`,
    /// and its inverse on the grid of the moving image. Both go from an image to the middle by the inverse of its
    /// field, and on by the other field. `there` maps voxels of the fixed image to voxels of the moving image, `back`
    /// the other way.
    pub fn combine(
        &self,
        [fixed, moving]: [Side; 2],
        spacing_mm: [f64; 3],
        ([there, back], vectors): ([&Affine; 2], &VectorMaps),
    ) -> (Box<dyn Flow>, FlowInverse) {
        let (one, two) = (self.view(0), self.view(1));
        let planes = from(&fixed, [&one, &two]);
        let mut flow = FlowOnCpu::default();
        flow.resize(fixed.size, spacing_mm, None);
        flow.field[..planes.len()].copy_from_slice(&planes);
        let mut ways = from(&moving, [&two, &one]);
        turn(&mut ways, back);
        let ways = (ways, moving.size.map(|n| n as u32));
        let spacing_mm = spacing_mm.map(|mm| mm as f32);
        let inverse = results::known_inverse(&flow.grid(), spacing_mm, ways, ([there, back], vectors));
        (Box::new(flow), inverse)
    }
}

/// Displacements of the voxels of an image, as three planes: through the inverse of the first field, then through the
/// second field.
fn from(side: &Side, fields: [&FieldView; 2]) -> Vec<f32> {
    let size = side.size.map(|n| n as u32);
    let [there, back] = side.maps;
    let mut planes = results::across(fields, size, [there, back, &SAME]);
    // Neither field folds, but their combination may, where both change volumes.
    relax(size, &mut planes, side.limits, RELAXED_ROUNDS);
    planes
}

/// Applies the linear part of the map to each vector.
fn turn(planes: &mut [f32], map: &Affine) {
    let voxels = planes.len() / 3;
    let (xs, rest) = planes.split_at_mut(voxels);
    let (ys, zs) = rest.split_at_mut(voxels);
    let turned = |[x, y, z]: [f32; 3]| map.rows.map(|[a, b, c, _]| a * x + b * y + c * z);
    xs.par_iter_mut().zip(ys).zip(zs).for_each(|((x, y), z)| [*x, *y, *z] = turned([*x, *y, *z]));
}

const SAME: Affine = Affine { rows: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]] };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::flow::cpu;
    use crate::image::voxel;

    const SIDE: usize = 24;

    /// A field that moves voxels away from a point, by `part` of their distance near the point and less further out.
    fn away(part: f32) -> Vec<f32> {
        let vectors: Vec<[f32; 3]> = (0..SIDE.pow(3))
            .map(|number| {
                let from = voxel([SIDE as u32; 3], number).map(|n| n as f32 - 11.3);
                let fade = (-from.iter().map(|d| d * d).sum::<f32>() / 30.0).exp();
                from.map(|d| part * fade * d)
            })
            .collect();
        (0..3).flat_map(|axis: usize| vectors.iter().map(move |vector| vector[axis])).collect()
    }

    fn range(planes: &[f32]) -> [f32; 2] {
        cpu::of(planes, [SIDE; 3], [1.0; 3]).jacobian_range().unwrap()
    }

    /// One field expands what the other shrinks. Each alone is within the limits, their combination is not until it is
    /// relaxed.
    #[test]
    fn fields_that_meet_change_volumes_within_limits() {
        let limits = [0.2, 5.0];
        let within = |[low, high]: [f32; 2]| low >= limits[0] && high <= limits[1];
        let fields = [0.5, -0.4].map(away);
        assert!(fields.iter().all(|field| within(range(field))));
        let fields = MiddleFields::new(fields, [SIDE; 3]);
        let ranges = |limits| {
            let side = Side { size: [SIDE; 3], maps: [&SAME; 2], limits };
            let (one, two) = (fields.view(0), fields.view(1));
            [[&one, &two], [&two, &one]].map(|fields| range(&from(&side, fields)))
        };
        assert!(ranges([0.0, f32::INFINITY]).into_iter().all(|range| !within(range)));
        assert!(ranges(limits).into_iter().all(within));
    }
}
