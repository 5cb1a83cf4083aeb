//! Fields and images from the planes of a flow.

use super::{Consistency, Deformation, Seconds};
use crate::backend::{Backend, Flow, FlowInverse};
use crate::image::voxel_map;
use crate::image::{Geometry, Intensities};
use crate::observer::go_on;
use crate::registration::LinearStart;
use crate::resample::{Resampling, with_gaps};
use crate::transform::Field;
use crate::{Observer, PixelType, Result, Volume};
use glam::{DAffine3, DVec3};
use rayon::prelude::*;

/// What a flow on the fixed image's grid, whose inverse may be known, does between two grids: what of it is left to fill in are the levels
/// and what follows from them, the moved image, and the seconds.
pub fn deformation(
    flow: &mut dyn Flow,
    backend: &dyn Backend,
    [fixed, moving]: [&Geometry; 2],
    begin: LinearStart,
    inverse: Option<FlowInverse>,
    observer: &dyn Observer,
) -> Result<Deformation> {
    let start = begin.transform.to_affine();
    let there = voxel_map(fixed, moving, &start);
    let back = voxel_map(moving, fixed, &start.inverse());

    let inverse = inverse.map_or_else(|| flow.inverse(moving.size, &there, &back), Ok)?;
    let FlowInverse { planes, mean_mm, worst_mm } = inverse;
    let to_mm = fixed.index_to_world();
    let to_fixed_voxels = fixed.world_to_index() * start.inverse() * moving.index_to_world();
    let way_back = |voxel: DVec3, way: DVec3| to_mm.transform_point3(to_fixed_voxels.transform_point3(voxel) + way);
    let inverse = field(moving, &planes, way_back);

    go_on(observer)?;
    let whole = start * to_mm;
    let field = field(fixed, &flow.field()?, |voxel, way| whole.transform_point3(voxel + way));

    go_on(observer)?;
    let stretch = start.matrix3.determinant().abs();
    let mut voxels = flow.jacobians()?;
    voxels.par_iter_mut().for_each(|jacobian| *jacobian = (f64::from(*jacobian) * stretch) as f32);
    let jacobian = Volume { geometry: *fixed, voxels, pixel: PixelType::F32 };
    let (low, high) = jacobian.range();
    Ok(Deformation {
        intensities: [Intensities::default(); 2],
        start: begin,
        field,
        inverse,
        consistency: Consistency { mean_mm, worst_mm },
        moved: None,
        jacobian,
        jacobian_range: [low, high].map(f64::from),
        values: [0.0; 2],
        levels: Vec::new(),
        doubts: Vec::new(),
        seconds: Seconds::default(),
        backend: backend.name(),
        device: backend.device(),
    })
}

/// The moving image through a flow on the fixed image's grid.
pub fn moved(flow: &mut dyn Flow, fixed: &Geometry, moving: &Volume, start: &DAffine3) -> Result<Volume> {
    let there = voxel_map(fixed, &moving.geometry, start);
    let voxels = with_gaps(moving, &Resampling::default(), |image, _| flow.moved(image, &there))?;
    Ok(Volume { geometry: *fixed, voxels, pixel: moving.pixel })
}

/// A field on a grid, of which `to` says where a voxel with its three numbers goes, LPS mm.
fn field(grid: &Geometry, planes: &[f32], to: impl Fn(DVec3, DVec3) -> DVec3 + Sync) -> Field {
    let voxels = grid.voxels();
    Field::by_voxel(grid, |number, index, _| {
        let way = [0, 1, 2].map(|plane: usize| f64::from(planes[number + plane * voxels]));
        to(index, DVec3::from_array(way))
    })
}

impl Deformation {
    /// Whether nothing grave speaks against it.
    pub fn trusted(&self) -> bool {
        self.doubts.iter().all(|doubt| !doubt.grave)
    }
}
