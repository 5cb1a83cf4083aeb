//! Rotations that are spread evenly over all there are.

use crate::transform::{Dimension, plane};
use glam::{DMat3, DQuat};
use std::f64::consts::TAU;

/// Rotations in 3-D: neighbours are about 24 degrees apart.
const ROTATIONS: usize = 600;
/// Rotations in 2-D.
const PLANE_ROTATIONS: usize = 36;

/// Returns rotations that are spread evenly: in 2-D by angle, in 3-D on a super-Fibonacci spiral (Alexa 2022).
pub fn rotations(dimension: Dimension) -> Vec<DMat3> {
    if dimension == Dimension::Two {
        let angle = |n: usize| TAU * n as f64 / PLANE_ROTATIONS as f64;
        return (0..PLANE_ROTATIONS).map(|n| plane(angle(n))).collect();
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
    use glam::DVec3;

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
