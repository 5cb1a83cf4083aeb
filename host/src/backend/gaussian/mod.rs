//! Gaussian smoothing by the recursive filter of [`gpu::math::recursive`]: what CPU and devices have in common.

mod coefficients;
pub(super) mod cpu;
pub(super) mod device;

pub use coefficients::coefficients;
use gpu::math::recursive::Coefficients;

/// What smoothing takes on a device.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothingSeconds {
    /// Each pass: along x, y and z, if none is left alone.
    pub passes: Vec<f64>,
    /// A plain copy of what a pass reads and writes.
    pub copy: f64,
}

/// A pass along one axis.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// Samples of a line.
    pub len: usize,
    /// Samples from one of a line to the next: as many lines lie side by side in memory.
    pub stride: usize,
    pub coefficients: Coefficients,
}

/// The passes that smooth volumes of `size` by `sigmas` voxels, in their order. An axis with a sigma of 0, or of one voxel, is left alone.
pub fn passes(size: [usize; 3], sigmas: [f64; 3]) -> Vec<Pass> {
    let axes = (0..3).filter(|&axis| sigmas[axis] > 0.0 && size[axis] > 1);
    let pass = |axis: usize| Pass {
        len: size[axis],
        stride: size[..axis].iter().product(),
        coefficients: coefficients(sigmas[axis]),
    };
    axes.map(pass).collect()
}
