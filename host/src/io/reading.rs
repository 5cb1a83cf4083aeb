//! Options for reading an image from a file that holds several, and the image with notes on how it was read.

use std::str::FromStr;

use crate::error::{Message, Setting};
use crate::{Geometry, Volume};

/// Chooses which image of a file or folder to read, if there are several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The role of the image.
    pub role: Role,
    /// The series of a folder of DICOM files: its UID, its description, or its number in the list of the error that is
    /// returned if none is chosen.
    pub series: Option<String>,
    /// The volume of a four-dimensional image, or the page of a TIFF file.
    pub volume: Option<Select>,
    /// The channel to take of voxels with several channels, such as colours.
    pub channel: Channel,
    /// The most pixels of a PNG, JPEG or TIFF. One with more is subsampled while it is read, by a whole step along both
    /// axes.
    pub most_pixels: Option<usize>,
}

impl ReadOptions {
    /// The subsampling step along both axes of a 2-D image.
    pub(super) fn step(&self, [width, height, _]: [usize; 3]) -> usize {
        let fits = |step: &usize| self.most_pixels.is_none_or(|most| (width / step) * (height / step) <= most.max(4));
        (1..).find(fits).unwrap_or(1)
    }
}

/// A choice among several volumes along a fourth axis, or several pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Select {
    /// The volume or page with this number, from 0.
    Number(usize),
    /// The mean of all, for each voxel.
    Mean,
}

impl FromStr for Select {
    type Err = String;

    /// Parses a number, or `mean`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mean" => Ok(Self::Mean),
            number => number.parse().map(Self::Number).map_err(|_| "a number from 0, or mean, is possible".into()),
        }
    }
}

/// What to take of the channels of a voxel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Channel {
    /// The luma; but if the colours of a picture are those of a colour map whose values luma does not distinguish,
    /// these values, as positions along the map.
    #[default]
    Auto,
    /// The luma of red, green and blue.
    Luma,
    /// The channel with this number, from 0: red, green, blue and alpha, or whatever channels the image has.
    Number(usize),
}

/// The names of the colour channels, by number.
pub(super) const COLOURS: [&str; 3] = ["red", "green", "blue"];

impl Channel {
    /// Whether it is a channel by number, which images can have that are not in colour.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Number(_))
    }
}

impl FromStr for Channel {
    type Err = String;

    /// Parses `auto`, `luma`, a colour, or a number.
    fn from_str(text: &str) -> Result<Self, String> {
        let colour = COLOURS.iter().position(|&colour| colour == text);
        match (text, colour.or(text.parse().ok())) {
            ("auto", _) => Ok(Self::Auto),
            ("luma", _) => Ok(Self::Luma),
            (_, Some(number)) => Ok(Self::Number(number)),
            _ => Err("auto, luma, red, green, blue, or a number from 0 is possible".into()),
        }
    }
}

/// The role of an image, which determines the names of its options in messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    Fixed,
    Moving,
    /// The only image, or one of several equal ones.
    #[default]
    Image,
    /// An image that has no options, such as a mask.
    Plain,
}

impl Role {
    /// The option that chooses a series, if there is one.
    pub fn series(self) -> Option<Setting> {
        match self {
            Self::Fixed => Some(Setting::FixedSeries),
            Self::Moving => Some(Setting::MovingSeries),
            Self::Image => Some(Setting::Series),
            Self::Plain => None,
        }
    }

    /// The option that chooses a volume, if there is one.
    pub fn volume(self) -> Option<Setting> {
        match self {
            Self::Fixed => Some(Setting::FixedVolume),
            Self::Moving => Some(Setting::MovingVolume),
            Self::Image => Some(Setting::Volume),
            Self::Plain => None,
        }
    }

    /// The option that chooses a channel, if there is one.
    pub fn channel(self) -> Option<Setting> {
        match self {
            Self::Fixed => Some(Setting::FixedChannel),
            Self::Moving => Some(Setting::MovingChannel),
            Self::Image => Some(Setting::Channel),
            Self::Plain => None,
        }
    }
}

/// An image as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    pub volume: Volume,
    /// The grid of the full image, if it was subsampled.
    pub whole: Option<Geometry>,
    /// Notes for the user, one line each, such as which files of a folder were left out.
    pub notes: Vec<Message>,
}

impl From<Volume> for Image {
    fn from(volume: Volume) -> Self {
        Self { volume, whole: None, notes: Vec::new() }
    }
}
