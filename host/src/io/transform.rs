//! Transforms as ITK text files (`.tfm`, `.txt`): fixed point to moving point, LPS mm, as SimpleITK reads them.

use std::path::Path;

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::source::Source;
use super::{atomic, joined};
use crate::Error;
use crate::transform::{Linear, Rigid};

/// Longest line, and most lines, of a file.
const MOST: u64 = 1 << 16;

/// Writes a rigid `transform` as an `Euler3DTransform_double_3_3`, each number to the last bit.
///
/// # Errors
/// [`Error::File`] where the file cannot be written.
pub fn write_itk(path: &Path, transform: &Linear) -> crate::Result<()> {
    let parameters = joined(transform.parameters.iter().copied());
    // The last number says that the rotation is Rz Rx Ry and not Rz Ry Rx.
    let fixed = joined([&transform.centre.to_array()[..], &[0.0]].concat());
    let text = format!(
        "#Insight Transform File V1.0\n#Transform 0\nTransform: Euler3DTransform_double_3_3\n\
         Parameters: {parameters}\nFixedParameters: {fixed}\n"
    );
    atomic::write(path, &[text.as_bytes()])
}

/// Reads a file that holds one linear transform: Euler3D, VersorRigid3D, Similarity3D, Affine, MatrixOffsetTransformBase,
/// Translation or Identity, in double or float.
///
/// # Errors
/// [`Error::File`] for any other file.
pub fn read_itk(path: &Path) -> crate::Result<DAffine3> {
    let mut source = Source::open(path)?;
    let wrong = |message: String| Error::file(path, message);
    let mut lines = Vec::new();
    while let Some(line) = source.line(MOST)?.filter(|_| lines.len() < MOST as usize) {
        lines.push(line);
    }
    if !lines.first().is_some_and(|line| line.starts_with("#Insight Transform File")) {
        return Err(wrong("is not an ITK transform text file; save the transform as .tfm or .txt with ITK".into()));
    }
    let value = |key: &str| lines.iter().find_map(|line| line.strip_prefix(key)).unwrap_or_default().trim();
    if lines.iter().filter(|line| line.starts_with("Transform:")).count() != 1 {
        return Err(wrong("holds several transforms or none; save it as a single AffineTransform".into()));
    }
    let [parameters, fixed] = ["Parameters:", "FixedParameters:"].map(value).map(numbers);
    let map = linear(value("Transform:"), &parameters.map_err(wrong)?, &fixed.map_err(wrong)?).map_err(wrong)?;
    match map.is_finite() && map.matrix3.determinant() != 0.0 {
        true => Ok(map),
        false => Err(wrong("its matrix has no inverse; correct the file".into())),
    }
}

fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let number = |n: &str| n.parse().map_err(|_| format!("\"{n}\" in it is no number; correct the file"));
    text.split_whitespace().map(number).collect()
}

/// The map of an ITK transform of type `name`.
fn linear(name: &str, parameters: &[f64], fixed: &[f64]) -> Result<DAffine3, String> {
    let kind = ["_double_3_3", "_float_3_3"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let count = match kind {
        "Euler3DTransform" | "VersorRigid3DTransform" => 6,
        "Similarity3DTransform" => 7,
        "AffineTransform" | "MatrixOffsetTransformBase" => 12,
        "TranslationTransform" => 3,
        "IdentityTransform" => 0,
        _ => {
            return Err(format!("holds a {name}, which mireg does not read; save it as an AffineTransform_double_3_3"));
        }
    };
    if parameters.len() != count {
        return Err(format!("its {name} has {} parameters, not {count}; correct the file", parameters.len()));
    }
    let vector = |at: usize| DVec3::from_slice(&parameters[at..at + 3]);
    let centre = match (kind, fixed) {
        ("TranslationTransform" | "IdentityTransform", _) | (_, []) => DVec3::ZERO,
        (_, &[x, y, z, ..]) => DVec3::new(x, y, z),
        _ => return Err(format!("its {name} has a centre of {} numbers, not 3; correct the file", fixed.len())),
    };
    let (matrix, translation) = match kind {
        "Euler3DTransform" => (euler(vector(0), fixed.get(3) == Some(&1.0)), vector(3)),
        "VersorRigid3DTransform" => (versor(vector(0)), vector(3)),
        "Similarity3DTransform" => (versor(vector(0)) * parameters[6], vector(3)),
        "TranslationTransform" => (DMat3::IDENTITY, vector(0)),
        "IdentityTransform" => (DMat3::IDENTITY, DVec3::ZERO),
        _ => (DMat3::from_cols(vector(0), vector(3), vector(6)).transpose(), vector(9)),
    };
    Ok(DAffine3::from_mat3_translation(matrix, translation + centre - matrix * centre))
}

fn euler(angles: DVec3, zyx: bool) -> DMat3 {
    let about = |axis: usize| {
        let mut one = DVec3::ZERO;
        one[axis] = angles[axis];
        Rigid { angles: one, ..Rigid::identity(DVec3::ZERO) }.to_affine().matrix3
    };
    let [x, y, z] = [0, 1, 2].map(about);
    if zyx { z * y * x } else { z * x * y }
}

/// The rotation whose quaternion has this imaginary part.
fn versor(part: DVec3) -> DMat3 {
    let real = (1.0 - part.length_squared()).max(0.0).sqrt();
    DMat3::from_quat(DQuat::from_xyzw(part.x, part.y, part.z, real).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_rotations_follows_the_flag() {
        let angles = DVec3::new(0.3, -0.2, 0.9);
        let own = Rigid { angles, ..Rigid::identity(DVec3::ZERO) }.to_affine().matrix3;
        assert!(euler(angles, false).abs_diff_eq(own, 1e-15));
        assert!(!euler(angles, true).abs_diff_eq(own, 1e-3));
    }

    #[test]
    fn the_centre_stays_in_place_but_for_the_translation() {
        let centre = [10.0, -20.0, 30.0];
        let rotation = [0.1, 0.2, 0.3];
        let with =
            |name, more: &[f64]| linear(name, &[&rotation[..], &[1.0, 2.0, 3.0], more].concat(), &centre).unwrap();
        for map in [with("Euler3DTransform_double_3_3", &[]), with("VersorRigid3DTransform_float_3_3", &[])] {
            let moved = map.transform_point3(centre.into());
            assert!(moved.abs_diff_eq(DVec3::new(11.0, -18.0, 33.0), 1e-12));
            assert!((map.matrix3.determinant() - 1.0).abs() < 1e-12);
        }
        assert!((with("Similarity3DTransform_double_3_3", &[2.0]).matrix3.determinant() - 8.0).abs() < 1e-12);
    }

    #[test]
    fn an_affine_matrix_is_row_major() {
        let parameters = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 0.5, 0.6, 0.7];
        let map = linear("AffineTransform_double_3_3", &parameters, &[0.0; 3]).unwrap();
        assert!(map.transform_point3(DVec3::X).abs_diff_eq(DVec3::new(1.5, 4.6, 7.7), 1e-12));
    }

    #[test]
    fn other_types_and_wrong_counts_are_refused() {
        assert!(linear("BSplineTransform_double_3_3", &[], &[]).unwrap_err().contains("BSpline"));
        assert!(linear("AffineTransform_double_2_2", &[0.0; 6], &[]).is_err());
        assert!(linear("Euler3DTransform_double_3_3", &[0.0; 5], &[]).unwrap_err().contains("5 parameters, not 6"));
        assert!(linear("Euler3DTransform_double_3_3", &[0.0; 6], &[1.0]).is_err());
    }
}
