//! Transforms named on the command line.

use mireg::error::Setting;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use glam::{DAffine3, DVec3};
use mireg::io::mesh;
use mireg::io::transform::{self, Format, Grids};
use mireg::mesh::{Mesh, MeshMap};
use mireg::transform::{Dimension, Field, Kind, Linear, Part};
use mireg::{Error, Geometry, Result};

/// The linear transform in a file between images of these grids: fixed point to moving point, LPS mm.
pub fn read(path: &Path, format: Option<Format>, grids: &Grids) -> Result<DAffine3> {
    Ok(transform::read(path, format, grids)?.to_affine())
}

/// What a file given as a transform holds, or a part of it.
pub enum Step {
    Linear(Linear),
    Mesh(Mesh),
    Field(Placed),
}

/// A displacement field, and whether any point came into its grid.
pub struct Placed {
    pub field: Field,
    path: PathBuf,
    met: AtomicBool,
}

/// The transforms of several files, in the order in which they are applied to a point. `grids` are those that the whole lies between: of
/// several transforms none can be in a format that needs both.
pub fn steps(paths: &[PathBuf], format: Option<Format>, grids: &Grids) -> Result<Vec<Step>> {
    each_of(paths, format, &if paths.len() == 1 { *grids } else { Grids::default() })
}

/// The same, with the grids that each of the files is read with.
pub fn each_of(paths: &[PathBuf], format: Option<Format>, grids: &Grids) -> Result<Vec<Step>> {
    let steps = paths.iter().map(|path| steps_of(path, format, grids)).collect::<Result<Vec<_>>>()?;
    Ok(steps.into_iter().flatten().collect())
}

fn steps_of(path: &Path, format: Option<Format>, grids: &Grids) -> Result<Vec<Step>> {
    if format.is_none() && mesh::is(path) {
        return Ok(vec![Step::Mesh(mesh::read(path)?)]);
    }
    let step = |part| match part {
        Part::Linear(linear) => Step::Linear(linear),
        Part::Field(field) => Step::Field(Placed { field, path: path.to_owned(), met: AtomicBool::new(false) }),
    };
    Ok(transform::parts(path, format, grids)?.into_iter().map(step).collect())
}

/// All steps one after the other as one linear transform; `None` where another is among them.
pub fn whole(steps: &[Step]) -> Option<Linear> {
    let none = Linear::identity(Kind::Translation, Dimension::Two, DVec3::ZERO);
    steps.iter().try_fold(none, |whole, step| match step {
        Step::Linear(next) => Some(whole.then(next)),
        Step::Mesh(_) | Step::Field(_) => None,
    })
}

/// All steps one after the other as a map of points, or the way back; `None` where one is not linear.
pub fn linear(steps: &[Step], invert: bool) -> Option<DAffine3> {
    let next = |first, step: &Step| match step {
        Step::Linear(next) => Some(next.to_affine() * first),
        Step::Mesh(_) | Step::Field(_) => None,
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

/// Refuses fields to which no point came that went through [`map`].
pub fn met(steps: &[Step]) -> Result<()> {
    let missed = steps.iter().find_map(|step| match step {
        Step::Field(placed) if !placed.met.load(Ordering::Relaxed) => Some(&placed.path),
        _ => None,
    });
    missed.map_or(Ok(()), |path| {
        let message = "no point comes into its grid: check the headers, the order of the transforms, and whether they lead the other way";
        Err(Error::file(path, message))
    })
}

/// The steps, or the way back, as a field on `grid`, or on that of the first field among them.
pub fn field(steps: &[Step], invert: bool, grid: Option<&Geometry>) -> Result<Field> {
    let own =
        steps.iter().find_map(|step| if let Step::Field(placed) = step { Some(&placed.field.geometry) } else { None });
    let Some(grid) = grid.or(own) else {
        let image = if invert { "--moving" } else { "--fixed" };
        return Err(Error::option(Setting::Fixed, format!("a mesh has no grid of its own; give one with {image}")));
    };
    let field = Field::of(grid, map(steps, invert));
    met(steps)?;
    Ok(field)
}

type Map<'a> = Box<dyn Fn(DVec3) -> DVec3 + Sync + 'a>;

/// A step or its way back. A mesh leaves z as it is.
fn each(step: &Step, invert: bool) -> Map<'_> {
    match step {
        Step::Linear(linear) => {
            let map = linear.to_affine();
            let map = if invert { map.inverse() } else { map };
            Box::new(move |point| map.transform_point3(point))
        }
        Step::Mesh(mesh) => {
            let mesh = MeshMap::new(mesh);
            Box::new(move |point: DVec3| {
                let flat = point.truncate();
                (if invert { mesh.backward(flat) } else { mesh.forward(flat) }).extend(point.z)
            })
        }
        Step::Field(Placed { field, met, .. }) => {
            let map = field.map();
            Box::new(move |point| {
                let other = if invert { map.back(point) } else { map.transform_point3(point) };
                let of_field = if invert { other } else { point };
                if !met.load(Ordering::Relaxed) && map.holds(of_field) {
                    met.store(true, Ordering::Relaxed);
                }
                other
            })
        }
    }
}
