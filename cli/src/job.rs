//! The steps that are common to all commands that register two images and write a folder of results.

use std::path::Path;

use glam::DAffine3;
use mireg::io::transform::Grids;
use mireg::io::{self, OutputFolder};
use mireg::{Engine, Error, Geometry, Resampling, Result, Volume, resample};
use serde::Serialize;

use crate::arguments::compute::Compute;
use crate::arguments::pair::Pair;
use crate::files;
use crate::interrupt::{self, SignalGuard};
use crate::invocation::Invocation;
use crate::loaded::Loaded;
use crate::opening::Opening;
use crate::progress::Progress;
use crate::report::outputs::Outputs;
use crate::report::thumbnail::{self, THUMBNAIL};
use crate::report::{self, Kind, REPORT, Report, Run, Warning};
use crate::terminal::{self, line};

/// Begins a run that writes its results to a folder. If a signal ends the run, nothing of them is left.
///
/// # Errors
/// [`Error::File`] for a folder that cannot be made.
pub fn begin(out: &Path, quiet: bool) -> Result<(SignalGuard, OutputFolder, Progress)> {
    let guard = SignalGuard::new();
    let folder = OutputFolder::create(out)?;
    let progress = Progress::new(quiet);
    let clear = progress.clearing();
    guard.watch(folder.temporary().to_owned(), move || {
        clear();
        terminal::say(&crate::line_of(&Error::Stopped));
    });
    Ok((guard, folder, progress))
}

/// A run under way. Its results are in a temporary folder, and are moved to the output folder at the end.
pub struct Job<'a> {
    pub engine: &'a Engine,
    pub progress: Progress,
    pub folder: OutputFolder,
    invocation: &'a Invocation<'a>,
    pair: &'a Pair,
    outputs: Outputs,
    /// `None` for a row of a table, where `mireg batch` handles signals. Declared after `folder`, which must be dropped
    /// first.
    guard: Option<SignalGuard>,
    /// The device that is being opened; `None` for a row of a table, whose device is open.
    _opening: Option<Opening>,
}

impl<'a> Job<'a> {
    /// Creates the output folder and starts to open the device. `more` has the names of files that are written in
    /// addition to those of `outputs`.
    ///
    /// # Errors
    /// [`Error::File`] for a folder that cannot be made and for results that would replace an input, and
    /// [`Error::Device`].
    pub fn open<K: Kind>(
        pair: &'a Pair,
        outputs: Outputs,
        more: &[&'static str],
        compute: &Compute,
        invocation: &'a Invocation<'a>,
    ) -> Result<Self> {
        let Pair { fixed, moving, out, quiet, .. } = pair;
        for name in outputs.files::<K>(moving).iter().chain(more) {
            files::keep_inputs(&out.join(name), [fixed, moving])?;
        }
        if let Some(row) = invocation.row {
            let folder = OutputFolder::create_in(out, row.temporary())?;
            let (engine, progress) = (row.engine(), Progress::Quiet);
            return Ok(Self { engine, progress, folder, invocation, pair, outputs, guard: None, _opening: None });
        }
        let (guard, folder, progress) = begin(out, *quiet)?;
        let opening = Opening::begin(compute, &progress)?;
        let (engine, guard) = (opening.engine, Some(guard));
        Ok(Self { engine, progress, folder, invocation, pair, outputs, guard, _opening: Some(opening) })
    }

    /// Reads the images, and then the options. `options` gets the grids of both images, which some formats of
    /// transforms need.
    ///
    /// # Errors
    /// As [`mireg::io::read_with`], and those of `options`.
    pub fn read<O: Send>(&self, options: impl FnOnce(&Grids) -> Result<O> + Send) -> Result<Loaded<O>> {
        self.read_from(&self.pair.fixed, &self.pair.moving, options)
    }

    /// As [`Job::read`], but from these paths; the report names those of the arguments. The images of the demo are
    /// still in the temporary folder when they are read.
    ///
    /// # Errors
    /// As [`Job::read`].
    pub fn read_from<O: Send>(
        &self,
        fixed: &Path,
        moving: &Path,
        options: impl FnOnce(&Grids) -> Result<O> + Send,
    ) -> Result<Loaded<O>> {
        self.progress.step("reading");
        let read = || Loaded::read([fixed, moving], &self.pair.images, [None, None], options);
        self.engine.install(read)
    }

    /// Writes the results that were asked for to the temporary folder. `map` is as for [`Job::finish_moved`].
    ///
    /// # Errors
    /// As [`Run::write`].
    pub fn write<O: Sync, K: Kind>(
        &self,
        loaded: &Loaded<O>,
        found: &K,
        map: Option<&DAffine3>,
    ) -> Result<Report<K::Facts>>
    where
        K::Facts: Send,
    {
        self.progress.step("writing");
        let run = Run {
            invocation: self.invocation,
            fixed: &self.pair.fixed,
            moving: &self.pair.moving,
            images: [&loaded.fixed, &loaded.moving],
            notes: &loaded.notes,
            read: loaded.seconds,
            // Rows of a table do not wait for a device to be opened.
            open: self.guard.as_ref().map_or(0.0, |_| self.engine.opening_seconds()),
        };
        let moved = |path: &Path| match (&loaded.whole, map) {
            (Some([fixed, _]), Some(map)) => self.write_moved(&loaded.moving, fixed, map, path),
            _ => found.moved().map_or(Ok(()), |moved| io::write(path, moved)),
        };
        let written = self.engine.install(|| {
            let report = run.write(found, &self.outputs, &self.folder, &moved)?;
            // The gallery of `mireg batch` shows it.
            if let (Some(_), Some(moved)) = (self.invocation.row, found.moved()) {
                thumbnail::write(&loaded.fixed, moved, &self.folder.path(THUMBNAIL))?;
            }
            Ok(report)
        });
        written.map_err(|error| files::with_final_path(error, self.folder.temporary(), &self.pair.out))
    }

    /// Writes the moving image with all of its pixels on the whole grid of the fixed image. Used if an image was
    /// subsampled when it was read.
    fn write_moved(&self, moving: &Volume, fixed: &Geometry, map: &DAffine3, path: &Path) -> Result<()> {
        if io::is_picture(&self.pair.moving) {
            return resample::move_picture(&self.pair.moving, &self.pair.images.moving(), fixed, map, path);
        }
        io::write(path, &self.engine.resample(moving, fixed, &(*map).into(), &Resampling::default())?.volume)
    }

    /// Moves the results to the output folder. A command then prints the warnings, the notes and `text`, as [`tell`]
    /// does. A row of a table prints nothing.
    ///
    /// # Errors
    /// [`Error::File`] where the folder cannot be moved.
    pub fn commit<F: Serialize>(self, report: &Report<F>, text: &str) -> Result<()> {
        if let Some(row) = self.invocation.row {
            let report = serde_json::to_value(report).map_err(|e| Error::file(REPORT, e.to_string()))?;
            return row.place(self.folder, report);
        }
        self.guard.iter().for_each(SignalGuard::release);
        interrupt::proceed()?;
        self.folder.commit()?;
        self.progress.finish();
        tell(&report.warnings, &report.notes, text, self.pair.quiet);
        Ok(())
    }

    /// Writes the results, moves them to the output folder and prints a summary.
    ///
    /// # Errors
    /// As [`Job::write`]; [`Error::Untrusted`] for results that should not be used. These are written for inspection,
    /// but the exit code must stop a script.
    pub fn finish<O: Sync, K: Kind>(self, loaded: &Loaded<O>, found: &K) -> Result<()>
    where
        K::Facts: Send,
    {
        self.finish_moved(loaded, found, None)
    }

    /// As [`Job::finish`]. If an image was subsampled when it was read, all pixels of the moving image are resampled by
    /// `map`, from points of the fixed image to points of the moving image, LPS mm.
    ///
    /// # Errors
    /// As [`Job::finish`].
    pub fn finish_moved<O: Sync, K: Kind>(self, loaded: &Loaded<O>, found: &K, map: Option<&DAffine3>) -> Result<()>
    where
        K::Facts: Send,
    {
        let (pair, report) = (self.pair, self.write(loaded, found, map)?);
        let look = match self.outputs.has_report() {
            true => format!("look at {}", pair.out.join(REPORT).display()),
            false => "write its report to see why".to_owned(),
        };
        let text = summary(pair, &self.outputs, found, &report);
        self.commit(&report, &text)?;
        let mut grave: Vec<_> =
            report.warnings.iter().filter(|warning| warning.grave).map(|warning| warning.check.name()).collect();
        grave.dedup();
        match grave[..] {
            [] => Ok(()),
            _ => Err(Error::untrusted(format!("the result should not be used ({}); {look}", grave.join(", ")))),
        }
    }
}

/// Prints the warnings, which are never silenced, and, unless `quiet`, the notes and `summary`.
pub fn tell(warnings: &[Warning], notes: &[String], summary: &str, quiet: bool) {
    warnings.iter().for_each(|warning| terminal::say(&format!("mireg: warning: {}", warning.text)));
    if !quiet {
        files::say(notes);
        terminal::print(summary);
    }
}

/// Returns the summary that is printed, one line per fact.
pub fn summary<K: Kind>(pair: &Pair, outputs: &Outputs, found: &K, report: &Report<K::Facts>) -> String {
    let files = [found.more_files(), outputs.files::<K>(&pair.moving)].concat();
    let files = format!("{} in {}", files.join(", "), pair.out.display());
    let device = format!("{} ({})", report.head.backend, report.head.device);
    let used = &report.head.intensities;
    let intensities = [("fixed range", &used.fixed), ("moving range", &used.moving)];
    let reduced = intensities.into_iter().filter(|(_, of)| of.below + of.above + of.missing + of.framed > 0);
    let reduced = reduced.map(|(label, of)| (label, report::intensities(of)));
    let lines = found.summary(&report.facts).into_iter().chain(reduced);
    let lines = lines.chain([("computed on", device), ("files", files)]);
    lines.map(|(label, text)| line(label, &text)).collect()
}
