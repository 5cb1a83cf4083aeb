//! Searches for all corners of a mesh at once: each goes where the mutual information around it is high, and where its
//! neighbours go.
//!
//! The corners are a Markov random field whose labels are shifts (Glocker et al. 2008), solved by its mean field: a
//! corner goes to the mean of all shifts, weighted by their probability. So a corner without information follows its
//! neighbours.

use super::links::Links;
use super::shifts::Shifts;
use crate::Result;
use crate::threads::{check_stopped, should_continue};
use crate::transform::Mesh;
use glam::{DVec2, IVec2};
use rayon::prelude::*;

/// The largest shift along x and along y, pixels of the moving picture.
const REACH: i32 = 4;
/// How much a standard deviation of mutual information adds to the logarithm of a shift's probability, nats.
const GAIN: f64 = 2.0;
/// What the squared distance of a shift from that of the neighbours takes off that logarithm, nats per square pixel and
/// neighbour.
const STIFFNESS: f64 = 0.1;
/// Iterations of the mean field.
const ROUNDS: usize = 40;

/// Returns the shift of each corner, pixels of the moving picture. `away` is how far each one is already from the start
/// of the registration.
///
/// # Errors
/// [`Error::Stopped`](crate::Error::Stopped)
pub fn search(mesh: &Mesh, links: &Links, shifts: &Shifts, away: &[DVec2]) -> Result<Vec<DVec2>> {
    let along = || -REACH..=REACH;
    let places: Vec<IVec2> = along().flat_map(|y| along().map(move |x| IVec2::new(x, y))).collect();
    let around = triangles_by_corner(mesh);
    let gains = |triangles: &Vec<usize>| {
        if should_continue() { gains(&shifts.information(triangles, &places)) } else { Vec::new() }
    };
    let gains: Vec<Vec<f64>> = around.par_iter().map(gains).collect();
    check_stopped()?;
    let places: Vec<DVec2> = places.iter().map(IVec2::as_dvec2).collect();
    let mut moved = vec![DVec2::ZERO; away.len()];
    for _ in 0..ROUNDS {
        check_stopped()?;
        let whole: Vec<DVec2> = moved.iter().zip(away).map(|(&moved, &away)| moved + away).collect();
        let neighbours = links.means(&whole);
        let next = |corner: usize| {
            let stiffness = STIFFNESS * links.degrees[corner];
            0.5 * (moved[corner] + expected(&places, &gains[corner], neighbours[corner] - away[corner], stiffness))
        };
        moved = (0..moved.len()).map(next).collect();
    }
    Ok(moved)
}

/// Returns the triangles that meet in each corner.
pub fn triangles_by_corner(mesh: &Mesh) -> Vec<Vec<usize>> {
    let mut triangles = vec![Vec::new(); mesh.fixed.len()];
    for (number, triangle) in mesh.triangles.iter().enumerate() {
        triangle.iter().for_each(|&corner| triangles[corner as usize].push(number));
    }
    triangles
}

/// Returns what mutual information adds to the logarithm of each shift's probability. The unit of information is a
/// standard deviation whose variance is that over all shifts plus that by chance. Shifts without information get the
/// smallest value.
fn gains(information: &[Option<[f64; 2]>]) -> Vec<f64> {
    let known = || information.iter().flatten();
    let count = known().count().max(1) as f64;
    let mean = known().map(|[mi, _]| mi).sum::<f64>() / count;
    let variance = known().map(|[mi, by_chance]| (mi - mean).powi(2) + by_chance * by_chance).sum::<f64>() / count;
    let gain = |mi: f64| GAIN * (mi - mean) / variance.sqrt();
    let least = known().map(|&[mi, _]| gain(mi)).fold(0.0, f64::min);
    information.iter().map(|at| at.map_or(least, |[mi, _]| gain(mi))).collect()
}

/// Returns the mean of `places`, weighted by their probability: by the gains, less the penalty for the distance from
/// the neighbours.
fn expected(places: &[DVec2], gains: &[f64], neighbours: DVec2, stiffness: f64) -> DVec2 {
    let log = |(place, gain): (&DVec2, &f64)| gain - stiffness * place.distance_squared(neighbours);
    let logs: Vec<f64> = places.iter().zip(gains).map(log).collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sum, mut weights) = (DVec2::ZERO, 0.0);
    for (&place, log) in places.iter().zip(logs) {
        let weight = libm::exp(log - most);
        sum += weight * place;
        weights += weight;
    }
    sum / weights
}

#[cfg(test)]
mod tests {
    use super::super::shifts::Binned;
    use super::*;
    use crate::error::Setting;
    use crate::plane::local_contrast::LocalContrast;
    use crate::random::uniform;
    use crate::{Geometry, PixelType, Volume};
    use glam::{DAffine3, DVec3};

    const SIZE: [usize; 2] = [160, 128];

    /// A pattern that does not repeat, and noise alone to the right of the centre.
    fn picture(seed: u64, value: impl Fn(f64) -> f64, shift: DVec2) -> Volume {
        let geometry = Geometry::axis_aligned([SIZE[0], SIZE[1], 1], DVec3::ONE, DVec3::ZERO);
        let pixel = |n: usize| {
            let DVec2 { x, y } = DVec2::new((n % SIZE[0]) as f64, (n / SIZE[0]) as f64) - shift;
            let wave = (0.31 * x + 0.002 * y * y).sin() + (0.37 * y + 0.0017 * x * x).cos();
            let noise = uniform(seed, n as u64);
            if x < 80.0 { value(wave) + 0.05 * noise } else { 3.0 + 0.05 * noise }
        };
        Volume { geometry, voxels: (0..SIZE[0] * SIZE[1]).map(|n| pixel(n) as f32).collect(), pixel: PixelType::F32 }
    }

    #[test]
    fn corners_go_to_where_the_picture_went() {
        let by = DVec2::new(3.0, -2.0);
        let pictures = [picture(1, |wave| wave, DVec2::ZERO), picture(2, |wave| -wave * wave.abs(), by)];
        let mesh = Mesh::build(&pictures[0], &DAffine3::IDENTITY, Some(16.0), None).unwrap();
        let all = pictures[0].with(|_| 1.0);
        let binned = pictures
            .map(|picture| Binned::new(&LocalContrast::new(Setting::Fixed, &picture, Some(&all), 8.0).unwrap()));
        let shifts = Shifts::new(&mesh, &binned);
        let links = Links::new(&mesh);
        let moved = search(&mesh, &links, &shifts, &vec![DVec2::ZERO; mesh.fixed.len()]).unwrap();
        let there = mesh.fixed.iter().zip(&moved).filter(|(corner, _)| corner.x < 70.0);
        let there: Vec<DVec2> = there.map(|(_, moved)| *moved).collect();
        let mean = there.iter().sum::<DVec2>() / there.len() as f64;
        assert!(mean.distance(by) < 0.3, "{mean}");
    }

    #[test]
    fn a_corner_without_information_goes_where_its_neighbours_go() {
        let places = [DVec2::ZERO, DVec2::X, 2.0 * DVec2::X];
        assert!(gains(&[None, None]).iter().all(|&gain| gain == 0.0));
        assert_eq!(expected(&places, &[0.0; 3], DVec2::X, 1.0), DVec2::X);
        assert!(expected(&places, &[0.0, 0.0, 9.0], DVec2::ZERO, 0.1).x > 1.9);
    }
}
