//! Rotation matrices, and their parameters. Sines and cosines are those of `libm`, so that they are the same on every
//! machine.

use glam::{DMat3, DQuat, DVec3};

/// Rz Rx Ry, as in ITK's Euler3DTransform; radians.
pub fn euler(angles: DVec3) -> DMat3 {
    let [about_x, about_y, about_z] = about(angles);
    about_z * about_x * about_y
}

/// Rz Ry Rx, as in ITK's Euler3DTransform with `ComputeZYX`; radians.
pub fn euler_zyx(angles: DVec3) -> DMat3 {
    let [about_x, about_y, about_z] = about(angles);
    about_z * about_y * about_x
}

fn about(angles: DVec3) -> [DMat3; 3] {
    let [(sx, cx), (sy, cy), (sz, cz)] = angles.to_array().map(libm::sincos);
    let about_x = DMat3::from_cols_array(&[1.0, 0.0, 0.0, 0.0, cx, sx, 0.0, -sx, cx]);
    let about_y = DMat3::from_cols_array(&[cy, 0.0, -sy, 0.0, 1.0, 0.0, sy, 0.0, cy]);
    [about_x, about_y, about_z(sz, cz)]
}

fn about_z(sine: f64, cosine: f64) -> DMat3 {
    DMat3::from_cols_array(&[cosine, sine, 0.0, -sine, cosine, 0.0, 0.0, 0.0, 1.0])
}

/// A rotation in the plane; radians.
pub fn plane(angle: f64) -> DMat3 {
    let (sine, cosine) = libm::sincos(angle);
    about_z(sine, cosine)
}

/// The angle of a rotation in the plane.
pub fn plane_angle(rotation: &DMat3) -> f64 {
    libm::atan2(rotation.x_axis.y, rotation.x_axis.x)
}

/// Returns the angles about x, y and z, radians, of a rotation Rz Rx Ry, as those of [`Rigid`](super::Rigid).
pub fn euler_angles(rotation: &DMat3) -> DVec3 {
    let [a, b, c] = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
    let x = libm::atan2(b.z, libm::hypot(a.z, c.z));
    let y = libm::atan2(-a.z, c.z);
    // If x is near a right angle, y is noise. Computing z from what is left without the rotation about y compensates
    // for it.
    let (sine, cosine) = libm::sincos(y);
    let left = a * cosine + c * sine;
    DVec3::new(x, y, libm::atan2(left.y, left.x))
}

/// The rotation about `vector` by its length, radians.
pub fn exponential(vector: DVec3) -> DMat3 {
    let angle = libm::sqrt(vector.length_squared());
    if angle == 0.0 {
        return DMat3::IDENTITY;
    }
    let (sine, cosine) = libm::sincos(0.5 * angle);
    let axis = vector * (sine / angle);
    DMat3::from_quat(DQuat::from_xyzw(axis.x, axis.y, axis.z, cosine).normalize())
}

/// The matrix of the cross product with a vector.
pub fn cross(vector: DVec3) -> DMat3 {
    let DVec3 { x, y, z } = vector;
    DMat3::from_cols_array(&[0.0, z, -y, -z, 0.0, x, y, -x, 0.0])
}

/// The left Jacobian J of [`exponential`]: if its vector changes by `by`, the rotation changes by `cross(J * by)` times
/// itself.
pub fn left_jacobian(vector: DVec3) -> DMat3 {
    let square = vector.length_squared();
    let angle = libm::sqrt(square);
    let cross = cross(vector);
    // (1 - cos a) / a^2 and (a - sin a) / a^3; near 0 by their series.
    let [first, second] = if angle < 0.1 {
        let series = |terms: [f64; 4]| terms.iter().rev().fold(0.0, |sum, term| term - square * sum);
        [series([2.0, 24.0, 720.0, 40_320.0].map(f64::recip)), series([6.0, 120.0, 5040.0, 362_880.0].map(f64::recip))]
    } else {
        let (sine, cosine) = libm::sincos(angle);
        [(1.0 - cosine) / square, (angle - sine) / (square * angle)]
    };
    DMat3::IDENTITY + cross * first + cross * cross * second
}

/// The rotation whose quaternion has this imaginary part, of length 1 at most, and a real part of 0 or more.
pub fn versor(part: DVec3) -> DMat3 {
    let real = (1.0 - part.length_squared()).max(0.0).sqrt();
    DMat3::from_quat(DQuat::from_xyzw(part.x, part.y, part.z, real).normalize())
}

/// The imaginary part of a rotation's quaternion whose real part is 0 or more.
pub fn versor_of(rotation: &DMat3) -> DVec3 {
    let quaternion = DQuat::from_mat3(rotation).normalize();
    let part = DVec3::new(quaternion.x, quaternion.y, quaternion.z);
    if quaternion.w < 0.0 { -part } else { part }
}

/// Returns the angle, 0 to pi radians, of the rotation nearest to a matrix. The matrix must not reflect.
pub fn angle(matrix: &DMat3) -> f64 {
    let rotation = nearest(matrix);
    let [a, b, c] = [rotation.x_axis, rotation.y_axis, rotation.z_axis];
    let sine = DVec3::new(b.z - c.y, c.x - a.z, a.y - b.x).length();
    libm::atan2(sine, a.x + b.y + c.z - 1.0)
}

/// Returns the nearest orthogonal matrix, the orthogonal factor of the polar decomposition, by Higham's iteration. The
/// matrix must have an inverse.
pub fn nearest(matrix: &DMat3) -> DMat3 {
    let mut rotation = *matrix;
    for _ in 0..50 {
        let next = (rotation + rotation.inverse().transpose()) * 0.5;
        let moved = (next - rotation).to_cols_array().iter().fold(0.0_f64, |most, x| most.max(x.abs()));
        rotation = next;
        if moved < 1e-15 {
            break;
        }
    }
    rotation
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{FRAC_PI_2, PI};

    const ANGLES: [[f64; 3]; 8] = [
        [0.0, 0.0, 0.0],
        [0.1, -0.2, 0.3],
        [1.2, 2.9, -3.0],
        [FRAC_PI_2, 0.4, 0.0],
        [-FRAC_PI_2, -2.0, 0.5],
        [0.0, PI, 0.0],
        [FRAC_PI_2 - 1e-8, 0.4, 1.0],
        [FRAC_PI_2 - 1e-10, 0.4, 1.0],
    ];

    #[test]
    fn angles_make_the_rotation_they_came_from() {
        for angles in ANGLES {
            let rotation = euler(angles.into());
            assert!(euler(euler_angles(&rotation)).abs_diff_eq(rotation, 1e-14), "{angles:?}");
            assert!(versor(versor_of(&rotation)).abs_diff_eq(rotation, 1e-7), "{angles:?}");
        }
    }

    #[test]
    fn the_exponential_turns_about_its_vector() {
        let vector = DVec3::new(0.3, -0.4, 1.2);
        let rotation = exponential(vector);
        assert!((rotation * vector).abs_diff_eq(vector, 1e-15));
        assert!((angle(&rotation) - 1.3).abs() < 1e-14);
        assert!(exponential(DVec3::Z * FRAC_PI_2).abs_diff_eq(plane(FRAC_PI_2), 1e-15));
    }

    #[test]
    fn the_nearest_rotation_is_the_one_that_was_stretched() {
        let rotation = euler(DVec3::new(0.5, -1.0, 2.0));
        let stretched = rotation * DMat3::from_diagonal(DVec3::new(0.8, 1.1, 1.3));
        assert!(nearest(&stretched).abs_diff_eq(rotation, 1e-14));
        assert!((angle(&(rotation * 3.0)) - angle(&rotation)).abs() < 1e-14);
    }
}
