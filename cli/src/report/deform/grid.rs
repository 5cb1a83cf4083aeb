//! A regular grid of lines, as a deformation warps it.

use crate::report::html::view::View;
use glam::{DVec2, DVec3};
use std::fmt::Write;

/// About how many lines cross the longer side.
const LINES: u32 = 24;
/// Picture elements between the points of a line.
const STEP: usize = 3;

/// Returns the distance between lines in picture elements, which is the same in all views.
pub fn every(views: &[View]) -> u32 {
    let longest = views.iter().map(|view| view.width.max(view.height)).max().unwrap_or_default();
    (longest / LINES).max(1)
}

/// Returns lines along the rows and columns of the view's first slice, `every` picture elements apart, as a path of an
/// SVG. `there` maps a point of the slice, LPS mm, or returns `None` for a point outside the image. Points that leave
/// the slice are projected onto it along its normal.
pub fn path(view: &View, every: u32, there: impl Fn(DVec3) -> Option<DVec3>) -> String {
    let (width, height) = (view.width, view.height);
    let mut path = String::new();
    for y in lines(height, every) {
        line(&mut path, along(width).map(|x| there(view.point(0, x, y)).map(|point| view.place(point))));
    }
    for x in lines(width, every) {
        line(&mut path, along(height).map(|y| there(view.point(0, x, y)).map(|point| view.place(point))));
    }
    path
}

fn lines(length: u32, every: u32) -> impl Iterator<Item = u32> {
    (every / 2..length).step_by(every as usize)
}

/// Returns every [`STEP`]th picture element, and the last one.
fn along(length: u32) -> impl Iterator<Item = u32> {
    (0..length - 1).step_by(STEP).chain([length - 1])
}

/// Appends a line through the points to a path of an SVG. The line is interrupted where a point is missing.
fn line(path: &mut String, points: impl Iterator<Item = Option<DVec2>>) {
    let mut command = 'M';
    for point in points {
        command = match point {
            Some(point) => {
                let _ = write!(path, "{command}{:.1} {:.1}", point.x, point.y);
                'L'
            }
            None => 'M',
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mireg::Geometry;

    fn view() -> View {
        View::flat(&Geometry::axis_aligned([48, 24, 1], DVec3::ONE, DVec3::ZERO))
    }

    #[test]
    fn lines_are_as_far_apart_as_it_says() {
        let path = path(&view(), every(&[view()]), Some);
        assert_eq!((every(&[view()]), path.matches('M').count()), (2, 12 + 24));
        assert!(path.starts_with("M0.5 1.5L3.5 1.5L6.5 1.5"), "{path}");
        assert!(path.ends_with("L47.5 21.5L47.5 23.5"), "{path}");
    }

    #[test]
    fn lines_go_where_the_map_takes_them_and_end_where_the_image_does() {
        let shift = |point: DVec3| (point.x < 5.0).then_some(point + DVec3::new(2.0, 1.0, 9.0));
        assert!(path(&view(), 2, shift).starts_with("M2.5 2.5L5.5 2.5M2.5 4.5L"));
    }
}
