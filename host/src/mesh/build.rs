//! Builds a regular mesh over the foreground of a picture.

use super::samples;
use crate::error::{Setting, message};
use crate::metric::{check, sampling};
use crate::plane::foreground::foreground_mask;
use crate::transform::Mesh;
use crate::{Error, Geometry, Result, Volume};
use glam::{DAffine3, DVec2, DVec3};

/// The fewest pixels of a triangle.
const LEAST: f64 = samples::LEAST as f64;
/// The fewest pixels of a triangle if the mesh chooses its own spacing.
const ENOUGH: f64 = 300.0;
/// Cells along the longer side of a picture if the mesh chooses its own spacing. There are fewer if triangles would
/// have less than [`ENOUGH`] pixels, or if cells would be longer than the shorter side: the triangles of a strip would
/// be slivers.
const CELLS: f64 = 16.0;
/// The fraction of a triangle that must be foreground.
const FILLED: f64 = 0.5;

impl Mesh {
    /// Builds a lattice of square cells over a picture, each cut into two triangles, and keeps the triangles of which
    /// at least half is foreground: where `mask`, on the picture's grid, is 0.5 or more or, without a mask, where
    /// pixels are brighter than the background. `start`, a map of points in LPS mm, places the corners in the moving
    /// picture.
    ///
    /// The side of a cell is `spacing` pixels or a bit more, so that cells fill the picture. Pixels that are not square
    /// count as squares of the same area. By default the side is a sixteenth of the picture's longer side, at most the
    /// shorter side, and at least what gives a triangle 300 pixels.
    ///
    /// # Errors
    /// [`Error::Option`] for a volume, a spacing that leaves triangles fewer than 50 pixels, a picture without
    /// foreground triangles, a mask on another grid, and a start that leads out of the plane or mirrors it.
    pub fn build(fixed: &Volume, start: &DAffine3, spacing: Option<f64>, mask: Option<&Volume>) -> Result<Self> {
        let lattice = Lattice::new(&fixed.geometry, spacing)?;
        let full = match mask {
            Some(mask) => {
                check::on_grid(Setting::FixedMask, mask, fixed)?;
                lattice.full(&sampling::inside(mask))
            }
            None => lattice.full(&foreground_mask(fixed, None)),
        };
        if !full.contains(&true) {
            let message = message!(
                "no triangle of the mesh lies on the fixed image: it is dark or masked out nearly everywhere";
                "check it and its mask, or use a smaller ", Spacing
            );
            return Err(Error::option(Setting::FixedMask, message));
        }
        let to_mm = fixed.geometry.index_to_world();
        let (points, triangles) = lattice.mesh(&full);
        let fixed: Vec<DVec2> = points.iter().map(|p| to_mm.transform_point3(p.extend(0.0)).truncate()).collect();
        let moved: Vec<DVec3> = fixed.iter().map(|p| start.transform_point3(p.extend(0.0))).collect();
        if moved.iter().any(|p| !p.is_finite() || p.z.abs() > 1e-6) {
            return Err(Error::option(
                Setting::Start,
                message!("the initial transform leads out of the image plane"; "start from a 2-D transform"),
            ));
        }
        let mesh = Self { fixed, moving: moved.iter().map(|p| p.truncate()).collect(), triangles };
        match mesh.least_area_ratio() > 0.0 {
            true => Ok(mesh),
            false => Err(Error::option(
                Setting::Start,
                message!("the initial transform mirrors the image"; "flip one of the images first"),
            )),
        }
    }
}

/// Cells over a picture, from the centre of the first pixel to that of the last one. Each is cut into two triangles.
struct Lattice {
    /// Pixels along x and y.
    size: [usize; 2],
    /// Cells along x and y.
    cells: [usize; 2],
    /// The sides of a cell along x and y, pixels.
    side: DVec2,
}

impl Lattice {
    fn new(geometry: &Geometry, spacing: Option<f64>) -> Result<Self> {
        let [width, height, slices] = geometry.size;
        if slices != 1 {
            return Err(Error::option(
                Setting::Fixed,
                message!(
                    "the fixed image has {slices} slices, and a mesh is for 2-D images";
                    "register volumes instead"
                ),
            ));
        }
        let least = (2.0 * LEAST).sqrt();
        let extent = DVec2::new(width as f64 - 1.0, height as f64 - 1.0);
        // Cells are square in mm. Their area is that of a square of `spacing` pixels a side.
        let pixel = geometry.spacing.truncate();
        let shape = (pixel.x * pixel.y).sqrt() / pixel;
        let sides = extent / shape;
        let automatic = (sides.max_element() / CELLS).min(sides.min_element()).max((2.0 * ENOUGH).sqrt());
        let spacing = spacing.unwrap_or(automatic);
        if !spacing.is_finite() || spacing < least {
            return Err(Error::option(
                Setting::Spacing,
                message!(
                    "a mesh with cells of {spacing} pixels is too fine: triangles need {LEAST} pixels";
                    "use a ", Spacing, " of {least} or more"
                ),
            ));
        }
        let cells = (extent / (shape * spacing)).floor().max(DVec2::ONE);
        let side = extent / cells;
        if side.x * side.y < 2.0 * LEAST {
            return Err(Error::option(
                Setting::Fixed,
                format!(
                    "the fixed image of {width} x {height} pixels is too small for a mesh: triangles need {LEAST} pixels"
                ),
            ));
        }
        Ok(Self { size: [width, height], cells: [cells.x as usize, cells.y as usize], side })
    }

    /// Returns for each triangle whether enough of its pixels are in `image`.
    fn full(&self, image: &[bool]) -> Vec<bool> {
        let mut counts = vec![[0_u32; 2]; 2 * self.cells[0] * self.cells[1]];
        for (pixel, &is) in image.iter().enumerate() {
            let at = DVec2::new((pixel % self.size[0]) as f64, (pixel / self.size[0]) as f64);
            let count = &mut counts[self.triangle(at)];
            *count = [count[0] + 1, count[1] + u32::from(is)];
        }
        counts.iter().map(|&[all, image]| f64::from(image) >= FILLED * f64::from(all) && image > 0).collect()
    }

    /// Returns the triangle at a position in pixels. Each cell has two, the upper one first.
    fn triangle(&self, at: DVec2) -> usize {
        let at = at / self.side;
        let [x, y] = [(at.x as usize).min(self.cells[0] - 1), (at.y as usize).min(self.cells[1] - 1)];
        let part = at - DVec2::new(x as f64, y as f64);
        let along = if rises(y) { part.x } else { 1.0 - part.x };
        2 * (x + self.cells[0] * y) + usize::from(along + part.y > 1.0)
    }

    /// Returns the corners, in pixels, and the triangles that are `kept`, all with the same orientation.
    fn mesh(&self, kept: &[bool]) -> (Vec<DVec2>, Vec<[u32; 3]>) {
        let columns = self.cells[0] + 1;
        let kept = kept.iter().enumerate().filter(|(_, kept)| **kept);
        let mut triangles: Vec<[u32; 3]> = kept.map(|(number, _)| self.corners(number)).collect();
        let mut numbers = vec![u32::MAX; columns * (self.cells[1] + 1)];
        let mut points = Vec::new();
        for corner in triangles.iter_mut().flatten() {
            let number = &mut numbers[*corner as usize];
            if *number == u32::MAX {
                *number = points.len() as u32;
                let at = [*corner as usize % columns, *corner as usize / columns];
                points.push(DVec2::new(at[0] as f64, at[1] as f64) * self.side);
            }
            *corner = *number;
        }
        (points, triangles)
    }

    /// Returns the corners of a triangle of the whole lattice.
    fn corners(&self, triangle: usize) -> [u32; 3] {
        let (cell, lower) = (triangle / 2, triangle % 2 == 1);
        let [x, y] = [cell % self.cells[0], cell / self.cells[0]];
        let at = |right: usize, down: usize| (x + right + (self.cells[0] + 1) * (y + down)) as u32;
        match (rises(y), lower) {
            (true, false) => [at(0, 0), at(1, 0), at(0, 1)],
            (true, true) => [at(1, 0), at(1, 1), at(0, 1)],
            (false, false) => [at(0, 0), at(1, 0), at(1, 1)],
            (false, true) => [at(0, 0), at(1, 1), at(0, 1)],
        }
    }
}

/// Whether the cells of a row are cut from the lower left to the upper right. Rows alternate, so that no direction is
/// preferred, and six triangles meet in every inner corner.
fn rises(row: usize) -> bool {
    row.is_multiple_of(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PixelType;
    use crate::transform::mesh::{Locator, corners};

    fn picture(size: [usize; 2], pixel: impl Fn(usize, usize) -> f32) -> Volume {
        let geometry = Geometry::axis_aligned([size[0], size[1], 1], DVec3::ONE, DVec3::ZERO);
        let voxels = (0..size[0] * size[1]).map(|n| pixel(n % size[0], n / size[0])).collect();
        Volume { geometry, voxels, pixel: PixelType::U8 }
    }

    fn build(picture: &Volume, spacing: Option<f64>) -> Result<Mesh> {
        Mesh::build(picture, &DAffine3::IDENTITY, spacing, None)
    }

    #[test]
    fn a_picture_without_border_is_covered_whole() {
        let picture = picture([101, 61], |x, y| 100.0 + (x * 7 + y * 3) as f32 % 50.0);
        let mesh = build(&picture, Some(20.0)).unwrap();
        assert_eq!((mesh.fixed.len(), mesh.triangles.len()), (6 * 4, 2 * 5 * 3));
        assert_eq!(mesh.least_area_ratio(), 1.0);
        let locator = Locator::new(&mesh.fixed, &mesh.triangles);
        assert!((0..101 * 61).all(|n| locator.find(DVec2::new((n % 101) as f64, (n / 101) as f64)).is_some()));
        let inner = mesh.fixed.iter().position(|&p| p == DVec2::new(40.0, 20.0)).unwrap() as u32;
        assert_eq!(mesh.triangles.iter().filter(|triangle| triangle.contains(&inner)).count(), 6);
    }

    #[test]
    fn rows_of_cells_are_cut_one_way_and_the_other_in_turns() {
        let mesh = build(&picture([101, 141], |x, y| 100.0 + (x * 7 + y * 3) as f32 % 50.0), Some(20.0)).unwrap();
        for triangle in &mesh.triangles {
            let [a, b, c] = corners(&mesh.fixed, triangle);
            let edges = [b - a, c - b, a - c];
            let cut = edges.into_iter().max_by(|a, b| a.length().total_cmp(&b.length())).unwrap();
            let row = ((a + b + c) / 3.0).y / 20.0;
            assert_eq!(cut.x * cut.y < 0.0, (row as usize).is_multiple_of(2), "row {row}");
        }
    }

    #[test]
    fn a_black_border_has_no_triangles() {
        let disc = |x: usize, y: usize| DVec2::new(x as f64, y as f64).distance(DVec2::new(200.0, 160.0)) < 140.0;
        let noise = |x: usize, y: usize| (x * 31 + y * 17) as f32 % 5.0;
        let retina = picture([401, 321], |x, y| if disc(x, y) { 60.0 + 20.0 * noise(x, y) } else { noise(x, y) });
        let mesh = build(&retina, None).unwrap();
        let middle = |t: &[u32; 3]| corners(&mesh.fixed, t).iter().sum::<DVec2>() / 3.0;
        let farthest = mesh.triangles.iter().map(|t| middle(t).distance(DVec2::new(200.0, 160.0))).fold(0.0, f64::max);
        assert!((125.0..145.0).contains(&farthest), "{farthest}");
        let area = mesh.triangles.len() as f64 * (400.0 / 16.0) * (320.0 / 12.0) / 2.0;
        assert!((area / (std::f64::consts::PI * 140.0 * 140.0) - 1.0).abs() < 0.05, "{area}");
        let mask = picture([401, 321], |x, _| f32::from(u8::from(x < 200)));
        let masked = Mesh::build(&retina, &DAffine3::IDENTITY, None, Some(&mask)).unwrap();
        assert_eq!(masked.triangles.len(), 8 * 12 * 2);
    }

    #[test]
    fn a_strip_has_triangles_no_longer_than_they_are_wide() {
        let strip = |size| picture(size, |x, y| 100.0 + (x * 7 + y * 3) as f32 % 50.0);
        for size in [[2000, 40], [40, 2000], [3000, 20], [2000, 12]] {
            let mesh = build(&strip(size), None).unwrap();
            let [a, b, c] = corners(&mesh.fixed, &mesh.triangles[0]);
            let box_ = a.max(b).max(c) - a.min(b).min(c);
            assert!(box_.max_element() < 2.5 * box_.min_element(), "{size:?}: {box_}");
        }
        let error = build(&strip([2000, 5]), None).unwrap_err().to_string();
        assert!(error.contains("2000 x 5 pixels is too small"), "{error}");
    }

    #[test]
    fn what_cannot_be_meshed_is_refused_in_a_line() {
        let good = picture([64, 64], |x, y| (x + y) as f32);
        let volume = Volume { geometry: Geometry { size: [64, 32, 2], ..good.geometry }, ..good.clone() };
        let mirror = DAffine3::from_scale(DVec3::new(-1.0, 1.0, 1.0));
        let tilt = DAffine3::from_rotation_x(0.1);
        let at = DAffine3::IDENTITY;
        let small = picture([9, 9], |x, _| x as f32);
        let mask = picture([64, 64], |_, _| 0.0);
        let cases = [
            (Mesh::build(&good, &at, Some(9.9), None), "a `spacing` of 10 or more"),
            (Mesh::build(&good, &at, Some(f64::NAN), None), "a `spacing` of 10 or more"),
            (Mesh::build(&volume, &at, None, None), "2-D"),
            (Mesh::build(&small, &at, None, None), "too small"),
            (Mesh::build(&good, &mirror, None, None), "mirrors"),
            (Mesh::build(&good, &tilt, None, None), "plane"),
            (Mesh::build(&good, &at, None, Some(&mask)), "mask"),
            (Mesh::build(&good, &at, None, Some(&small)), "grid"),
        ];
        for (outcome, says) in cases {
            let error = outcome.unwrap_err().to_string();
            assert!(error.contains(says) && error.lines().count() == 1, "{error}");
        }
        assert!(build(&good, Some(10.0)).is_ok());
    }
}
