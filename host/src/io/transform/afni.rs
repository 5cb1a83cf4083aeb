//! AFNI's matrices: three rows of four numbers, on one line (`.aff12.1D`) or on three. They map points of the base,
//! which is the fixed image, to points of the input, in DICOM order, which is LPS mm. AFNI measures coordinates of an
//! oblique image as if its axes were turned to the nearest axes of space, about the first voxel. Sources:
//! `3dAllineate -help` on -1Dmatrix_save; nitransforms, io/afni.py.

use crate::error::{Message, message};
use glam::{DAffine3, DMat3, DVec3};

use super::super::number::joined;
use super::grids::Grids;
use super::matrix::{map, rows_of};
use super::text::{check_last_line, numbers};
use crate::Geometry;
use crate::transform::Linear;

/// A text that occurs in the comment above AFNI's matrices.
pub const MATRICES: &str = "DICOM-to-DICOM";

pub fn read(text: &str, grids: &Grids) -> Result<Linear, Message> {
    let (fixed, moving) = grids.both().ok_or_else(|| {
        message!(
            "is an AFNI matrix, whose mm are counted as if no image were oblique";
            "name both images with ", Fixed, " and ", Moving, ", or convert it first"
        )
    })?;
    check_last_line(text)?;
    let (comments, lines): (Vec<_>, Vec<_>) =
        text.lines().map(str::trim).filter(|line| !line.is_empty()).partition(|line| line.starts_with('#'));
    if comments.iter().any(|comment| comment.contains("parameters")) {
        return Err("holds shifts, angles and scales of 3dAllineate; give what -1Dmatrix_save writes".into());
    }
    let rows = lines.iter().map(|line| numbers(line)).collect::<Result<Vec<_>, _>>()?;
    if rows.len() > 1 && rows.iter().all(|row| row.len() == 12) {
        let count = rows.len();
        return Err(message!("holds {count} matrices, one per volume of a series"; "keep the line of one of them"));
    }
    let all = rows.concat();
    let &[a, b, c] = all.as_chunks().0 else { return Err(no_matrix()) };
    if all.len() != 12 || !(rows.len() == 1 || rows.iter().all(|row| row.len() == 4)) {
        return Err(no_matrix());
    }
    let map = map([a, b, c, [0.0, 0.0, 0.0, 1.0]])?;
    Ok(grids.about(&(upright(moving).inverse() * map * upright(fixed))))
}

fn no_matrix() -> Message {
    "is not a matrix of AFNI, a line of 12 numbers or three of 4; correct the file, or name another format".into()
}

pub fn text(transform: &Linear, grids: &Grids) -> Result<String, Message> {
    let (fixed, moving) = grids.both().ok_or_else(|| {
        message!(
            "AFNI counts mm as if no image were oblique";
            "give ", Fixed, " and ", Moving, ", or write .tfm"
        )
    })?;
    let map = upright(moving) * transform.to_affine() * upright(fixed).inverse();
    let rows = rows_of(&map);
    Ok(format!("# 3dAllineate matrices ({MATRICES}, row-by-row):\n{}\n", joined(rows[..3].concat())))
}

/// Maps LPS mm of an image to AFNI's coordinates. They are the same if the image is not oblique.
fn upright(grid: &Geometry) -> DAffine3 {
    let turn = nearest_axes(grid.direction) * grid.direction.transpose();
    DAffine3::from_mat3_translation(turn, grid.origin - turn * grid.origin)
}

/// The axes of space, each with its sign, that are nearest to the given directions in sum.
fn nearest_axes(direction: DMat3) -> DMat3 {
    let columns = direction.to_cols_array_2d();
    let along = |axes: &[usize; 3]| -> f64 { (0..3).map(|n| columns[n][axes[n]].abs()).sum() };
    let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let best = orders.into_iter().max_by(|a, b| along(a).total_cmp(&along(b))).unwrap_or([0, 1, 2]);
    let column = |n: usize| DVec3::AXES[best[n]] * columns[n][best[n]].signum();
    DMat3::from_cols(column(0), column(1), column(2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upright_axes_are_the_nearest() {
        let signed = DMat3::from_cols(DVec3::NEG_Y, DVec3::Z, DVec3::NEG_X);
        assert_eq!(nearest_axes(signed), signed);
        assert_eq!(nearest_axes(DMat3::from_rotation_x(0.7) * signed), signed);
        // The first two directions are both nearest to y.
        let both = DMat3::from_cols(DVec3::new(0.1, 0.9, 0.0), DVec3::new(0.5, 0.6, 0.6), DVec3::new(0.7, 0.1, 0.6));
        assert_eq!(nearest_axes(both), DMat3::from_cols(DVec3::Y, DVec3::Z, DVec3::X));
    }

    #[test]
    fn an_image_along_the_axes_of_space_counts_like_lps() {
        let grid = Geometry::axis_aligned([4; 3], DVec3::new(1.0, 2.0, 3.0), DVec3::new(-3.3, 4.7, 100.1));
        assert_eq!(upright(&grid), DAffine3::IDENTITY);
        let turned = Geometry { direction: DMat3::from_rotation_z(0.2), ..grid };
        let found = upright(&turned).transform_point3(turned.index_to_world().transform_point3(DVec3::ONE));
        assert!(found.abs_diff_eq(grid.index_to_world().transform_point3(DVec3::ONE), 1e-12));
    }
}
