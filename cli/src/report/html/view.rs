//! Planes through the patient, as radiologists look at them: from below, from in front and from the left.

use glam::{DMat3, DVec2, DVec3};
use mireg::Geometry;

/// Picture elements along the longest side, of volumes and of flat images.
const VOLUME_SIDE: f64 = 256.0;
const FLAT_SIDE: f64 = 640.0;
/// The same for a thumbnail.
const SMALL_SIDE: f64 = 96.0;
/// The slices are spread over this fraction of the image, around its middle.
const REACH: f64 = 0.7;
/// Sides are multiples of this, so that no block of a JPEG covers two slices.
const BLOCK: f64 = 8.0;

/// Parallel slices of one orientation. Picture elements are square.
#[derive(Debug, Clone, PartialEq)]
pub struct View {
    pub name: &'static str,
    /// What lies at the picture's left, right, top and bottom; nothing for flat images, which may show no patient.
    pub edges: [&'static str; 4],
    /// The LPS axis that the slices are stacked along.
    pub axis: &'static str,
    /// Where the slices cross that axis, LPS mm.
    pub offsets: Vec<f64>,
    /// Picture elements of a slice along its rows and columns.
    pub width: u32,
    pub height: u32,
    /// The side of a picture element, mm.
    pub mm: f64,
    /// Unit vectors in LPS: along the rows, along the columns, and along the stack of slices.
    right: DVec3,
    down: DVec3,
    normal: DVec3,
    /// The middle of the fixed image, LPS mm.
    middle: DVec3,
}

impl View {
    /// Returns axial, coronal and sagittal views of the fixed image with `slices` each. A 2-D image has one view, of
    /// itself.
    pub fn all(fixed: &Geometry, slices: usize) -> Vec<Self> {
        let (x, y, z) = (DVec3::X, DVec3::Y, DVec3::Z);
        if fixed.is_flat() {
            return vec![Self::flat(fixed)];
        }
        let view = |name, edges, axes| Self::new(name, edges, axes, fixed, slices, VOLUME_SIDE);
        vec![
            view("Axial", ["R", "L", "A", "P"], [x, y, z]),
            view("Coronal", ["R", "L", "H", "F"], [x, -z, y]),
            view("Sagittal", ["A", "P", "H", "F"], [y, -z, x]),
        ]
    }

    /// Returns the middle axial slice of an image, or all of a 2-D image, with few picture elements.
    pub fn small(fixed: &Geometry) -> Self {
        let axes = if fixed.is_flat() { Self::plane(fixed) } else { [DVec3::X, DVec3::Y, DVec3::Z] };
        Self::new("", [""; 4], axes, fixed, 1, SMALL_SIDE)
    }

    /// Returns the view of a 2-D image.
    pub fn flat(geometry: &Geometry) -> Self {
        Self::new("Image", [""; 4], Self::plane(geometry), geometry, 1, FLAT_SIDE)
    }

    /// Returns the directions of a 2-D image: to the right, down, and along its normal.
    fn plane(geometry: &Geometry) -> [DVec3; 3] {
        let DMat3 { x_axis: right, y_axis: down, .. } = geometry.direction;
        match geometry.is_slice_in_space() {
            true => [right, down, right.cross(down)],
            false => [DVec3::X, DVec3::Y, DVec3::Z],
        }
    }

    fn new(
        name: &'static str,
        edges: [&'static str; 4],
        [right, down, normal]: [DVec3; 3],
        fixed: &Geometry,
        slices: usize,
        side: f64,
    ) -> Self {
        let (extent, middle) = (extent(fixed), fixed.centre());
        // All views have the same scale. The depth of a 2-D image is not drawn, so it does not count.
        let longest = if fixed.is_flat() { along(fixed, right).max(along(fixed, down)) } else { extent.max_element() };
        let mm = fixed.spacing_range()[0].max(longest / side);
        let elements = |axis: DVec3| ((along(fixed, axis) / mm / BLOCK).ceil().max(1.0) * BLOCK) as u32;
        let offset = |n: usize| {
            let part = if slices > 1 { n as f64 / (slices - 1) as f64 - 0.5 } else { 0.0 };
            (middle + extent * (REACH * part)).dot(normal)
        };
        Self {
            name,
            edges,
            axis: ["x", "y", "z"][normal.abs().max_position()],
            offsets: (0..slices).map(offset).collect(),
            width: elements(right),
            height: elements(down),
            mm,
            right,
            down,
            normal,
            middle,
        }
    }

    /// Returns the step from a picture element to the next one in its row, LPS mm.
    pub fn across(&self) -> DVec3 {
        self.right * self.mm
    }

    /// Returns the middle of a picture element, LPS mm.
    pub fn point(&self, slice: usize, x: u32, y: u32) -> DVec3 {
        let from_middle = |n: u32, all: u32| (f64::from(n) + 0.5 - f64::from(all) / 2.0) * self.mm;
        let depth = self.offsets[slice] - self.middle.dot(self.normal);
        self.middle
            + self.right * from_middle(x, self.width)
            + self.down * from_middle(y, self.height)
            + self.normal * depth
    }

    /// Returns the position of a point of the middle slice, in picture elements from the upper left corner.
    pub fn place(&self, point: DVec3) -> DVec2 {
        let from_middle = (point - self.middle) / self.mm;
        let half = DVec2::new(f64::from(self.width), f64::from(self.height)) / 2.0;
        DVec2::new(from_middle.dot(self.right), from_middle.dot(self.down)) + half
    }
}

/// Returns the lengths along the LPS axes of the box around all voxels, mm.
fn extent(geometry: &Geometry) -> DVec3 {
    DVec3::from_array(DVec3::AXES.map(|axis| along(geometry, axis)))
}

/// Returns the length along an axis of the box around all voxels, mm.
fn along(geometry: &Geometry, axis: DVec3) -> f64 {
    let map = geometry.index_to_world().matrix3;
    // The depth of a single slice does not count.
    let axes = if geometry.is_slice_in_space() { 0..2 } else { 0..3 };
    axes.map(|n| map.col(n).dot(axis).abs() * geometry.size[n] as f64).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_slices_go_through_the_middle() {
        let geometry = Geometry {
            size: [40, 30, 20],
            spacing: DVec3::new(1.0, 1.0, 3.0),
            origin: DVec3::new(-7.0, 3.0, 90.0),
            direction: DMat3::from_cols(DVec3::Y, -DVec3::Z, -DVec3::X),
        };
        for view in View::all(&geometry, 7) {
            let [a, b] = [(0, 0), (view.width - 1, view.height - 1)].map(|(x, y)| view.point(3, x, y));
            assert!(((a + b) / 2.0).abs_diff_eq(geometry.centre(), 1e-9), "{view:?}");
            assert!(view.place(a).abs_diff_eq(DVec2::splat(0.5), 1e-9), "{view:?}");
            assert_eq!((view.width % 8, view.height % 8, view.mm), (0, 0, 1.0));
        }
        let sizes: Vec<_> = View::all(&geometry, 1).iter().map(|view| (view.width, view.height)).collect();
        assert_eq!(sizes, [(64, 40), (64, 32), (40, 32)]);
    }

    #[test]
    fn large_images_become_small_pictures() {
        let geometry = Geometry::axis_aligned([4000, 2000, 1], DVec3::splat(0.1), DVec3::ZERO);
        let views = View::all(&geometry, 7);
        assert_eq!(views.len(), 1);
        assert_eq!((views[0].width, views[0].height, views[0].offsets.len()), (640, 320, 1));
    }
}
