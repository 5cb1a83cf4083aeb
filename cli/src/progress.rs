//! Shows the progress of a registration: a bar on a terminal, lines elsewhere, nothing with `--quiet`.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mireg::Observer;

use crate::interrupt;

/// Shows progress on stderr.
pub enum Progress {
    Bar(ProgressBar),
    /// Lines. They are held back until the search is under way, so that an error before it is printed alone.
    Lines(Mutex<Vec<String>>),
    Quiet,
}

impl Progress {
    /// Creates the display; with `quiet`, nothing is shown.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Quiet;
        }
        let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
        if bar.is_hidden() {
            return Self::Lines(Mutex::default());
        }
        if let Ok(style) = ProgressStyle::with_template("{spinner} {bar:8} {prefix}{wide_msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(100));
        Self::Bar(bar)
    }

    /// Shows that a step starts.
    pub fn step(&self, text: &str) {
        match self {
            Self::Bar(bar) => {
                bar.set_prefix(text.to_owned());
                bar.set_message("");
            }
            Self::Lines(held) => held.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned()),
            Self::Quiet => {}
        }
    }

    /// Shows that measurement `number` of many starts. Without a bar nothing is shown, as there would be too many
    /// lines.
    pub fn row(&self, number: usize, of: usize, text: &str) {
        if let Self::Bar(bar) = self {
            bar.set_length(of as u64);
            bar.set_position(number as u64);
            self.step(text);
        }
    }

    /// Prints the lines that were held back, or removes the bar, so that what is printed next stands alone.
    pub fn finish(&self) {
        self.release();
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }

    /// Returns a function that removes the bar, for use in another thread.
    pub fn clearing(&self) -> impl Fn() + Send + 'static {
        let bar = if let Self::Bar(bar) = self { Some(bar.clone()) } else { None };
        move || bar.iter().for_each(ProgressBar::finish_and_clear)
    }

    fn release(&self) {
        if let Self::Lines(held) = self {
            held.lock().unwrap_or_else(PoisonError::into_inner).drain(..).for_each(|line| crate::terminal::say(&line));
        }
    }
}

/// Removes the bar from the terminal, however the command ends.
impl Drop for Progress {
    fn drop(&mut self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl Observer for Progress {
    fn stage(&self, name: &str) {
        self.step(name);
    }

    fn level(&self, number: usize, of: usize, [x, y, z]: [f64; 3]) {
        if let Self::Bar(bar) = self {
            bar.set_length(of as u64);
            bar.set_position(number as u64);
        }
        self.step(&format!("level {} of {of}, {x:.1} x {y:.1} x {z:.1} mm", number + 1));
    }

    fn evaluated(&self, evaluations: usize, best: f64) {
        // The value is 0 if the images do not overlap, which ends in an error.
        if best != 0.0 {
            self.release();
        }
        if let Self::Bar(bar) = self {
            bar.set_message(format!(", {evaluations} evaluations, best {best:.5}"));
        }
    }

    fn proceed(&self) -> ControlFlow<()> {
        match interrupt::proceed() {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    fn note(&self, text: &str) {
        match self {
            Self::Bar(bar) => bar.println(text),
            Self::Lines(held) => held.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned()),
            Self::Quiet => {}
        }
    }
}
