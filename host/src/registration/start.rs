//! The poses from which a registration may start.

use super::Init;
use super::moments::Moments;
use crate::Volume;
use crate::transform::{Dimension, Kind};
use glam::{DAffine3, DMat3, DQuat, DVec3};
use std::cell::LazyCell;
use std::f64::consts::TAU;

/// A map to start from, and the [`Init`] that gives it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Start {
    pub from: &'static str,
    /// Fixed point to moving point, LPS mm.
    pub transform: DAffine3,
}

/// Rotations that are tried in 3-D: neighbours are about 24 degrees apart.
const ROTATIONS: usize = 600;
/// Rotations that are tried in 2-D.
const PLANE_ROTATIONS: usize = 36;

/// Returns the starts that `init` asks for. Coarse versions of the images are sufficient.
pub fn candidates(init: &Init, dof: Kind, dimension: Dimension, fixed: &Volume, moving: &Volume) -> Vec<Start> {
    let header = || vec![Start { from: "header", transform: DAffine3::IDENTITY }];
    let between = |from, turns: Vec<DMat3>, centres: [DVec3; 2]| -> Vec<Start> {
        turns.into_iter().map(|turn| turned(from, turn, centres)).collect()
    };
    let file = |transform: &DAffine3| Start { from: "file", transform: *transform };
    let still = || vec![DMat3::IDENTITY];
    let geometry = || between("geometry", still(), [fixed.geometry.centre(), moving.geometry.centre()]);
    let moments = LazyCell::new(|| [fixed, moving].map(Moments::of));
    let centres = || moments.each_ref().map(|moments| moments.centre);
    let turns = |turns| if dof == Kind::Translation { still() } else { turns };
    let mass = || between("mass", still(), centres());
    let by_moments = || between("moments", turns(moments[0].rotations_to(&moments[1], dimension)), centres());
    let search = || between("search", turns(rotations(dimension)), centres());
    match init {
        Init::Header => header(),
        Init::Geometry => geometry(),
        Init::Mass => mass(),
        Init::Moments => by_moments(),
        Init::Search => search(),
        Init::Transform(_) | Init::Among(_) => init.given().iter().map(file).collect(),
        Init::Auto => [header(), geometry(), mass(), by_moments(), search()].concat(),
    }
}

/// Returns the start with a rotation that takes the fixed centre to the moving one.
fn turned(from: &'static str, rotation: DMat3, [fixed, moving]: [DVec3; 2]) -> Start {
    Start { from, transform: DAffine3::from_mat3_translation(rotation, moving - rotation * fixed) }
}

/// Returns rotations that are spread evenly: in 2-D by angle, in 3-D on a super-Fibonacci spiral (Alexa 2022).
pub fn rotations(dimension: Dimension) -> Vec<DMat3> {
    if dimension == Dimension::Two {
        let angle = |n: usize| TAU * n as f64 / PLANE_ROTATIONS as f64;
        return (0..PLANE_ROTATIONS).map(|n| crate::transform::plane(angle(n))).collect();
    }
    let rotation = |n: usize| {
        let s = n as f64 + 0.5;
        let part = s / ROTATIONS as f64;
        let (sine_a, cosine_a) = libm::sincos(TAU * s / std::f64::consts::SQRT_2);
        let (sine_b, cosine_b) = libm::sincos(TAU * s / 1.533_751_168_755_204_3);
        let (r, q) = (part.sqrt(), (1.0 - part).sqrt());
        DMat3::from_quat(DQuat::from_xyzw(r * sine_a, r * cosine_a, q * sine_b, q * cosine_b).normalize())
    };
    (0..ROTATIONS).map(rotation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transform::angle;

    #[test]
    fn no_rotation_is_far_from_one_that_is_tried() {
        let tried = rotations(Dimension::Three);
        let vectors = [DVec3::new(3.0, 0.0, 0.0), DVec3::new(0.5, -1.0, 0.2), DVec3::new(-1.7, 2.0, 1.1), DVec3::ZERO];
        for vector in vectors {
            let wanted = crate::transform::exponential(vector);
            let nearest = tried.iter().map(|turn| angle(&(turn.transpose() * wanted))).fold(f64::INFINITY, f64::min);
            assert!(nearest.to_degrees() < 25.0, "{vector}: {} degrees", nearest.to_degrees());
        }
        assert!(tried.iter().all(|turn| (turn.determinant() - 1.0).abs() < 1e-12));
    }
}
