//! Stacks frames to a volume. They are ordered by position along their normal, never by name or number, and checked for
//! missing, repeated, uneven and shifted slices.

use std::path::Path;

use glam::{DMat3, DVec3};
use rayon::prelude::*;

use super::folder::LeftOut;
use super::image_file::ImageFile;
use super::layout::Layout;
use super::plane::{Plane, Rescale};
use super::spaced;
use crate::io::reading::{Image, ReadOptions};
use crate::io::voxels::Take;
use crate::io::{check, voxels};
use crate::{Error, Geometry, PixelType, Volume};

/// The largest difference between slices in a component of an axis, and the largest relative difference in pixel
/// spacing.
const SAME: f64 = 1e-3;
/// The largest shift of slices perpendicular to their normal, per mm along it. A larger shift is due to a tilted
/// gantry.
const SHEAR: f64 = 1e-3;

/// A file, the layout of its pixels, and the number of its frames.
struct Stored {
    image: ImageFile,
    layout: Layout,
    frames: usize,
}

/// A frame of a file, and its position.
struct Placed {
    /// The indices of the file, and of the frame in it.
    file: usize,
    frame: usize,
    /// Its name in messages.
    name: String,
    plane: Plane,
    rescale: Rescale,
    /// The order of frames at the same position: index in time, instance number, frame number.
    time: (u32, i64, usize),
}

/// Reads the volume of `images`. If there are several, truncated files are added to `left_out`. Errors that concern all
/// of them name `path`.
pub fn read(
    path: &Path,
    images: Vec<ImageFile>,
    left_out: &mut LeftOut,
    options: &ReadOptions,
) -> crate::Result<Image> {
    let (files, mut placed) = place(path, images, left_out)?;
    let wrong = |message: String| Error::file(path, message);
    let geometry = match &placed[..] {
        [] => return Err(wrong("holds no image of the series".to_owned())),
        [single] => flat(&single.plane),
        _ => {
            check_same_grid(&files, &placed)?;
            stacked(&mut placed)
        }
    };
    let geometry = geometry.map_err(wrong)?;
    // Some files of a series may have colours and others not.
    let (take, notes) = options
        .channel(files.iter().map(|stored| stored.layout.channels()).max().unwrap_or(1))
        .map_err(Error::at(path))?;
    let voxels = decode(path, &files, &placed, geometry.size, take)?;
    voxels::finite(&voxels, &voxels::Shape::scalar(geometry.size)).map_err(wrong)?;
    let mut volume = Volume { geometry, voxels, pixel: PixelType::F32 };
    volume.pixel = pixel(&files, &placed, &volume);
    Ok(Image { notes, ..volume.into() })
}

/// The files that can be read, and all of their frames.
fn place(path: &Path, images: Vec<ImageFile>, left_out: &mut LeftOut) -> crate::Result<(Vec<Stored>, Vec<Placed>)> {
    let (mut files, mut placed, several) = (Vec::new(), Vec::new(), images.len() > 1);
    for image in images {
        let error = |message| image.file.error(message);
        let layout = Layout::of(&image.file).map_err(error)?;
        if let Err(message) = image.fits(&layout) {
            if !several || image.file.path == path {
                return Err(error(message));
            }
            left_out.damaged(&image.file.path, &message);
            continue;
        }
        let frames = image.frames().map_err(error)?;
        let (file, instance, count) = (files.len(), image.instance_number(), frames.len());
        for (number, frame) in frames.into_iter().enumerate() {
            let name = image.file.name();
            let name = if count == 1 { name } else { format!("{name}, frame {}", number + 1) };
            let time = (frame.time, instance, number);
            placed.push(Placed { file, frame: number, name, plane: frame.plane, rescale: frame.rescale, time });
        }
        files.push(Stored { image, layout, frames: count });
    }
    Ok((files, placed))
}

/// The grid of a single slice.
fn flat(plane: &Plane) -> Result<Geometry, String> {
    let [i, j] = plane.axes.unwrap_or([DVec3::X, DVec3::Y]);
    let [di, dj] = plane.spacing.unwrap_or([1.0; 2]);
    let direction = DMat3::from_cols(i, j, i.cross(j));
    let size = [plane.size[0], plane.size[1], 1];
    check::geometry(size, DVec3::new(di, dj, 1.0), plane.position.unwrap_or(DVec3::ZERO), direction)
}

/// Checks that all frames have the same size, orientation and pixel spacing.
fn check_same_grid(files: &[Stored], placed: &[Placed]) -> crate::Result<()> {
    let first = &placed[0];
    for other in placed {
        let error = |message: String| Err(files[other.file].image.file.error(message));
        let (Some(axes), Some(spacing), Some(_)) = (other.plane.axes, other.plane.spacing, other.plane.position) else {
            let message = "has no ImagePositionPatient, ImageOrientationPatient or PixelSpacing, so the slices of its series \
                           cannot be put in their places; convert the series to NIfTI with a program that knows its scanner";
            return error(message.into());
        };
        let differs = |what: &str| {
            let first = &first.name;
            // Frames of one file cannot be moved to different folders.
            error(match files[other.file].frames {
                1 => format!(
                    "has {what} than {first} of the same series; move the files of one of the two to a folder of their own"
                ),
                _ => format!(
                    "has {what} in frame {} than {first}; convert it to NIfTI, for example with dcm2niix, which writes a file for \
                     each",
                    other.frame + 1
                ),
            })
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

/// Orders two or more frames, and returns their grid.
fn stacked(placed: &mut [Placed]) -> Result<Geometry, String> {
    let plane = placed[0].plane;
    let ([i, j], [di, dj]) = (plane.axes.unwrap_or_default(), plane.spacing.unwrap_or_default());
    let normal = i.cross(j);
    let at = |p: &Placed| p.plane.position.unwrap_or_default().dot(normal);
    placed.sort_by(|a, b| at(a).total_cmp(&at(b)).then(a.time.cmp(&b.time)));
    let heights: Vec<_> = placed.iter().map(|p| (at(p), &p.name[..])).collect();
    spaced::once(&heights)?;
    spaced::evenly(&heights)?;

    let origin = placed[0].plane.position.unwrap_or_default();
    let last = placed.len() - 1;
    let height = at(&placed[last]) - at(&placed[0]);
    let shift = placed.iter().map(|p| (p.plane.position.unwrap_or_default() - origin).reject_from(normal).length());
    let shift = shift.fold(0.0, f64::max);
    if shift > SHEAR * height + spaced::PRINTED {
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

/// The rescaling of a frame, and its slice of the volume to write.
type Target<'a> = (Rescale, &'a mut [f32]);

/// Decodes the intensities of all frames, in order.
fn decode(path: &Path, files: &[Stored], placed: &[Placed], size: [usize; 3], take: Take) -> crate::Result<Vec<f32>> {
    let mut voxels = Vec::new();
    // `fits` has checked that every file is long enough for its frames, so this is not larger than the files can hold.
    let count = size.iter().product();
    if voxels.try_reserve_exact(count).is_err() {
        return Err(Error::file(path, "the series does not fit in memory; resample it to fewer voxels"));
    }
    voxels.resize(count, 0.0);
    // Assigns to each frame of each file its slice of the volume.
    let mut targets: Vec<Vec<Option<Target>>> =
        files.iter().map(|stored| (0..stored.frames).map(|_| None).collect()).collect();
    for (frame, slice) in placed.iter().zip(voxels.chunks_exact_mut(size[0] * size[1])) {
        targets[frame.file][frame.frame] = Some((frame.rescale, slice));
    }
    let read = files.par_iter().zip(targets).map(|(stored, mut targets)| {
        let bytes = stored.layout.frame_bytes(size[0] * size[1]);
        let read = stored.image.read(stored.frames, bytes, |number, bytes| match &mut targets[number] {
            Some((rescale, slice)) => stored.layout.decode(bytes, [size[0], size[1]], (*rescale, take), slice),
            None => Ok(()),
        });
        read.map_err(|message| stored.image.file.error(message))
    });
    // Collected in order, so that the same one of several errors is returned each time.
    read.collect::<Vec<_>>().into_iter().collect::<crate::Result<()>>()?;
    Ok(voxels)
}

/// The smallest type that holds all intensities.
fn pixel(files: &[Stored], placed: &[Placed], volume: &Volume) -> PixelType {
    let same = Rescale { slope: 1.0, intercept: 0.0 };
    let first = files[placed[0].file].layout.pixel();
    if placed.iter().all(|p| p.rescale == same && files[p.file].layout.pixel() == first) {
        return first;
    }
    let (low, high) = volume.range();
    match placed.iter().all(|p| p.rescale.is_whole()) {
        true if low >= f32::from(i16::MIN) && high <= f32::from(i16::MAX) => PixelType::I16,
        true => PixelType::I32,
        false => PixelType::F32,
    }
}
