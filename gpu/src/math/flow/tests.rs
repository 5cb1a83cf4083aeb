//! Compares forces with the models that they maximise, and steps with affine fields.

use super::moments::MOST;
use super::*;

/// A map that rotates, scales and translates. All numbers are exact in f32.
const MAP: Affine = Affine { rows: [[0.0, 2.0, 0.5, -3.0], [-1.0, 0.25, 0.0, 8.0], [0.0, 0.5, 4.0, 1.0]] };

/// Returns a field that displaces every voxel by an affine function of its position, with the padding.
fn linear(size: [u32; 3], displacement: fn([f32; 3]) -> [f32; 3]) -> Vec<f32> {
    let [width, height, depth] = size.map(|n| n as usize);
    let voxels = width * height * depth;
    let number = |i: usize| {
        let voxel = i % voxels;
        displacement([voxel % width, voxel / width % height, voxel / width / height].map(|n| n as f32))[i / voxels]
    };
    (0..3 * voxels).map(number).chain(vec![0.0; interpolate::padding(size)]).collect()
}

#[test]
fn a_voxel_is_displaced_before_it_is_mapped() {
    // (4, 2, 1) + (0.5, -1, 2) = (4.5, 1, 3).
    assert_eq!(position(&MAP, [4, 2, 1], [0.5, -1.0, 2.0]), [0.5, 3.75, 13.5]);
}

#[test]
fn a_gradient_is_taken_back_by_the_chain_rule() {
    let gradient = [3.0, -2.0, 0.5];
    let value = |at: [f32; 3]| field::dot(gradient, through(&MAP, at));
    let at = [1.0, 2.0, 3.0];
    let by = |axis: usize| {
        let mut next = at;
        next[axis] += 1.0;
        value(next) - value(at)
    };
    assert_eq!(gradient_on_fixed_grid(&MAP, gradient), [by(0), by(1), by(2)]);
}

#[test]
fn scores_lie_on_planes_between_their_bins() {
    const BINS: u32 = 5;
    let plane = |f: f32, m: f32| 2.0 + 3.0 * f - 7.0 * m;
    let scores = |i: u32| {
        assert!(i < BINS * BINS);
        plane((i % BINS) as f32, (i / BINS) as f32)
    };
    let information = |f: u32| {
        assert!(f < BINS);
        (10 * f) as f32
    };
    for [f, m] in [[0.0, 0.0], [4.0, 4.0], [1.25, 3.5], [3.99, 0.01], [4.0, 0.0]] {
        let values = [f, m].map(|bin| bin * bin::FULL / 4.0);
        // SAFETY: the closures check their indices, and values end at `FULL`.
        let found = unsafe { score(scores, information, BINS, values) };
        assert!((found.score - plane(f, m)).abs() < 1e-4, "{found:?} at {f}, {m}");
        assert!((found.information - 10.0 * f).abs() < 1e-4, "{found:?} at {f}, {m}");
    }
}

#[test]
fn the_force_is_the_best_step_of_its_own_model() {
    let (score, information, prior) = (0.7, 0.09, 0.02);
    let (gradient, spacing) = ([2.0, -1.0, 0.5], [1.0, 2.0, 0.5]);
    let per_square = spacing.map(|mm: f32| 1.0 / (mm * mm));
    let step = update(voxel_force(Score { score, information }, gradient, per_square), prior);
    // N (g d) - D (g d)^2 / 2 - prior |d|^2 / 2, where d is in voxels and its length |d| in mm.
    let gain = |d: [f32; 3]| {
        let along = f64::from(field::dot(gradient, d));
        let square: f64 = (0..3).map(|i| f64::from(d[i] * spacing[i]).powi(2)).sum();
        f64::from(score) * along - 0.5 * f64::from(information) * along * along - 0.5 * f64::from(prior) * square
    };
    for axis in 0..3 {
        for by in [-0.05, 0.05] {
            let mut other = step;
            other[axis] += by;
            assert!(gain(other) < gain(step), "better along axis {axis}: {other:?} than {step:?}");
        }
    }
    assert_eq!(update(voxel_force(Score { score: 0.0, information }, gradient, per_square), prior), [0.0; 3]);
}

#[test]
fn voxels_pull_together_as_much_as_they_know() {
    let per_square = [1.0; 3];
    // The same displacement of 2 along x, known with high precision by one voxel and with low precision by another, and
    // a voxel that does not count.
    let [well, badly] = [40.0, 0.1].map(|information| {
        voxel_force(Score { score: 2.0 * information * 0.5, information }, [0.5, 0.0, 0.0], per_square)
    });
    let sum = |a: VoxelForce, b: VoxelForce| VoxelForce {
        force: [a.force[0] + b.force[0], a.force[1] + b.force[1], a.force[2] + b.force[2]],
        precision: a.precision + b.precision,
    };
    for together in [sum(well, badly), sum(well, VoxelForce::NONE)] {
        let [x, y, z] = update(together, 1e-3);
        assert!((x - 2.0).abs() < 1e-3 && y == 0.0 && z == 0.0, "{x}");
    }
    // Without forces nothing moves, even if a filter has left a negative precision.
    assert_eq!(update(VoxelForce { precision: -1e-9, ..VoxelForce::NONE }, 0.25), [0.0; 3]);
}

#[test]
fn halves_are_the_colours_of_a_chessboard() {
    let blocks = [0.25, 0.25, 0.5];
    for z in 0..8 {
        for y in 0..16 {
            for x in 0..16 {
                let colour = (x / 4 + y / 4 + z / 2) % 2;
                assert_eq!(half([x, y, z], blocks), 1 + colour, "{x} {y} {z}");
            }
        }
    }
    // A grid of half the spacing has the same blocks.
    for x in 0..32 {
        assert_eq!(half([x, 3, 2], [0.125, 0.125, 0.25]), half([x / 2, 1, 1], blocks));
    }
}

/// The score of local correlation is the derivative by m of ln p(f, m) - ln p(m) of normal variables.
#[test]
fn the_local_score_is_a_derivative() {
    let (mean, variances, covariance) = ([0.4_f64, 0.6], [0.03, 0.05], 0.02);
    let moments = Moments {
        fixed: 0.4,
        fixed_variance: (variances[0] - f64::from(NOISE)) as f32,
        moving: 0.6,
        moving_square: (variances[1] - f64::from(NOISE) + 0.36) as f32,
        product: (covariance + 0.24) as f32,
    };
    let [f, m] = [0.55_f64, 0.35];
    let ratio = |m: f64| {
        let (a, b) = (f - mean[0], m - mean[1]);
        let determinant = variances[0] * variances[1] - covariance * covariance;
        let joint = (variances[1] * a * a - 2.0 * covariance * a * b + variances[0] * b * b) / determinant;
        0.5 * (b * b / variances[1] - joint)
    };
    let expected = (ratio(m + 1e-5) - ratio(m - 1e-5)) / 2e-5;
    let (correlation, found) = moments.score([f as f32, m as f32]);
    assert!((f64::from(found.score) - expected).abs() < 1e-3 * expected.abs(), "{}, not {expected}", found.score);
    assert!((f64::from(correlation) - covariance * covariance / (variances[0] * variances[1])).abs() < 1e-4);
    // The mean square of the score, which is distributed as N(0, 1 / rest - 1 / variance).
    let rest = variances[1] - covariance * covariance / variances[0];
    assert!((f64::from(found.information) * variances[1] * rest / (variances[1] - rest) - 1.0).abs() < 1e-3);
}

#[test]
fn images_that_are_alike_have_a_bounded_score() {
    let same = Moments { fixed: 0.5, fixed_variance: 0.2, moving: 0.5, moving_square: 0.45, product: 0.45 };
    let (correlation, score) = same.score([1.0, 0.0]);
    assert!(correlation > 0.99 && correlation <= MOST && score.score.is_finite());
    let flat = Moments { fixed: 0.5, fixed_variance: -1e-6, moving: 0.5, moving_square: 0.25, product: 0.25 };
    assert_eq!(flat.score([0.5, 0.5]), (0.0, Score { score: 0.0, information: 0.0 }));
}

#[test]
fn a_step_is_shortened_to_its_limit_and_never_lengthened() {
    assert_eq!([limited(0.0, 0.5), limited(0.25, 0.5), limited(4.0, 0.5)], [1.0, 1.0, 0.25]);
}

#[test]
fn steps_are_composed_and_not_added() {
    let size = [6, 5, 4];
    let field = linear(size, |[x, y, z]| [0.5 * x, -0.25 * y + 1.0, 0.125 * z]);
    // SAFETY: the closure checks its index.
    let found = unsafe { composed(|i| field[i], size, [2, 1, 1], [1.0, 2.0, 0.5]) };
    // The field at (3, 3, 1.5), plus the step.
    assert_eq!(found, [1.0 + 1.5, 2.0 + 0.25, 0.5 + 0.1875]);
}

#[test]
fn a_refined_field_is_the_same_in_mm() {
    let size = [5, 5, 5];
    let field = linear(size, |[x, y, z]| [0.5 * x, 0.25 * y, 2.0 - z]);
    // A grid of half the spacing along x, the same along y, a quarter along z.
    let (from, ratio) = ([0.5, 1.0, 0.25], [2.0, 1.0, 4.0]);
    // SAFETY: the closure checks its index.
    let found = unsafe { refined(|i| field[i], size, [3, 2, 6], [from, ratio]) };
    // At (2, 3, 1.75) of the old grid.
    assert_eq!(found, [2.0, 0.75, 1.0]);
}

#[test]
fn there_and_back_ends_where_it_began() {
    let size = [8, 8, 8];
    let field = linear(size, |[x, y, z]| [0.5 * x - 1.0, 0.25 * y - 0.5, 0.125 * (z - x)]);
    // A grid whose voxels are turned and shifted against the field's.
    let there = Affine { rows: [[0.0, 1.0, 0.0, 0.5], [0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, 0.25]] };
    let back = Affine { rows: [[0.0, 0.0, 1.0, -0.25], [1.0, 0.0, 0.0, -0.5], [0.0, 1.0, 0.0, 0.0]] };
    // SAFETY: the closure checks its index.
    let way = |to| unsafe { inverse_displacement(|i| field[i], size, to) };
    let mut inverse = vec![0.0; 3 * 512 + interpolate::padding(size)];
    for (i, [x, y, z]) in (0..512).map(|i| (i, [i % 8, i / 8 % 8, i / 64])) {
        let way = way(through(&back, [x as f32, y as f32, z as f32]));
        (inverse[i], inverse[512 + i], inverse[1024 + i]) = (way[0], way[1], way[2]);
    }
    let miss = |inverse: &[f32], voxel: [u32; 3], spacing| {
        let at = [0, 512, 1024].map(|plane| field[plane + (voxel[0] + 8 * (voxel[1] + 8 * voxel[2])) as usize]);
        // SAFETY: the closure checks its index.
        unsafe { there_and_back(|i| inverse[i], size, [&there, &back], voxel, at, spacing) }
    };
    for voxel in [[2, 3, 3], [3, 2, 4], [4, 4, 2]] {
        assert!(miss(&inverse, voxel, [1.0, 2.0, 3.0]).unwrap() < 1e-3, "{voxel:?}");
    }
    // An error of three voxels along x.
    inverse[..512].iter_mut().for_each(|x| *x += 3.0);
    assert!((miss(&inverse, [2, 3, 3], [1.5, 2.0, 3.0]).unwrap() - 4.5).abs() < 1e-3);
    assert_eq!(miss(&inverse, [7, 7, 7], [1.0; 3]), None);
}

#[test]
fn fixed_point_rounds_and_stays_within_its_range() {
    assert_eq!([fixed_correlation(0.0), fixed_correlation(1.0)], [0, 1 << 24]);
    assert_eq!([fixed_mm(1.0), fixed_mm(0.25), fixed_mm(1e9)], [1 << 20, 1 << 18, 4095 << 20]);
    assert_eq!([mean(3 << 20, MM_UNIT, 2), mean(7, MM_UNIT, 0)], [1.5, 0.0]);
}

#[test]
fn pairs_have_the_fixed_bin_fastest() {
    // SAFETY: values end at `FULL`.
    let pair = |f: f32, m: f32| unsafe { pair([f * bin::FULL, m * bin::FULL], 11) };
    assert_eq!([pair(0.0, 0.0), pair(0.3, 0.0), pair(0.0, 0.3), pair(1.0, 1.0)], [0, 3, 33, 120]);
}

#[test]
fn what_is_next_to_nothing_is_nothing() {
    let small = VoxelForce { force: [1e-16, -3e-40, 1.0], precision: 0.0 };
    assert_eq!(update(small, 0.5), [0.0, 0.0, 2.0]);
    let field = [1e-30; 3 * 8 + 16];
    // SAFETY: the closure checks its index.
    let found = unsafe { composed(|i| field[i], [2, 2, 2], [0, 0, 0], [-1e-20, 0.25, 0.0]) };
    assert_eq!(found, [0.0, 0.25, 0.0]);
    assert!(kept(f32::NAN).is_nan());
}
