//! Values between voxels. A position is inside while it lies on or between the outermost voxel centres.

#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// How values between voxels are made.
#[repr(u32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolator {
    /// The voxel whose centre is nearest; halves go up.
    Nearest = 0,
    /// Trilinear from the eight neighbours.
    Linear = 1,
}

/// The whole part and the fraction of a position along one axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cell {
    /// The lower neighbour, at most `size - 2`.
    pub index: i32,
    /// 0 to 1; 1 only on the last voxel.
    pub fraction: f32,
}

/// Whether a position lies on or between the outermost voxel centres; `last` is the size less one.
#[inline(always)]
pub fn inside(position: [f32; 3], last: [f32; 3]) -> bool {
    // `&` and not `&&`: a short circuit would be a branch per axis.
    let axis = |p: f32, last: f32| (p >= 0.0) & (p <= last);
    axis(position[0], last[0]) & axis(position[1], last[1]) & axis(position[2], last[2])
}

/// The position along one axis if it lies inside, else a position inside that is safe to read.
#[inline(always)]
pub fn clamp(position: f32, last: f32) -> f32 {
    // Comparisons rather than `max` and `min`: one instruction each on x86, and a NaN becomes 0.
    let position = if position > 0.0 { position } else { 0.0 };
    if position < last { position } else { last }
}

/// The cell of a position that lies inside, along one axis.
///
/// # Safety
/// `position` is between 0 and `last`, and `last` at least 1.
#[inline(always)]
pub unsafe fn cell(position: f32, last: f32) -> Cell {
    let low = if position < last - 1.0 { position } else { last - 1.0 };
    // SAFETY: between 0 and `last - 1`.
    let index: i32 = unsafe { low.to_int_unchecked() };
    Cell { index, fraction: position - index as f32 }
}

/// The voxel nearest to a position that lies inside, along one axis.
///
/// # Safety
/// `position` is between 0 and the last voxel.
#[inline(always)]
pub unsafe fn nearest(position: f32) -> i32 {
    // SAFETY: between 0.5 and the last voxel plus 0.5.
    unsafe { (position + 0.5).to_int_unchecked() }
}

#[inline(always)]
fn between(low: f32, high: f32, fraction: f32) -> f32 {
    fraction.mul_add(high - low, low)
}

/// Trilinear: the corners with x fastest, then y, then z; along x first, then y, then z.
#[inline(always)]
pub fn linear(corners: [f32; 8], fraction: [f32; 3]) -> f32 {
    let [x, y, z] = fraction;
    let rows = [
        between(corners[0], corners[1], x),
        between(corners[2], corners[3], x),
        between(corners[4], corners[5], x),
        between(corners[6], corners[7], x),
    ];
    between(between(rows[0], rows[1], y), between(rows[2], rows[3], y), z)
}

/// The value of a volume of `size` at a position; 0 outside. `voxel` reads by index in memory.
///
/// # Safety
/// `voxel` may be called with any index below the product of `size`, each at least 2.
#[inline(always)]
pub unsafe fn at(voxel: impl Fn(usize) -> f32, size: [u32; 3], position: [f32; 3], how: Interpolator) -> f32 {
    let last = size.map(|n| (n - 1) as f32);
    if !inside(position, last) {
        return 0.0;
    }
    let index = |x: i32, y: i32, z: i32| x as usize + size[0] as usize * (y as usize + size[1] as usize * z as usize);
    // SAFETY: inside.
    match how {
        Interpolator::Nearest => {
            let [x, y, z] = position.map(|p| unsafe { nearest(p) });
            voxel(index(x, y, z))
        }
        Interpolator::Linear => {
            let [x, y, z] = [0, 1, 2].map(|axis| unsafe { cell(position[axis], last[axis]) });
            let first = index(x.index, y.index, z.index);
            let corner =
                |i: usize| voxel(first + (i & 1) + size[0] as usize * ((i >> 1 & 1) + size[1] as usize * (i >> 2)));
            let corners = [corner(0), corner(1), corner(2), corner(3), corner(4), corner(5), corner(6), corner(7)];
            linear(corners, [x.fraction, y.fraction, z.fraction])
        }
    }
}
