//! A small picture of a result, for a gallery of many.

use std::path::Path;

use glam::DAffine3;
use image::{Rgb, RgbImage};
use mireg::{Error, Result, Volume};

use super::html::strip::{self, Window};
use super::html::view::View;

pub const THUMBNAIL: &str = "thumbnail.png";

/// Writes the middle slice of the fixed image in green and that of the moved image in magenta, so that equal brightness
/// is grey. The moved image may be on any grid.
///
/// # Errors
/// [`Error::File`] where it cannot be written.
pub fn write(fixed: &Volume, moved: &Volume, path: &Path) -> Result<()> {
    let view = View::small(&fixed.geometry);
    let [green, magenta] =
        [fixed, moved].map(|image| strip::draw(&view, image, Window::new(image), &DAffine3::IDENTITY));
    let colour = |x, y| {
        let ([green], [magenta]) = (green.get_pixel(x, y).0, magenta.get_pixel(x, y).0);
        Rgb([magenta, green, magenta])
    };
    let picture = RgbImage::from_fn(view.width, view.height, colour);
    picture.save(path).map_err(|e| Error::file(path, format!("cannot be written ({e})")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use mireg::{Geometry, PixelType};

    #[test]
    fn what_agrees_is_grey() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(THUMBNAIL);
        let geometry = Geometry::axis_aligned([200, 100, 3], DVec3::ONE, DVec3::ZERO);
        let volume = |invert: bool| {
            let bright = |n: usize| f32::from(u8::from((n % 200 < 100) != invert));
            Volume { geometry, voxels: (0..60_000).map(bright).collect(), pixel: PixelType::F32 }
        };
        let written = |moved: &Volume| {
            write(&volume(false), moved, &path).unwrap();
            image::open(&path).unwrap().into_rgb8()
        };
        let same = written(&volume(false));
        assert_eq!(same.dimensions(), (96, 48));
        assert!(same.pixels().all(|Rgb([r, g, b])| r == g && g == b));
        let other = written(&volume(true));
        assert_eq!([other.get_pixel(10, 20).0, other.get_pixel(80, 20).0], [[0, 255, 0], [255, 0, 255]]);
    }
}
