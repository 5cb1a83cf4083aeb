//! Fits a linear map to pairs of points.

use super::kind::Kind;
use super::rotation;
use glam::{DAffine3, DMat3, DVec3};

/// Fits the map of a kind that takes the first point of each pair closest to the second one, by least squares. If the
/// points are `flat`, all with the same z, it leaves z unchanged. Returns `None` if the first points do not determine
/// it: if they lie in a plane or, if flat, on a line; for a translation, if there are no pairs.
pub(crate) fn nearest_linear(kind: Kind, pairs: &[(DVec3, DVec3)], flat: bool) -> Option<DAffine3> {
    let mean = |point: fn(&(DVec3, DVec3)) -> DVec3| pairs.iter().map(point).sum::<DVec3>() / pairs.len() as f64;
    let (from, to) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
    let upright = if flat { outer(DVec3::Z, DVec3::Z) } else { DMat3::ZERO };
    let (across, along) = pairs
        .iter()
        .map(|(p, q)| (*p - from, *q - to))
        .fold((upright, upright), |(across, along), (p, q)| (across + outer(q, p), along + outer(p, p)));
    let matrix = match kind {
        Kind::Translation => DMat3::IDENTITY,
        Kind::Rigid => rotation::nearest(&across),
        Kind::Similarity => {
            let turn = rotation::nearest(&across);
            let trace = |matrix: DMat3| (matrix - upright).to_cols_array().iter().step_by(4).sum::<f64>();
            let scale = trace(turn.transpose() * across) / trace(along);
            turn * (upright + (DMat3::IDENTITY - upright) * scale)
        }
        Kind::Affine => across * along.inverse(),
    };
    let map = DAffine3::from_mat3_translation(matrix, to - matrix * from);
    map.is_finite().then_some(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_pairs_share_is_found() {
        let matrix = DMat3::from_cols(DVec3::new(1.1, 0.1, 0.0), DVec3::new(-0.2, 0.9, 0.3), DVec3::new(0.0, 0.1, 1.2));
        let map = DAffine3::from_mat3_translation(matrix, DVec3::new(40.0, -7.0, 120.0));
        let points =
            (0..27).map(|n| DVec3::new(f64::from(n % 3), f64::from(n / 3 % 3), f64::from(n / 9)) * 50.0 + 900.0);
        // Odd in x, y and z about the centre, so that it has no affine part.
        let wave = |p: DVec3| {
            let q = (p - 950.0) / 50.0;
            DVec3::X * q.x * q.y * q.z
        };
        let pairs: Vec<_> = points.map(|p| (p, map.transform_point3(p) + wave(p))).collect();
        let found = nearest_linear(Kind::Affine, &pairs, false).unwrap();
        assert!(found.abs_diff_eq(map, 1e-9), "{found:?}");
    }

    #[test]
    fn flat_points_keep_their_z() {
        let pairs = [DVec3::ZERO, DVec3::X, DVec3::Y].map(|p| (p, DVec3::new(2.0 * p.x, p.x - p.y, 0.0)));
        let matrix = DMat3::from_cols(DVec3::new(2.0, 1.0, 0.0), -DVec3::Y, DVec3::Z);
        let found = nearest_linear(Kind::Affine, &pairs, true).unwrap();
        assert!(found.abs_diff_eq(DAffine3::from_mat3(matrix), 1e-12), "{found:?}");
        assert_eq!(nearest_linear(Kind::Affine, &pairs, false), None);
    }

    #[test]
    fn a_kind_keeps_to_what_it_may_do() {
        let turn = rotation::euler(DVec3::new(0.3, -0.2, 0.7));
        // Symmetric about the centre along every axis, so that a stretch causes no rotation.
        let points = || (0..27).map(|n| DVec3::new(f64::from(n % 3), f64::from(n / 3 % 3), f64::from(n / 9)) * 40.0);
        let pairs = |map: DAffine3| points().map(|p| (p, map.transform_point3(p))).collect::<Vec<_>>();
        let stretched = turn * DMat3::from_diagonal(DVec3::new(1.2, 1.0, 0.8));
        let map = DAffine3::from_mat3_translation(stretched, DVec3::new(5.0, 6.0, 7.0));
        let found = |kind| nearest_linear(kind, &pairs(map), false).unwrap();
        assert!(found(Kind::Rigid).matrix3.abs_diff_eq(turn, 1e-9));
        assert!(found(Kind::Similarity).matrix3.abs_diff_eq(turn, 1e-9));
        assert_eq!(found(Kind::Translation).matrix3, DMat3::IDENTITY);
        let middle = DVec3::splat(40.0);
        for kind in [Kind::Translation, Kind::Rigid, Kind::Similarity] {
            assert!(found(kind).transform_point3(middle).abs_diff_eq(map.transform_point3(middle), 1e-9), "{kind:?}");
        }
        let grown = DAffine3::from_mat3_translation(turn * 1.3, DVec3::X);
        assert!(nearest_linear(Kind::Similarity, &pairs(grown), false).unwrap().abs_diff_eq(grown, 1e-9));
        let in_plane = rotation::plane(0.4) * DMat3::from_diagonal(DVec3::new(1.3, 1.3, 1.0));
        let flat: Vec<_> = pairs(DAffine3::from_mat3(in_plane)).into_iter().filter(|(p, _)| p.z == 0.0).collect();
        assert!(nearest_linear(Kind::Similarity, &flat, true).unwrap().matrix3.abs_diff_eq(in_plane, 1e-9));
    }

    #[test]
    fn of_too_few_points_there_is_none() {
        let line = [DVec3::ZERO, DVec3::X].map(|p| (p, p));
        assert_eq!(nearest_linear(Kind::Affine, &line, true), None);
        assert_eq!(nearest_linear(Kind::Affine, &[], false), None);
    }
}
