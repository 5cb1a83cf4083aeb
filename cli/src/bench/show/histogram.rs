//! The tables of joint histograms: a block per image and interpolation, a column per size and number of bins, a line
//! per method.

use super::layout::{dimensions, groups, line};
use crate::bench::rows::{HistogramRow, Numbers, Timing};

/// A quantity of a block: its name, and how it is taken from a timing.
type Quantity = (&'static str, fn(&Timing) -> Option<f64>);

const QUANTITIES: [Quantity; 3] = [
    ("one evaluation", |timing| Some(timing.seconds)),
    ("one of a batch", |timing| Some(timing.batch_seconds)),
    ("its histogram", |timing| timing.histogram_seconds),
];

/// Returns all blocks.
pub fn blocks(rows: &[HistogramRow]) -> Vec<String> {
    let of = groups(rows.iter(), |row| (row.data.name(), row.interpolation.name()));
    of.into_iter().map(|rows| block(&rows)).collect()
}

fn block(rows: &[&HistogramRow]) -> String {
    let columns = groups(rows.iter().copied(), |row| (row.fixed_size, row.bins));
    let first = rows[0];
    let one_size = rows.iter().all(|row| row.fixed_size == first.fixed_size);
    let fastest = rows.iter().filter_map(|row| Some(row.timing?.seconds)).fold(f64::INFINITY, f64::min);
    let (unit, scale) = if fastest < 1e-3 { ("microseconds", 1e6) } else { ("milliseconds", 1e3) };

    let size = if one_size { format!(", {} voxels", dimensions(first.fixed_size)) } else { String::new() };
    let mut text = format!("{}{size}, {}: {unit}\n", first.data.name(), first.interpolation.name());
    let heading = |name, of: fn(&HistogramRow) -> String| line(name, "", columns.iter().map(|column| of(column[0])));
    if !one_size {
        text += &heading("voxels", |row| dimensions(row.fixed_size));
    }
    text += &heading("bins per side", |row| row.bins.to_string());
    let methods = groups(rows.iter().copied(), |row| row.label());
    for (number, (name, read)) in QUANTITIES.into_iter().enumerate() {
        // A device without a clock of its own lacks one quantity.
        let known = rows.iter().any(|row| row.timing.as_ref().is_some_and(|timing| read(timing).is_some()));
        if number > 0 && !known {
            continue;
        }
        for (line_number, method) in methods.iter().enumerate() {
            let value = |column: &Vec<&HistogramRow>| {
                read(column.iter().find(|row| row.label() == method[0].label())?.timing.as_ref()?)
            };
            let shown = |column| value(column).map_or("-".into(), |seconds| format!("{:.1}", seconds * scale));
            text += &line(if line_number == 0 { name } else { "" }, method[0].label(), columns.iter().map(shown));
        }
    }
    text + &chosen(rows)
}

/// Returns a line with the methods that `auto` took.
fn chosen(rows: &[&HistogramRow]) -> String {
    let auto = rows.iter().filter(|row| row.label() == "auto");
    let names: Vec<String> = auto.filter_map(|row| Some(format!("{} at {}", row.counted_by?, row.bins))).collect();
    if names.is_empty() { String::new() } else { format!("  auto took {} bins\n", names.join(", ")) }
}

/// Returns the line of counting alone.
pub fn counting(Numbers { numbers, bins, seconds }: Numbers) -> String {
    let microseconds = 1e6 * seconds;
    format!(
        "Counting alone, from {numbers} random 16-bit numbers, {bins} bins per side: {microseconds:.1} microseconds\n"
    )
}
