//! `mireg batch`.

use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use mireg::backend::BackendKind;
use mireg::error::Setting;
use mireg::{Engine, Error, Observer, Result};

use super::{deform, mesh, register};
use crate::arguments::compute::Compute;
use crate::arguments::number::whole;
use crate::batch::bids::Datasets;
use crate::batch::devices::Devices;
use crate::batch::row::{self, RowContext, Run};
use crate::batch::shard::Shard;
use crate::batch::table::{self, Table};
use crate::batch::{Study, patterns, plan};
use crate::invocation::Invocation;
use crate::terminal;

pub const HELP: &str = "\
TABLE is a CSV or TSV file: a row of names, then a row per pair. Columns:
  id             name of the pair's folder in DIR
  fixed, moving  images, relative to the folder of TABLE
  any option     of the command, without its dashes (dof, levels, fixed_mask, ...). An empty cell
                 leaves it out, flags are yes or no; an option that may be repeated may have
                 several columns

Instead of TABLE, --fixed and --moving find images by patterns with *, ?, [...] and **. Those of a
subject and session, sub-... and ses-..., are a pair, with an id such as sub-01_ses-2. One FIXED
without wildcards, such as a template, is registered with every MOVING.

All pairs are checked first. All that is wrong with them is listed, and nothing is registered.

Output files in DIR:
  ID/           what `mireg COMMAND FIXED MOVING --out DIR/ID` writes, with the same bytes;
                batch.json, a record of what it was made from; thumbnail.png, its picture for
                index.html
  batch.tsv     a row per pair: status, trust, warnings, error, metric, motion, seconds, device,
                hash, version, command
  index.html    all pairs, worst first, by state and warning, each with a link to its report

Progress is a bar on a terminal, and elsewhere, as in the log of a scheduler, a line per pair.

If a run is stopped or killed, the same command goes on from there. A pair is done if its record
has the same options, the same version of mireg, and the same sizes and times of its images, and
its results are there in the size in which they were written. A pair that fails does not stop the
others; --retry-failed tries it again.

Exit codes:
  0         all pairs passed; warnings, if any, are in index.html
  1         pairs failed, should not be used or are not done yet; index.html says which and why
  2         the table, an option or the device is wrong; nothing was registered
  70        a fault in mireg itself
  130, 143  interrupted by Ctrl-C or SIGTERM; pairs that are done stay

Examples:
  mireg batch pairs.csv --out study
      rigid registration of all pairs
  mireg batch pairs.csv --out study -- --dof affine --levels 8mm,4mm
      the same options for all pairs; a cell of the table comes before them
  mireg batch pairs.tsv --out study --command deform --jobs 2
      deformable registration, two pairs at once
  mireg batch --fixed 'sub-*/anat/*_T1w.nii.gz' --moving 'sub-*/pet/*_pet.nii.gz' --out study
      the images of each subject; quotes keep the patterns from the shell
  mireg batch pairs.csv --out study --shard slurm
  mireg batch pairs.csv --out study --merge
      a task of a Slurm array, and the summary of all tasks
  mireg batch pairs.csv --out study --retry-failed
      again, once the reason of a failure is gone";

/// The most pairs that are registered at once on a device by default: more would need more memory than the time they
/// save is worth.
const MOST_JOBS: usize = 16;

#[derive(Args)]
pub struct Batch {
    /// Table of pairs
    #[arg(required_unless_present = "fixed", conflicts_with = "fixed")]
    pub table: Option<PathBuf>,
    /// Pattern of fixed images in place of TABLE, relative to this folder, such as 'sub-*/anat/*_T1w.nii.gz'
    #[arg(long, value_name = "PATTERN", requires = "moving")]
    pub fixed: Option<String>,
    /// Pattern of moving images, such as 'sub-*/pet/*_pet.nii.gz'
    #[arg(long, value_name = "PATTERN", requires = "fixed")]
    pub moving: Option<String>,
    /// Output folder
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub out: PathBuf,
    /// Print errors and failed pairs only
    #[arg(long, short, help_heading = "Output")]
    pub quiet: bool,
    /// Command for all pairs
    #[arg(long, value_enum, default_value_t = PairCommand::Register)]
    pub command: PairCommand,
    /// Write what BIDS asks of derivatives: dataset_description.json, and moved.json beside each moved image, which says where it is from
    #[arg(long, help_heading = "Output")]
    pub bids: bool,
    /// Try pairs again that failed in an earlier run
    #[arg(long)]
    pub retry_failed: bool,
    /// Register every Nth pair, from the Ith on, for machines that share DIR; the names of the summary's files contain
    /// the shard. slurm is the shard of this task of a Slurm array
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// Register nothing, and write the summary of what is done, such as by all shards
    #[arg(long, conflicts_with_all = ["shard", "retry_failed"])]
    pub merge: bool,
    /// Pairs at once, which share the threads; each needs memory for its images [default: one per thread, 1 to 16 per device]
    #[arg(long, value_name = "N", allow_negative_numbers = true, help_heading = "Computing")]
    #[arg(value_parser = whole::<u32>(1..=256))]
    pub jobs: Option<u32>,
    /// GPUs for the pairs, as all or 0,2: each works on pairs of its own. any is one GPU that no other mireg batch with
    /// any uses; it waits until there is one
    #[arg(long, value_name = "LIST", help_heading = "Computing")]
    pub devices: Option<Devices>,
    #[command(flatten)]
    pub compute: Compute,
    /// Options of the command for all pairs, after --
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<String>,
}

/// A command that registers the pairs of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PairCommand {
    Register,
    Deform,
    Mesh,
}

impl PairCommand {
    fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::Deform => "deform",
            Self::Mesh => "mesh",
        }
    }
}

/// A parser of rows as command lines.
#[derive(Parser)]
#[command(name = "mireg")]
struct Row {
    #[command(subcommand)]
    command: Pairwise,
}

#[derive(Subcommand)]
enum Pairwise {
    Register(register::Register),
    Deform(deform::Deform),
    Mesh(mesh::Mesh),
}

impl Pairwise {
    fn run(&self, invocation: &Invocation) -> Result<()> {
        match self {
            Self::Register(register) => register::run(register, invocation),
            Self::Deform(deform) => deform::run(deform, invocation),
            Self::Mesh(mesh) => mesh::run(mesh, invocation),
        }
    }
}

/// Checks the table, registers its pairs and writes the summary.
pub fn run(arguments: &Batch, invocation: &Invocation) -> Result<()> {
    let Batch { out, quiet, retry_failed, shard, merge, .. } = arguments;
    let source = &arguments.source();
    let backend = arguments.compute.backend;
    if arguments.devices.is_some() && !matches!(backend, BackendKind::Auto | BackendKind::Cuda) {
        return Err(Error::option(
            Setting::Backend,
            format!("--backend {backend} is no GPU, which --devices asks for; leave one of them out"),
        ));
    }
    let mut rows = match arguments.table()?.and_then(|table| arguments.rows(table, invocation)) {
        Ok(rows) => rows,
        Err(faults) => {
            faults.iter().for_each(|fault| terminal::say(&format!("mireg: {}: {fault}", source.display())));
            let count = faults.len();
            let faults = if count == 1 { "this fault".to_owned() } else { format!("these {count} faults") };
            return Err(Error::file(source, format!("nothing was registered; mend {faults} first")));
        }
    };
    let threads = arguments.compute.threads.map_or_else(cores, |threads| threads as usize);
    let open = |rows: usize, observer: &dyn Observer| {
        let gpus = arguments.devices.as_ref().map(|devices| devices.numbers(observer)).transpose()?;
        let jobs = arguments.at_once(threads, gpus.as_ref().map_or(1, Vec::len)).min(rows);
        let each = (threads / jobs).max(1);
        let engines = match gpus {
            Some(gpus) => gpus.into_iter().take(jobs).map(|gpu| Engine::open_gpu(gpu, each)).collect::<Result<_>>()?,
            None => vec![Engine::open(backend, each, observer)?],
        };
        Ok((engines, jobs))
    };
    let datasets = arguments.bids.then(|| Datasets::of(&rows));
    if let Some(shard) = shard {
        let mut place = 0..;
        rows.retain(|_| place.next().is_some_and(|place| shard.has(place)));
    }
    let [quiet, merge, retry_failed] = [*quiet, *merge, *retry_failed];
    Study { source, out, quiet, shard: *shard, datasets, merge, retry_failed, open: &open }.run(&rows)
}

fn cores() -> usize {
    available_parallelism().map_or(1, NonZero::get)
}

impl Batch {
    /// Returns how many pairs are registered at once on this number of devices.
    fn at_once(&self, threads: usize, devices: usize) -> usize {
        self.jobs.map_or(threads.clamp(devices, MOST_JOBS * devices), |jobs| jobs as usize)
    }

    /// Returns the table, or the pattern of moving images, from which the pairs come.
    fn source(&self) -> PathBuf {
        let pattern = || self.moving.as_ref().map(PathBuf::from);
        self.table.clone().or_else(pattern).unwrap_or_default()
    }

    /// Returns the pairs as a table, or all that is wrong with the patterns, one line each.
    fn table(&self) -> Result<Result<Table, Vec<String>>> {
        match (&self.fixed, &self.moving) {
            (Some(fixed), Some(moving)) => Ok(patterns::table(fixed, moving)),
            _ => table::read(&self.source()).map(Ok),
        }
    }

    /// Returns the rows of the table, or all that is wrong with them, one line each.
    fn rows(&self, table: Table, invocation: &Invocation) -> Result<Vec<row::Row>, Vec<String>> {
        let mut parser = Row::command();
        // The options of its subcommands are known once the parser is built.
        parser.build();
        let nothing = OsString::from("mireg");
        let Some(command) = parser.find_subcommand(self.command.name()).cloned() else { return Ok(Vec::new()) };
        let context = RowContext {
            folder: self.table.as_ref().and_then(|table| table.parent()).unwrap_or(Path::new("")),
            out: &self.out,
            command: &command,
            program: invocation.words.first().unwrap_or(&nothing),
            options: &self.options,
            all: &self.all(),
        };
        plan::check(table, &context, &mut |words| {
            let row = parser.try_get_matches_from_mut(words).and_then(|matches| Row::from_arg_matches(&matches));
            match row {
                Ok(Row { command }) => Ok(Box::new(move |invocation: &Invocation| command.run(invocation)) as Run),
                Err(error) => Err(crate::one_line(&error.to_string())),
            }
        })
    }

    /// Returns those options of the study that the command line of each row has, too.
    fn all(&self) -> Vec<String> {
        match self.compute.backend {
            _ if self.devices.is_some() => vec!["--backend".into(), BackendKind::Cuda.to_string()],
            BackendKind::Auto => Vec::new(),
            backend => vec!["--backend".into(), backend.to_string()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        batch: Batch,
    }

    #[test]
    fn no_gpu_is_without_a_pair_unless_asked() {
        let at_once = |words: &[&str], threads, gpus| {
            let words = [&["batch", "pairs.csv", "--out", "study"], words].concat();
            Words::parse_from(words).batch.at_once(threads, gpus)
        };
        assert_eq!(at_once(&[], 4, 1), 4);
        assert_eq!(at_once(&[], 2, 8), 8);
        assert_eq!(at_once(&[], 64, 2), 32);
        assert_eq!(at_once(&["--jobs", "1"], 64, 2), 1);
    }
}
