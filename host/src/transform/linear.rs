//! Linear maps by the parameters of ITK's transforms.

use super::kind::{Dimension, Kind};
use super::rigid::Rigid;
use super::rotation;
use glam::{DAffine3, DMat3, DVec3};

/// The largest difference between the elements of two matrices that are taken to be the same.
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
    /// The kind, which says what the parameters are.
    pub kind: Kind,
    /// Whether the map acts on two or on three axes.
    pub dimension: Dimension,
    /// As many as [`Kind::parameters`] says.
    pub parameters: Vec<f64>,
    /// The centre, LPS mm. It has no effect on a translation.
    pub centre: DVec3,
}

impl Linear {
    /// Returns the identity.
    pub fn identity(kind: Kind, dimension: Dimension, centre: DVec3) -> Self {
        Self::new(kind, dimension, centre, &DAffine3::IDENTITY)
    }

    /// Makes `map` a map of `kind`, or of the first kind after it that can represent it. In 2-D, what happens to z is
    /// left out.
    pub fn new(kind: Kind, dimension: Dimension, centre: DVec3, map: &DAffine3) -> Self {
        let matrix = if dimension == Dimension::Two { flat(&map.matrix3) } else { map.matrix3 };
        let kind = kind.max(kind_of(&matrix, dimension));
        let translation = map.transform_point3(centre) - centre;
        Self { kind, dimension, parameters: parameters(kind, dimension, &matrix, translation), centre }
    }

    /// Returns the inverse, as a map of the same kind about the point to which the centre goes.
    pub fn inverse(&self) -> Self {
        Self::new(self.kind, self.dimension, self.centre + self.translation(), &self.to_affine().inverse())
    }

    /// Returns the map that applies this one and then `next`, about the centre of the first of the two that has one.
    /// The kind is the larger of both or, if that cannot represent the result, the first that can: a 2-D similarity,
    /// for instance, is affine in 3-D.
    pub fn then(&self, next: &Self) -> Self {
        let dimension = if self.dimension == Dimension::Three { Dimension::Three } else { next.dimension };
        let centre = if self.kind == Kind::Translation { next.centre } else { self.centre };
        Self::new(self.kind.max(next.kind), dimension, centre, &(next.to_affine() * self.to_affine()))
    }

    /// Returns the map as a matrix.
    pub fn to_affine(&self) -> DAffine3 {
        if self.kind == Kind::Translation {
            return DAffine3::from_translation(self.translation());
        }
        let matrix = self.matrix();
        DAffine3::from_mat3_translation(matrix, self.centre + self.translation() - matrix * self.centre)
    }

    /// Returns the displacement of the centre, mm.
    pub fn translation(&self) -> DVec3 {
        let axes = self.dimension.axes();
        let all = self.parameters.len();
        // The translation comes last, except in a similarity of three axes, where the scale follows it.
        let at = if (self.kind, axes) == (Kind::Similarity, 3) { 3 } else { all - axes };
        let n = |axis: usize| if axis < axes { self.parameters[at + axis] } else { 0.0 };
        DVec3::new(n(0), n(1), n(2))
    }

    /// Returns the matrix A.
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

/// Returns a matrix that scales x and y.
fn in_plane(scale: f64) -> DMat3 {
    DMat3::from_diagonal(DVec3::new(scale, scale, 1.0))
}

/// Returns what a matrix does to x and y, with z unchanged.
fn flat(matrix: &DMat3) -> DMat3 {
    let DMat3 { x_axis: a, y_axis: b, .. } = matrix;
    DMat3::from_cols_array(&[a.x, a.y, 0.0, b.x, b.y, 0.0, 0.0, 0.0, 1.0])
}

/// Returns the first kind that can represent a matrix.
fn kind_of(matrix: &DMat3, dimension: Dimension) -> Kind {
    let plane = dimension == Dimension::Two;
    let scale = scale_of(matrix, plane);
    let unit =
        *matrix * if plane { in_plane(scale.recip()) } else { DMat3::from_diagonal(DVec3::splat(scale.recip())) };
    match () {
        () if matrix.abs_diff_eq(DMat3::IDENTITY, SAME) => Kind::Translation,
        () if matrix.determinant() <= 0.0 => Kind::Affine,
        () if !(unit.transpose() * unit).abs_diff_eq(DMat3::IDENTITY, SAME) => Kind::Affine,
        () if (scale - 1.0).abs() <= SAME => Kind::Rigid,
        () => Kind::Similarity,
    }
}

/// Returns the scale of a similarity, in the plane or in space.
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
    use std::f64::consts::FRAC_PI_2;

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

    /// One map of every kind and dimension.
    fn maps() -> Vec<Linear> {
        let parameters = [0.3, -0.2, 0.25, 4.0, -5.0, 6.0, 1.2];
        let affine = [1.1, 0.1, -0.2, 0.9, 0.05, 0.1, 0.3, -0.1, 1.2, 4.0, -5.0, 6.0];
        let kinds = [Kind::Translation, Kind::Rigid, Kind::Similarity, Kind::Affine];
        let of = |kind: Kind, dimension| {
            let count = kind.parameters(dimension);
            let parameters = if kind == Kind::Affine { affine[..count].to_vec() } else { parameters[..count].to_vec() };
            Linear { kind, dimension, parameters, centre: DVec3::new(20.0, -30.0, 0.0) }
        };
        kinds.into_iter().flat_map(|kind| [of(kind, Two), of(kind, Three)]).collect()
    }

    #[test]
    fn an_inverse_is_of_the_same_kind_and_undoes() {
        for linear in maps() {
            let inverse = linear.inverse();
            assert_eq!((inverse.kind, inverse.dimension), (linear.kind, linear.dimension));
            assert!((inverse.to_affine() * linear.to_affine()).abs_diff_eq(DAffine3::IDENTITY, 1e-12), "{linear:?}");
            assert!(inverse.inverse().to_affine().abs_diff_eq(linear.to_affine(), 1e-12), "{linear:?}");
        }
    }

    #[test]
    fn a_rigid_map_stays_one_however_often_it_is_inverted() {
        let rigid = Linear { parameters: vec![FRAC_PI_2 - 1e-7, 2.0, -3.0, 400.0, 5.0, 6.0], ..maps()[3].clone() };
        let often = (0..1000).fold(rigid.clone(), |linear, _| linear.inverse());
        let square = often.matrix().transpose() * often.matrix();
        assert!(square.abs_diff_eq(DMat3::IDENTITY, 1e-15), "{square}");
        assert!(often.to_affine().abs_diff_eq(rigid.to_affine(), 1e-10));
    }

    #[test]
    fn a_composition_does_one_after_the_other_and_is_of_the_larger_kind() {
        for first in maps() {
            for next in maps().into_iter().filter(|next| next.dimension == first.dimension) {
                let both = first.then(&next);
                assert_eq!((both.kind, both.dimension), (first.kind.max(next.kind), first.dimension));
                let expected = next.to_affine() * first.to_affine();
                assert!(both.to_affine().abs_diff_eq(expected, 1e-12), "{first:?}, {next:?}");
            }
        }
    }

    #[test]
    fn a_similarity_of_the_plane_is_affine_in_space() {
        let [translation, plane] = [1, 4].map(|n| maps().swap_remove(n));
        assert_eq!((translation.dimension, plane.dimension, plane.kind), (Three, Two, Kind::Similarity));
        let both = translation.then(&plane);
        assert_eq!((both.kind, both.dimension), (Kind::Affine, Three));
        assert!(both.to_affine().abs_diff_eq(plane.to_affine() * translation.to_affine(), 1e-12));
    }

    #[test]
    fn parameters_survive_a_second_time_to_the_last_bit_of_the_map() {
        let rigid = Rigid { angles: DVec3::new(0.1, 0.2, -0.3), translation: DVec3::ONE, centre: DVec3::splat(9.0) };
        let linear = Linear::from(rigid);
        assert_eq!(linear.to_affine(), rigid.to_affine());
    }
}
