//! Shows the progress of a study: a bar on a terminal, a line per pair elsewhere, only failures with `--quiet`.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mireg::Observer;

use super::record::{End, Record};
use crate::terminal::say;

pub struct Progress {
    show: Show,
    /// Rows of the table.
    of: usize,
    /// Those of them that an earlier run ended.
    before: usize,
    ended: usize,
    failed: usize,
    started: Instant,
}

enum Show {
    Bar(ProgressBar),
    Lines,
    Quiet,
}

impl Progress {
    pub fn new(quiet: bool, of: usize, before: usize) -> Self {
        let bar = ProgressBar::with_draw_target(Some(of as u64), ProgressDrawTarget::stderr());
        let show = match quiet {
            true => Show::Quiet,
            false if bar.is_hidden() => Show::Lines,
            false => {
                if let Ok(style) = ProgressStyle::with_template("{bar:12} {pos} of {len}{wide_msg}") {
                    bar.set_style(style);
                }
                bar.set_position(before as u64);
                bar.enable_steady_tick(Duration::from_millis(200));
                Show::Bar(bar)
            }
        };
        Self { show, of, before, ended: 0, failed: 0, started: Instant::now() }
    }

    /// Shows that a row ended.
    pub fn ended(&mut self, id: &str, record: &Record) {
        self.ended += 1;
        self.failed += usize::from(!record.trusted());
        let line = format!("{} of {}: {}", self.before + self.ended, self.of, line(id, record));
        match &self.show {
            Show::Bar(bar) => {
                if record.failed() {
                    bar.println(line);
                }
                bar.set_position((self.before + self.ended) as u64);
                bar.set_message(self.rate());
            }
            Show::Quiet if !record.failed() => {}
            Show::Lines | Show::Quiet => say(&line),
        }
    }

    /// Returns the pairs per second and the time that is left.
    fn rate(&self) -> String {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let rate = self.ended as f64 / seconds;
        let left = (self.of - self.before - self.ended) as f64 / rate;
        let left = indicatif::HumanDuration(Duration::from_secs_f64(left.min(1e9)));
        format!(", {rate:.2} per second, {left} left, {} not passed", self.failed)
    }

    /// Removes the bar.
    pub fn finish(&self) {
        if let Show::Bar(bar) = &self.show {
            bar.finish_and_clear();
        }
    }
}

/// Returns a line that says how a row ended.
fn line(id: &str, record: &Record) -> String {
    match &record.end {
        End::Failed { error } => format!("{id} failed: {error}"),
        End::Done(facts) => {
            let names: Vec<_> = facts.warnings.iter().map(|warning| warning.name.as_str()).collect();
            let warnings = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
            let trust = if facts.trusted() { "passed" } else { "not trusted" };
            format!("{id} {trust}{warnings}, {:.2} s", facts.seconds.total)
        }
    }
}

impl Observer for Progress {
    fn note(&self, text: &str) {
        match &self.show {
            Show::Bar(bar) => bar.println(text),
            Show::Lines => say(text),
            Show::Quiet => {}
        }
    }
}
