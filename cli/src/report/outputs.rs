//! Which results a run writes.

use std::path::Path;

use strum::IntoStaticStr;

use super::{Kind, PAGE, REPORT, moved};

/// A result that can be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Output {
    Transform,
    Field,
    Inverse,
    Jacobian,
    Moved,
    Report,
    /// report.json without report.html.
    Json,
}

/// The results that were asked for.
#[derive(Debug, Clone, Default)]
pub struct Outputs(Vec<Output>);

impl Outputs {
    /// Creates the set of these results, or of all if `asked` is empty.
    pub fn new(asked: &[Output]) -> Self {
        Self(asked.to_vec())
    }

    pub fn has(&self, output: Output) -> bool {
        self.0.is_empty() || self.0.contains(&output)
    }

    /// Whether there is a report.json.
    pub fn has_report(&self) -> bool {
        self.has_page() || self.has(Output::Json)
    }

    /// Whether there is a report.html.
    pub fn has_page(&self) -> bool {
        self.has(Output::Report)
    }

    /// Returns those files of the results that only this kind of run writes.
    pub fn own<K: Kind>(&self) -> Vec<&'static str> {
        K::FILES.iter().filter(|(output, _)| self.has(*output)).map(|(_, name)| *name).collect()
    }

    /// Returns all files of the results, but those that are written only if an option asks for them.
    pub fn files<K: Kind>(&self, moving: &Path) -> Vec<&'static str> {
        let shared = [(self.has(Output::Moved), moved(moving)), (self.has_report(), REPORT), (self.has_page(), PAGE)];
        let shared = shared.into_iter().filter(|(has, _)| *has).map(|(_, name)| name);
        self.own::<K>().into_iter().chain(shared).collect()
    }
}

/// Returns the results of a kind of run, each with the names of its files.
pub fn choices<K: Kind>() -> Vec<(Output, String)> {
    let mut choices: Vec<(Output, String)> = Vec::new();
    for &(output, name) in K::FILES {
        match choices.iter_mut().find(|(other, _)| *other == output) {
            Some((_, names)) => *names += &format!(", {name}"),
            None => choices.push((output, name.to_owned())),
        }
    }
    choices.push((Output::Moved, "moved.nii.gz or moved.png".to_owned()));
    choices.push((Output::Report, format!("{REPORT}, {PAGE}")));
    choices.push((Output::Json, REPORT.to_owned()));
    choices
}
