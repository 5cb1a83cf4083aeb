//! What is taken of the numbers of a file: all, a volume, their mean, or the luma of colours.

use super::reading::{Image, ReadOptions, Select};
use super::voxels::{Coding, Order, Shape, Take};
use crate::error::{Message, message};
use crate::{Geometry, Volume};

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
        let volumes = shape.numbers;
        let (take, note) = match self.volume {
            None | Some(Select::Mean | Select::Number(0)) if volumes == 1 => return Ok(Wanted::all(shape)),
            Some(Select::Mean) => (Take::Mean, message!("the mean of its {volumes} volumes was taken")),
            Some(Select::Number(n)) if n < volumes => {
                let last = volumes - 1;
                (Take::One(n), message!("volume {n} of 0 to {last} was taken"))
            }
            Some(Select::Number(n)) if volumes == 1 => {
                return Err(message!("has one volume, and none of number {n}").then(&self.advice(1)));
            }
            Some(Select::Number(n)) => {
                return Err(message!("has {volumes} volumes, and none of number {n}").then(&self.advice(volumes)));
            }
            None => return Err(message!("has {volumes} volumes").then(&self.advice(volumes))),
        };
        Ok(Wanted { shape, take, notes: vec![note] })
    }

    /// What to do about a choice among so many volumes.
    fn advice(&self, volumes: usize) -> Message {
        let last = volumes - 1;
        match self.role.volume() {
            None => {
                message!(""; "extract one, for example with nibabel: nibabel.save(image.slicer[..., 0], 'one.nii.gz')")
            }
            Some(setting) if last == 0 => message!(""; "leave out ", {setting}),
            Some(setting) => message!(""; "choose one with ", {setting}, " 0 to {last}, or mean"),
        }
    }

    /// The luma of so many channels per voxel, side by side.
    ///
    /// # Errors
    /// For several volumes, or where one is chosen that is not there.
    pub(super) fn luma(&self, size: [usize; 3], channels: usize, volumes: usize) -> Result<Wanted, Message> {
        if volumes > 1 {
            return Err(format!("has {volumes} volumes of colours; extract one").into());
        }
        self.one_volume()?;
        let shape = Shape { size, numbers: channels, order: Order::Voxels };
        Ok(Wanted { shape, take: Take::Luma, notes: vec![colours_became_luma()] })
    }

    /// Refuses the choice of a volume other than the only one.
    pub(super) fn one_volume(&self) -> Result<(), Message> {
        self.choose(Shape::scalar([1; 3])).map(|_| ())
    }
}
