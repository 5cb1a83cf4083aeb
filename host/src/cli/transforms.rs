//! Transforms named on the command line.

use std::path::{Path, PathBuf};

use glam::{DAffine3, DVec3};
use mireg::Result;
use mireg::io::mesh;
use mireg::io::transform::{self, Format, Grids};
use mireg::mesh::{Mesh, MeshMap};

/// The transform in a file between images of these grids: fixed point to moving point, LPS mm.
pub fn read(path: &Path, format: Option<Format>, grids: &Grids) -> Result<DAffine3> {
    Ok(transform::read(path, format, grids)?.to_affine())
}

/// What a file given as a transform holds.
pub enum Step {
    Linear(DAffine3),
    Mesh(Mesh),
}

/// The transforms of several files, in the order in which they are applied to a point. `grids` are those that the whole lies between: of
/// several transforms none can be in a format that needs both.
pub fn steps(paths: &[PathBuf], format: Option<Format>, grids: &Grids) -> Result<Vec<Step>> {
    let one = if paths.len() == 1 { *grids } else { Grids::default() };
    let step = |path: &PathBuf| match format.is_none() && mesh::is(path) {
        true => mesh::read(path).map(Step::Mesh),
        false => read(path, format, &one).map(Step::Linear),
    };
    paths.iter().map(step).collect()
}

/// All steps one after the other as a map of points, or the way back; `None` where a mesh is among them.
pub fn linear(steps: &[Step], invert: bool) -> Option<DAffine3> {
    let next = |first, step: &Step| match step {
        Step::Linear(next) => Some(*next * first),
        Step::Mesh(_) => None,
    };
    let map = steps.iter().try_fold(DAffine3::IDENTITY, next)?;
    Some(if invert { map.inverse() } else { map })
}

/// All steps one after the other as a map of points, or the way back.
pub fn map(steps: &[Step], invert: bool) -> impl Fn(DVec3) -> DVec3 + Sync {
    let linear = linear(steps, invert);
    let maps: Vec<_> = steps.iter().map(|step| each(step, invert)).collect();
    move |point| match (linear, invert) {
        (Some(linear), _) => linear.transform_point3(point),
        (None, false) => maps.iter().fold(point, |point, map| map(point)),
        (None, true) => maps.iter().rev().fold(point, |point, map| map(point)),
    }
}

type Map<'a> = Box<dyn Fn(DVec3) -> DVec3 + Sync + 'a>;

/// A step or its way back. A mesh leaves z as it is.
fn each(step: &Step, invert: bool) -> Map<'_> {
    match step {
        Step::Linear(map) => {
            let map = if invert { map.inverse() } else { *map };
            Box::new(move |point| map.transform_point3(point))
        }
        Step::Mesh(mesh) => {
            let mesh = MeshMap::new(mesh);
            Box::new(move |point: DVec3| {
                let flat = point.truncate();
                (if invert { mesh.backward(flat) } else { mesh.forward(flat) }).extend(point.z)
            })
        }
    }
}
