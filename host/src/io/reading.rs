//! What a file of images does not decide by itself, and what is to be said of how it was read.

use std::str::FromStr;

use crate::Volume;
use crate::error::{Message, Setting};

/// Which image of a file or folder is read, where there are several.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// What the image is to its reader.
    pub role: Role,
    /// The series of a folder of DICOM files: its number in the list that the error gives where none is chosen, its UID, or its
    /// description.
    pub series: Option<String>,
    /// Which of the volumes of an image of four dimensions.
    pub volume: Option<Select>,
}

/// A volume of several along a fourth axis.
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
}

/// An image as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    pub volume: Volume,
    /// What its reader should know and the volume does not say, a line each, such as which files of a folder were left out.
    pub notes: Vec<Message>,
}

impl From<Volume> for Image {
    fn from(volume: Volume) -> Self {
        Self { volume, notes: Vec::new() }
    }
}
