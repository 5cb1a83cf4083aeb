//! `mireg devices`.

use mireg::Result;

use crate::terminal::{self, line};

/// Prints a line for every backend.
pub fn run() -> Result<()> {
    let lines = mireg::backend::devices().into_iter().map(|device| {
        let state = if device.available { "yes" } else { "no " };
        line(device.backend, &format!("{state}  {}", device.detail))
    });
    terminal::answer(&lines.collect::<String>())
}
