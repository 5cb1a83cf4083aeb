//! Decides by the options what to read of the numbers of a file: all, one volume, the mean of the volumes, or luma.

use super::coding::Coding;
use super::reading::{COLOURS, Channel, Image, ReadOptions, Select};
use super::voxels::{Shape, Take};
use crate::error::{Message, message};
use crate::{Geometry, Volume};

/// What to read of a file, with notes for the user.
pub struct ReadPlan {
    pub shape: Shape,
    pub take: Take,
    notes: Vec<Message>,
}

impl ReadPlan {
    /// All numbers of every voxel.
    pub fn all(shape: Shape) -> Self {
        Self { shape, take: Take::All, notes: Vec::new() }
    }

    /// Makes the image of the voxels that were read.
    pub fn image(self, geometry: Geometry, coding: &Coding, voxels: Vec<f32>) -> Image {
        let volume = Volume { geometry, voxels, pixel: self.take.volume_pixel(coding) };
        Image { notes: self.notes, ..volume.into() }
    }
}

/// The note on an image whose colours were converted to luma.
fn colours_became_luma() -> Message {
    message!("its colours were converted to luma, 0.2126 R + 0.7152 G + 0.0722 B")
}

/// The note on an image whose colours were converted to the values of a colour map.
pub fn colours_became_values() -> Message {
    message!("its colours come from a colour map and were converted to positions along it")
}

impl ReadOptions {
    /// Decides what to read of a file with one number per voxel for each of its volumes.
    ///
    /// # Errors
    /// If there are several volumes and none is chosen, or a chosen one does not exist.
    pub(super) fn choose(&self, shape: Shape) -> Result<ReadPlan, Message> {
        self.channel(1)?;
        let (take, notes) = self.volume(shape.numbers, "volume")?;
        Ok(ReadPlan { shape, take, notes })
    }

    /// Which of `volumes` volumes to read, with notes for the user. `what` is the word for a volume of the file, such
    /// as "page".
    ///
    /// # Errors
    /// If there are several volumes and none is chosen, or a chosen one does not exist.
    pub(super) fn volume(&self, volumes: usize, what: &str) -> Result<(Take, Vec<Message>), Message> {
        let (take, note) = match self.volume {
            None | Some(Select::Mean | Select::Number(0)) if volumes == 1 => return Ok((Take::All, Vec::new())),
            Some(Select::Mean) => (Take::Mean, message!("the mean of its {volumes} {what}s was taken")),
            Some(Select::Number(n)) if n < volumes => {
                let last = volumes - 1;
                (Take::One(n), message!("{what} {n} of 0 to {last} was taken"))
            }
            Some(Select::Number(n)) if volumes == 1 => {
                return Err(message!("has one {what}, and none of number {n}").then(&self.advice(1, what)));
            }
            Some(Select::Number(n)) => {
                return Err(message!("has {volumes} {what}s, and none of number {n}").then(&self.advice(volumes, what)));
            }
            None => return Err(message!("has {volumes} {what}s").then(&self.advice(volumes, what))),
        };
        Ok((take, vec![note]))
    }

    /// Advice on how to choose among this many volumes.
    fn advice(&self, volumes: usize, what: &str) -> Message {
        let last = volumes - 1;
        match self.role.volume() {
            None if what == "volume" => {
                message!(""; "extract one, for example with nibabel: nibabel.save(image.slicer[..., 0], 'one.nii.gz')")
            }
            None => message!(""; "extract one"),
            Some(setting) if last == 0 => message!(""; "leave out ", {setting}),
            Some(setting) => message!(""; "choose one with ", {setting}, " 0 to {last}, or mean"),
        }
    }

    /// Decides what to read of the channels of every voxel.
    ///
    /// # Errors
    /// If there are several volumes, or a chosen volume or channel does not exist.
    pub(super) fn channels(&self, shape: Shape, volumes: usize) -> Result<ReadPlan, Message> {
        if volumes > 1 {
            let what = if !self.channel.is_number() { "colours" } else { "several channels" };
            return Err(format!("has {volumes} volumes of {what}; extract one").into());
        }
        self.volume(1, "volume")?;
        let (take, notes) = self.channel(shape.numbers)?;
        Ok(ReadPlan { shape, take, notes })
    }

    /// Which of `channels` channels to read, with notes for the user. 3 or 4 channels are colours, of which the default
    /// is luma.
    ///
    /// # Errors
    /// If a chosen channel does not exist, or if there are several channels without luma and none is chosen.
    pub(super) fn channel(&self, channels: usize) -> Result<(Take, Vec<Message>), Message> {
        let last = channels.saturating_sub(1);
        let choose = || self.channel_advice(channels);
        let (take, note) = match (self.channel, channels) {
            (Channel::Auto | Channel::Luma, 1) => return Ok((Take::All, Vec::new())),
            (Channel::Auto | Channel::Luma, 3 | 4) => (Take::Luma, colours_became_luma()),
            (Channel::Auto | Channel::Luma, _) => return Err(message!("has {channels} channels").then(&choose())),
            (Channel::Number(_), 1) => {
                let leave = |setting| message!(""; "leave out ", {setting});
                let advice = self.role.channel().map_or_else(Message::default, leave);
                return Err(message!("has one channel, and none to choose from").then(&advice));
            }
            (Channel::Number(n), _) if n > last => {
                return Err(message!("has {channels} channels, and none of number {n}").then(&choose()));
            }
            (Channel::Number(n), 3 | 4) if n < COLOURS.len() => {
                let colour = COLOURS[n];
                (Take::One(n), message!("its {colour} channel was taken"))
            }
            (Channel::Number(n), _) => (Take::One(n), message!("channel {n} of 0 to {last} was taken")),
        };
        Ok((take, vec![note]))
    }

    /// Advice on how to choose among this many channels.
    pub(super) fn channel_advice(&self, channels: usize) -> Message {
        let last = channels.saturating_sub(1);
        match self.role.channel() {
            None => message!(""; "extract one channel"),
            Some(setting) => message!(""; "choose one with ", {setting}, " 0 to {last}"),
        }
    }
}
