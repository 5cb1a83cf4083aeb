//! One image of a series: which series it is of and where it lies (PS3.3 C.7.6.2).

use crate::error::Message;
use std::path::{Path, PathBuf};

use glam::DVec3;

use super::elements::{Elements, Tag};
use crate::Error;

/// Only the file DICOMDIR has it.
const DIRECTORY: Tag = (0x0004, 0x1220);
const MODALITY: Tag = (0x0008, 0x0060);
const SERIES_DESCRIPTION: Tag = (0x0008, 0x103e);
const SERIES: Tag = (0x0020, 0x000e);
const SERIES_NUMBER: Tag = (0x0020, 0x0011);
const POSITION: Tag = (0x0020, 0x0032);
const ORIENTATION: Tag = (0x0020, 0x0037);
const FRAMES: Tag = (0x0028, 0x0008);
const ROWS: Tag = (0x0028, 0x0010);
const COLUMNS: Tag = (0x0028, 0x0011);
const PIXEL_SPACING: Tag = (0x0028, 0x0030);
const IMAGER_PIXEL_SPACING: Tag = (0x0018, 0x1164);
const FUNCTIONAL_GROUPS: Tag = (0x5200, 0x9229);

/// A file that holds an image.
pub struct Slice {
    pub path: PathBuf,
    pub elements: Elements,
}

/// Where the pixels of a slice lie.
#[derive(Clone, Copy, PartialEq)]
pub struct Plane {
    /// Columns and rows.
    pub size: [usize; 2],
    /// Distance of neighbouring columns, then of neighbouring rows, mm.
    pub spacing: Option<[f64; 2]>,
    /// Directions along a row and along a column, LPS.
    pub axes: Option<[DVec3; 2]>,
    /// Centre of the first pixel, LPS mm.
    pub position: Option<DVec3>,
}

impl Slice {
    /// Reads all but the pixels of the file at `path`; none where it is not DICOM or holds no image.
    pub fn open(path: &Path) -> crate::Result<Option<Self>> {
        let Some(elements) = Elements::read(path, false)? else { return Ok(None) };
        let slice = Self { path: path.to_owned(), elements };
        if slice.elements.has(COLUMNS) {
            return Ok(Some(slice));
        }
        // What is no image has elements of another kind, so a file that has none ends too early.
        let other = slice.elements.last().is_some_and(|last| last > COLUMNS) || slice.elements.has(DIRECTORY);
        if other { Ok(None) } else { Err(slice.error("is truncated DICOM; copy or download it again")) }
    }

    /// What names its series.
    pub fn series(&self) -> String {
        self.elements.text(SERIES).unwrap_or_default()
    }

    /// Where its series is in the order of the examination.
    pub fn series_number(&self) -> i64 {
        self.elements.text(SERIES_NUMBER).and_then(|text| text.parse().ok()).unwrap_or(i64::MAX)
    }

    pub fn modality(&self) -> String {
        self.elements.text(MODALITY).unwrap_or_else(|| "without modality".into())
    }

    /// Columns and rows.
    pub fn size(&self) -> [usize; 2] {
        [COLUMNS, ROWS].map(|tag| self.elements.short(tag).unwrap_or(0).into())
    }

    /// What people call its series.
    pub fn description(&self) -> String {
        self.elements.text(SERIES_DESCRIPTION).unwrap_or_else(|| "without a description".into())
    }

    /// Where its pixels lie.
    pub fn plane(&self) -> crate::Result<Plane> {
        self.placed().map_err(|message| self.error(message))
    }

    fn placed(&self) -> Result<Plane, String> {
        let elements = &self.elements;
        let [frames] = elements.numbers(FRAMES, "NumberOfFrames")?.unwrap_or([1.0]);
        if frames != 1.0 || elements.has(FUNCTIONAL_GROUPS) {
            return Err(format!(
                "is a multi-frame image ({frames} frames), which mireg does not read; convert it to NIfTI, \
                 for example with dcm2niix"
            ));
        }
        let size = self.size();
        if size.iter().any(|&n| n < 2) {
            return Err(format!("has {} columns and {} rows; mireg needs at least 2 of each", size[0], size[1]));
        }
        let spacing = elements.numbers(PIXEL_SPACING, "PixelSpacing")?;
        let spacing = spacing.or(elements.numbers(IMAGER_PIXEL_SPACING, "ImagerPixelSpacing")?);
        let axes = elements.numbers::<6>(ORIENTATION, "ImageOrientationPatient")?;
        Ok(Plane {
            size,
            // The file gives the distance of rows first.
            spacing: spacing.map(|[rows, columns]| [columns, rows]),
            axes: axes.map(|[a, b, c, d, e, f]| [DVec3::new(a, b, c), DVec3::new(d, e, f)]),
            position: elements.numbers(POSITION, "ImagePositionPatient")?.map(DVec3::from_array),
        })
    }

    /// An error about this file.
    pub fn error(&self, message: impl Into<Message>) -> Error {
        Error::file(&self.path, message)
    }

    /// The name of its file, for messages.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}
