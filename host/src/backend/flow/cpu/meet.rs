//! What two flows that meet in the middle are together.

use super::FlowOnCpu;
use super::finish;
use super::task::FieldView;
use crate::backend::flow::{Flow, FlowInverse};
use gpu::math::interpolate;
use gpu::params::{Affine, VectorMaps};

/// Two fields on a grid in the middle, from where they lead to the fixed and to the moving image.
pub struct Met {
    /// Three planes of each field and their padding.
    fields: [Vec<f32>; 2],
    size: [u32; 3],
}

/// An image's grid, and how the middle lies on it.
pub struct Side<'a> {
    pub size: [usize; 3],
    /// From voxels of the middle to voxels of the image, and back.
    pub maps: [&'a Affine; 2],
}

impl Met {
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

    /// The field from the fixed to the moving image, on the fixed image's grid of `spacing_mm`, and its inverse on the moving image's:
    /// both follow one field back to the middle and the other one on from there. `there` takes voxels of the fixed to voxels of the
    /// moving image, `back` the other way.
    pub fn whole(
        &self,
        [fixed, moving]: [Side; 2],
        spacing_mm: [f64; 3],
        ([there, back], vectors): ([&Affine; 2], &VectorMaps),
    ) -> (Box<dyn Flow>, FlowInverse) {
        let (one, two) = (self.view(0), self.view(1));
        let [to_fixed, from_fixed] = fixed.maps;
        let [size, moving_size] = [fixed.size, moving.size].map(|size| size.map(|n| n as u32));
        let planes = finish::across([&one, &two], size, [from_fixed, to_fixed, &SAME]);
        let mut flow = FlowOnCpu::default();
        flow.resize(fixed.size, spacing_mm, None);
        flow.field[..planes.len()].copy_from_slice(&planes);
        let ways = finish::across([&two, &one], moving_size, [moving.maps[1], to_fixed, back]);
        let spacing_mm = spacing_mm.map(|mm| mm as f32);
        let inverse = finish::known_inverse(&flow.grid(), spacing_mm, (ways, moving_size), ([there, back], vectors));
        (Box::new(flow), inverse)
    }
}

const SAME: Affine = Affine { rows: [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]] };
