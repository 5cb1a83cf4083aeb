//! Displacement fields. In memory, a field is three planes of f32, the x, y and z components of the displacements. A
//! plane has one number per voxel of the grid, x fastest. The planes are followed by the
//! [`padding`](super::interpolate::padding). Displacements are in voxels of the grid. The field u takes a point x to
//! x + u(x). Beyond the outermost voxel centres, the displacement is that of the nearest point of the grid.

use super::interpolate::{self, Place, lerp};
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// The most Newton steps.
const STEPS: u32 = 24;

/// The squared distance, in voxels^2, at which Newton's method counts as converged.
const ARRIVED: f32 = 1e-9;

/// The largest Newton step along an axis, in voxels.
const REACH: f32 = 4.0;

/// Returns the displacement at a position, both in voxels, by trilinear interpolation. `number` reads the field by
/// index in memory; `size` is that of the grid.
///
/// # Safety
/// `number` may be called with any index in the planes and their padding; no size is above 2^22.
#[inline(always)]
pub unsafe fn at(number: impl Fn(usize) -> f32, size: [u32; 3], position: [f32; 3]) -> [f32; 3] {
    // SAFETY: a clamped position is inside, and no size is above 2^22.
    let place = unsafe { interpolate::place(interpolate::clamp(position, interpolate::last(size)), size) };
    let plane = size[0] * size[1] * size[2];
    let read = |axis: u32| mixed(corners(&number, place.index + axis * plane, size), place.fraction);
    [read(0), read(1), read(2)]
}

/// Reads a plane's numbers at the eight corners around a place: two neighbours along x for each of the rows (y, z),
/// (y + 1, z), (y, z + 1) and (y + 1, z + 1).
#[inline(always)]
fn corners(number: &impl Fn(usize) -> f32, index: u32, size: [u32; 3]) -> [[f32; 2]; 4] {
    let (row, plane) = (size[0], size[0] * size[1]);
    let pair = |offset: u32| {
        let at = (index + offset) as usize;
        [number(at), number(at + 1)]
    };
    [pair(0), pair(row), pair(plane), pair(row + plane)]
}

/// Interpolates trilinearly between eight corners in the order of `corners`, along x first, then y, then z.
#[inline(always)]
pub fn mixed(rows: [[f32; 2]; 4], [x, y, z]: [f32; 3]) -> f32 {
    let along_x = rows.map(|[low, high]| lerp(low, high, x));
    lerp(lerp(along_x[0], along_x[1], y), lerp(along_x[2], along_x[3], y), z)
}

/// Returns [`mixed`], and its derivatives along x, y and z, per voxel.
#[inline(always)]
fn mixed_slope(rows: [[f32; 2]; 4], [x, y, z]: [f32; 3]) -> (f32, [f32; 3]) {
    let ends = rows.map(|[low, high]| high - low);
    let by_x = lerp(lerp(ends[0], ends[1], y), lerp(ends[2], ends[3], y), z);
    let along_x = rows.map(|[low, high]| lerp(low, high, x));
    let by_y = lerp(along_x[1] - along_x[0], along_x[3] - along_x[2], z);
    let [near, far] = [lerp(along_x[0], along_x[1], y), lerp(along_x[2], along_x[3], y)];
    (lerp(near, far, z), [by_x, by_y, far - near])
}

/// Returns [`at`], and the derivatives of each component along x, y and z. They are 0 beyond the grid, where the field
/// is constant.
///
/// # Safety
/// As [`at`].
#[inline(always)]
unsafe fn at_slope(number: &impl Fn(usize) -> f32, size: [u32; 3], position: [f32; 3]) -> ([f32; 3], [[f32; 3]; 3]) {
    let last = interpolate::last(size);
    let clamped = interpolate::clamp(position, last);
    // SAFETY: a clamped position is inside, and no size is above 2^22.
    let Place { index, fraction } = unsafe { interpolate::place(clamped, size) };
    let plane = size[0] * size[1] * size[2];
    let axis =
        |axis: usize, by: f32| if clamped[axis] == position[axis] && position[axis] < last[axis] { by } else { 0.0 };
    let read = |number_of: u32| {
        let (value, by) = mixed_slope(corners(number, index + number_of * plane, size), fraction);
        (value, [axis(0, by[0]), axis(1, by[1]), axis(2, by[2])])
    };
    let [(x, by_x), (y, by_y), (z, by_z)] = [read(0), read(1), read(2)];
    ([x, y, z], [by_x, by_y, by_z])
}

/// Returns the point x with x + u(x) = `to`, found by Newton's method on the trilinear field. If that does not
/// converge, returns the iterate that the field takes nearest to `to`. Positions are in voxels.
///
/// # Safety
/// As [`at`].
#[inline(always)]
pub unsafe fn inverse_point(number: impl Fn(usize) -> f32, size: [u32; 3], to: [f32; 3]) -> [f32; 3] {
    // SAFETY: by this function's contract.
    let start = unsafe { at(&number, size, to) };
    let mut point = minus(to, start);
    let (mut best, mut best_miss, mut step) = (point, f32::INFINITY, 0);
    while step < STEPS && best_miss > ARRIVED {
        // SAFETY: by this function's contract.
        let (there, by) = unsafe { at_slope(&number, size, point) };
        let miss = [point[0] + there[0] - to[0], point[1] + there[1] - to[1], point[2] + there[2] - to[2]];
        let distance = dot(miss, miss);
        if distance < best_miss {
            (best, best_miss) = (point, distance);
            point = minus(point, newton(by, miss));
        } else {
            // The step crossed a fold of the trilinear field: go halfway back to the best point.
            let [x, y, z] = minus(point, best);
            point = [best[0] + 0.5 * x, best[1] + 0.5 * y, best[2] + 0.5 * z];
        }
        step += 1;
    }
    best
}

/// Solves (I + by) d = miss for d by Cramer's rule, with each component limited to [`REACH`]. Returns `miss` itself if
/// the determinant is below 0.05, which is near or beyond a fold.
#[inline(always)]
fn newton(by: [[f32; 3]; 3], miss: [f32; 3]) -> [f32; 3] {
    let matrix = plus_identity(by);
    let determinant = determinant(matrix);
    if determinant < 0.05 {
        return miss;
    }
    let [a, b, c] = matrix;
    // The columns of the inverse, times the determinant, are cross products of rows.
    let (bc, ca, ab) = (cross(b, c), cross(c, a), cross(a, b));
    let axis = |i: usize| {
        let sum = miss[2].mul_add(ab[i], miss[1].mul_add(ca[i], miss[0] * bc[i])) / determinant;
        let sum = if sum < REACH { sum } else { REACH };
        if sum > -REACH { sum } else { -REACH }
    };
    [axis(0), axis(1), axis(2)]
}

/// Returns I + by, the Jacobian of x + u(x), from the derivatives of u.
#[inline(always)]
pub fn plus_identity(by: [[f32; 3]; 3]) -> [[f32; 3]; 3] {
    let [[a, b, c], [d, e, f], [g, h, i]] = by;
    [[1.0 + a, b, c], [d, 1.0 + e, f], [g, h, 1.0 + i]]
}

/// Returns the determinant of a matrix given by its rows.
#[inline(always)]
pub fn determinant([a, b, c]: [[f32; 3]; 3]) -> f32 {
    dot(a, cross(b, c))
}

#[inline(always)]
fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    let minor = |i: usize, j: usize| a[i].mul_add(b[j], -(a[j] * b[i]));
    [minor(1, 2), minor(2, 0), minor(0, 1)]
}

/// Returns the inner product, adding x first, then y, then z.
#[inline(always)]
pub fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[2].mul_add(b[2], a[1].mul_add(b[1], a[0] * b[0]))
}

#[inline(always)]
fn minus(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// Returns the determinant of the Jacobian of x + u(x) at a voxel, by central differences, one-sided on the border.
/// Along an axis of one voxel, the derivatives are 0.
///
/// # Safety
/// As [`at`]; the voxel is in the grid.
#[inline(always)]
pub unsafe fn jacobian(number: impl Fn(usize) -> f32, size: [u32; 3], [x, y, z]: [u32; 3]) -> f32 {
    let plane = size[0] * size[1] * size[2];
    let strides = [1, size[0], size[0] * size[1]];
    let index = x + y * strides[1] + z * strides[2];
    let along = |axis: usize, voxel: u32| {
        let low = if voxel > 0 { 1 } else { 0 };
        let high = if voxel + 1 < size[axis] { 1 } else { 0 };
        let step = if low + high == 2 { 0.5 } else { 1.0 };
        let (from, to) = (index - low * strides[axis], index + high * strides[axis]);
        let by = |plane: u32| step * (number((to + plane) as usize) - number((from + plane) as usize));
        [by(0), by(plane), by(2 * plane)]
    };
    // Rows are axes and columns components: the transpose has the same determinant.
    determinant(plus_identity([along(0, x), along(1, y), along(2, z)]))
}

/// Returns the displacement of a voxel averaged with those of its neighbours, with weights 1, 2, 1 along each axis.
/// Beyond the border, the displacement of the border is used.
///
/// # Safety
/// As [`at`]; the voxel is in the grid.
#[inline(always)]
pub unsafe fn relaxed(number: impl Fn(usize) -> f32, size: [u32; 3], [x, y, z]: [u32; 3]) -> [f32; 3] {
    let around = |voxel: u32, size: u32| {
        [if voxel > 0 { voxel - 1 } else { 0 }, voxel, if voxel + 1 < size { voxel + 1 } else { voxel }]
    };
    let (xs, ys, zs) = (around(x, size[0]), around(y, size[1]), around(z, size[2]));
    let average = |[low, here, high]: [f32; 3]| here.mul_add(0.5, (low + high) * 0.25);
    let plane = |axis: u32| {
        let row = |y: u32, z: u32| {
            let first = size[0] * (y + size[1] * (z + size[2] * axis));
            average(xs.map(|x| number((first + x) as usize)))
        };
        average(zs.map(|z| average(ys.map(|y| row(y, z)))))
    };
    [plane(0), plane(1), plane(2)]
}

/// Maps a float to an integer such that integers compare like the floats. The range of many floats can then be found by
/// integer atomics.
#[inline(always)]
pub fn ordered(value: f32) -> u32 {
    let bits = value.to_bits();
    if bits >> 31 == 0 { bits | 1 << 31 } else { !bits }
}

/// Returns the float whose [`ordered`] integer this is.
#[inline(always)]
pub fn of_ordered(number: u32) -> f32 {
    f32::from_bits(if number >> 31 == 1 { number & !(1 << 31) } else { !number })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a smooth field on a grid, with its padding.
    fn waves(size: [u32; 3], height: f32) -> Vec<f32> {
        let [width, depth] = [size[0] as usize, size[1] as usize];
        let voxels = size.iter().product::<u32>() as usize;
        let wave = |i: usize| {
            let (voxel, axis) = (i % voxels, i / voxels);
            let place = [voxel % width, voxel / width % depth, voxel / (width * depth)];
            height * (place[axis] as f32 * 0.7 + place[(axis + 1) % 3] as f32 * 0.3).sin()
        };
        let mut field: Vec<f32> = (0..3 * voxels).map(wave).collect();
        field.resize(field.len() + interpolate::padding(size), 0.0);
        field
    }

    #[test]
    fn a_voxel_has_its_own_displacement_and_beyond_the_grid_the_nearest_voxels() {
        let (size, field) = ([5, 4, 3], waves([5, 4, 3], 0.8));
        // SAFETY: the closure checks its index.
        let at = |position| unsafe { at(|i| field[i], size, position) };
        let voxel = |x: usize, y: usize, z: usize| [0, 1, 2].map(|axis: usize| field[x + 5 * (y + 4 * (z + 3 * axis))]);
        assert_eq!(at([2.0, 1.0, 1.0]), voxel(2, 1, 1));
        assert_eq!(at([4.0, 3.0, 2.0]), voxel(4, 3, 2));
        assert_eq!(at([-3.0, 9.0, 2.5]), voxel(0, 3, 2));
    }

    #[test]
    fn the_way_back_arrives() {
        let (size, field) = ([12, 11, 10], waves([12, 11, 10], 0.9));
        for n in 0..1000_u32 {
            let to = [n % 10, n / 10 % 10, n / 100].map(|i| i as f32 * 1.07 + 0.2);
            // SAFETY: the closure checks its index.
            let from = unsafe { inverse_point(|i| field[i], size, to) };
            // SAFETY: as above.
            let there = unsafe { at(|i| field[i], size, from) };
            let miss = [0, 1, 2].map(|i: usize| from[i] + there[i] - to[i]);
            assert!(dot(miss, miss) < 1e-7, "{to:?} from {from:?} misses by {miss:?}");
        }
    }

    #[test]
    fn relaxing_keeps_a_constant_and_spreads_a_spike() {
        let (size, mut field) = ([4, 3, 2], vec![0.0; 3 * 24 + interpolate::padding([4, 3, 2])]);
        field[24..48].fill(2.5);
        field[5] = 64.0;
        // SAFETY: the closure checks its index.
        let at = |voxel| unsafe { relaxed(|i| field[i], size, voxel) };
        assert_eq!(at([1, 1, 0]), [64.0 * 0.5 * 0.5 * 0.75, 2.5, 0.0]);
        assert_eq!(at([2, 1, 1]), [64.0 * 0.25 * 0.5 * 0.25, 2.5, 0.0]);
        assert_eq!(at([3, 1, 0]), [0.0, 2.5, 0.0]);
    }

    #[test]
    fn a_stretch_has_its_determinant_and_a_flat_axis_none() {
        for depth in [1, 6] {
            let size = [7, 5, depth];
            let voxels = 35 * depth as usize;
            let field: Vec<f32> = (0..3 * voxels)
                .map(|i| match i / voxels {
                    0 => 0.5 * (i % 7) as f32,
                    1 => -0.25 * (i % voxels / 7 % 5) as f32,
                    _ => 0.1 * (i % voxels / 35) as f32,
                })
                .collect();
            let expected = if depth == 1 { 1.5 * 0.75 } else { 1.5 * 0.75 * 1.1 };
            for voxel in [[0, 0, 0], [3, 2, 0], [6, 4, depth - 1]] {
                // SAFETY: the closure checks its index, and the voxel is in the grid.
                let found = unsafe { jacobian(|i| field[i], size, voxel) };
                assert!((found - expected).abs() < 1e-5, "{found} at {voxel:?}");
            }
        }
    }
}
