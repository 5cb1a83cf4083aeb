//! ITK's DisplacementFieldTransform, the parameters of which are the vectors.

use glam::{DMat3, DVec3};

use super::super::check;
use super::super::vectors::leaves_plane;
use crate::transform::Field;

/// The axes of the field that an ITK transform of this type is, such as `DisplacementFieldTransform_double_3_3`; none of another type.
pub fn axes_of(name: &str) -> Option<usize> {
    // Those of registrations, such as GaussianSmoothingOnUpdateDisplacementFieldTransform, are the same in a file.
    match name.split('_').collect::<Vec<_>>()[..] {
        [kind, "double" | "float", "2", "2"] if kind.ends_with("DisplacementFieldTransform") => Some(2),
        [kind, "double" | "float", "3", "3"] if kind.ends_with("DisplacementFieldTransform") => Some(3),
        _ => None,
    }
}

/// The field of so many axes. `fixed` are size, origin and spacing, one number per axis, and direction, by rows; `parameters` the vectors,
/// LPS mm, all numbers of one after the other.
pub fn from_parameters(axes: usize, parameters: &[f64], fixed: &[f64]) -> Result<Field, String> {
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
    if needed != parameters.len() as u128 {
        let found = parameters.len();
        return Err(format!("its displacement field has {found} parameters, not {needed}; correct the file"));
    }
    let vector = |vector: &[f64]| [0, 1, 2].map(|n| vector.get(n).map_or(0.0, |&n| n as f32));
    let field = Field { geometry, vectors: parameters.chunks(axes).map(vector).collect() };
    match leaves_plane(&field) || field.vectors.as_flattened().iter().any(|n| !n.is_finite()) {
        true => Err("its displacement field leaves its one slice or is too large for f32; correct the file".into()),
        false => Ok(field),
    }
}
