//! A DICOM file with an image: the series it belongs to, its frames and their bytes.

use std::path::Path;

use super::elements::Pixels;
use super::file::{Content, DicomFile};
use super::layout::Layout;
use super::plane::{self, FrameInfo};
use super::tags;
use crate::io::source::reason;

/// A DICOM file that holds an image.
pub struct ImageFile {
    pub file: DicomFile,
}

/// What a file in a folder was found to be.
pub enum Found {
    Image(ImageFile),
    /// Not an image. The text says what it is.
    Other(String),
    /// A file that may belong to a series but cannot be read, with the reason.
    Damaged(String),
}

impl ImageFile {
    /// Reads all but the pixels of the file at `path`.
    ///
    /// # Errors
    /// [`crate::Error::File`] if the file cannot be opened.
    pub fn open(path: &Path) -> crate::Result<Found> {
        Ok(match DicomFile::open(path)? {
            Content::Other => Found::Other("not DICOM".into()),
            Content::Damaged(message) => Found::Damaged(message),
            Content::Dicom(file) if file.elements.has(tags::COLUMNS) => Found::Image(Self { file }),
            Content::Dicom(file) => Found::Other(Self { file }.what()),
        })
    }

    /// Describes a file that has no image.
    fn what(&self) -> String {
        let kind = self.modality().unwrap_or_else(|| "DICOM".into());
        match self.file.pixels() {
            Some(_) => format!("{kind} whose pixels have no Rows and Columns"),
            None => format!("{kind} without an image"),
        }
    }

    /// The UID of its series; empty if it has none.
    pub fn series(&self) -> String {
        self.file.elements.text(tags::SERIES).unwrap_or_default()
    }

    /// The number of its series in the examination.
    pub fn series_number(&self) -> i64 {
        self.integer(tags::SERIES_NUMBER)
    }

    /// The number of the image in its series.
    pub fn instance_number(&self) -> i64 {
        self.integer(tags::INSTANCE_NUMBER)
    }

    fn integer(&self, tag: tags::Tag) -> i64 {
        self.file.elements.text(tag).and_then(|text| text.parse().ok()).unwrap_or(i64::MAX)
    }

    pub fn modality(&self) -> Option<String> {
        self.file.elements.text(tags::MODALITY)
    }

    /// The description of its series.
    pub fn description(&self) -> Option<String> {
        self.file.elements.text(tags::SERIES_DESCRIPTION)
    }

    /// Columns and rows.
    pub fn size(&self) -> [usize; 2] {
        plane::size(&self.file.elements)
    }

    /// The number of frames that its header gives.
    pub fn count(&self) -> Result<usize, String> {
        let [count] = self.file.elements.numbers(tags::FRAMES, "NumberOfFrames")?.unwrap_or([1.0]);
        // A file cannot have more frames than bytes.
        match count.fract() == 0.0 && count >= 1.0 && count <= self.file.length as f64 {
            true => Ok(count as usize),
            false => Err(format!("its NumberOfFrames is {count}; correct it")),
        }
    }

    /// Checks that all its pixels can be there, stored as `layout` says.
    pub fn fits(&self, layout: &Layout) -> Result<(), String> {
        let [columns, rows] = self.size();
        layout.fits(&self.file, columns * rows, self.count()?)
    }

    /// Its frames in the order of the file.
    pub fn frames(&self) -> Result<Vec<FrameInfo>, String> {
        plane::frames(&self.file.elements, self.count()?)
    }

    /// Calls `take` with the number and the bytes of each of `count` frames, in the order of the file, until it fails.
    pub fn read(
        &self,
        count: usize,
        frame_bytes: u64,
        mut take: impl FnMut(usize, &[u8]) -> Result<(), String>,
    ) -> Result<(), String> {
        let mut input = self.file.input()?;
        let mut bytes = Vec::new();
        match self.file.pixels() {
            None => return Err(reason(&std::io::ErrorKind::UnexpectedEof.into())),
            Some(&Pixels::Native { start, .. }) => {
                input.skip_to(start)?;
                for number in 0..count {
                    bytes.clear();
                    input.append(frame_bytes, &mut bytes)?;
                    take(number, &bytes)?;
                }
            }
            Some(Pixels::Fragments { offsets, fragments }) => {
                for (number, range) in ranges(offsets, fragments, count)?.into_iter().enumerate() {
                    bytes.clear();
                    for &(start, length) in &fragments[range] {
                        input.skip_to(start)?;
                        input.append(length, &mut bytes)?;
                    }
                    take(number, &bytes)?;
                }
            }
        }
        Ok(())
    }
}

/// The fragments of each of `count` frames.
fn ranges(offsets: &[u32], fragments: &[(u64, u64)], count: usize) -> Result<Vec<std::ops::Range<usize>>, String> {
    if count == 1 {
        return Ok(std::iter::once(0..fragments.len()).collect());
    }
    if fragments.len() == count {
        return Ok((0..count).map(|n| n..n + 1).collect());
    }
    // Offsets are counted from the head of the first fragment. All heads have 8 bytes, so they are the same for starts
    // of fragments.
    let first = fragments.first().map_or(0, |&(start, _)| start);
    let starting = |&offset: &u32| fragments.iter().position(|&(start, _)| start - first == u64::from(offset));
    let starts: Option<Vec<usize>> = offsets.iter().map(starting).collect();
    let starts = starts.filter(|starts| starts.len() == count && starts.is_sorted()).ok_or_else(|| {
        format!(
            "has {count} frames in {} pieces, and does not say which are whose; decompress it, for example with gdcmconv --raw",
            fragments.len()
        )
    })?;
    let ends = starts.iter().skip(1).copied().chain([fragments.len()]);
    Ok(starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect())
}
