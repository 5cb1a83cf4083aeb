//! Landmarks in files. Of a file only the coordinates are understood; all else is written again as it was read.

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

/// How a file holds points.
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
    /// What the end of a name says.
    fn of(path: &Path) -> Option<Self> {
        let end = path.extension()?.to_string_lossy().to_lowercase();
        let ends =
            [("csv", Self::Csv), ("json", Self::Json), ("fcsv", Self::Fcsv), ("vtk", Self::Vtk), ("txt", Self::Text)];
        ends.iter().find(|(name, _)| *name == end).map(|&(_, format)| format)
    }
}

/// Where the axes of coordinates point to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Frame {
    /// Left, posterior, superior: DICOM, ITK, ANTs
    Lps,
    /// Right, anterior, superior: NIfTI
    Ras,
}

impl Frame {
    /// By the name or the number that files of 3D Slicer give it.
    fn of(name: &str) -> Result<Self, Message> {
        match name.trim() {
            "LPS" | "1" => Ok(Self::Lps),
            "RAS" | "0" => Ok(Self::Ras),
            other => {
                let other = shown(other);
                Err(message!("has coordinates in the system {other}"; "save them in LPS or RAS"))
            }
        }
    }

    /// From this frame to LPS, and back.
    fn flip(self, point: DVec3) -> DVec3 {
        match self {
            Self::Lps => point,
            // Adding 0 makes a -0 a 0.
            Self::Ras => DVec3::new(-point.x, -point.y, point.z) + DVec3::ZERO,
        }
    }
}

/// A file with its coordinates taken out.
trait Document {
    /// The file with these in their places, a slice of two or three a point.
    fn render(&self, points: &[&[f64]]) -> Vec<u8>;
}

/// What the reader of a format finds.
struct Parsed {
    /// In the file's own frame; in a plane, z is 0.
    points: Vec<DVec3>,
    /// Coordinates a point has: 2 or 3.
    axes: usize,
    /// Where the file says.
    frame: Option<Frame>,
    document: Box<dyn Document>,
}

/// Points, and the file that they come from.
pub struct Landmarks {
    points: Vec<DVec3>,
    axes: usize,
    frame: Frame,
    format: PointsFormat,
    document: Box<dyn Document>,
    /// Whether the file begins with a byte order mark, as those that Excel writes.
    marked: bool,
}

/// What says that a text is UTF-8.
const MARK: &str = "\u{feff}";

/// Farthest from the plane that a point of two coordinates may come, mm.
const FLAT: f64 = 1e-6;

impl Landmarks {
    /// Reads the points of a file, by default of the format that the end of its name says. `frame` is that of its coordinates (mm), by
    /// default what the file says, or else LPS.
    ///
    /// # Errors
    /// [`Error::File`] for a file that is not there, of an unknown format, damaged, without points, or that contradicts `frame`.
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

    /// LPS mm, at least one; z is 0 where the file has x and y alone.
    pub fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Takes every point through a map of points in LPS mm.
    pub fn transform(&mut self, map: impl Fn(DVec3) -> DVec3) {
        self.points.iter_mut().for_each(|point| *point = map(*point));
    }

    /// Writes the file that was read, with the points of now in the frame of then.
    ///
    /// # Errors
    /// [`Error::File`] where the file cannot be written or its name says another format, [`Error::Option`] where points with two
    /// coordinates have left the plane or are not finite.
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

/// A coordinate on a line of a file, counted from 1.
fn coordinate(word: &str, line: u64) -> Result<f64, Message> {
    let number = word.trim().parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| {
        let word = shown(word);
        let correct = if word.contains(',') { "write it with a point" } else { "correct it" };
        message!("has \"{word}\" on line {line}, which is no finite number"; "{correct}")
    })
}

/// The start of what a file holds, fit to be printed on a line.
fn shown(text: &str) -> String {
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
        let told = coordinate(&["1\n2\u{1b}", &"x".repeat(1000)].concat(), 7).unwrap_err().to_string();
        assert!(told.starts_with("has \"12xx") && told.contains("line 7") && told.len() < 110, "{told}");
        assert_eq!(coordinate(" 1e-3 ", 1), Ok(1e-3));
        assert!(coordinate("inf", 1).is_err());
    }
}
