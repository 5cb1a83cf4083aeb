//! Groups the images of a folder into series, and chooses the series to read.

use std::collections::BTreeMap;
use std::path::Path;

use super::folder::LeftOut;
use super::image_file::ImageFile;
use crate::Error;
use crate::error::{Message, message};
use crate::io::reading::ReadOptions;

/// The most series that a message lists.
const LISTED: usize = 20;

/// The images of one series, at least one.
pub struct Series {
    uid: String,
    pub images: Vec<ImageFile>,
}

impl Series {
    /// Groups `images` into series, ordered by number and UID.
    pub fn of(images: Vec<ImageFile>) -> Vec<Self> {
        let mut series = BTreeMap::<(i64, String), Vec<ImageFile>>::new();
        for image in images {
            series.entry((image.series_number(), image.series())).or_default().push(image);
        }
        series.into_iter().map(|((_, uid), images)| Self { uid, images }).collect()
    }

    /// Whether it has several images or frames, and so can be a volume.
    fn is_deep(&self) -> bool {
        self.images.len() > 1 || self.images[0].frames().is_ok_and(|frames| frames.len() > 1)
    }

    fn description(&self) -> String {
        self.images[0].description().unwrap_or_else(|| "without a description".into())
    }

    /// Its description in a list.
    fn line(&self) -> String {
        let first = &self.images[0];
        let count: usize = self.images.iter().map(|image| image.count().unwrap_or(1)).sum();
        let images = if count == 1 { "image" } else { "images" };
        let [columns, rows] = first.size();
        format!(
            "\"{}\" ({}, {count} {images} of {columns} x {rows}, UID {})",
            self.description(),
            first.modality().unwrap_or_else(|| "no modality".into()),
            self.uid
        )
    }

    fn is(&self, name: &str) -> bool {
        self.uid == name || self.description().eq_ignore_ascii_case(name)
    }
}

/// Returns the series that `options` choose. If they choose none, it is the only series, or the only one with several
/// images. The files of all other series are then added to `left_out`.
pub fn choose(
    folder: &Path,
    mut series: Vec<Series>,
    options: &ReadOptions,
    left_out: &mut LeftOut,
) -> crate::Result<Series> {
    let chosen = match options.series.as_deref() {
        Some(name) => named(&series, name.trim()),
        None => only(&series, options),
    };
    let chosen = series.swap_remove(chosen.map_err(|message| Error::file(folder, message))?);
    // If the user chose the series, the others are not mentioned.
    for other in series.iter().filter(|_| options.series.is_none()) {
        for image in &other.images {
            let modality = image.modality().map_or_else(String::new, |modality| format!(" {modality}"));
            left_out.file(&image.file.path, format!("of another{modality} series"));
        }
    }
    Ok(chosen)
}

/// The index of the series with the number, UID or description `name`.
fn named(series: &[Series], name: &str) -> Result<usize, Message> {
    let numbered = name.parse().ok().filter(|n| (1..=series.len()).contains(n)).map(|n| n - 1);
    let named: Vec<usize> = (0..series.len()).filter(|&n| series[n].is(name)).collect();
    let list = list(series);
    match (numbered, &named[..]) {
        (Some(n), _) | (None, &[n]) => Ok(n),
        (None, []) => {
            Err(message!("has no series \"{name}\" but {list}"; "give the number, UID or description of one"))
        }
        _ => Err(message!("has {list}, of which several are called \"{name}\""; "give the number or UID of one")),
    }
}

/// The index of the series to read if none is chosen.
fn only(series: &[Series], options: &ReadOptions) -> Result<usize, Message> {
    let deep: Vec<usize> = (0..series.len()).filter(|&n| series[n].is_deep()).collect();
    match (series.len(), &deep[..]) {
        (1, _) => return Ok(0),
        (_, &[n]) => return Ok(n),
        _ => {}
    }
    let list = list(series);
    Err(match options.role.series() {
        Some(setting) => {
            message!("holds {list}"; "give the number, UID or description of one as ", {setting}, ", or one of its files")
        }
        None => message!("holds {list}"; "give one of the files of the series that you want"),
    })
}

/// Lists the series and their number.
fn list(series: &[Series]) -> String {
    let lines: Vec<String> =
        series.iter().take(LISTED).enumerate().map(|(n, series)| format!("{}: {}", n + 1, series.line())).collect();
    let more = if series.len() > LISTED { ", ..." } else { "" };
    format!("{} DICOM series: {}{more}", series.len(), lines.join(", "))
}
