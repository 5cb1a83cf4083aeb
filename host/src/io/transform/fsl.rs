//! FLIRT's matrices. They map points of the moving image (`-in`) to points of the fixed image (`-ref`), each in mm of
//! its image: voxel indices times voxel size. If the axes of the image are right-handed in RAS ("neurological"),
//! indices along the first axis are counted from its other end. Sources: Jenkinson and Smith 2001; FSL's wiki,
//! FLIRT/FAQ.

use crate::error::{Message, message};
use glam::{DAffine3, DMat3, DVec3};

use super::grids::Grids;
use super::matrix;
use crate::Geometry;
use crate::transform::Linear;

pub fn read(text: &str, grids: &Grids) -> Result<Linear, Message> {
    let (fixed, moving) = grids.both().ok_or_else(|| {
        message!(
            "is read as an FSL matrix, whose mm are counted from a corner of each image";
            "name both images with ", Fixed, " and ", Moving, ", or convert it first"
        )
    })?;
    let map = matrix::map(matrix::rows(text)?)?;
    Ok(grids.about(&(own_to_world(moving) * map.inverse() * own_to_world(fixed).inverse())))
}

pub fn text(transform: &Linear, grids: &Grids) -> Result<String, Message> {
    let (fixed, moving) = grids.both().ok_or_else(
        || message!("FSL counts mm from a corner of each image"; "give ", Fixed, " and ", Moving, ", or write .tfm"),
    )?;
    let map = own_to_world(fixed).inverse() * transform.to_affine().inverse() * own_to_world(moving);
    Ok(matrix::text(&map))
}

/// Maps FSL's mm of an image to LPS mm.
fn own_to_world(grid: &Geometry) -> DAffine3 {
    let unscaled = DAffine3::from_mat3(DMat3::from_diagonal(grid.spacing.recip()));
    // LPS and RAS differ in two signs, so the determinant has the same sign in both.
    let right_handed = grid.direction.determinant() > 0.0;
    let last = (grid.size[0] as f64 - 1.0) * grid.spacing.x;
    let flip =
        DAffine3::from_mat3_translation(DMat3::from_diagonal(DVec3::new(-1.0, 1.0, 1.0)), DVec3::new(last, 0.0, 0.0));
    let own_to_scaled = if right_handed { flip } else { DAffine3::IDENTITY };
    grid.index_to_world() * unscaled * own_to_scaled
}
