//! What a file of images does not decide by itself, and what is to be said of how it was read.

use std::str::FromStr;

use super::voxels::{Coding, Order, Shape, Take};
use crate::error::{Message, Setting, message};
use crate::{Geometry, Volume};

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

/// What is read of a file, and what is to be said of it.
pub struct Wanted {
    pub shape: Shape,
    pub take: Take,
    notes: Vec<Message>,
}

impl Wanted {
    /// All numbers of every voxel.
    pub fn all(shape: Shape) -> Self {
        Self { shape, take: Take::All, notes: Vec::new() }
    }

    /// The luma of so many channels per voxel, side by side.
    ///
    /// # Errors
    /// For several volumes.
    pub fn luma(size: [usize; 3], channels: usize, volumes: usize) -> Result<Self, Message> {
        if volumes > 1 {
            return Err(format!("has {volumes} volumes of colours; extract one").into());
        }
        let shape = Shape { size, numbers: channels, order: Order::Voxels };
        Ok(Self { shape, take: Take::Luma, notes: vec![colours_became_luma()] })
    }

    /// The image that was read so.
    pub fn image(self, geometry: Geometry, coding: &Coding, voxels: Vec<f32>) -> Image {
        Image { volume: Volume { geometry, voxels, pixel: coding.volume_pixel(self.take) }, notes: self.notes }
    }
}

/// What is said of an image whose colours became luma.
pub fn colours_became_luma() -> Message {
    message!("its colours became luma, 0.2126 R + 0.7152 G + 0.0722 B")
}

impl ReadOptions {
    /// What is read of a file that has a number per voxel for each of its volumes.
    ///
    /// # Errors
    /// Where there are several and none is chosen, or one that is not there.
    pub(super) fn choose(&self, shape: Shape) -> Result<Wanted, Message> {
        let Shape { numbers: volumes, .. } = shape;
        let last = volumes - 1;
        let (take, note) = match (self.volume, self.role.volume()) {
            (None | Some(Select::Mean | Select::Number(0)), _) if volumes == 1 => return Ok(Wanted::all(shape)),
            (Some(Select::Mean), _) => (Take::Mean, message!("the mean of its {volumes} volumes was taken")),
            (Some(Select::Number(n)), _) if n < volumes => {
                (Take::One(n), message!("volume {n} of 0 to {last} was taken"))
            }
            (Some(Select::Number(n)), Some(setting)) if volumes == 1 => {
                return Err(message!("has one volume, and none of number {n}"; "leave out ", {setting}));
            }
            (Some(Select::Number(n)), Some(setting)) => {
                return Err(
                    message!("has {volumes} volumes, and none of number {n}"; "choose one with ", {setting}, " 0 to {last}, or mean"),
                );
            }
            (None, Some(setting)) => {
                return Err(message!("has {volumes} volumes"; "choose one with ", {setting}, " 0 to {last}, or mean"));
            }
            (_, None) => {
                return Err(
                    message!("has {volumes} volumes"; "extract one, for example with nibabel: nibabel.save(image.slicer[..., 0], 'one.nii.gz')"),
                );
            }
        };
        Ok(Wanted { shape, take, notes: vec![note] })
    }

    /// Refuses a volume other than the only one.
    pub(super) fn one_volume(&self) -> Result<(), Message> {
        self.choose(Shape::scalar([1; 3])).map(|_| ())
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
