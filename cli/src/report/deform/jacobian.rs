//! Draws the Jacobian determinant in colours.

use crate::report::html::strip;
use crate::report::html::view::View;
use glam::{DAffine3, Vec3};
use image::{Rgb, RgbImage};
use mireg::Volume;

/// Possible ends of a colour scale, as factors by which volumes change.
const LIMITS: [f32; 8] = [1.1, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0, 100.0];
/// Colours of shrinkage by the end of the scale, of no change, and of growth by the end of the scale.
const ENDS: [[u8; 3]; 3] = [[33, 102, 172], [247, 247, 247], [178, 24, 43]];
/// Colours of voxels at which the field folds, and of points outside the image.
const FOLDED: [u8; 3] = [255, 212, 0];
const OUTSIDE: [u8; 3] = [0, 0, 0];

/// A colour scale of determinants from 1 / `limit` to `limit`, linear in their logarithm.
#[derive(Clone, Copy)]
pub struct Scale {
    pub limit: f32,
}

impl Scale {
    /// Creates the smallest scale that holds 98 % of the determinants.
    pub fn new(jacobian: &Volume) -> Self {
        let mut sample: Vec<f32> = strip::sample(jacobian).map(|ratio| ratio.max(1.0 / ratio.max(0.01))).collect();
        let rank = sample.len().saturating_sub(1) * 98 / 100;
        sample.sort_unstable_by(f32::total_cmp);
        let common = sample.get(rank).copied().unwrap_or(1.0);
        Self { limit: LIMITS.into_iter().find(|&limit| limit >= common).unwrap_or(LIMITS[LIMITS.len() - 1]) }
    }

    fn colour(self, ratio: f32) -> [u8; 3] {
        if ratio <= 0.0 {
            return FOLDED;
        }
        let part = (ratio.ln() / self.limit.ln()).clamp(-1.0, 1.0);
        let [shrunk, same, grown] = ENDS.map(|colour| Vec3::from_array(colour.map(f32::from)));
        let colour = same.lerp(if part < 0.0 { shrunk } else { grown }, part.abs());
        colour.to_array().map(|channel| channel.round() as u8)
    }

    /// Returns the scale from left to right as a gradient of CSS.
    pub fn gradient() -> String {
        let stops = ENDS.map(|[r, g, b]| format!("rgb({r} {g} {b})"));
        format!("linear-gradient(to right, {})", stops.join(", "))
    }

    /// Returns the determinants at the left, the middle and the right of the scale.
    pub fn labels(self) -> [String; 3] {
        [1.0 / self.limit, 1.0, self.limit].map(|ratio| ((ratio * 100.0).round() / 100.0).to_string())
    }
}

/// Draws all slices of `view`, one below the other.
pub fn draw(view: &View, jacobian: &Volume, scale: Scale) -> RgbImage {
    let colour = |ratio: Option<f32>| Rgb(ratio.map_or(OUTSIDE, |ratio| scale.colour(ratio)));
    strip::paint(view, jacobian, &DAffine3::IDENTITY, colour)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;
    use mireg::{Geometry, PixelType};

    #[test]
    fn what_shrinks_is_blue_and_what_grows_is_red() {
        let scale = Scale { limit: 2.0 };
        let colours = [0.5, 0.1, 1.0, 2.0, 3.0, -0.2].map(|ratio| scale.colour(ratio));
        assert_eq!(colours, [ENDS[0], ENDS[0], ENDS[1], ENDS[2], ENDS[2], FOLDED]);
        let root = 2f32.sqrt();
        assert_eq!([1.0 / root, root].map(|ratio| scale.colour(ratio)), [[140, 175, 210], [213, 136, 145]]);
        assert_eq!(scale.labels(), ["0.5", "1", "2"]);
    }

    #[test]
    fn a_scale_leaves_out_what_is_rare() {
        let geometry = Geometry::axis_aligned([100, 1, 1], DVec3::ONE, DVec3::ZERO);
        let limit = |common: f32| {
            let voxels = (0..100).map(|n| if n == 7 { 50.0 } else { common }).collect();
            Scale::new(&Volume { geometry, voxels, pixel: PixelType::F32 }).limit
        };
        assert_eq!([1.0, 0.8, 1.3, 0.1, -1.0].map(limit), [1.1, 1.5, 1.5, 10.0, 100.0]);
    }

    #[test]
    fn a_scale_does_not_end_where_there_are_no_determinants() {
        let geometry = Geometry::axis_aligned([100, 1, 1], DVec3::ONE, DVec3::ZERO);
        let limit = |known: usize| {
            let voxels = (0..100).map(|n| if n < known { 1.3 } else { f32::NAN }).collect();
            Scale::new(&Volume { geometry, voxels, pixel: PixelType::F32 }).limit
        };
        assert_eq!([100, 90, 0].map(limit), [1.5, 1.5, 1.1]);
    }

    #[test]
    fn beyond_the_image_is_black() {
        let geometry = Geometry::axis_aligned([9, 9, 1], DVec3::ONE, DVec3::ZERO);
        let jacobian = Volume { geometry, voxels: vec![1.0; 81], pixel: PixelType::F32 };
        let picture = draw(&View::flat(&geometry), &jacobian, Scale { limit: 2.0 });
        assert_eq!(picture.dimensions(), (16, 16));
        assert_eq!([(8, 8), (1, 8), (8, 14)].map(|(x, y)| picture.get_pixel(x, y).0), [ENDS[1], OUTSIDE, OUTSIDE]);
    }
}
