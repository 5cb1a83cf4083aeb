//! Gaussian smoothing by the recursive filter of [`gpu::math::recursive`]: the parts that the CPU and devices share.

mod coefficients;
pub(super) mod cpu;
pub(super) mod device;

pub use coefficients::coefficients;
use gpu::math::recursive::Coefficients;

/// The time that smoothing takes on a device, in seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothingSeconds {
    /// The time of each pass, along those of x, y and z that are smoothed.
    pub passes: Vec<f64>,
    /// The time of a plain copy, which reads and writes as much as a pass.
    pub copy: f64,
}

/// A pass along one axis.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    /// Samples per line.
    pub len: usize,
    /// The distance in memory between neighbouring samples of a line, which is also the number of lines that lie side
    /// by side.
    pub stride: usize,
    pub coefficients: Coefficients,
}

/// The passes that smooth volumes of `size` by `sigmas` voxels, in their order. There is none for an axis with a sigma
/// of 0, or with one voxel.
pub fn passes(size: [usize; 3], sigmas: [f64; 3]) -> Vec<Pass> {
    let axes = (0..3).filter(|&axis| sigmas[axis] > 0.0 && size[axis] > 1);
    let pass = |axis: usize| Pass {
        len: size[axis],
        stride: size[..axis].iter().product(),
        coefficients: coefficients(sigmas[axis]),
    };
    axes.map(pass).collect()
}
