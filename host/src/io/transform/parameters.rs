//! The linear transform types of ITK: their parameters, and the type for each kind of transform.

use glam::{DAffine3, DMat3, DQuat, DVec3};

use super::text::printable_line;
use crate::transform::{Dimension, Kind, Linear, rotation};

/// The largest permitted excess of a versor's length over 1.
const LONG: f64 = 1e-6;

/// Makes a transform of the parameters of an ITK transform of type `name`, such as `Euler3DTransform_double_3_3`.
pub fn linear(name: &str, parameters: &[f64], fixed: &[f64]) -> Result<Linear, String> {
    let unread = || {
        let name = printable_line(name);
        format!("holds a {name}, which mireg does not read; save it as an AffineTransform_double_3_3")
    };
    let parts: Vec<_> = name.split('_').collect();
    let (kind, dimension) = match parts[..] {
        [kind, "double" | "float", "2", "2"] => (kind, Dimension::Two),
        [kind, "double" | "float", "3", "3"] => (kind, Dimension::Three),
        _ => return Err(unread()),
    };
    let axes = dimension.axes();
    let count = match (kind, dimension) {
        ("IdentityTransform", _) => 0,
        ("TranslationTransform" | "ScaleTransform", _) => axes,
        ("AffineTransform" | "MatrixOffsetTransformBase", _) => axes * (axes + 1),
        ("Euler2DTransform" | "Rigid2DTransform", Dimension::Two) => 3,
        ("Similarity2DTransform", Dimension::Two) => 4,
        ("VersorTransform", Dimension::Three) => 3,
        ("Euler3DTransform" | "VersorRigid3DTransform", Dimension::Three) => 6,
        ("Similarity3DTransform" | "QuaternionRigidTransform", Dimension::Three) => 7,
        ("ScaleVersor3DTransform", Dimension::Three) => 9,
        ("Rigid3DTransform", Dimension::Three) => 12,
        ("ScaleSkewVersor3DTransform", Dimension::Three) => 15,
        _ => return Err(unread()),
    };
    if parameters.len() != count {
        return Err(format!("its {name} has {} parameters, not {count}; correct the file", parameters.len()));
    }
    let centre = match (kind, fixed) {
        ("TranslationTransform" | "IdentityTransform", _) | (_, []) => DVec3::ZERO,
        (_, &[x, y]) if axes == 2 => DVec3::new(x, y, 0.0),
        (_, &[x, y, z, ..]) if axes == 3 => DVec3::new(x, y, z),
        _ => return Err(format!("its {name} has a centre of {} numbers, not {axes}; correct the file", fixed.len())),
    };
    if kind.contains("Versor") || kind == "Similarity3DTransform" {
        short(parameters)?;
    }
    let zyx = fixed.get(3) == Some(&1.0);
    let kept = match kind {
        "TranslationTransform" => Kind::Translation,
        "Euler2DTransform" | "Rigid2DTransform" => Kind::Rigid,
        "Euler3DTransform" if !zyx => Kind::Rigid,
        "Similarity2DTransform" | "Similarity3DTransform" => Kind::Similarity,
        "AffineTransform" | "MatrixOffsetTransformBase" => Kind::Affine,
        _ => {
            let (matrix, translation) = converted(kind, dimension, parameters);
            let map = DAffine3::from_mat3_translation(matrix, translation + centre - matrix * centre);
            return Ok(Linear::new(Kind::Translation, dimension, centre, &map));
        }
    };
    Ok(Linear { kind: kept, dimension, parameters: parameters.to_vec(), centre })
}

fn short(versor: &[f64]) -> Result<(), String> {
    match DVec3::from_slice(versor).length() <= 1.0 + LONG {
        true => Ok(()),
        false => Err("its versor is longer than 1, so it is no rotation; correct the file".into()),
    }
}

/// The matrix and translation of an ITK type whose parameters are not those of any [`Kind`].
fn converted(kind: &str, dimension: Dimension, parameters: &[f64]) -> (DMat3, DVec3) {
    let vector = |at: usize| DVec3::from_slice(&parameters[at..at + 3]);
    let versor = || rotation::versor(vector(0));
    match kind {
        "VersorTransform" => (versor(), DVec3::ZERO),
        "VersorRigid3DTransform" => (versor(), vector(3)),
        // ITK adds scales and skews to the rotation.
        "ScaleVersor3DTransform" => (versor() + DMat3::from_diagonal(vector(6) - 1.0), vector(3)),
        "ScaleSkewVersor3DTransform" => {
            let [xy, xz, yx, yz, zx, zy] = std::array::from_fn(|n| parameters[9 + n]);
            let skews = DMat3::from_cols_array(&[0.0, yx, zx, xy, 0.0, zy, xz, yz, 0.0]);
            (versor() + DMat3::from_diagonal(vector(6) - 1.0) + skews, vector(3))
        }
        "QuaternionRigidTransform" => {
            let quaternion = DQuat::from_slice(&parameters[..4]).normalize();
            (DMat3::from_quat(quaternion), vector(4))
        }
        "Rigid3DTransform" => (DMat3::from_cols_slice(&parameters[..9]).transpose(), vector(9)),
        "Euler3DTransform" => (rotation::euler_zyx(vector(0)), vector(3)),
        "ScaleTransform" => {
            let along_z = if dimension == Dimension::Two { 1.0 } else { parameters[2] };
            (DMat3::from_diagonal(DVec3::new(parameters[0], parameters[1], along_z)), DVec3::ZERO)
        }
        _ => (DMat3::IDENTITY, DVec3::ZERO),
    }
}

/// ITK's type of a transform, and its fixed parameters.
pub fn named(transform: &Linear) -> (String, Vec<f64>) {
    let axes = transform.dimension.axes();
    let mut fixed = transform.centre.to_array()[..axes].to_vec();
    let kind = match transform.kind {
        Kind::Translation => {
            fixed.clear();
            "TranslationTransform".into()
        }
        Kind::Rigid => {
            // The fourth number is a flag: 0 for the rotation Rz Rx Ry, 1 for Rz Ry Rx.
            fixed.extend((axes == 3).then_some(0.0));
            format!("Euler{axes}DTransform")
        }
        Kind::Similarity => format!("Similarity{axes}DTransform"),
        Kind::Affine => "AffineTransform".into(),
    };
    (format!("{kind}_double_{axes}_{axes}"), fixed)
}

/// Composes the transforms of a file, given in its order. ITK applies the last one first.
pub fn composed(transforms: &[Linear]) -> Option<Linear> {
    transforms.iter().rev().cloned().reduce(|first, next| first.then(&next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_rotations_follows_the_flag() {
        let parameters = [0.3, -0.2, 0.9, 0.0, 0.0, 0.0];
        let matrix =
            |flag| linear("Euler3DTransform_double_3_3", &parameters, &[0.0, 0.0, 0.0, flag]).unwrap().matrix();
        assert!(matrix(0.0).abs_diff_eq(rotation::euler(DVec3::new(0.3, -0.2, 0.9)), 1e-15));
        assert!(matrix(1.0).abs_diff_eq(rotation::euler_zyx(DVec3::new(0.3, -0.2, 0.9)), 1e-15));
        assert!(!matrix(1.0).abs_diff_eq(matrix(0.0), 1e-3));
    }

    #[test]
    fn a_type_that_is_kept_keeps_its_parameters() {
        for (kind, dimension) in [
            (Kind::Translation, Dimension::Two),
            (Kind::Rigid, Dimension::Three),
            (Kind::Similarity, Dimension::Two),
            (Kind::Similarity, Dimension::Three),
            (Kind::Affine, Dimension::Three),
        ] {
            let axes = dimension.axes();
            let parameters: Vec<_> = (1..=kind.parameters(dimension)).map(|n| 0.1 * n as f64).collect();
            let centre = DVec3::from_array(std::array::from_fn(|n| if n < axes { n as f64 } else { 0.0 }));
            let given = Linear { kind, dimension, parameters, centre };
            let (name, fixed) = named(&given);
            let read = linear(&name, &given.parameters, &fixed).unwrap();
            assert_eq!(read.to_affine(), given.to_affine());
            assert_eq!((read.kind, read.dimension), (kind, dimension));
        }
    }

    #[test]
    fn other_types_and_wrong_counts_are_refused() {
        assert!(linear("BSplineTransform_double_3_3", &[], &[]).unwrap_err().contains("BSpline"));
        assert!(linear("Euler3DTransform_double_2_2", &[0.0; 6], &[]).is_err());
        assert!(linear("Euler3DTransform_double_3_3", &[0.0; 5], &[]).unwrap_err().contains("5 parameters, not 6"));
        assert!(linear("Euler3DTransform_double_3_3", &[0.0; 6], &[1.0]).is_err());
        assert!(linear("VersorTransform_double_3_3", &[1.0, 1.0, 0.0], &[]).unwrap_err().contains("versor"));
    }
}
