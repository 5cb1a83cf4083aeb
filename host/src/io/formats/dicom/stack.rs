//! Slices to a volume: ordered by position along their normal, never by name or number, and checked for what a series may hide.

use std::path::Path;

use glam::{DMat3, DVec3};

use super::elements::Elements;
use super::pixels::Layout;
use super::slice::{Plane, Slice};
use crate::io::{check, voxels};
use crate::{Error, Geometry, PixelType, Volume};

/// Most by which a component of an axis, or a relative distance, may differ between slices.
const SAME: f64 = 1e-3;
/// Most by which a distance of neighbouring slices may differ from the usual one, relative to it.
const UNEVEN: f64 = 0.05;
/// Slices closer than this, mm, are at one place.
const DOUBLE: f64 = 1e-3;
/// Most shift of slices against their normal, per mm along it; more is a tilted gantry.
const SHEAR: f64 = 1e-3;
/// Positions are printed to this, mm.
const PRINTED: f64 = 0.02;

/// A slice, where it lies, and how its pixels are stored.
struct Placed {
    slice: Slice,
    plane: Plane,
    layout: Layout,
}

/// The volume of `slices`, of which there is at least one. `path` is what errors about all of them name.
pub fn read(path: &Path, slices: Vec<Slice>) -> crate::Result<Volume> {
    let mut placed = Vec::new();
    for slice in slices {
        let plane = slice.plane()?;
        let layout = Layout::of(&slice.elements).map_err(|message| slice.error(message))?;
        let count = plane.size[0] * plane.size[1];
        layout.fits(count, slice.elements.length).map_err(|message| slice.error(message))?;
        placed.push(Placed { slice, plane, layout });
    }
    let wrong = |message| Error::file(path, message);
    let geometry = match &placed[..] {
        [] => return Err(wrong("holds no image of the series".to_owned())),
        [single] => flat(&single.plane),
        _ => {
            alike(&placed)?;
            stacked(&mut placed)
        }
    };
    let geometry = geometry.map_err(wrong)?;
    let voxels = decode(&placed, geometry.size)?;
    voxels::finite(&voxels, &voxels::Shape::scalar(geometry.size)).map_err(wrong)?;
    let mut volume = Volume { geometry, voxels, pixel: PixelType::F32 };
    volume.pixel = pixel(&placed, &volume);
    Ok(volume)
}

/// The grid of a single slice.
fn flat(plane: &Plane) -> Result<Geometry, String> {
    let [i, j] = plane.axes.unwrap_or([DVec3::X, DVec3::Y]);
    let [di, dj] = plane.spacing.unwrap_or([1.0; 2]);
    let direction = DMat3::from_cols(i, j, i.cross(j));
    let size = [plane.size[0], plane.size[1], 1];
    check::geometry(size, DVec3::new(di, dj, 1.0), plane.position.unwrap_or(DVec3::ZERO), direction)
}

/// Whether all slices are parts of one grid, but for their positions.
fn alike(placed: &[Placed]) -> crate::Result<()> {
    let first = &placed[0];
    for other in placed {
        let (Some(axes), Some(spacing), Some(_)) = (other.plane.axes, other.plane.spacing, other.plane.position) else {
            let message = "has no ImagePositionPatient, ImageOrientationPatient or PixelSpacing, so the slices of its series \
                           cannot be put in their places; convert the series to NIfTI with a program that knows its scanner";
            return Err(other.slice.error(message));
        };
        let differs = |what: &str| {
            let name = first.slice.name();
            let message = format!(
                "has {what} than {name} of the same series; move the files of one of the two to a folder of their own"
            );
            Err(other.slice.error(message))
        };
        if other.plane.size != first.plane.size {
            return differs("other numbers of rows and columns");
        }
        if !first.plane.axes.is_some_and(|of_first| (0..2).all(|n| of_first[n].abs_diff_eq(axes[n], SAME))) {
            return differs("another orientation");
        }
        if !first.plane.spacing.is_some_and(|f| (0..2).all(|n| (f[n] - spacing[n]).abs() <= SAME * f[n].abs())) {
            return differs("another pixel spacing");
        }
    }
    Ok(())
}

/// Orders at least two slices and gives the grid of them.
fn stacked(placed: &mut [Placed]) -> Result<Geometry, String> {
    let plane = placed[0].plane;
    let ([i, j], [di, dj]) = (plane.axes.unwrap_or_default(), plane.spacing.unwrap_or_default());
    let normal = i.cross(j);
    let at = |p: &Placed| p.plane.position.unwrap_or_default().dot(normal);
    placed.sort_by(|a, b| at(a).total_cmp(&at(b)));
    evenly_spaced(&placed.iter().map(|p| (at(p), p.slice.name())).collect::<Vec<_>>())?;

    let origin = placed[0].plane.position.unwrap_or_default();
    let last = placed.len() - 1;
    let height = at(&placed[last]) - at(&placed[0]);
    let shift = placed.iter().map(|p| (p.plane.position.unwrap_or_default() - origin).reject_from(normal).length());
    let shift = shift.fold(0.0, f64::max);
    if shift > SHEAR * height + PRINTED {
        return Err(format!(
            "its slices are shifted by up to {shift:.2} mm against their normal, as by a gantry tilted {:.1} degrees; \
             straighten it, for example with dcm2niix, and give the NIfTI file",
            shift.atan2(height).to_degrees()
        ));
    }
    let direction = DMat3::from_cols(i, j, normal);
    let size = [plane.size[0], plane.size[1], placed.len()];
    check::geometry(size, DVec3::new(di, dj, height / last as f64), origin, direction)
}

/// Whether neighbours among the ordered positions (mm, with the names of their files) are as far apart as most.
fn evenly_spaced(positions: &[(f64, String)]) -> Result<(), String> {
    let step = |pair: &[(f64, String)]| pair[1].0 - pair[0].0;
    let there = |pair: &[(f64, String)]| {
        let [(below, one), (above, other)] = [&pair[0], &pair[1]];
        format!("at {below:.2} mm ({one}) and {above:.2} mm ({other})")
    };
    if let Some(pair) = positions.windows(2).find(|pair| step(pair) < DOUBLE) {
        return Err(format!(
            "has two slices at one place, {}, as of several volumes in one series; move those of one volume to a folder of their own",
            there(pair)
        ));
    }
    let mut steps: Vec<f64> = positions.windows(2).map(step).collect();
    steps.sort_by(f64::total_cmp);
    let usual = steps[(steps.len() - 1) / 2];
    let odd = |pair: &&[(f64, String)]| (step(pair) - usual).abs() > (UNEVEN * usual).max(PRINTED);
    let Some(pair) = positions.windows(2).find(odd) else { return Ok(()) };
    let missing = (step(pair) / usual).round() - 1.0;
    let what = if missing > 0.0 { format!("about {missing} missing") } else { "uneven".into() };
    Err(format!(
        "its slices {} are {:.2} mm apart and others {usual:.2} mm ({what}); complete the series, or resample it evenly",
        there(pair),
        step(pair)
    ))
}

/// The intensities of all slices in order.
fn decode(placed: &[Placed], size: [usize; 3]) -> crate::Result<Vec<f32>> {
    let mut voxels = Vec::new();
    // Every file is long enough for its slice.
    if voxels.try_reserve_exact(size.iter().product()).is_err() {
        return Err(placed[0].slice.error("the series does not fit in memory; resample it to fewer voxels"));
    }
    for Placed { slice, plane, layout } in placed {
        let wrong = |message| slice.error(message);
        let elements = Elements::read(&slice.path, true)?
            .ok_or_else(|| wrong("changed while it was read; read it again".to_owned()))?;
        layout.decode(&elements, plane.size, &mut voxels).map_err(wrong)?;
    }
    Ok(voxels)
}

/// The type that holds all intensities.
fn pixel(placed: &[Placed], volume: &Volume) -> PixelType {
    let first = placed[0].layout.unscaled();
    if let Some(pixel) = first.filter(|_| placed.iter().all(|p| p.layout.unscaled() == first)) {
        return pixel;
    }
    let (low, high) = volume.range();
    match placed.iter().all(|p| p.layout.is_whole()) {
        true if low >= f32::from(i16::MIN) && high <= f32::from(i16::MAX) => PixelType::I16,
        true => PixelType::I32,
        false => PixelType::F32,
    }
}
