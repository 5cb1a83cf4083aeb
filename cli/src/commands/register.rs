//! `mireg register`.

use clap::Args;
use mireg::Result;
use mireg::io::transform::Grids;
use mireg::registration::{Init, Options};

use crate::arguments::choice::outputs;
use crate::arguments::compute::Compute;
use crate::arguments::metric::Maximised;
use crate::arguments::pair::Pair;
use crate::arguments::ranges::Ranges;
use crate::arguments::search::Search;
use crate::files::MOST_PIXELS;
use crate::in_memory::InMemory;
use crate::invocation::Invocation;
use crate::job::Job;
use crate::report::outputs::{Output, Outputs};
use crate::report::registration::Registered;

pub const OUTPUTS: &str = "\
Output files in DIR. Existing files of these names are replaced. If anything fails, none is written:
  transform.tfm  ITK transform from points of FIXED to points of MOVING, LPS mm
  moved.nii.gz   MOVING resampled on the grid of FIXED; moved.png if MOVING is PNG, JPEG or TIFF
  report.json    metric before and after, transform, levels, warnings, timing
  report.html    the same with pictures, for visual inspection";

pub const EXAMPLES: &str = "\
Examples:
  mireg register ct.nii.gz mr.nii.gz --out out
      rigid registration with automatic initialisation
  mireg register t1.nii.gz pet.nii.gz --out out --dof affine --levels 8mm,4mm,2mm \\
      --fixed-mask t1_brain.nii.gz
      affine registration on three levels, sampled inside a mask
  mireg register ct.nii.gz mr.nii.gz --out out --init flirt.mat --levels 2mm,1mm
      refines a transform found by another program
  mireg register ct.nii.gz mr.nii.gz --out out --write transform,report
      without the moved image";

#[derive(Args)]
pub struct Register {
    #[command(flatten)]
    pub pair: Pair,
    /// Outputs to write; what is left out is not computed either, unless a check of the result needs it [default: all]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = outputs::<Registered>(), help_heading = "Output")]
    pub write: Vec<Output>,
    #[command(flatten)]
    pub search: Search,
    #[command(flatten)]
    pub maximised: Maximised,
    #[command(flatten)]
    pub ranges: Ranges,
    #[command(flatten)]
    pub compute: Compute,
}

/// Reads two images, registers them, writes the results and prints a summary.
pub fn run(arguments: &Register, invocation: &Invocation) -> Result<()> {
    let outputs = Outputs::new(&arguments.write);
    let job = Job::open::<Registered>(&arguments.pair, outputs, &[], &arguments.compute, invocation)?;
    let loaded = job.read(|grids| arguments.options(grids, InMemory::default()))?;
    let options = &loaded.options;
    let found = &job.engine.register(&loaded.fixed, &loaded.moving, options, &job.progress)?;
    job.finish_moved(&loaded, &Registered { found, options }, Some(&found.transform.to_affine()))
}

impl Register {
    /// Returns the options for the library. Reads masks and an initial transform that are not in memory; `grids` are
    /// those of the two images.
    ///
    /// # Errors
    /// Those of files that cannot be read, and of options that contradict each other.
    pub fn options(&self, grids: &Grids, in_memory: InMemory) -> Result<Options> {
        let start = in_memory.linear()?;
        let masks = [in_memory.fixed_mask, in_memory.moving_mask];
        let [fixed_mask, moving_mask] = self.maximised.histogram.masks(Some(MOST_PIXELS), masks)?;
        let metric = self.maximised.metric(&self.search)?;
        let Ranges { fixed_range, moving_range } = self.ranges;
        let moved = Outputs::new(&self.write).has(Output::Moved);
        let others =
            Options { metric, fixed_mask, moving_mask, fixed_range, moving_range, moved, ..Options::default() };
        let options = self.search.options(others, grids)?;
        let init = start.map_or(options.init, |start| Init::Transform(start.to_affine()));
        Ok(Options { init, ..options })
    }
}
