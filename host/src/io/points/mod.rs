//! Reads and writes files of landmarks. Only the coordinates are interpreted; everything else in a file is written as
//! it was read.

mod markups;
mod table;
mod text;

use crate::error::{Message, Setting, message};
use std::path::Path;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

use glam::DVec3;

use super::atomic;
use super::number::shortest;
use super::source::Source;
use crate::Error;

/// The format of a file of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum PointsFormat {
    /// Columns x, y and, in 3-D, z under a header; other columns are kept, as in the files of ANTs
    Csv,
    /// Markups of 3D Slicer 5 (.mrk.json)
    Json,
    /// Markups of 3D Slicer 4
    Fcsv,
    /// Legacy VTK with ASCII points
    Vtk,
    /// Rows of two or three numbers
    Text,
}

impl PointsFormat {
    /// The format by the ending of a file name.
    fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_string_lossy().to_lowercase();
        let ends =
            [("csv", Self::Csv), ("json", Self::Json), ("fcsv", Self::Fcsv), ("vtk", Self::Vtk), ("txt", Self::Text)];
        ends.iter().find(|(name, _)| *name == end).map(|&(_, format)| format)
    }
}

/// The coordinate frame: the directions of its axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Frame {
    /// Left, posterior, superior: DICOM, ITK, ANTs
    Lps,
    /// Right, anterior, superior: NIfTI
    Ras,
}

impl Frame {
    /// The frame by its name or number in files of 3D Slicer.
    fn of(name: &str) -> Result<Self, Message> {
        match name.trim() {
            "LPS" | "1" => Ok(Self::Lps),
            "RAS" | "0" => Ok(Self::Ras),
            other => {
                let other = printable_line(other);
                Err(message!("has coordinates in the system {other}"; "save them in LPS or RAS"))
            }
        }
    }

    /// Converts a point from this frame to LPS, or back.
    fn flip(self, point: DVec3) -> DVec3 {
        match self {
            Self::Lps => point,
            // Adding 0 turns -0 into 0.
            Self::Ras => DVec3::new(-point.x, -point.y, point.z) + DVec3::ZERO,
        }
    }
}

/// A file without its coordinates.
trait Document {
    /// The file with these coordinates inserted, two or three per point.
    fn render(&self, points: &[&[f64]]) -> Vec<u8>;
}

/// The result of parsing a file.
struct Parsed {
    /// Points in the file's own frame. If they have two coordinates, z is 0.
    points: Vec<DVec3>,
    /// Coordinates per point: 2 or 3.
    axes: usize,
    /// The frame, if the file gives it.
    frame: Option<Frame>,
    document: Box<dyn Document>,
}

/// Points, and the rest of the file that they come from.
pub struct Landmarks {
    points: Vec<DVec3>,
    axes: usize,
    frame: Frame,
    format: PointsFormat,
    document: Box<dyn Document>,
    /// Whether the file begins with a byte order mark, as files written by Excel do.
    marked: bool,
}

/// The byte order mark of UTF-8 text.
const MARK: &str = "\u{feff}";

/// The largest permitted distance from the plane of a point with two coordinates, mm.
const FLAT: f64 = 1e-6;

impl Landmarks {
    /// Reads the points of a file. `format` is by default that of the ending of its name. `frame` is the frame of its
    /// coordinates (mm), by default that given in the file, or else LPS.
    ///
    /// # Errors
    /// [`Error::File`] for a file that does not exist, is of an unknown format, is damaged, has no points, or
    /// contradicts `frame`.
    pub fn read(path: &Path, format: Option<PointsFormat>, frame: Option<Frame>) -> crate::Result<Self> {
        let text = Source::open(path)?.text()?;
        let format = format.or_else(|| PointsFormat::of(path)).ok_or_else(|| {
            let unknown = "its name does not say how it holds points (.csv, .mrk.json, .fcsv, .vtk, .txt)";
            Error::file(path, message!("{unknown}"; "give ", PointsFormat))
        })?;
        let (marked, text) = match text.strip_prefix(MARK) {
            Some(rest) => (true, rest.to_owned()),
            None => (false, text),
        };
        let parsed = match format {
            PointsFormat::Csv => table::csv(&text),
            PointsFormat::Fcsv => table::fcsv(&text),
            PointsFormat::Json => markups::parse(&text),
            PointsFormat::Vtk => text::vtk(text),
            PointsFormat::Text => text::rows(text),
        };
        let Parsed { points, axes, frame: said, document } = parsed.map_err(Error::at(path))?;
        if points.is_empty() {
            return Err(Error::file(path, "has no points; check the file"));
        }
        if let (Some(said), Some(frame)) = (said, frame)
            && said != frame
        {
            let said = said.to_string().to_uppercase();
            return Err(Error::file(
                path,
                message!("says itself that its coordinates are in {said}"; "leave out ", Frame),
            ));
        }
        let frame = said.or(frame).unwrap_or(Frame::Lps);
        let points = points.into_iter().map(|point| frame.flip(point)).collect();
        Ok(Self { points, axes, frame, format, document, marked })
    }

    /// The points in LPS mm, at least one. If the file has only x and y, z is 0.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Maps every point by a map of points in LPS mm.
    pub fn transform(&mut self, map: impl Fn(DVec3) -> DVec3) {
        self.points.iter_mut().for_each(|point| *point = map(*point));
    }

    /// Writes the file that was read, with the present points in the frame of that file.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be written or its name is that of another format, [`Error::Option`] if points
    /// are not finite, or points with two coordinates have left the plane.
    pub fn write(&self, path: &Path) -> crate::Result<()> {
        if PointsFormat::of(path).is_some_and(|format| format != self.format && format != PointsFormat::Text) {
            let message = "would be of another format than the points that were read; give it the same ending";
            return Err(Error::file(path, message));
        }
        if !self.points.iter().all(|point| point.is_finite()) {
            return Err(Error::option(
                Setting::Transform,
                message!("the transform takes points to infinity"; "check it"),
            ));
        }
        if self.axes == 2 && self.points.iter().any(|point| point.z.abs() > FLAT) {
            let message =
                message!("the transform takes points with two coordinates out of the plane"; "give them three");
            return Err(Error::option(Setting::Transform, message));
        }
        let points: Vec<[f64; 3]> = self.points.iter().map(|&point| self.frame.flip(point).to_array()).collect();
        let points: Vec<&[f64]> = points.iter().map(|point| &point[..self.axes]).collect();
        let mark = if self.marked { MARK } else { "" };
        atomic::write(path, &[mark.as_bytes(), &self.document.render(&points)])
    }
}

/// Parses a coordinate. `line` is its line in the file, counted from 1, for errors.
fn coordinate(word: &str, line: u64) -> Result<f64, Message> {
    let number = word.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| {
        let word = printable_line(word);
        let correct = if word.contains(',') { "write it with a point" } else { "correct it" };
        message!("has \"{word}\" on line {line}, which is no finite number"; "{correct}")
    })
}

/// The start of a text from a file, made printable on one line.
fn printable_line(text: &str) -> String {
    text.trim().chars().filter(|c| !c.is_control()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_is_its_own_inverse() {
        let point = DVec3::new(1.0, -2.0, 3.0);
        assert_eq!(Frame::Ras.flip(point), DVec3::new(-1.0, 2.0, 3.0));
        assert_eq!(Frame::Ras.flip(Frame::Ras.flip(point)), point);
        assert_eq!((Frame::of(" 0"), Frame::of("LPS")), (Ok(Frame::Ras), Ok(Frame::Lps)));
        assert!(Frame::of("IJK").unwrap_err().to_string().contains("IJK"));
    }

    #[test]
    fn what_a_file_holds_is_shown_on_one_short_line() {
        let message = coordinate(&["1\n2\u{1b}", &"x".repeat(1000)].concat(), 7).unwrap_err().to_string();
        assert!(message.starts_with("has \"12xx") && message.contains("line 7") && message.len() < 110, "{message}");
        assert_eq!(coordinate(" 1e-3 ", 1), Ok(1e-3));
        assert!(coordinate("inf", 1).is_err());
    }
}
