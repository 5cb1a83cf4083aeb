//! The displacement by a deformation, without that by its initial transform.

use glam::{DVec3, Vec3};
use mireg::transform::{Field, Linear};
use rayon::prelude::*;
use serde::Serialize;

/// Voxels whose displacements are summed by one task.
const CHUNK: usize = 1 << 16;

/// Lengths of the displacements of all voxels of the fixed image.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Displacement {
    pub mean_mm: f64,
    /// 95 % of the voxels are displaced by no more than this.
    pub percentile_95_mm: f64,
    pub largest_mm: f64,
}

impl Displacement {
    /// Measures the distance between the points to which `field` and `start` map each voxel.
    pub fn new(field: &Field, start: &Linear) -> Self {
        let to_mm = field.geometry.index_to_world();
        let begin = start.to_affine() * to_mm;
        let length = |(number, vector): (usize, &[f32; 3])| {
            let index = DVec3::from(field.geometry.index_of(number).map(|n| n as f64));
            let by_start = begin.transform_point3(index) - to_mm.transform_point3(index);
            Vec3::from(*vector).distance(by_start.as_vec3())
        };
        let lengths: Vec<f32> = field.vectors.par_iter().enumerate().map(length).collect();
        // Chunks do not depend on the number of threads, so that neither do the bits of the sum.
        let sum = |part: &[f32]| part.iter().map(|&length| f64::from(length)).sum::<f64>();
        let sums: Vec<_> = lengths.par_chunks(CHUNK).map(sum).collect();
        let rank = lengths.len().saturating_sub(1) * 95 / 100;
        Self {
            mean_mm: sums.iter().sum::<f64>() / lengths.len().max(1) as f64,
            percentile_95_mm: ranked(&lengths, rank).into(),
            largest_mm: lengths.par_iter().copied().reduce(|| 0.0, f32::max).into(),
        }
    }
}

/// Returns the number of this rank among numbers of 0 or more. The bits of such numbers have the same order as the
/// numbers. So those that share their upper bits with the result are found by counting, and only they have to be
/// sorted.
fn ranked(numbers: &[f32], mut rank: usize) -> f32 {
    let upper = |number: f32| (number.to_bits() >> 16) as usize;
    let count = |mut counts: Vec<usize>, part: &[f32]| {
        part.iter().for_each(|&number| counts[upper(number)] += 1);
        counts
    };
    let none = || vec![0; 1 << 16];
    let add = |a: Vec<usize>, b: Vec<usize>| a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let counts = numbers.par_chunks(CHUNK).fold(none, count).reduce(none, add);
    for (bits, count) in counts.into_iter().enumerate() {
        if rank < count {
            let mut alike: Vec<_> = numbers.par_iter().copied().filter(|&number| upper(number) == bits).collect();
            return *alike.select_nth_unstable_by(rank, f32::total_cmp).1;
        }
        rank -= count;
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DAffine3;
    use mireg::Geometry;
    use mireg::transform::{Dimension, Kind};

    #[test]
    fn a_displacement_is_what_the_flow_adds_to_the_start() {
        let grid = Geometry::axis_aligned([101, 1, 1], DVec3::splat(2.0), DVec3::ZERO);
        let start = DAffine3::from_rotation_z(0.2) * DAffine3::from_translation(DVec3::new(90.0, -7.0, 3.0));
        // Displacements of 0, 0.03, 0.06 ... 3 mm.
        let field = Field::of(&grid, |p| start.transform_point3(p) + p.x / 200.0 * DVec3::new(1.0, -2.0, 2.0));
        let start = Linear::new(Kind::Rigid, Dimension::Three, DVec3::ZERO, &start);
        let found = Displacement::new(&field, &start);
        let expected = [(found.mean_mm, 1.5), (found.percentile_95_mm, 2.85), (found.largest_mm, 3.0)];
        assert!(expected.iter().all(|(found, mm)| (found - mm).abs() < 1e-4), "{found:?}");
    }

    #[test]
    fn ranks_are_those_of_sorted_numbers() {
        let numbers: Vec<f32> = (0..1000_u32).map(|n| (n * 7919 % 1009) as f32 * 0.01).collect();
        let mut sorted = numbers.clone();
        sorted.sort_by(f32::total_cmp);
        assert!([0, 1, 499, 950, 999].iter().all(|&rank| ranked(&numbers, rank) == sorted[rank]));
        assert_eq!(ranked(&[], 0), 0.0);
    }
}
