//! A regular grid of lines, and where a deformation takes it.

use crate::report::html::view::View;
use glam::{DVec2, DVec3};
use std::fmt::Write;

/// Lines across the longer side, about.
const LINES: u32 = 24;
/// Picture elements between the points of a line.
const STEP: usize = 3;

/// Picture elements from line to line, in all views.
pub fn every(views: &[View]) -> u32 {
    let longest = views.iter().map(|view| view.width.max(view.height)).max().unwrap_or_default();
    (longest / LINES).max(1)
}

/// Lines along the rows and columns of the view's first slice, so many elements apart, as a path of an SVG. `there` says where a point of the slice goes, LPS mm, or
/// that it is not part of the image; what leaves the slice is drawn where it is seen along the slice's normal.
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

/// Every so many elements, and the last one.
fn along(length: u32) -> impl Iterator<Item = u32> {
    (0..length - 1).step_by(STEP).chain([length - 1])
}

/// Goes on where the points go on, and begins anew after a gap.
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
