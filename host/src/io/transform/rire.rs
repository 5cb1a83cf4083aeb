//! RIRE's standards: the eight corners of the fixed image ("From") and their positions in the moving image ("To"). Both
//! are in mm along the axes of the image from the centre of its first voxel (West et al. 1997).

use crate::error::{Message, message};
use std::fmt::Write;

use glam::{DAffine3, DMat3, DVec3};

use super::grids::Grids;
use super::text::{check_last_line, numbers};
use crate::Geometry;
use crate::transform::Linear;

/// The largest distance of a corner from its position by the map that fits all corners, mm. Tables have four decimals.
const TOLERANCE_MM: f64 = 0.01;

pub fn read(text: &str, grids: &Grids) -> Result<Linear, Message> {
    let (fixed, moving) = grids.both().ok_or_else(|| {
        message!(
            "is a RIRE transform, whose mm are counted from the first voxel of each image";
            "name both images with ", Fixed, " and ", Moving, ", or convert it first"
        )
    })?;
    check_last_line(text)?;
    let points: Vec<[DVec3; 2]> = text.lines().filter_map(row).collect();
    if points.len() != 8 {
        let rows = points.len();
        return Err(message!(
            "has {rows} rows of a point's number, x, y, z, new_x, new_y and new_z, not 8";
            "correct the file"
        ));
    }
    let map = fit(&points);
    let miss = |[from, to]: &[DVec3; 2]| map.transform_point3(*from).distance(*to);
    // Written such that NaN counts as a miss.
    if !points.iter().all(|pair| miss(pair) <= TOLERANCE_MM) {
        return Err(message!("no linear map takes its eight points to the new ones"; "correct the file"));
    }
    Ok(grids.about(&(own_to_world(moving) * map * own_to_world(fixed).inverse())))
}

/// The two points on a line of a number and six coordinates.
fn row(line: &str) -> Option<[DVec3; 2]> {
    let numbers: [f64; 7] = numbers(line).ok()?.try_into().ok()?;
    Some([DVec3::from_slice(&numbers[1..4]), DVec3::from_slice(&numbers[4..])])
}

/// The linear map with the least sum of squared distances.
fn fit(points: &[[DVec3; 2]]) -> DAffine3 {
    let count = points.len() as f64;
    let mean = |side: usize| points.iter().map(|pair| pair[side]).sum::<DVec3>() / count;
    let [from, to] = [mean(0), mean(1)];
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let sum = |side: usize, middle: DVec3| {
        points.iter().fold(DMat3::ZERO, |sum, pair| sum + outer(pair[side] - middle, pair[0] - from))
    };
    let matrix = sum(1, to) * sum(0, from).inverse();
    DAffine3::from_mat3_translation(matrix, to - matrix * from)
}

pub fn text(transform: &Linear, grids: &Grids) -> Result<String, Message> {
    let (fixed, moving) = grids.both().ok_or_else(|| {
        message!(
            "RIRE counts mm from the first voxel of each image";
            "give ", Fixed, " and ", Moving, ", or write .tfm"
        )
    })?;
    let from_world = own_to_world(fixed).inverse();
    let map = own_to_world(moving).inverse() * transform.to_affine();
    let mut text = format!(
        "Transformation Parameters\n\nPoint{}\n\n",
        [" x", " y", " z", " new_x", " new_y", " new_z"].map(|name| format!("{name:>18}")).concat()
    );
    for (number, corner) in fixed.corners().into_iter().enumerate() {
        let [from, to] = [from_world, map].map(|map| map.transform_point3(corner).to_array());
        let columns: String = from.iter().chain(&to).map(|x| format!("{x:>18.10}")).collect();
        let _ = writeln!(text, "{:>5}{columns}", number + 1);
    }
    Ok(text + "\n(All distances are in millimeters.)\n")
}

/// Maps RIRE's mm of an image to LPS mm.
fn own_to_world(grid: &Geometry) -> DAffine3 {
    DAffine3::from_mat3_translation(grid.direction, grid.origin)
}
