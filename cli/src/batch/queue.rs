//! Registers several rows at once. Each worker takes the next row, reads its images, registers them and writes the
//! results. While one worker reads or writes, others compute. No more pairs are in memory than there are workers.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mireg::io::OutputFolder;
use mireg::{Engine, Error, Result};
use serde_json::Value;

use super::bids::Datasets;
use super::facts::Facts;
use super::record::{self, End, RECORD, Record};
use super::row;
use crate::files;
use crate::interrupt;
use crate::invocation::{Invocation, Row};

/// What all rows share.
pub struct Shared<'a> {
    /// Each worker uses one of these.
    pub engines: &'a [Engine],
    /// The folder in which the rows have their folders.
    pub out: &'a Path,
    /// The folder in which temporary folders are made.
    pub unfinished: &'a Path,
    /// The datasets for the sidecars of moved images, if these are asked for.
    pub datasets: Option<&'a Datasets>,
}

/// How often the caller is called while no row ends.
const IDLE_INTERVAL: Duration = Duration::from_secs(1);

/// Runs rows, `jobs` at once, until all are done or there is a signal. Calls `notify` with the index and the record of
/// each row that ended, and from time to time with `None`.
pub fn run(rows: &[&row::Row], jobs: usize, shared: &Shared, mut notify: impl FnMut(Option<(usize, Record)>)) {
    let all: Vec<usize> = (0..rows.len()).collect();
    let again = pass(rows, &all, jobs, shared, &mut notify);
    // A row for which memory was too short while others ran may have enough when it runs alone.
    pass(rows, &again, 1, shared, &mut notify);
}

/// Runs the rows of these indices once. Returns the indices of those for which the device failed while others ran.
fn pass(
    rows: &[&row::Row],
    places: &[usize],
    jobs: usize,
    shared: &Shared,
    notify: &mut impl FnMut(Option<(usize, Record)>),
) -> Vec<usize> {
    let jobs = jobs.min(places.len());
    let (next, again) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for engine in shared.engines.iter().cycle().take(jobs) {
            let (sender, next, again) = (sender.clone(), &next, &again);
            scope.spawn(move || {
                while interrupt::proceed().is_ok() {
                    let Some(&place) = places.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                    match RowRun::new(rows[place], shared, engine).run(jobs == 1) {
                        // The receiver lives as long as this scope.
                        Outcome::Ended(record) => drop(sender.send((place, *record))),
                        Outcome::DeviceFailed => again.lock().unwrap_or_else(PoisonError::into_inner).push(place),
                        Outcome::Stopped => return,
                    }
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(IDLE_INTERVAL) {
                Ok(ended) => notify(Some(ended)),
                Err(RecvTimeoutError::Timeout) => notify(None),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
    again.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// What became of a row.
enum Outcome {
    Ended(Box<Record>),
    /// The device failed while other rows ran, such as for lack of memory.
    DeviceFailed,
    /// A signal came first.
    Stopped,
}

/// A row that is being registered.
struct RowRun<'a> {
    row: &'a row::Row,
    shared: &'a Shared<'a>,
    engine: &'a Engine,
    /// The record of the results, once they are in their final place.
    placed: Mutex<Option<Record>>,
}

impl<'a> RowRun<'a> {
    fn new(row: &'a row::Row, shared: &'a Shared<'a>, engine: &'a Engine) -> Self {
        Self { row, shared, engine, placed: Mutex::new(None) }
    }

    /// Registers the pair, alone or beside others.
    fn run(&self, alone: bool) -> Outcome {
        let folder = self.shared.out.join(&self.row.id);
        let invocation = Invocation { started: Instant::now(), words: self.row.words.clone(), row: Some(self) };
        let run = || record::forget(&folder).and_then(|()| (self.row.run)(&invocation));
        let ended = catch_unwind(AssertUnwindSafe(run));
        if let Some(record) = self.placed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Outcome::Ended(Box::new(record));
        }
        let error = match ended {
            Ok(Err(Error::Stopped)) => return Outcome::Stopped,
            Ok(Err(Error::Device { .. })) if !alone => return Outcome::DeviceFailed,
            Ok(Err(error)) => crate::flags::error(&files::with_final_path(error, self.shared.unfinished, &folder)),
            Ok(Ok(())) => "nothing was written".to_owned(),
            Err(_) => "a fault in mireg itself; please report the line on stderr and the command".to_owned(),
        };
        let record = self.record(BTreeMap::new(), End::Failed { error });
        // If it cannot be written, the next run tries the row again.
        let _ = self.keep(&folder, &record);
        Outcome::Ended(Box::new(record))
    }

    fn record(&self, files: BTreeMap<String, u64>, end: End) -> Record {
        let command = self.row.words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Record { key: self.row.key.clone(), command, files, end }
    }

    /// Writes the record of a row without results.
    fn keep(&self, folder: &Path, record: &Record) -> Result<()> {
        let folder = OutputFolder::create_in(folder, self.shared.unfinished)?;
        record.write(folder.temporary())?;
        folder.commit()
    }
}

impl Row for RowRun<'_> {
    fn engine(&self) -> &Engine {
        self.engine
    }

    fn temporary(&self) -> &Path {
        self.shared.unfinished
    }

    fn place(&self, folder: OutputFolder, report: Value) -> Result<()> {
        if let Some(datasets) = self.shared.datasets {
            datasets.describe(self.row, &record::files(folder.temporary())?, folder.temporary())?;
        }
        let record = self.record(record::files(folder.temporary())?, End::Done(Facts::new(&report)));
        record.write(folder.temporary())?;
        folder.commit_with_last(RECORD)?;
        *self.placed.lock().unwrap_or_else(PoisonError::into_inner) = Some(record);
        Ok(())
    }
}
