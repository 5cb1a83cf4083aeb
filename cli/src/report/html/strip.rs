//! Draws slices of a volume as one picture, and encodes pictures as text.

use super::view::View;
use base64::Engine;
use glam::{DAffine3, DVec3};
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{GrayImage, ImageBuffer, ImageResult, Luma, Pixel, PixelWithColorType};
use mireg::Volume;
use rayon::prelude::*;

/// About how many voxels are sampled for percentiles.
const SAMPLED: usize = 100_000;

/// The intensities that are drawn black and white.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    black: f32,
    white: f32,
}

impl Window {
    /// Creates the window from the 1st to the 99th percentile, or over all intensities if these two are equal.
    pub fn new(volume: &Volume) -> Self {
        let mut sample: Vec<f32> = sample(volume).collect();
        if sample.is_empty() {
            return Self { black: 0.0, white: 1.0 };
        }
        let mut percentile = |percent: usize| {
            let rank = sample.len().saturating_sub(1) * percent / 100;
            *sample.select_nth_unstable_by(rank, f32::total_cmp).1
        };
        let (black, white) = (percentile(1), percentile(99));
        if black < white {
            return Self { black, white };
        }
        let (black, white) = volume.range();
        Self { black, white }
    }

    fn grey(self, value: f32) -> u8 {
        // The cast clamps to 0 to 255.
        (255.0 * (value - self.black) / (self.white - self.black) + 0.5) as u8
    }
}

/// Iterates over the values of evenly spread voxels, without those that have no data.
pub fn sample(volume: &Volume) -> impl Iterator<Item = f32> {
    let step = volume.voxels.len().div_ceil(SAMPLED).max(1);
    // A step that divides the length of a row would sample the same columns in all rows.
    let same_columns = step > 1 && volume.geometry.size[0].is_multiple_of(step);
    let step = step + usize::from(same_columns);
    volume.voxels.iter().step_by(step).copied().filter(|voxel| !voxel.is_nan())
}

/// Draws all slices of `view`, one below the other. `transform` maps points of the view to points of `volume`, LPS mm.
/// Outside of the volume it is black.
pub fn draw(view: &View, volume: &Volume, window: Window, transform: &DAffine3) -> GrayImage {
    paint(view, volume, transform, |value| Luma([value.map_or(0, |value| window.grey(value))]))
}

/// As [`draw`], in colours. `colour` gets the value of the volume, or `None` outside of it.
pub fn paint<P: Pixel<Subpixel = u8>>(
    view: &View,
    volume: &Volume,
    transform: &DAffine3,
    colour: impl Fn(Option<f32>) -> P + Sync,
) -> ImageBuffer<P, Vec<u8>> {
    let to_voxel = volume.geometry.world_to_index() * *transform;
    let step = to_voxel.transform_vector3(view.across());
    // A single slice in space is shown by any view: points are projected onto it along its normal.
    let slice_in_space = volume.geometry.is_slice_in_space();
    let shown = |at: DVec3| if slice_in_space { at.with_z(0.0) } else { at };
    let (width, height) = (view.width, view.height);
    let channels = usize::from(P::CHANNEL_COUNT);
    let mut picture = ImageBuffer::new(width, height * view.offsets.len() as u32);
    picture.par_chunks_exact_mut(channels * width as usize).enumerate().for_each(|(row, elements)| {
        let (slice, y) = (row / height as usize, (row % height as usize) as u32);
        let first = to_voxel.transform_point3(view.point(slice, 0, y));
        for (x, element) in elements.chunks_exact_mut(channels).enumerate() {
            element.copy_from_slice(colour(volume.at(shown(first + step * x as f64))).channels());
        }
    });
    picture
}

/// Encodes a picture as a `data:` URI: as JPEG of this quality, 1 to 100, or as PNG if that is smaller.
///
/// # Errors
/// If the picture is larger than the format can hold.
pub fn data_uri<P: PixelWithColorType<Subpixel = u8>>(
    picture: &ImageBuffer<P, Vec<u8>>,
    quality: u8,
) -> ImageResult<String> {
    let mut jpeg = Vec::new();
    picture.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, quality))?;
    let png = png(picture)?;
    Ok(if png.len() <= jpeg.len() { uri("png", &png) } else { uri("jpeg", &jpeg) })
}

/// Encodes a picture as a `data:` URI without loss, as PNG.
///
/// # Errors
/// As [`data_uri`].
pub fn exact_data_uri(picture: &GrayImage) -> ImageResult<String> {
    Ok(uri("png", &png(picture)?))
}

fn png<P: PixelWithColorType<Subpixel = u8>>(picture: &ImageBuffer<P, Vec<u8>>) -> ImageResult<Vec<u8>> {
    let mut png = Vec::new();
    picture.write_with_encoder(PngEncoder::new_with_quality(&mut png, CompressionType::Fast, FilterType::Adaptive))?;
    Ok(png)
}

fn uri(format: &str, bytes: &[u8]) -> String {
    format!("data:image/{format};base64,{}", base64::engine::general_purpose::STANDARD.encode(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DMat3, DVec3};
    use mireg::{Geometry, PixelType};

    /// Returns a volume that is white only in the octant towards the patient's left, back and head, with voxel axes
    /// along `direction`.
    fn marked(direction: DMat3) -> Volume {
        let mut geometry = Geometry { size: [16; 3], spacing: DVec3::ONE, origin: DVec3::ZERO, direction };
        geometry.origin = -geometry.centre();
        let map = geometry.index_to_world();
        let point = |n: usize| map.transform_point3(geometry.index_of(n).map(|i| i as f64).into());
        let voxels = (0..geometry.voxels()).map(|n| f32::from(u8::from(point(n).cmpgt(DVec3::ZERO).all()))).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    }

    #[test]
    fn left_back_and_head_are_where_radiologists_look_for_them() {
        let flipped = DMat3::from_cols(-DVec3::Z, DVec3::X, -DVec3::Y);
        for volume in [marked(DMat3::IDENTITY), marked(flipped)] {
            let window = Window { black: 0.0, white: 1.0 };
            // Of three slices, the last lies towards the left, the back or the head.
            let views = View::all(&volume.geometry, 3);
            let corners = views.iter().map(|view| {
                let picture = draw(view, &volume, window, &DAffine3::IDENTITY);
                [(2, 2), (13, 2), (2, 13), (13, 13)].map(|(x, y)| picture.get_pixel(x, 32 + y).0[0])
            });
            let [axial, coronal, sagittal] = corners.collect::<Vec<_>>()[..] else { panic!("three views") };
            assert_eq!(axial, [0, 0, 0, 255], "left at the right, back at the bottom");
            assert_eq!(coronal, [0, 255, 0, 0], "left at the right, head at the top");
            assert_eq!(sagittal, [0, 255, 0, 0], "back at the right, head at the top");
        }
    }

    #[test]
    fn a_transform_takes_points_of_the_view_to_the_volume() {
        let volume = marked(DMat3::IDENTITY);
        let view = &View::all(&volume.geometry, 1)[0];
        let window = Window { black: 0.0, white: 1.0 };
        let picture = draw(view, &volume, window, &DAffine3::from_translation(DVec3::new(-4.0, 0.0, 4.0)));
        assert_eq!([9, 11, 13].map(|x| picture.get_pixel(x, 13).0[0]), [0, 0, 255]);
    }

    #[test]
    fn a_window_leaves_out_a_hundredth_at_either_end() {
        let geometry = Geometry::axis_aligned([10, 10, 10], DVec3::ONE, DVec3::ZERO);
        let volume =
            |voxel: fn(u16) -> f32| Volume { geometry, voxels: (0..1000).map(voxel).collect(), pixel: PixelType::F32 };
        assert_eq!(Window::new(&volume(f32::from)), Window { black: 9.0, white: 989.0 });
        // One in eight is no data.
        let gaps = volume(|n| if n % 8 == 0 { f32::NAN } else { f32::from(n) });
        assert_eq!(Window::new(&gaps), Window { black: 10.0, white: 989.0 });
        assert_eq!(Window::new(&volume(|_| f32::NAN)), Window { black: 0.0, white: 1.0 });
        let rare = volume(|n| if n == 500 { 7.0 } else { 0.0 });
        assert_eq!(Window::new(&rare), Window { black: 0.0, white: 7.0 });
    }
}
