//! The comparisons of Ledig and Chefd'hotel, table 3: by how much their methods shorten an evaluation on average.

use serde::Serialize;

use super::cases::LEDIG_BINS;
use super::choices::Data;
use super::rows::HistogramRow;
use crate::arguments::interpolation::Interpolation;

/// The average of 1 - new / old over some cases, next to what the paper prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reduction {
    pub new: &'static str,
    pub old: &'static str,
    pub data: Data,
    /// What differs between the cases: bins or size.
    pub over: Over,
    pub interpolation: Interpolation,
    pub cases: usize,
    pub percent: f64,
    /// Percent on the paper's systems A (GeForce 8800 GTX) and B (Tesla C1060), if it is legible in our copy of the
    /// paper.
    pub paper: Option<[f64; 2]>,
}

/// What differs between the cases of a row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    Bins,
    Size,
}

/// Comparisons (I) and (II): new against old.
const PAIRS: [[&str; 2]; 2] = [["mbe-bc", "warp-tagged"], ["mbe-stl", "warp-tagged-direct"]];

/// The rows of the table: (I) trilinear and tricubic, then (II).
type Printed = [[Option<[f64; 2]>; 2]; 2];
const HEAD: Printed = [[Some([17.3, 22.7]), Some([16.0, 28.3])], [Some([31.4, 30.9]), Some([45.9, 46.6])]];
const TABLE_3: [(Data, Over, Printed); 5] = [
    (Data::Random, Over::Bins, [[Some([19.2, 24.4]), None], [None; 2]]),
    (Data::Random, Over::Size, [[None; 2]; 2]),
    (Data::Constant, Over::Size, [[Some([10.9, 13.6]), Some([10.7, 19.6])], [Some([33.0, 31.6]), Some([53.0, 52.1])]]),
    (Data::Head, Over::Bins, HEAD),
    (Data::Files, Over::Bins, HEAD),
];

/// Returns the reductions of the table for which `rows` has at least two cases.
pub fn reductions(rows: &[HistogramRow]) -> Vec<Reduction> {
    let mut found = Vec::new();
    for (data, over, printed) in TABLE_3 {
        for ([new, old], printed) in PAIRS.into_iter().zip(printed) {
            let columns = [
                (Interpolation::Linear, printed[0]),
                (Interpolation::CatmullRom, printed[1]),
                (Interpolation::BSpline, printed[1]),
            ];
            for (interpolation, paper) in columns {
                let of_row = |row: &&HistogramRow| {
                    row.data == data && row.interpolation == interpolation && over.holds(row, rows)
                };
                let saved = saved(rows.iter().filter(of_row), new, old);
                let (cases, sum) = (saved.len(), saved.iter().sum::<f64>());
                let percent = 100.0 * sum / cases as f64;
                if cases >= 2 {
                    found.push(Reduction { new, old, data, over, interpolation, cases, percent, paper });
                }
            }
        }
    }
    found
}

impl Over {
    /// Returns whether a row is one of the cases: those of the largest size, or those with as many bins as in the
    /// paper.
    fn holds(self, row: &HistogramRow, rows: &[HistogramRow]) -> bool {
        let voxels = |row: &HistogramRow| row.fixed_size.iter().product::<usize>();
        match self {
            Self::Bins => rows.iter().filter(|other| other.data == row.data).all(|other| voxels(other) <= voxels(row)),
            Self::Size => row.bins == LEDIG_BINS,
        }
    }
}

/// Returns 1 - new / old for each case that both methods can do.
fn saved<'a>(rows: impl Iterator<Item = &'a HistogramRow>, new: &str, old: &str) -> Vec<f64> {
    let rows: Vec<&HistogramRow> = rows.collect();
    let time = |method: &str, of: &HistogramRow| {
        let same =
            |row: &&&HistogramRow| row.method == method && (row.bins, row.fixed_size) == (of.bins, of.fixed_size);
        Some(rows.iter().find(same)?.timing?.seconds)
    };
    let olds = rows.iter().filter(|row| row.method == old);
    olds.filter_map(|row| Some(1.0 - time(new, row)? / time(old, row)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::rows::tests::row;

    #[test]
    fn a_reduction_is_the_mean_over_the_cases() {
        let mut rows = Vec::new();
        for (bins, old, new) in [(10, 4.0, 3.0), (250, 10.0, 5.0)] {
            rows.push(row("warp-tagged", bins, Some(old)));
            rows.push(row("mbe-bc", bins, Some(new)));
        }
        // A case that only one can do does not count.
        rows.push(row("warp-tagged", 50, Some(1.0)));
        rows.push(row("mbe-bc", 50, None));
        let [found] = &reductions(&rows)[..] else { panic!("{:?}", reductions(&rows)) };
        assert_eq!((found.new, found.cases, found.paper), ("mbe-bc", 2, Some([19.2, 24.4])));
        assert!((found.percent - 37.5).abs() < 1e-9);
    }
}
