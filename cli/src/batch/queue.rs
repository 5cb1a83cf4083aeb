//! Rows at once: each worker takes the next row, reads its images, registers them and writes the results. While one reads or writes, others
//! compute. No more pairs are in memory than there are workers.

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

use super::facts::Facts;
use super::record::{self, End, RECORD, Record};
use super::row;
use crate::interrupt;
use crate::invocation::{Invocation, Row};

/// What all rows share.
pub struct Shared<'a> {
    pub engine: &'a Engine,
    /// Where their folders go.
    pub out: &'a Path,
    /// Where temporary folders lie.
    pub unfinished: &'a Path,
}

/// How often the caller hears that rows are under way.
const WHILE: Duration = Duration::from_secs(1);

/// Runs rows, so many at once, until all are done or a signal comes. Tells the place in the list and the record of each that ended, and
/// from time to time of none.
pub fn run(rows: &[&row::Row], jobs: usize, shared: &Shared, mut told: impl FnMut(Option<(usize, Record)>)) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..jobs.min(rows.len()) {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                while interrupt::proceed().is_ok() {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(row) = rows.get(place) else { return };
                    let Some(record) = Turn::new(row, shared).run() else { return };
                    // The receiver lives as long as this scope.
                    let _ = sender.send((place, record));
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(WHILE) {
                Ok(ended) => told(Some(ended)),
                Err(RecvTimeoutError::Timeout) => told(None),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    });
}

/// A row that is being registered.
struct Turn<'a> {
    row: &'a row::Row,
    shared: &'a Shared<'a>,
    /// Of results that are in their place.
    placed: Mutex<Option<Record>>,
}

impl<'a> Turn<'a> {
    fn new(row: &'a row::Row, shared: &'a Shared<'a>) -> Self {
        Self { row, shared, placed: Mutex::new(None) }
    }

    /// Registers the pair. None where a signal came first.
    fn run(&self) -> Option<Record> {
        let folder = self.shared.out.join(&self.row.id);
        let invocation = Invocation { started: Instant::now(), words: self.row.words.clone(), row: Some(self) };
        let run = || record::forget(&folder).and_then(|()| (self.row.run)(&invocation));
        let ended = catch_unwind(AssertUnwindSafe(run));
        if let Some(record) = self.placed.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Some(record);
        }
        let error = match ended {
            Ok(Err(Error::Stopped)) => return None,
            Ok(Err(error)) => crate::flags::error(&error),
            Ok(Ok(())) => "nothing was written".to_owned(),
            Err(_) => "a fault in mireg itself; please report the line on stderr and the command".to_owned(),
        };
        let record = self.record(Vec::new(), End::Failed { error });
        // Where it cannot be written, the next run tries the row again.
        let _ = self.keep(&folder, &record);
        Some(record)
    }

    fn record(&self, files: Vec<String>, end: End) -> Record {
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

impl Row for Turn<'_> {
    fn engine(&self) -> &Engine {
        self.shared.engine
    }

    fn temporary(&self) -> &Path {
        self.shared.unfinished
    }

    fn place(&self, folder: OutputFolder, report: Value) -> Result<()> {
        let record = self.record(record::names(folder.temporary())?, End::Done(Facts::new(&report)));
        record.write(folder.temporary())?;
        folder.commit_with_last(RECORD)?;
        *self.placed.lock().unwrap_or_else(PoisonError::into_inner) = Some(record);
        Ok(())
    }
}
