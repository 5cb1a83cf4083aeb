//! A linear map as the parameters that ITK gives it.

use super::{Dimension, Kind, Rigid, rotation};
use glam::{DAffine3, DMat3, DVec3};

/// Most by which a matrix may differ from one of a kind that is taken to be of that kind.
const SAME: f64 = 1e-9;

/// p -> A (p - centre) + centre + translation, LPS mm.
///
/// The parameters are those of ITK's transform of this kind, in its order:
///
/// | kind | three axes | two axes |
/// |---|---|---|
/// | translation | translation | translation |
/// | rigid | Euler3D: angles about x, y, z (A = Rz Rx Ry), translation | Euler2D: angle, translation |
/// | similarity | Similarity3D: versor, translation, scale | Similarity2D: scale, angle, translation |
/// | affine | Affine: A by rows, translation | Affine: A by rows, translation |
///
/// Angles are in radians, translations in mm.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    pub kind: Kind,
    pub dimension: Dimension,
    /// As many as [`Kind::parameters`] says.
    pub parameters: Vec<f64>,
    /// LPS mm; nothing to a translation.
    pub centre: DVec3,
}

impl Linear {
    /// The map that moves nothing.
    pub fn identity(kind: Kind, dimension: Dimension, centre: DVec3) -> Self {
        Self::new(kind, dimension, centre, &DAffine3::IDENTITY)
    }

    /// `map` as a map of `kind`, or of the first kind after it that can do what `map` does. In two axes, what happens to z is left out.
    pub fn new(kind: Kind, dimension: Dimension, centre: DVec3, map: &DAffine3) -> Self {
        let matrix = map.matrix3;
        let kind = kind.max(kind_of(&matrix));
        let translation = map.transform_point3(centre) - centre;
        Self { kind, dimension, parameters: parameters(kind, dimension, &matrix, translation), centre }
    }

    /// As a matrix.
    pub fn to_affine(&self) -> DAffine3 {
        let matrix = self.matrix();
        DAffine3::from_mat3_translation(matrix, self.centre + self.translation() - matrix * self.centre)
    }

    /// Where the centre goes, from the centre, mm.
    pub fn translation(&self) -> DVec3 {
        let axes = self.dimension.axes();
        let all = self.parameters.len();
        // Only a similarity of three axes has something behind it.
        let at = if (self.kind, axes) == (Kind::Similarity, 3) { 3 } else { all - axes };
        let n = |axis: usize| if axis < axes { self.parameters[at + axis] } else { 0.0 };
        DVec3::new(n(0), n(1), n(2))
    }

    /// A.
    pub fn matrix(&self) -> DMat3 {
        let p = &self.parameters[..];
        match (self.kind, self.dimension) {
            (Kind::Translation, _) => DMat3::IDENTITY,
            (Kind::Rigid, Dimension::Two) => rotation::plane(p[0]),
            (Kind::Rigid, Dimension::Three) => rotation::euler(DVec3::from_slice(p)),
            (Kind::Similarity, Dimension::Two) => rotation::plane(p[1]) * in_plane(p[0]),
            (Kind::Similarity, Dimension::Three) => rotation::versor(DVec3::from_slice(p)) * p[6],
            (Kind::Affine, Dimension::Two) => {
                DMat3::from_cols_array(&[p[0], p[2], 0.0, p[1], p[3], 0.0, 0.0, 0.0, 1.0])
            }
            (Kind::Affine, Dimension::Three) => DMat3::from_cols_slice(p).transpose(),
        }
    }
}

impl From<Rigid> for Linear {
    fn from(rigid: Rigid) -> Self {
        let parameters = [rigid.angles.to_array(), rigid.translation.to_array()].concat();
        Self { kind: Kind::Rigid, dimension: Dimension::Three, parameters, centre: rigid.centre }
    }
}

/// A scale of x and y.
fn in_plane(scale: f64) -> DMat3 {
    DMat3::from_diagonal(DVec3::new(scale, scale, 1.0))
}

/// The first kind that can do what a matrix does.
fn kind_of(matrix: &DMat3) -> Kind {
    let close = |a: &DMat3, b: &DMat3| a.abs_diff_eq(*b, SAME);
    let scale = scale_of(matrix, matrix.z_axis == DVec3::Z);
    let square = matrix.transpose() * *matrix;
    let alike = |scale: f64| close(&square, &DMat3::from_diagonal(DVec3::splat(scale * scale)));
    let alike_in_plane = close(&square, &(in_plane(scale) * in_plane(scale))) && matrix.z_axis == DVec3::Z;
    match () {
        () if close(matrix, &DMat3::IDENTITY) => Kind::Translation,
        () if matrix.determinant() <= 0.0 => Kind::Affine,
        () if alike(1.0) => Kind::Rigid,
        () if alike_in_plane || alike(scale) => Kind::Similarity,
        () => Kind::Affine,
    }
}

/// The scale of a similarity, of the plane or of space.
fn scale_of(matrix: &DMat3, plane: bool) -> f64 {
    let volume = matrix.determinant().abs();
    if plane { libm::sqrt(volume) } else { libm::cbrt(volume) }
}

fn parameters(kind: Kind, dimension: Dimension, matrix: &DMat3, translation: DVec3) -> Vec<f64> {
    let shift = &translation.to_array()[..dimension.axes()];
    let plane = dimension == Dimension::Two;
    let scale = scale_of(matrix, plane);
    let [a, b, c] = matrix.transpose().to_cols_array_2d();
    match kind {
        Kind::Translation => shift.to_vec(),
        Kind::Rigid if plane => [&[rotation::plane_angle(matrix)], shift].concat(),
        Kind::Rigid => [&rotation::euler_angles(matrix).to_array(), shift].concat(),
        Kind::Similarity if plane => [&[scale, rotation::plane_angle(matrix)], shift].concat(),
        Kind::Similarity => {
            let versor = rotation::versor_of(&(*matrix * scale.recip())).to_array();
            [&versor, shift, &[scale]].concat()
        }
        Kind::Affine if plane => [&a[..2], &b[..2], shift].concat(),
        Kind::Affine => [&a, &b, &c, shift].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Dimension::{Three, Two};

    fn map(matrix: DMat3, translation: DVec3) -> DAffine3 {
        DAffine3::from_mat3_translation(matrix, translation)
    }

    #[test]
    fn a_map_keeps_what_it_does_whatever_its_kind() {
        let turn = rotation::euler(DVec3::new(0.3, -1.0, 2.5));
        let stretch = DMat3::from_cols_array(&[1.1, 0.1, 0.0, 0.0, 0.9, 0.2, 0.0, -0.1, 1.2]);
        let shift = DVec3::new(5.0, -70.0, 11.0);
        let cases = [
            (DMat3::IDENTITY, Kind::Translation),
            (turn, Kind::Rigid),
            (turn * 0.7, Kind::Similarity),
            (turn * stretch, Kind::Affine),
            (-turn, Kind::Affine),
        ];
        for (matrix, least) in cases {
            for kind in [Kind::Translation, Kind::Rigid, Kind::Similarity, Kind::Affine] {
                let linear = Linear::new(kind, Three, DVec3::new(20.0, 30.0, -40.0), &map(matrix, shift));
                assert_eq!(linear.kind, kind.max(least));
                assert_eq!(linear.parameters.len(), linear.kind.parameters(Three));
                assert!(linear.to_affine().abs_diff_eq(map(matrix, shift), 1e-10), "{linear:?}");
            }
        }
    }

    #[test]
    fn a_map_of_the_plane_leaves_z_alone() {
        let turn = rotation::plane(2.0);
        let stretch = DMat3::from_cols_array(&[1.1, 0.1, 0.0, -0.3, 0.9, 0.0, 0.0, 0.0, 1.0]);
        let shift = DVec3::new(5.0, -70.0, 0.0);
        let cases = [(turn, Kind::Rigid), (turn * in_plane(0.8), Kind::Similarity), (turn * stretch, Kind::Affine)];
        for (matrix, kind) in cases {
            let linear = Linear::new(Kind::Translation, Two, DVec3::new(20.0, 30.0, 0.0), &map(matrix, shift));
            assert_eq!((linear.kind, linear.parameters.len()), (kind, kind.parameters(Two)));
            assert!(linear.to_affine().abs_diff_eq(map(matrix, shift), 1e-12), "{linear:?}");
        }
    }

    #[test]
    fn parameters_survive_a_second_time_to_the_last_bit_of_the_map() {
        let rigid = Rigid { angles: DVec3::new(0.1, 0.2, -0.3), translation: DVec3::ONE, centre: DVec3::splat(9.0) };
        let linear = Linear::from(rigid);
        assert_eq!(linear.to_affine(), rigid.to_affine());
    }
}
