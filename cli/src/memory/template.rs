//! `mireg template` for a program that holds images in memory.

use std::path::PathBuf;
use std::time::Instant;

use mireg::transform::Field;
use mireg::{Engine, Error, Observer, Result, Volume};
use tempfile::TempDir;

use super::Asked;
use crate::commands::template::{Template, UNFINISHED, removed};
use crate::held::Held;
use crate::report::template::{Made, Report};

/// A template with all that its report needs.
pub struct Averaged {
    /// From points of the template to points of each image.
    pub fields: Vec<Field>,
    /// The content of report.json.
    pub report: String,
    told: Report,
    template: mireg::template::Template,
}

impl Asked {
    pub(super) fn template(
        &self,
        of: &Template,
        mut held: Held,
        engine: &Engine,
        observer: &dyn Observer,
    ) -> Result<Averaged> {
        // Removed when this function returns.
        let mut temporary = None;
        let unfinished = match held.unfinished.take() {
            Some(folder) => named(folder)?,
            None => temporary.insert(new_folder()?).path().to_owned(),
        };
        let reading = Instant::now();
        let (volumes, options, notes) = engine.install(|| of.read(held))?;
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
        let told = Made { template: &template, options: &options, files, notes: &notes, invocation, read }.report(0.0);
        let report = told.text()?;
        removed(&unfinished)?;
        Ok(Averaged { fields, report, told, template })
    }
}

impl Averaged {
    /// Returns the template, and the mean of the images after their affine registration alone.
    pub fn means(&self) -> [&Volume; 2] {
        [&self.template.mean, &self.template.affine_mean]
    }

    /// Returns the content of report.html.
    ///
    /// # Errors
    /// [`Error::File`] where a picture or the page cannot be made.
    pub fn page(&self) -> Result<String> {
        self.told.page(&self.template)
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
