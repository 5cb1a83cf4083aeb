//! The recursive Gaussian filter of Young & van Vliet, "Recursive implementation of the Gaussian filter" (1995): a
//! causal pass over a line, and an anticausal pass over its output. The five poles are those of van Vliet, Young &
//! Verbeek, "Recursive Gaussian derivative filters" (1998).
//!
//! A pass is a cascade of two sections of second order and one of first order. For a wide Gaussian, a single recursion
//! with five poles costs the same but has far larger round-off errors. Beyond its ends, a line is continued by its
//! border values. The matrix of Triggs & Sdika, "Boundary conditions for Young-van Vliet recursive filtering" (2006),
//! does this exactly.
//!
//! States are f64. The term of the newest output is added last, so that the chain of dependencies from one sample to
//! the next is a single multiply-add per section.

#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// Poles of a pass.
pub const ORDER: usize = 5;

/// The state of a pass: the last two outputs of each section of second order, newest first, then the last output of the section of first
/// order, which is the pass's output.
pub type State = [f64; ORDER];

/// The filter for one standard deviation.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    /// The factor of a sample before the first section. It is chosen so that a constant line is not changed.
    pub gain: f64,
    /// The factor of each number of the state in the recursion of its section.
    pub feedback: [f64; ORDER],
    /// The state after infinitely many samples of 1.
    pub steady: State,
    /// The matrix, as `border[to][from]`, from the causal pass's state after a line's last sample to the anticausal
    /// pass's state there, both minus the steady state of the border value.
    pub border: [[f64; ORDER]; ORDER],
}

impl Coefficients {
    /// Returns the state of the causal pass before a line whose first sample is `first`.
    #[inline(always)]
    pub fn begin(&self, first: f32) -> State {
        self.steady.map(|steady| steady * f64::from(first))
    }

    /// Filters the next sample. The pass's output is the last number of the new state.
    #[inline(always)]
    pub fn advance(&self, state: &mut State, sample: f64) {
        let [a, b, c, d, e] = self.feedback;
        let first = a.mul_add(state[0], b.mul_add(state[1], self.gain * sample));
        let second = c.mul_add(state[2], d.mul_add(state[3], first));
        *state = [first, state[0], second, state[2], e.mul_add(state[4], second)];
    }

    /// Returns the state of the anticausal pass before a line's last sample, whose value is `last`, from the causal
    /// pass's state after it.
    #[inline(always)]
    pub fn turn(&self, state: &State, last: f32) -> State {
        let steady = self.begin(last);
        let mut turned = steady;
        for from in 0..ORDER {
            let away = state[from] - steady[from];
            for to in 0..ORDER {
                turned[to] = self.border[to][from].mul_add(away, turned[to]);
            }
        }
        turned
    }
}
