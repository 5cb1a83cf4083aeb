//! index.html: all pairs of a study, worst first, each a link to its report. A row is drawn, and its picture loaded,
//! only when it comes into view.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::LazyLock;

use askama::Template;
use mireg::{Error, Result};
use serde::Serialize;

use super::facts::Facts;
use super::record::{End, Record};
use super::row::Row;
use crate::files;
use crate::report::PAGE;
use crate::report::thumbnail::THUMBNAIL;

/// The state of a row, worst first; rows that are not done yet come last.
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

/// A pair, as the script of the page reads it.
#[derive(Serialize)]
struct Entry<'a> {
    id: &'a str,
    #[serde(skip)]
    state: State,
    /// The class that gives it its colour.
    class: &'static str,
    /// Where a click leads, if there is a report.
    page: Option<String>,
    /// The thumbnail of the result, if there is one.
    picture: Option<String>,
    /// The state and the names of warnings, by which rows are filtered.
    labels: Vec<&'a str>,
    /// What went wrong.
    text: String,
    metric: String,
    motion: String,
    seconds: String,
    command: String,
    /// The order among rows of the same state: number of warnings, most first, then the metric, lowest first.
    #[serde(skip)]
    badness: (usize, f64),
}

impl<'a> Entry<'a> {
    fn new(row: &'a Row, record: Option<&'a Record>) -> Self {
        let state = State::of(record);
        static NOTHING: LazyLock<Facts> = LazyLock::new(Facts::default);
        let (facts, error) = match record.map(|record| &record.end) {
            Some(End::Done(facts)) => (facts, None),
            Some(End::Failed { error }) => (&*NOTHING, Some(error.clone())),
            None => (&*NOTHING, None),
        };
        let warnings = facts.warnings.iter().map(|warning| format!("{}: {}", warning.name, warning.text));
        let labels = [state.text()].into_iter().chain(facts.warnings.iter().map(|warning| &*warning.name));
        let file =
            |name: &str| record.filter(|record| record.files.contains_key(name)).map(|_| format!("{}/{name}", row.id));
        let parts = [
            facts.rotation_degrees.map(|degrees| format!("{degrees:.1}°")),
            facts.translation_mm.map(|mm| format!("{mm:.1} mm")),
            facts.displacement_mm.map(|mm| format!("± {mm:.1} mm")),
        ];
        let after = facts.metric.map_or(f64::INFINITY, |[_, after]| after);
        Self {
            id: &row.id,
            state,
            class: state.class(),
            page: file(PAGE),
            picture: file(THUMBNAIL),
            labels: labels.collect(),
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
struct Page {
    title: String,
    pairs: usize,
    /// The entries as JSON, in which `<` is escaped, so that nothing ends the script element.
    json: String,
    filters: Vec<Filter>,
    version: &'static str,
}

/// Writes the page. A row without a record is still to be done.
///
/// # Errors
/// [`Error::File`] where it cannot be written.
pub fn write(path: &Path, source: &Path, rows: &[Row], records: &[Option<Record>]) -> Result<()> {
    let mut entries: Vec<_> = rows.iter().zip(records).map(|(row, record)| Entry::new(row, record.as_ref())).collect();
    entries.sort_by(|a, b| {
        let of = |entry: &Entry| (entry.state, std::cmp::Reverse(entry.badness.0));
        of(a).cmp(&of(b)).then(a.badness.1.total_cmp(&b.badness.1))
    });
    let name = source.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let json = serde_json::to_string(&entries).map_err(|e| Error::file(path, e.to_string()))?.replace('<', "\\u003c");
    let (pairs, filters) = (entries.len(), filters(&entries));
    let page = Page { title: name, pairs, json, filters, version: env!("CARGO_PKG_VERSION") };
    let text = page.render().map_err(|e| Error::file(path, e.to_string()))?;
    files::write(path, text)
}

/// Returns the filters: the states that occur and then the warnings, each with its number of rows.
fn filters(entries: &[Entry]) -> Vec<Filter> {
    let count = |state: State| entries.iter().filter(|entry| entry.state == state).count();
    let states = State::ALL.map(|state| Filter { label: state.text().to_owned(), count: count(state) });
    let mut warnings: BTreeMap<&str, usize> = BTreeMap::new();
    for name in entries.iter().flat_map(|entry| entry.labels.iter().skip(1)) {
        *warnings.entry(name).or_default() += 1;
    }
    let warnings = warnings.into_iter().map(|(name, count)| Filter { label: name.to_owned(), count });
    states.into_iter().filter(|filter| filter.count > 0).chain(warnings).collect()
}
