//! index.html: all pairs of a study, worst first, each a link to its report. It loads nothing else.

use std::collections::BTreeMap;
use std::path::Path;

use askama::Template;
use mireg::{Error, Result};

use super::facts::Facts;
use super::record::{End, Record};
use super::row::Row;
use crate::report::PAGE;

pub const GALLERY: &str = "index.html";

/// How a row stands, worst first, but for those that are still to be done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum State {
    Failed,
    Untrusted,
    Warned,
    Passed,
    Waiting,
}

impl State {
    const ALL: [Self; 5] = [Self::Failed, Self::Untrusted, Self::Warned, Self::Passed, Self::Waiting];

    fn of(record: Option<&Record>) -> Self {
        match record.map(|record| &record.end) {
            None => Self::Waiting,
            Some(End::Failed { .. }) => Self::Failed,
            Some(End::Done(facts)) if !facts.trusted() => Self::Untrusted,
            Some(End::Done(facts)) if facts.warnings.is_empty() => Self::Passed,
            Some(End::Done(_)) => Self::Warned,
        }
    }

    /// Its colour in the page.
    fn class(self) -> &'static str {
        match self {
            Self::Failed | Self::Untrusted => "failed",
            Self::Warned => "warned",
            Self::Passed => "passed",
            Self::Waiting => "waiting",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Untrusted => "not trusted",
            Self::Warned => "warnings",
            Self::Passed => "passed",
            Self::Waiting => "waiting",
        }
    }
}

/// A pair.
struct Entry<'a> {
    id: &'a str,
    state: State,
    /// Where a click leads, if there is a report.
    page: Option<String>,
    /// The state and the names of warnings, by which rows are filtered.
    labels: String,
    /// What went wrong.
    text: String,
    metric: String,
    motion: String,
    seconds: String,
    command: String,
    /// What comes first among rows of a state.
    badness: (usize, f64),
}

impl<'a> Entry<'a> {
    fn new(row: &'a Row, record: Option<&'a Record>) -> Self {
        let state = State::of(record);
        let nothing = Facts::default();
        let (facts, error) = match record.map(|record| &record.end) {
            Some(End::Done(facts)) => (facts, None),
            Some(End::Failed { error }) => (&nothing, Some(error.clone())),
            None => (&nothing, None),
        };
        let warnings = facts.warnings.iter().map(|warning| format!("{}: {}", warning.name, warning.text));
        let labels = [state.text()].into_iter().chain(facts.warnings.iter().map(|warning| &*warning.name));
        let page = record.filter(|record| record.files.iter().any(|name| name == PAGE));
        let parts = [
            facts.rotation_degrees.map(|degrees| format!("{degrees:.1}°")),
            facts.translation_mm.map(|mm| format!("{mm:.1} mm")),
            facts.displacement_mm.map(|mm| format!("± {mm:.1} mm")),
        ];
        let after = facts.metric.map_or(f64::INFINITY, |[_, after]| after);
        Self {
            id: &row.id,
            state,
            page: page.map(|_| format!("{}/{PAGE}", row.id)),
            labels: labels.collect::<Vec<_>>().join("|"),
            text: error.into_iter().chain(warnings).collect::<Vec<_>>().join("; "),
            metric: facts.metric.map_or(String::new(), |[before, after]| format!("{before:.4} → {after:.4}")),
            motion: parts.into_iter().flatten().collect::<Vec<_>>().join(", "),
            seconds: record
                .filter(|record| !record.failed())
                .map_or(String::new(), |_| format!("{:.2}", facts.seconds.total)),
            command: row.command(),
            badness: (facts.warnings.len(), after),
        }
    }
}

/// What rows can be filtered by.
struct Filter {
    label: String,
    count: usize,
}

#[derive(Template)]
#[template(path = "gallery.html")]
struct Page<'a> {
    title: String,
    entries: Vec<Entry<'a>>,
    filters: Vec<Filter>,
    version: &'static str,
}

/// Writes it. A row without a record is still to be done.
///
/// # Errors
/// [`Error::File`] where it cannot be written.
pub fn write(path: &Path, table: &Path, rows: &[Row], records: &[Option<Record>]) -> Result<()> {
    let mut entries: Vec<_> = rows.iter().zip(records).map(|(row, record)| Entry::new(row, record.as_ref())).collect();
    entries.sort_by(|a, b| {
        let of = |entry: &Entry| (entry.state, std::cmp::Reverse(entry.badness.0));
        of(a).cmp(&of(b)).then(a.badness.1.total_cmp(&b.badness.1))
    });
    let name = table.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let page = Page { title: name, filters: filters(&entries), entries, version: env!("CARGO_PKG_VERSION") };
    let text = page.render().map_err(|e| Error::file(path, e.to_string()))?;
    std::fs::write(path, text).map_err(|e| Error::file(path, format!("cannot be written ({})", e.kind())))
}

/// The states and then the warnings that there are, with how many rows have them.
fn filters(entries: &[Entry]) -> Vec<Filter> {
    let count = |state: State| entries.iter().filter(|entry| entry.state == state).count();
    let states = State::ALL.map(|state| Filter { label: state.text().to_owned(), count: count(state) });
    let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
    for name in entries.iter().flat_map(|entry| entry.labels.split('|').skip(1)) {
        *warnings.entry(name).or_default() += 1;
    }
    let warnings = warnings.into_iter().map(|(name, count)| Filter { label: name.to_owned(), count });
    states.into_iter().filter(|filter| filter.count > 0).chain(warnings).collect()
}
