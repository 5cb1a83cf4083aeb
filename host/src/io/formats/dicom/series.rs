//! The series in a folder, and which of them is read.

use std::collections::BTreeMap;
use std::path::Path;

use super::slice::Slice;
use crate::Error;
use crate::error::{Message, message};
use crate::io::reading::ReadOptions;

/// Most series that a message lists.
const LISTED: usize = 20;

/// The images of one series, of which there is at least one.
pub struct Series {
    uid: String,
    pub slices: Vec<Slice>,
}

impl Series {
    /// All series of `slices`, by number and UID.
    pub fn of(slices: Vec<Slice>) -> Vec<Self> {
        let mut series = BTreeMap::<(i64, String), Vec<Slice>>::new();
        for slice in slices {
            series.entry((slice.series_number(), slice.series())).or_default().push(slice);
        }
        series.into_iter().map(|((_, uid), slices)| Self { uid, slices }).collect()
    }

    /// Its line in a list.
    fn line(&self) -> String {
        let first = &self.slices[0];
        let images = if self.slices.len() == 1 { "image" } else { "images" };
        let [columns, rows] = first.size();
        format!(
            "\"{}\" ({}, {} {images} of {columns} x {rows}, UID {})",
            first.description(),
            first.modality(),
            self.slices.len(),
            self.uid
        )
    }

    fn is(&self, name: &str) -> bool {
        self.uid == name || self.slices[0].description().eq_ignore_ascii_case(name)
    }
}

/// The one of `series` that `options` choose.
pub fn choose(folder: &Path, mut series: Vec<Series>, options: &ReadOptions) -> crate::Result<Series> {
    let wrong = |message: Message| Err(Error::file(folder, message));
    let list = list(&series);
    let Some(name) = options.series.as_deref().map(str::trim) else {
        if series.len() == 1 {
            return Ok(series.swap_remove(0));
        }
        return wrong(match options.role.series() {
            Some(setting) => {
                message!("holds {list}"; "give the number, UID or description of one as ", {setting}, ", or one of its files")
            }
            None => message!("holds {list}"; "give one of the files of the series that you want"),
        });
    };
    let numbered = name.parse().ok().filter(|n| (1..=series.len()).contains(n)).map(|n| n - 1);
    let named: Vec<usize> = (0..series.len()).filter(|&n| series[n].is(name)).collect();
    match (numbered, &named[..]) {
        (Some(n), _) | (None, &[n]) => Ok(series.swap_remove(n)),
        (None, []) => {
            wrong(message!("has no series \"{name}\" but {list}"; "give the number, UID or description of one"))
        }
        _ => wrong(message!("has {list}, of which several are called \"{name}\""; "give the number or UID of one")),
    }
}

/// How many series there are, and which.
fn list(series: &[Series]) -> String {
    let lines: Vec<String> =
        series.iter().take(LISTED).enumerate().map(|(n, series)| format!("{}: {}", n + 1, series.line())).collect();
    let more = if series.len() > LISTED { ", ..." } else { "" };
    format!("{} DICOM series: {}{more}", series.len(), lines.join(", "))
}
