//! The picture of a demo: three slices through the middle, each a checkerboard of CT and MR, before and after.

use std::path::Path;

use glam::{DAffine3, DVec3};
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{Rgb, RgbImage};
use rayon::prelude::*;

use mireg::{Error, Result, Volume};

/// Picture elements per mm.
const SCALE: f64 = 1.25;
/// Side of a square of the checkerboard, mm.
const SQUARE: f64 = 28.0;
const GAP: u32 = 6;
/// Grey levels: fewer make a smaller file.
const LEVELS: f32 = 32.0;

/// Draws a row of three checkerboards for each transform from points of `ct` to points of `mr`, LPS mm.
pub fn checkerboards(ct: &Volume, mr: &Volume, transforms: &[DAffine3]) -> RgbImage {
    let views = views(ct);
    let width = views.iter().map(|view| view.width).sum::<u32>() + 2 * GAP;
    let height = views.iter().map(|view| view.height).max().unwrap_or(0);
    let rows = transforms.len() as u32;
    let mut picture = RgbImage::from_pixel(width, rows * height + (rows - 1) * GAP, Rgb([255; 3]));
    for (row, transform) in (0..).zip(transforms) {
        let mut left = 0;
        for view in &views {
            let panel = view.draw(ct, mr, transform, height);
            image::imageops::replace(&mut picture, &panel, i64::from(left), i64::from(row * (height + GAP)));
            left += view.width + GAP;
        }
    }
    picture
}

/// Writes `picture` as PNG.
///
/// # Errors
/// [`Error::File`] where it cannot be written.
pub fn save(picture: &RgbImage, path: &Path) -> Result<()> {
    let file = std::fs::File::create(path).map_err(|e| Error::file(path, e.to_string()))?;
    let encoder = PngEncoder::new_with_quality(file, CompressionType::Best, FilterType::Adaptive);
    picture.write_with_encoder(encoder).map_err(|e| Error::file(path, e.to_string()))
}

/// A plane through the middle of the fixed image, as radiologists look at it.
struct View {
    right: DVec3,
    down: DVec3,
    width: u32,
    height: u32,
}

/// Returns the views from below, from in front and from the left.
fn views(ct: &Volume) -> [View; 3] {
    let extent = (DVec3::from_array(ct.geometry.size.map(|n| n as f64)) * ct.geometry.spacing * SCALE).round();
    let view = |right: DVec3, down: DVec3| {
        let along = |axis: DVec3| extent.dot(axis.abs()) as u32;
        View { right, down, width: along(right), height: along(down) }
    };
    [view(DVec3::X, DVec3::Y), view(DVec3::X, -DVec3::Z), view(DVec3::Y, -DVec3::Z)]
}

impl View {
    fn draw(&self, ct: &Volume, mr: &Volume, transform: &DAffine3, height: u32) -> RgbImage {
        let middle = ct.geometry.centre();
        let normal = self.right.cross(self.down);
        let (ct_index, mr_index) = (ct.geometry.world_to_index(), mr.geometry.world_to_index() * *transform);
        let mr_white = bright(mr);
        let (width, own_height) = (self.width, self.height);
        let colour = |n: u32| {
            let (x, y) =
                (f64::from(n % width) - f64::from(width) / 2.0, f64::from(n / width) - f64::from(height) / 2.0);
            if y.abs() > f64::from(own_height) / 2.0 {
                return [0; 3];
            }
            let (x, y) = (x / SCALE, y / SCALE);
            let square = (x / SQUARE + 100.0) as i32 + (y / SQUARE + 100.0) as i32;
            let point = middle + self.right * x + self.down * y;
            // The average over 3 mm reduces the noise of a single slice.
            let average = |volume: &Volume, index: &DAffine3, outside: f32| {
                let at = |offset: f64| volume.at(index.transform_point3(point + normal * offset)).unwrap_or(outside);
                (at(-1.5) + at(0.0) + at(1.5)) / 3.0
            };
            match square % 2 {
                0 => shade((average(ct, &ct_index, -1000.0) + 45.0) / 140.0, [1.0, 0.96, 0.88]),
                _ => shade(average(mr, &mr_index, 0.0) / mr_white, [0.82, 0.92, 1.0]),
            }
        };
        let pixels: Vec<u8> = (0..width * height).into_par_iter().flat_map_iter(colour).collect();
        RgbImage::from_raw(width, height, pixels).unwrap_or_else(|| RgbImage::new(width, height))
    }
}

/// A value of 0 to 1 as a tinted grey.
fn shade(value: f32, tint: [f32; 3]) -> [u8; 3] {
    let level = (value.clamp(0.0, 1.0) * LEVELS).round() / LEVELS;
    tint.map(|part| (level * part * 255.0) as u8)
}

/// The intensity that only one voxel in a hundred exceeds.
fn bright(volume: &Volume) -> f32 {
    let mut sample: Vec<f32> = volume.voxels.iter().step_by(97).copied().collect();
    let rank = sample.len() * 99 / 100;
    *sample.select_nth_unstable_by(rank, f32::total_cmp).1
}
