//! batch.tsv: a row per pair, for other programs.

use std::path::Path;

use csv::{Terminator, WriterBuilder};
use mireg::{Error, Result};

use super::facts::Facts;
use super::record::{End, Record};
use super::row::Row;

const COLUMNS: [&str; 19] = [
    "id",
    "status",
    "trust",
    "warnings",
    "error",
    "metric_before",
    "metric_after",
    "rotation_degrees",
    "translation_mm",
    "displacement_mm",
    "seconds",
    "seconds_read",
    "seconds_compute",
    "seconds_write",
    "backend",
    "device",
    "hash",
    "version",
    "command",
];

/// Writes the table. A row without a record is still to be done.
///
/// # Errors
/// [`Error::File`] where it cannot be written.
pub fn write(path: &Path, rows: &[Row], records: &[Option<Record>]) -> Result<()> {
    let unwritable = |e: csv::Error| Error::file(path, format!("cannot be written ({e})"));
    let mut writer = WriterBuilder::new().delimiter(b'\t').terminator(Terminator::Any(b'\n')).from_path(path);
    let writer = writer.as_mut().map_err(|e| Error::file(path, format!("cannot be written ({e})")))?;
    writer.write_record(COLUMNS).map_err(unwritable)?;
    for (row, record) in rows.iter().zip(records) {
        writer.write_record(cells(row, record.as_ref())).map_err(unwritable)?;
    }
    writer.flush().map_err(|e| Error::file(path, format!("cannot be written ({})", e.kind())))
}

fn cells(row: &Row, record: Option<&Record>) -> [String; COLUMNS.len()] {
    let nothing = Facts::default();
    let (status, facts, error) = match record.map(|record| &record.end) {
        None => ("waiting", None, ""),
        Some(End::Failed { error }) => ("failed", None, error.as_str()),
        Some(End::Done(facts)) => ("done", Some(facts), ""),
    };
    let Facts { trust, warnings, metric, rotation_degrees, translation_mm, displacement_mm, backend, device, .. } =
        facts.unwrap_or(&nothing);
    let number = |number: Option<f64>, digits: usize| number.map_or(String::new(), |n| format!("{n:.digits$}"));
    let seconds = facts.map(|facts| facts.seconds);
    let names: Vec<_> = warnings.iter().map(|warning| warning.name.as_str()).collect();
    [
        row.id.clone(),
        status.to_owned(),
        trust.clone(),
        names.join(","),
        error.to_owned(),
        number(metric.map(|[before, _]| before), 6),
        number(metric.map(|[_, after]| after), 6),
        number(*rotation_degrees, 4),
        number(*translation_mm, 4),
        number(*displacement_mm, 4),
        number(seconds.map(|of| of.total), 3),
        number(seconds.map(|of| of.read), 3),
        number(seconds.map(|of| of.compute), 3),
        number(seconds.map(|of| of.write), 3),
        backend.clone(),
        device.clone(),
        row.key.hash(),
        row.key.version.clone(),
        row.command(),
    ]
    // A row is a line, and a cell has no tab.
    .map(|cell| cell.replace(['\t', '\n', '\r'], " "))
}
