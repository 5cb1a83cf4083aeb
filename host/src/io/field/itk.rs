//! ITK's DisplacementFieldTransform, whose parameters are the vectors of the field.

use glam::{DMat3, DVec3};

use super::super::check;
use super::super::vectors::{channels, leaves_plane, numbers};
use super::super::voxels::Order;
use crate::transform::Field;

/// The dimensions of a field, from the name of an ITK transform type such as `DisplacementFieldTransform_double_3_3`.
/// `None` if the type is not a displacement field.
pub fn axes_of(name: &str) -> Option<usize> {
    // The types that registrations use, such as GaussianSmoothingOnUpdateDisplacementFieldTransform, have the same
    // contents in a file.
    match name.split('_').collect::<Vec<_>>()[..] {
        [kind, "double" | "float", "2", "2"] if kind.ends_with("DisplacementFieldTransform") => Some(2),
        [kind, "double" | "float", "3", "3"] if kind.ends_with("DisplacementFieldTransform") => Some(3),
        _ => None,
    }
}

/// Makes a field of `axes` dimensions. `fixed` holds size, origin and spacing, one number per axis, and the direction,
/// by rows. `parameters` are the `count` numbers of the vectors, in LPS mm, one vector after the other.
pub fn from_parameters(
    axes: usize,
    count: usize,
    mut parameters: impl Iterator<Item = f64>,
    fixed: &[f64],
) -> Result<Field, String> {
    let all = 3 * axes + axes * axes;
    if fixed.len() != all {
        return Err(format!(
            "its displacement field has {} fixed parameters, not {all}; correct the file",
            fixed.len()
        ));
    }
    let three = |part: usize, missing: f64| [0, 1, 2].map(|n| if n < axes { fixed[part * axes + n] } else { missing });
    let size = check::size(three(0, 1.0).map(|n| n as i64))?;
    let column = |n: usize| {
        let row =
            |row: usize| if row.max(n) < axes { fixed[3 * axes + row * axes + n] } else { DMat3::IDENTITY.col(n)[row] };
        DVec3::new(row(0), row(1), row(2))
    };
    let direction = DMat3::from_cols(column(0), column(1), column(2));
    let geometry = check::geometry(size, three(2, 1.0).into(), three(1, 0.0).into(), direction)?;
    let needed = size.iter().fold(axes as u128, |count, &n| count.saturating_mul(n as u128));
    if needed != count as u128 {
        return Err(format!("its displacement field has {count} parameters, not {needed}; correct the file"));
    }
    let mut number = |axis: usize| if axis < axes { parameters.next().unwrap_or(0.0) as f32 } else { 0.0 };
    let vectors = (0..count / axes).map(|_| [0, 1, 2].map(&mut number)).collect();
    let field = Field { geometry, vectors };
    match leaves_plane(&field) || field.vectors.as_flattened().iter().any(|n| !n.is_finite()) {
        true => Err("its displacement field leaves its one slice, or has numbers that are NaN or too large for f32; correct the file".into()),
        false => Ok(field),
    }
}

/// The type name of a field, its parameters as f32, and its fixed parameters.
pub fn to_parameters(field: &Field) -> (String, Vec<f32>, Vec<f64>) {
    let grid = &field.geometry;
    let axes = channels(grid);
    let [size, origin, spacing] = [DVec3::from_array(grid.size.map(|n| n as f64)), grid.origin, grid.spacing];
    let mut fixed: Vec<_> = [size, origin, spacing].iter().flat_map(|v| v.to_array().into_iter().take(axes)).collect();
    let rows = grid.direction.transpose().to_cols_array_2d();
    fixed.extend(rows[..axes].iter().flat_map(|row| &row[..axes]));
    (format!("DisplacementFieldTransform_double_{axes}_{axes}"), numbers(field, Order::Voxels), fixed)
}
