//! Random numbers that depend on a seed and a case only.

use mireg::random::mix;

pub struct Random {
    stream: u64,
    index: u64,
}

impl Random {
    pub fn of_case(seed: u64, case: u64) -> Self {
        Self { stream: mix(mix(seed) ^ case), index: 0 }
    }

    pub fn bits(&mut self) -> u64 {
        self.index += 1;
        mix(self.stream ^ mix(self.index))
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.bits() % end as u64) as usize }
    }

    /// Returns true with a probability of 1 / `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}
