//! The table of Viola's mutual information: pairs of samples per second.

use super::layout::groups;
use crate::bench::rows::{ViolaRow, mode_name};

/// Returns the table, with a line per place, mode and clock and a column per number of samples.
pub fn text(rows: &[ViolaRow]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut sizes: Vec<u32> = rows.iter().map(|row| row.samples).collect();
    sizes.dedup();
    let mut text = "Viola's mutual information: 10^9 pairs of samples per second\n".to_owned();
    text += &line("samples each", "", sizes.iter().map(|size| size.to_string()));
    for (derivative, title) in [(false, "value"), (true, "and derivative")] {
        let mut title = title;
        for (clock, read) in CLOCKS {
            for of in groups(rows.iter(), |row| (row.place, row.exponentials)) {
                let found = |&size: &u32| {
                    let row = of.iter().find(|row| row.samples == size && row.derivative == derivative)?;
                    Some(row.rate(read(row)?) * 1e-9)
                };
                let rates: Vec<Option<f64>> = sizes.iter().map(found).collect();
                if rates.iter().any(Option::is_some) {
                    let how = format!("{}{clock}, {}", of[0].place, mode_name(of[0].exponentials));
                    let shown = |rate: Option<f64>| rate.map_or("-".into(), |rate| format!("{rate:.3}"));
                    text += &line(title, &how, rates.into_iter().map(shown));
                    title = "";
                }
            }
        }
    }
    text
}

/// How the lines of a clock are marked, and how its seconds are read.
type Clock = (&'static str, fn(&ViolaRow) -> Option<f64>);

const CLOCKS: [Clock; 2] = [("", |row| Some(row.seconds)), (" itself", |row| row.device_seconds)];

fn line(title: &str, how: &str, values: impl Iterator<Item = String>) -> String {
    let values: String = values.map(|value| format!(" {value:>8}")).collect();
    format!("  {title:<14} {how:<22}{values}\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use mireg::backend::Exponentials;

    #[test]
    fn a_line_has_the_pairs_a_second_of_each_size_and_a_dash_where_there_are_none() {
        let row = |place, samples, derivative, device_seconds| {
            let exponentials = Exponentials::Exact;
            ViolaRow { place, exponentials, derivative, samples, seconds: 1e-3, device_seconds }
        };
        let rows = [
            row("one core", 1000, false, None),
            row("cuda", 1000, false, Some(1e-5)),
            row("cuda", 1000, true, None),
            row("cuda", 100_000, false, Some(5e-4)),
        ];
        let expected = "\
Viola's mutual information: 10^9 pairs of samples per second
  samples each                              1000   100000
  value          one core, exact           1.000        -
                 cuda, exact               1.000 10000.000
                 cuda itself, exact      100.000 20000.000
  and derivative cuda, exact               1.000        -
";
        assert_eq!(text(&rows), expected);
    }
}
