//! Divides a volume into segments that move by themselves, such as a head and its shoulders: piecewise rigid motion.

use super::binned::{BINS, Table, bins};
use super::part_poses::{SAMPLES, optimised};
use super::poses::Pair;
use super::samples::{BY_CONTRASTS, Samples, foreground_voxels};
use crate::backend::cpu::smooth;
use crate::{Geometry, Result, Volume};
use glam::DAffine3;
use rayon::prelude::*;

/// The standard deviation of the neighbourhood by which a voxel is assigned, in voxels of the smallest spacing.
pub const NEIGHBOURHOOD: f64 = 3.0;
/// The neighbourhood is also looked at on wider scales, which decide where the narrower ones show nothing, as in the
/// background.
const SCALES: [f64; 4] = [1.0, 2.0, 4.0, 8.0];
/// How many times the motion of the segments is optimised and voxels are assigned to them.
const ROUNDS: usize = 3;
/// The fewest voxels by which the motion of a segment is optimised.
const FEWEST: usize = SAMPLES / 4;

/// The segments of a fixed image, and their motion.
pub struct Segments {
    /// The number of each voxel's segment, also in the background.
    pub numbers: Vec<u8>,
    /// Where each segment agrees best: maps of fixed points to moving points, LPS mm.
    pub maps: Vec<DAffine3>,
}

impl Segments {
    /// Returns the foreground voxels of each segment.
    fn foreground(&self, fixed: &Volume) -> Vec<Vec<usize>> {
        let mut segments = vec![Vec::new(); self.maps.len()];
        foreground_voxels(fixed).for_each(|n| segments[usize::from(self.numbers[n])].push(n));
        segments
    }
}

impl Pair {
    /// Refines segments: in turn, assigns each voxel to the segment with whose motion its neighbourhood agrees best, and
    /// optimises the motion of all segments.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped)
    pub fn refined(&self, mut segments: Segments) -> Result<Segments> {
        for round in 0..=ROUNDS {
            let voxels = segments.foreground(self.fixed());
            // The motion of the octants is that which agrees best already.
            if round > 0 {
                self.optimise(&mut segments.maps, &voxels, round == ROUNDS)?;
            }
            segments.numbers = self.assigned(&segments.maps, &voxels);
        }
        Ok(segments)
    }

    /// Optimises the maps of segments with these foreground voxels, but for those that have too few; at the end, also
    /// by fine steps.
    fn optimise(&self, maps: &mut [DAffine3], segments: &[Vec<usize>], end: bool) -> Result<()> {
        let of = |(voxels, map): (&Vec<usize>, &DAffine3)| Samples::among(voxels, &self.0, map, SAMPLES);
        let samples: Vec<_> = segments.iter().zip(&*maps).map(of).collect();
        let start = samples.iter().zip(&*maps).map(|(samples, map)| (*map, samples.information(map))).collect();
        let found = optimised(&samples, start)?;
        maps.par_iter_mut().zip(found).zip(samples.par_iter().zip(segments)).try_for_each(
            |(found, (samples, voxels))| {
                let (map, (coarse, _)) = found;
                if voxels.len() >= FEWEST {
                    *map = if end { samples.optimised(coarse, BY_CONTRASTS)?.0 } else { coarse };
                }
                Ok(())
            },
        )
    }

    /// Returns for each voxel of the fixed image the number of the map at which its neighbourhood agrees best. Which
    /// intensities belong together is learnt from the foreground voxels that belonged to each map so far.
    fn assigned(&self, maps: &[DAffine3], segments: &[Vec<usize>]) -> Vec<u8> {
        let Self([(fixed, range), _]) = self;
        let bins = bins(&fixed.voxels, *range);
        let moved: Vec<_> = maps.iter().map(|map| self.laid(map, 0).0).collect();
        let mut table = Table::new();
        for (voxels, moved) in segments.iter().zip(&moved) {
            let of = |bins: &[u8]| voxels.iter().map(|&n| bins[n]).collect::<Vec<_>>();
            table.count(&of(&bins), &of(moved));
        }
        let pointwise = pointwise_information(&table.counts());
        let evidence = |moved: &Vec<u8>| neighbourhood_information(&fixed.geometry, &bins, moved, &pointwise);
        let evidence: Vec<_> = moved.par_iter().map(evidence).collect();
        let best = |n: usize| (0..maps.len()).max_by(|&a, &b| evidence[a][n].total_cmp(&evidence[b][n]));
        (0..fixed.voxels.len()).into_par_iter().map(|n| best(n).unwrap_or(0) as u8).collect()
    }
}

/// Returns the pointwise mutual information of each pair of bins, ln(p(f, m) / (p(f) p(m))), nats. Each pair is counted
/// once more than it occurs.
fn pointwise_information(counts: &[u32]) -> Vec<f32> {
    let counts: Vec<f64> = counts.iter().map(|&count| f64::from(count) + 1.0).collect();
    let total: f64 = counts.iter().sum();
    let of_moving: Vec<f64> = counts.chunks_exact(BINS).map(|row| row.iter().sum()).collect();
    let of_fixed: Vec<f64> = (0..BINS).map(|f| counts[f..].iter().step_by(BINS).sum()).collect();
    let pair = |(n, count): (usize, &f64)| libm::log(count * total / (of_moving[n / BINS] * of_fixed[n % BINS])) as f32;
    counts.iter().enumerate().map(pair).collect()
}

/// Returns the pointwise information around each voxel, given the bins of the fixed image and, at the same voxels, those
/// of the moving one. Outside the foreground of both it is 0.
fn neighbourhood_information(grid: &Geometry, fixed: &[u8], moved: &[u8], pointwise: &[f32]) -> Vec<f32> {
    let information = |(&fixed, &moved): (&u8, &u8)| {
        let [fixed, moved] = [fixed, moved].map(usize::from);
        if fixed < BINS && moved < BINS { pointwise[moved * BINS + fixed] } else { 0.0 }
    };
    let voxels: Vec<f32> = fixed.iter().zip(moved).map(information).collect();
    let mut sum = vec![0.0; fixed.len()];
    for scale in SCALES {
        let sigmas = grid.spacing.map(|mm| scale * NEIGHBOURHOOD * grid.spacing.min_element() / mm);
        let mut smoothed = voxels.clone();
        smooth(&mut smoothed, grid.size, sigmas.to_array());
        sum.iter_mut().zip(smoothed).for_each(|(sum, voxel)| *sum += voxel);
    }
    sum
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::PixelType;
    use crate::transform::plane;
    use glam::DVec3;

    /// Returns two images of a cylinder, whose centre has z = 60 mm. Above `neck`, a z, its contents turned by an angle,
    /// radians. Also returns where points of the first image are in the second one.
    pub fn turned_head(angle: f64, neck: f64) -> (Pair, impl Fn(DVec3) -> DVec3 + Sync) {
        let grid = Geometry::axis_aligned([40, 36, 60], DVec3::splat(2.0), DVec3::ZERO);
        let turned = move |angle: f64, p: DVec3| {
            let axis = DVec3::new(40.0, 36.0, 0.0);
            if p.z > neck { plane(angle) * (p - axis) + axis } else { p }
        };
        let object = |p: DVec3| {
            let DVec3 { x, y, z } = p;
            libm::sin(0.21 * x + 0.11 * y) + libm::cos(0.17 * y - 0.08 * z) + libm::sin(0.23 * z + 0.1 * x + 0.15 * y)
        };
        let image = |back: f64| {
            let voxel = |n: usize| {
                let p = grid.index_to_world().transform_point3(grid.index_of(n).map(|n| n as f64).into());
                let outside = p.distance(DVec3::new(40.0, 36.0, p.z)) > 30.0;
                if outside { f32::NAN } else { object(turned(back, p)) as f32 }
            };
            let voxels = (0..grid.voxels()).map(voxel).collect();
            (Volume { geometry: grid, voxels, pixel: PixelType::F32 }, (-3.0, 3.0))
        };
        (Pair([image(0.0), image(-angle)]), move |p| turned(angle, p))
    }

    #[test]
    fn segments_end_where_the_motion_changes() {
        let neck = 76.0;
        let (pair, moved) = turned_head(0.4, neck);
        let octants = pair.octants(&DAffine3::IDENTITY).unwrap().unwrap();
        let grid = &pair.fixed().geometry;
        let farthest = |segments: &Segments| {
            let off = |n: usize| {
                let p = grid.index_to_world().transform_point3(grid.index_of(n).map(|n| n as f64).into());
                let map = segments.maps[usize::from(segments.numbers[n])];
                if (p.z - neck).abs() < 6.0 { 0.0 } else { map.transform_point3(p).distance(moved(p)) }
            };
            foreground_voxels(pair.fixed()).map(off).fold(0.0, f64::max)
        };
        let before = octants.segments(pair.fixed());
        assert!(farthest(&before) > 2.0, "octants suffice");
        let after = farthest(&pair.refined(before).unwrap());
        assert!(after < 0.2, "{after:.2} mm off");
    }
}
