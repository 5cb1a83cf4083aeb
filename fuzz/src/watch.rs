//! Starts workers, and collects what they die of.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::arguments::Arguments;

/// How long a case may take.
const HANG: Duration = Duration::from_secs(5);
const GLANCE: Duration = Duration::from_millis(50);

/// A process that runs the case `number` and every nth one after it, if there are n workers.
struct Worker {
    number: u64,
    progress: PathBuf,
    process: Option<Child>,
    /// The case that it is running.
    case: u64,
    /// When it was first seen to run this case.
    since: Instant,
}

/// The finds by their kind: how often each occurred, and in which case first.
#[derive(Default)]
pub struct Finds(BTreeMap<String, (usize, u64)>);

/// Runs all cases; returns how many there were and what was found.
pub fn watch(arguments: &Arguments, folder: &Path) -> std::io::Result<(u64, Finds)> {
    let start = Instant::now();
    let end = Duration::from_secs_f64(arguments.seconds.unwrap_or(1e9));
    let count = arguments.workers.map_or_else(|| std::thread::available_parallelism().map(|n| n.get() as u64), Ok)?;
    let mut finds = Finds::default();
    let mut workers = Vec::new();
    for number in 0..count {
        let progress = folder.join(format!("progress-{number}"));
        let mut worker = Worker { number, progress, process: None, case: number, since: start };
        worker.start(arguments, count, end)?;
        workers.push(worker);
    }
    while workers.iter().any(|worker| worker.process.is_some()) {
        std::thread::sleep(GLANCE);
        for worker in &mut workers {
            let Some(says) = worker.glance()? else { continue };
            if !says.is_empty() {
                finds.add(arguments, worker.case, &says);
                worker.case += count;
                let left = end.saturating_sub(start.elapsed());
                if !left.is_zero() {
                    worker.start(arguments, count, left)?;
                }
            }
        }
    }
    Ok((workers.iter().map(|worker| (worker.case - worker.number) / count).sum(), finds))
}

impl Worker {
    fn start(&mut self, arguments: &Arguments, step: u64, time: Duration) -> std::io::Result<()> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("--seed").arg(arguments.seed.to_string()).arg("--format").arg(&arguments.format);
        command.arg("--seconds").arg(time.as_secs_f64().to_string());
        if let Some(cases) = arguments.cases {
            command.arg("--cases").arg(cases.to_string());
        }
        command.arg("--worker").arg(format!("{}:{step}", self.case)).arg(&self.progress);
        self.process = Some(command.env("RUST_BACKTRACE", "0").stderr(Stdio::piped()).spawn()?);
        self.since = Instant::now();
        Ok(())
    }

    /// Returns what the process died of, an empty text if it came to its end, and `None` if it is still at work.
    fn glance(&mut self) -> std::io::Result<Option<String>> {
        let Some(process) = &mut self.process else { return Ok(None) };
        let status = process.try_wait()?;
        let noted = std::fs::read(&self.progress).unwrap_or_default();
        if let Some(noted) = noted.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)).filter(|&n| n != self.case) {
            (self.case, self.since) = (noted, Instant::now());
        }
        let hangs = status.is_none() && self.since.elapsed() > HANG;
        if status.is_none() && !hangs {
            return Ok(None);
        }
        if hangs {
            process.kill()?;
        }
        let status = process.wait()?;
        let mut says = String::new();
        if let Some(errors) = &mut process.stderr {
            errors.read_to_string(&mut says)?;
        }
        self.process = None;
        Ok(Some(match (hangs, status.success()) {
            (true, _) => format!("hangs for more than {} s", HANG.as_secs()),
            (false, true) => String::new(),
            (false, false) => format!("{} ({status})", says.trim()),
        }))
    }
}

impl Finds {
    /// Adds a find. Panics at the same line of the source count as one find, and so do other finds that differ only in
    /// numbers.
    fn add(&mut self, arguments: &Arguments, case: u64, says: &str) {
        let place = says.split("panicked at ").nth(1).and_then(|rest| rest.lines().next());
        let key = place.map_or_else(|| says.replace(|c: char| c.is_ascii_digit(), ""), str::to_owned);
        let (count, _) = self.0.entry(key).or_insert((0, case));
        *count += 1;
        if *count == 1 {
            let format = if arguments.format.is_empty() { "" } else { " --format " };
            println!("find: --case {}:{case}{format}{}: {says}", arguments.seed, arguments.format);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns a line for each find, the most frequent first.
    pub fn table(&self) -> Vec<String> {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        rows.iter().map(|(key, (count, case))| format!("{count} times, first in case {case}: {key}")).collect()
    }
}
