//! Makes the result of a finished flow: fields, Jacobian determinants and images.

use super::place::{self, Agreement};
use super::{Compared, Consistency, Deformation, Seconds, vectors};
use crate::backend::{Backend, Flow, FlowInverse};
use crate::image::{Geometry, Intensities, voxel_map};
use crate::observer::ask_observer;
use crate::registration::LinearStart;
use crate::resample::{Resampling, with_gaps};
use crate::transform::Field;
use crate::{Error, Observer, PixelType, Result, Volume};
use gpu::params::Affine;
use rayon::prelude::*;

/// Makes the result of a flow on the fixed image's grid; `inverse` is its inverse, if that is known already. The caller
/// still has to fill in the levels and what follows from them, and the seconds. `moved` is whether the moving image is
/// wanted on the fixed image's grid; `measure` measures how well the images agree through the field.
pub fn deformation(
    flow: &mut dyn Flow,
    backend: &dyn Backend,
    (fixed, moving, moved): (&Geometry, &Volume, bool),
    linear_start: LinearStart,
    inverse: Option<FlowInverse>,
    measure: &(dyn Fn(&Field) -> Result<Option<Agreement>> + Sync),
    observer: &dyn Observer,
) -> Result<Deformation> {
    let start = linear_start.transform.to_affine();
    let back_to = &moving.geometry;
    let there = voxel_map(fixed, back_to, &start);
    let back = voxel_map(back_to, fixed, &start.inverse());
    let [of_field, of_inverse] = vectors::maps([fixed, back_to], &start);
    let stretch = start.matrix3.determinant().abs();

    let mut made = nothing_yet([fixed, back_to], linear_start, backend);
    made.field.vectors = flow.vectors(&of_field)?;
    let (field, inverse_field, jacobian) = (&made.field, &mut made.inverse, &mut made.jacobian);
    let mut measured = Ok(None);
    let (slot, overlap) = (&mut measured, &mut made.overlap);
    // While the device makes the next result, other threads work on the one before.
    rayon::in_place_scope(|scope| {
        scope.spawn(move |_| *slot = measure(field));
        ask_observer(observer)?;
        let inverse = inverse.map_or_else(|| flow.inverse(back_to.size, [&there, &back], &of_inverse), Ok)?;
        made.consistency = Consistency { mean_mm: inverse.mean_mm, worst_mm: inverse.worst_mm };
        inverse_field.vectors = inverse.vectors;
        scope.spawn(move |_| *overlap = place::overlap(field, inverse_field));
        ask_observer(observer)?;
        jacobian.voxels = flow.jacobians()?;
        scope.spawn(move |_| {
            jacobian.voxels.par_iter_mut().for_each(|volume| *volume = (f64::from(*volume) * stretch) as f32);
        });
        ask_observer(observer)?;
        made.moved = moved.then(|| image_through(flow, fixed, moving, &there)).transpose()?;
        Ok::<_, Error>(())
    })?;
    let agreement = measured?;
    made.place = agreement.map(|of| of.place);
    made.start_information = agreement.map(|of| of.at_start);
    made.bending = agreement.map(|of| of.bending);
    made.unmatched = agreement.and_then(|of| of.unmatched);
    made.displaced = agreement.and_then(|of| of.displaced);
    made.jacobian_range = match made.jacobian.has_gaps() {
        true => [f64::NAN; 2],
        false => <[f32; 2]>::from(made.jacobian.range()).map(f64::from),
    };
    Ok(made)
}

/// Returns a deformation in which only the start is known.
fn nothing_yet([fixed, moving]: [&Geometry; 2], start: LinearStart, backend: &dyn Backend) -> Deformation {
    Deformation {
        intensities: [Intensities::default(); 2],
        compared: Compared::Intensities,
        start,
        field: Field { geometry: *fixed, vectors: Vec::new() },
        inverse: Field { geometry: *moving, vectors: Vec::new() },
        consistency: Consistency { mean_mm: 0.0, worst_mm: 0.0 },
        moved: None,
        jacobian: Volume { geometry: *fixed, voxels: Vec::new(), pixel: PixelType::F32 },
        jacobian_range: [0.0; 2],
        values: [0.0; 2],
        levels: Vec::new(),
        overlap: 0.0,
        place: None,
        start_information: None,
        bending: None,
        unmatched: None,
        displaced: None,
        part_information: None,
        linear_place: None,
        landmarks: None,
        doubts: Vec::new(),
        seconds: Seconds::default(),
        backend: backend.name(),
        device: backend.device(),
    }
}

/// Resamples the moving image through a flow on the fixed image's grid.
fn image_through(flow: &mut dyn Flow, fixed: &Geometry, moving: &Volume, there: &Affine) -> Result<Volume> {
    let voxels = with_gaps(moving, &Resampling::default(), |image, _| flow.moved(image, there))?;
    Ok(Volume { geometry: *fixed, voxels, pixel: moving.pixel })
}
