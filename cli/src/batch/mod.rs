//! A study: many pairs that are registered in one process. The rows of a table are checked ([`plan`], [`row`]). Rows
//! that are not done yet are registered in parallel ([`queue`]). Each leaves a record in its folder that says what it
//! was made from ([`record`]). The summary and the gallery are made from all records. What is done for a row is up to
//! its own command.

pub mod bids;
pub mod devices;
mod facts;
mod gallery;
mod inputs;
mod names;
mod options;
pub mod patterns;
pub mod plan;
mod progress;
mod queue;
mod record;
pub mod row;
pub mod shard;
mod summary;
pub mod table;
mod unfinished;

use std::path::Path;
use std::time::{Duration, Instant};

use mireg::io::OutputFolder;
use mireg::{Engine, Error, Observer, Result};

use crate::files;
use crate::interrupt::{self, SignalGuard};
use crate::terminal;
use bids::{Datasets, SIDECAR};
use names::{GALLERY, SUMMARY};
use progress::Progress;
use queue::Shared;
use record::{RECORD, Record};
use row::Row;
use shard::Shard;
use unfinished::Unfinished;

/// How often the summary is written while rows are registered.
const WRITTEN: Duration = Duration::from_secs(30);

/// Opens the devices for a number of rows. Returns an engine for each, and how many rows to register at once.
pub type Open<'a> = dyn Fn(usize, &dyn Observer) -> Result<(Vec<Engine>, usize)> + 'a;

/// How a study is run.
pub struct Study<'a> {
    /// The table, or the pattern of moving images, from which the rows come.
    pub source: &'a Path,
    pub out: &'a Path,
    pub quiet: bool,
    /// The shard of the study that the rows are, if they are not all of it.
    pub shard: Option<Shard>,
    /// The datasets of the images, if the study is to be a derivative of BIDS datasets.
    pub datasets: Option<Datasets>,
    /// Whether nothing is registered, and the results that exist are summarised.
    pub merge: bool,
    /// Whether rows that failed in an earlier run are tried again.
    pub retry_failed: bool,
    pub open: &'a Open<'a>,
}

impl Study<'_> {
    /// Registers the rows that are not done, and writes the summary of all.
    ///
    /// # Errors
    /// [`Error::Untrusted`] where a row failed or should not be used, [`Error::Stopped`] after a signal, [`Error::Device`] for a device
    /// that is not there, [`Error::File`] where nothing can be written.
    pub fn run(&self, rows: &[Row]) -> Result<()> {
        // While this lives, the first signal ends rows at their next step, so that none is left half written.
        let guard = SignalGuard::new();
        let unfinished = Unfinished::open(self.out, self.shard)?;
        let mut records: Vec<_> = rows.iter().map(|row| self.kept(row)).collect();
        self.describe(rows, &mut records, unfinished.folder())?;
        let waiting: Vec<usize> = (0..rows.len()).filter(|&place| records[place].is_none()).collect();
        let mut progress = Progress::new(self.quiet, rows.len(), rows.len() - waiting.len());
        let write = |records: &[Option<Record>]| self.write(rows, records, unfinished.folder());
        if !waiting.is_empty() && !self.merge {
            let (engines, jobs) = (self.open)(waiting.len(), &progress)?;
            // Leaked on purpose: at the end of the process, a driver frees a device faster than buffer by buffer.
            let (engines, datasets) = (engines.leak(), self.datasets.as_ref());
            let shared = Shared { engines, out: self.out, unfinished: unfinished.folder(), datasets };
            let turns: Vec<&Row> = waiting.iter().map(|&place| &rows[place]).collect();
            let mut written = Instant::now();
            queue::run(&turns, jobs, &shared, |ended| {
                if let Some((turn, record)) = ended {
                    progress.ended(&rows[waiting[turn]].id, &record);
                    records[waiting[turn]] = Some(record);
                }
                if written.elapsed() > WRITTEN {
                    // An error is ignored here. The summary is written again at the end, which has to succeed.
                    let _ = write(&records);
                    written = Instant::now();
                }
            });
        }
        progress.finish();
        write(&records).map_err(|error| files::with_final_path(error, unfinished.folder(), self.out))?;
        let stopped = interrupt::proceed();
        drop((unfinished, guard));
        self.tell(&records, waiting.len());
        stopped?;
        self.verdict(&records)
    }

    /// Returns the record of a row from an earlier run, if it is still valid.
    fn kept(&self, row: &Row) -> Option<Record> {
        let record = Record::read(&self.out.join(&row.id))?;
        (record.key == row.key && !(self.retry_failed && record.failed())).then_some(record)
    }

    /// Adds sidecars to the results of an earlier run without `--bids`.
    fn describe(&self, rows: &[Row], records: &mut [Option<Record>], unfinished: &Path) -> Result<()> {
        let Some(datasets) = &self.datasets else { return Ok(()) };
        datasets.check(self.out)?;
        for (row, record) in rows.iter().zip(records).filter_map(|(row, record)| Some((row, record.as_mut()?))) {
            if record.files.contains_key(SIDECAR) {
                continue;
            }
            let folder = OutputFolder::create_in(&self.out.join(&row.id), unfinished)?;
            if datasets.describe(row, &record.files, folder.temporary())? {
                record.files.extend(record::files(folder.temporary())?);
                record.write(folder.temporary())?;
                folder.commit_with_last(RECORD)?;
            }
        }
        Ok(())
    }

    fn write(&self, rows: &[Row], records: &[Option<Record>], unfinished: &Path) -> Result<()> {
        let folder = OutputFolder::create_in(self.out, unfinished)?;
        let [summary, gallery] = [SUMMARY, GALLERY].map(|name| folder.path(&self.named(name)));
        summary::write(&summary, rows, records)?;
        gallery::write(&gallery, self.source, rows, records)?;
        if let Some(datasets) = &self.datasets {
            let files = records.iter().flatten().flat_map(|record| record.files.keys());
            datasets.write(folder.temporary(), self.out, files.map(String::as_str))?;
        }
        folder.commit()
    }

    /// Returns the file name of a summary. That of a shard contains the shard, as in `batch.1-of-4.tsv`.
    fn named(&self, name: &str) -> String {
        match (self.shard, name.split_once('.')) {
            (Some(shard), Some((stem, end))) => format!("{stem}.{}.{end}", shard.name()),
            _ => name.to_owned(),
        }
    }

    /// Prints the state of the study.
    fn tell(&self, records: &[Option<Record>], waited: usize) {
        if self.quiet {
            return;
        }
        let ended = records.iter().flatten();
        let count = |of: &dyn Fn(&Record) -> bool| ended.clone().filter(|record| of(record)).count();
        let [failed, trusted] = [count(&Record::failed), count(&Record::trusted)];
        let [all, ended, before] = [records.len(), ended.clone().count(), records.len() - waited];
        let mut text = format!("{ended} of {all} done, {before} of them before; {trusted} passed");
        text += &format!(", {} not trusted, {failed} failed", ended - trusted - failed);
        terminal::print(&terminal::line("pairs", &text));
        let [summary, gallery] = [SUMMARY, GALLERY].map(|name| self.named(name));
        let files = format!("{summary} and {gallery} in {}, and a folder per pair", self.out.display());
        terminal::print(&terminal::line("files", &files));
        if ended < all {
            let again = if self.merge { "without --merge, " } else { "" };
            terminal::say(&format!("mireg: note: {again}the same command goes on from here"));
        }
    }

    fn verdict(&self, records: &[Option<Record>]) -> Result<()> {
        let failed = records.iter().flatten().filter(|record| record.failed()).count();
        let untrusted = records.iter().flatten().filter(|record| !record.trusted()).count() - failed;
        let waiting = records.iter().filter(|record| record.is_none()).count();
        if failed + untrusted + waiting == 0 {
            return Ok(());
        }
        let waiting = if waiting > 0 { format!(", {waiting} waiting") } else { String::new() };
        let look = self.out.join(self.named(GALLERY));
        let text = format!("{failed} failed, {untrusted} not trusted{waiting}; look at {}", look.display());
        Err(Error::untrusted(text))
    }
}
