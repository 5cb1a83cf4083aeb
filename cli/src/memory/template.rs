//! `mireg template` for a program that holds images in memory.

use std::path::PathBuf;
use std::time::Instant;

use mireg::transform::Field;
use mireg::{Engine, Error, Observer, Result, Volume};
use tempfile::TempDir;

use super::ParsedCommand;
use crate::commands::template::{Template, UNFINISHED, removed};
use crate::in_memory::InMemory;
use crate::report::json;
use crate::report::template::{Made, Report};

/// A template with all that its report needs.
pub struct FinishedTemplate {
    /// From points of the template to points of each image.
    pub fields: Vec<Field>,
    /// The content of report.json.
    pub report: String,
    facts: Report,
    template: mireg::template::Template,
}

impl ParsedCommand {
    pub(super) fn template(
        &self,
        of: &Template,
        mut in_memory: InMemory,
        engine: &Engine,
        observer: &dyn Observer,
    ) -> Result<FinishedTemplate> {
        // Removed when this function returns.
        let mut temporary = None;
        let unfinished = match in_memory.unfinished.take() {
            Some(folder) => named(folder)?,
            None => temporary.insert(new_folder()?).path().to_owned(),
        };
        let reading = Instant::now();
        let (volumes, options, notes) = engine.install(|| of.read(in_memory))?;
        let read = reading.elapsed().as_secs_f64();
        if of.fresh {
            removed(&unfinished)?;
        }
        let mut fields = Vec::new();
        let mut keep = |_, field: &Field| {
            fields.push(field.clone());
            Ok(())
        };
        let template = engine.template(&volumes, &options, &unfinished, &mut keep, observer)?;
        let (invocation, files) = (&self.invocation, &of.images[..]);
        let facts = Made { template: &template, options: &options, files, notes: &notes, invocation, read }.report(0.0);
        let report = json(&facts)?;
        removed(&unfinished)?;
        Ok(FinishedTemplate { fields, report, facts, template })
    }
}

impl FinishedTemplate {
    /// Returns the template, and the mean of the images after their affine registration alone.
    pub fn means(&self) -> [&Volume; 2] {
        [&self.template.mean, &self.template.affine_mean]
    }

    /// Returns the content of report.html.
    ///
    /// # Errors
    /// [`Error::File`] where a picture or the page cannot be made.
    pub fn page(&self) -> Result<String> {
        self.facts.page(&self.template)
    }
}

/// Returns the folder that the caller named, if its name ends in [`UNFINISHED`]. The folder is removed at the end, so
/// it must be one that holds nothing else.
fn named(folder: PathBuf) -> Result<PathBuf> {
    match folder.to_string_lossy().ends_with(UNFINISHED) {
        true => Ok(folder),
        false => Err(Error::file(
            folder,
            format!("is to be removed at the end; give a folder whose name ends in {UNFINISHED}"),
        )),
    }
}

fn new_folder() -> Result<TempDir> {
    let made = tempfile::Builder::new().prefix("mireg-").suffix(UNFINISHED).tempdir();
    made.map_err(|e| {
        let why = e.kind();
        Error::file(std::env::temp_dir(), format!("nothing can be written there ({why}); name another folder"))
    })
}
