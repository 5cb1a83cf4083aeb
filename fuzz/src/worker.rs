//! The process that runs cases, and dies of a find. It writes down the number of each case before it starts it.

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use crate::case::Cases;

/// Cases for one worker.
pub struct Share {
    pub first: u64,
    pub step: u64,
    pub end: u64,
    pub time: Option<Duration>,
}

/// Runs cases until one is a find. The error then says what it is.
pub fn run(cases: &Cases, share: &Share, progress: &Path) -> Result<(), String> {
    let start = Instant::now();
    let mut file = File::create(progress).map_err(|e| e.to_string())?;
    let mut note = |case: u64| {
        file.seek(SeekFrom::Start(0)).and_then(|_| file.write_all(&case.to_le_bytes())).map_err(|e| e.to_string())
    };
    let mut case = share.first;
    while case < share.end && share.time.is_none_or(|time| start.elapsed() < time) {
        note(case)?;
        cases.run(case)?;
        case += share.step;
    }
    note(case)
}
