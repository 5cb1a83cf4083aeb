//! The recursive Gaussian: Young & van Vliet, "Recursive implementation of the Gaussian filter" (1995), a causal pass over a line and an
//! anticausal one over what it gives, with the five poles of van Vliet, Young & Verbeek, "Recursive Gaussian derivative filters" (1998).
//!
//! A pass is a cascade of two sections of second order and one of first order: five poles in one recursion lose a wide Gaussian to
//! round-off, and cost as much. Beyond either end a line goes on as its border value, exactly, by the matrix of Triggs & Sdika,
//! "Boundary conditions for Young-van Vliet recursive filtering" (2006).
//!
//! States are f64. A newer output's term comes later, so that from one sample to the next each section waits for one multiply-add.

#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;

/// Poles of a pass.
pub const ORDER: usize = 5;

/// What a pass remembers: the last two outputs of each section of second order, newest first, and the last of the first-order one, which is
/// the pass's own.
pub type State = [f64; ORDER];

/// A Gaussian of one standard deviation.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    /// What a sample is multiplied by before the first section, so that a constant stays.
    pub gain: f64,
    /// What each number of the state is multiplied by in its section.
    pub feedback: [f64; ORDER],
    /// The state after endlessly many ones.
    pub steady: State,
    /// From the causal pass's state past a line's end to the anticausal pass's there, each less what is steady.
    pub border: [[f64; ORDER]; ORDER],
}

impl Coefficients {
    /// The state of the causal pass before a line whose first sample is `first`.
    #[inline(always)]
    pub fn begin(&self, first: f32) -> State {
        self.steady.map(|steady| steady * f64::from(first))
    }

    /// Takes the next sample; the pass's output is then the state's last number.
    #[inline(always)]
    pub fn advance(&self, state: &mut State, sample: f64) {
        let [a, b, c, d, e] = self.feedback;
        let first = a.mul_add(state[0], b.mul_add(state[1], self.gain * sample));
        let second = c.mul_add(state[2], d.mul_add(state[3], first));
        *state = [first, state[0], second, state[2], e.mul_add(state[4], second)];
    }

    /// The state of the anticausal pass before it comes back to a line's last sample, from the causal one's after it.
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
