//! The tables of Mattes windows: microseconds by bins.

use super::layout::{dimensions, groups, line};
use crate::bench::rows::Mattes;

/// Returns a block per image and kind of windows, with a column per number of bins.
pub fn text(rows: &[Mattes]) -> String {
    groups(rows.iter(), |row| (row.data.name(), row.both, row.fixed_size)).iter().map(|rows| block(rows)).collect()
}

fn block(rows: &[&Mattes]) -> String {
    let first = rows[0];
    let sides = if first.both { "both sides" } else { "the moving side" };
    let size = dimensions(first.fixed_size);
    let numbers = |name, read: &dyn Fn(&Mattes) -> Option<f64>| {
        let known = rows.iter().any(|row| read(row).is_some());
        let shown = |row: &&Mattes| read(row).map_or("-".into(), |seconds| format!("{:.1}", 1e6 * seconds));
        if known { line("", name, rows.iter().map(shown)) } else { String::new() }
    };
    [
        format!("{}, {size} voxels, Mattes windows on {sides}: microseconds\n", first.data.name()),
        line("bins per side", "", rows.iter().map(|row| row.bins.to_string())),
        numbers("value", &|row| Some(row.seconds[0])),
        numbers("with slope", &|row| Some(row.seconds[1])),
        numbers("value, device", &|row| Some(row.device_seconds?[0])),
        numbers("with slope, device", &|row| Some(row.device_seconds?[1])),
    ]
    .concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::choices::Data;

    #[test]
    fn a_block_has_a_column_for_each_number_of_bins() {
        let row = |bins, device_seconds| Mattes {
            data: Data::Head,
            both: false,
            bins,
            fixed_size: [8; 3],
            seconds: [1e-3, 2.5e-3],
            device_seconds,
        };
        let expected = "\
head, 8^3 voxels, Mattes windows on the moving side: microseconds
  bins per side                           50       64
                 value                1000.0   1000.0
                 with slope           2500.0   2500.0
                 value, device          50.0        -
                 with slope, device    100.0        -
";
        assert_eq!(text(&[row(50, Some([5e-5, 1e-4])), row(64, None)]), expected);
    }
}
