//! What a file of images does not decide by itself, and what is to be said of how it was read.

use std::str::FromStr;

use crate::error::{Message, Setting};
use crate::{Geometry, Volume};

/// Which image of a file or folder is read, where there are several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What the image is to its reader.
    pub role: Role,
    /// The series of a folder of DICOM files: its number in the list that the error gives where none is chosen, its UID, or its
    /// description.
    pub series: Option<String>,
    /// Which of the volumes of an image of four dimensions, or of the pages of a TIFF file.
    pub volume: Option<Select>,
    /// What is taken of voxels with several channels, such as colours.
    pub channel: Channel,
    /// A PNG, JPEG or TIFF of more pixels is thinned to at most so many, by a whole step along both axes, while it is read.
    pub most_pixels: Option<usize>,
}

impl ReadOptions {
    /// One pixel in how many is read along each axis of a picture.
    pub(super) fn step(&self, [width, height, _]: [usize; 3]) -> usize {
        let fits = |step: &usize| self.most_pixels.is_none_or(|most| (width / step) * (height / step) <= most.max(4));
        (1..).find(fits).unwrap_or(1)
    }
}

/// A volume of several along a fourth axis, or a page of several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Select {
    /// The one of this number, from 0.
    Number(usize),
    /// The mean of all, voxel by voxel.
    Mean,
}

impl FromStr for Select {
    type Err = String;

    /// A number, or `mean`.
    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "mean" => Ok(Self::Mean),
            number => number.parse().map(Self::Number).map_err(|_| "a number from 0, or mean, is possible".into()),
        }
    }
}

/// What an image takes of the channels of a voxel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Channel {
    /// Of pictures in the colours of a colour map that luma does not tell apart, the values behind them, as places along the map; else the luma.
    #[default]
    Auto,
    /// The luma of red, green and blue.
    Luma,
    /// The one of this number, from 0: red, green, blue and alpha, or whatever the image has.
    Number(usize),
}

/// The channels of colours, by their numbers.
pub(super) const COLOURS: [&str; 3] = ["red", "green", "blue"];

impl Channel {
    /// Whether it is a channel by number, which images other than those of colours have, too.
    pub(super) fn is_number(self) -> bool {
        matches!(self, Self::Number(_))
    }
}

impl FromStr for Channel {
    type Err = String;

    /// `auto`, `luma`, a colour, or a number.
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

/// What an image is to its reader: its options have names of their own in messages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    Fixed,
    Moving,
    /// The only image, or one of others.
    #[default]
    Image,
    /// One for which there are no options, such as a mask.
    Plain,
}

impl Role {
    /// The option that chooses a series; none where there is none.
    pub fn series(self) -> Option<Setting> {
        match self {
            Self::Fixed => Some(Setting::FixedSeries),
            Self::Moving => Some(Setting::MovingSeries),
            Self::Image => Some(Setting::Series),
            Self::Plain => None,
        }
    }

    /// The option that chooses a volume; none where there is none.
    pub fn volume(self) -> Option<Setting> {
        match self {
            Self::Fixed => Some(Setting::FixedVolume),
            Self::Moving => Some(Setting::MovingVolume),
            Self::Image => Some(Setting::Volume),
            Self::Plain => None,
        }
    }

    /// The option that chooses a channel; none where there is none.
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
    /// The grid of all pixels of a picture of which fewer were read.
    pub whole: Option<Geometry>,
    /// What its reader should know and the volume does not say, a line each, such as which files of a folder were left out.
    pub notes: Vec<Message>,
}

impl From<Volume> for Image {
    fn from(volume: Volume) -> Self {
        Self { volume, whole: None, notes: Vec::new() }
    }
}
