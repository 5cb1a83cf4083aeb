//! `mireg bench`.

pub mod arguments;
mod cases;
mod choices;
mod compare;
mod measure;
mod papers;
mod results;
mod rows;
mod show;

use std::path::Path;

use crate::demo::picture;
use mireg::io::OutputFolder;
use mireg::{Error, Result};

use crate::files;
use crate::interrupt::{self, SignalGuard};
use crate::progress::Progress;
use crate::terminal;
use arguments::Bench;
use cases::Plan;
use results::Results;

/// Measures, prints a table or JSON, and writes the plots.
pub fn run(arguments: &Bench) -> Result<()> {
    let _guard = arguments.out.as_ref().map(|_| SignalGuard::new());
    let folder = arguments.out.as_deref().map(OutputFolder::create).transpose()?;
    let progress = Progress::new(arguments.json);
    let engine = arguments.compute.engine(&progress)?;
    let backend = engine.backend()?;
    let plan = Plan::new(arguments, backend.name())?;
    let mut results = engine.install(|| measure::all(&plan, backend, arguments, &progress))?;
    if let Some(coarseness) = Plan::coarseness(arguments, backend.name()).filter(|_| results.overview) {
        progress.row(plan.rows(), plan.rows(), "registering");
        results.registration = Some(measure::registration::measure(&engine, coarseness, arguments.seconds)?);
    }
    if let (Some(folder), Some(out)) = (folder, &arguments.out) {
        write(&results, folder, out)?;
    }
    progress.finish();
    terminal::answer(&if arguments.json { format!("{}\n", json(&results)) } else { show::text(&results) })
}

fn json(results: &Results) -> String {
    format!("{:#}", serde_json::json!(results))
}

/// Puts the plots and the numbers into `out`.
fn write(results: &Results, folder: OutputFolder, out: &Path) -> Result<()> {
    let file = |name: &str, text: &str| {
        let written = files::write(&folder.path(name), text);
        written.map_err(|error| files::with_final_path(error, folder.temporary(), out))
    };
    file("bench.json", &json(results))?;
    if !results.rows.is_empty() {
        let plot =
            show::plot::Plot::new(results).map_err(|e| Error::file(out, format!("the plot cannot be drawn ({e})")))?;
        file("bench.svg", &plot.svg)?;
        picture::save(&plot.png, &folder.path("bench.png"))?;
    }
    interrupt::proceed()?;
    folder.commit()
}
