//! The arguments that choose an image where a file or a folder holds several.

use clap::Args;
use mireg::io::{Channel, ReadOptions, Role, Select};

/// The arguments of commands that read a fixed and a moving image.
#[derive(Args, Clone, Default)]
pub struct Images {
    /// Series to read if FIXED is a folder of several DICOM series: its number in the list that mireg prints without
    /// this option, its UID or its description
    #[arg(long, value_name = "SERIES", help_heading = "Images")]
    pub fixed_series: Option<String>,
    /// Series of MOVING
    #[arg(long, value_name = "SERIES", help_heading = "Images")]
    pub moving_series: Option<String>,
    /// Volume to read if FIXED has four dimensions, or page if it is a TIFF file: a number from 0, or mean for the mean
    /// of all
    #[arg(long, value_name = "N|mean", allow_negative_numbers = true, help_heading = "Images")]
    pub fixed_volume: Option<Select>,
    /// Volume of MOVING
    #[arg(long, value_name = "N|mean", allow_negative_numbers = true, help_heading = "Images")]
    pub moving_volume: Option<Select>,
    /// Channel to read if FIXED has colours or other channels: luma, red, green, blue, or a number from 0; auto is
    /// luma, or for false colours, such as those of PET, the values behind them
    #[arg(long, value_name = "CHANNEL", default_value = "auto")]
    #[arg(allow_negative_numbers = true, help_heading = "Images")]
    pub fixed_channel: Channel,
    /// Channel of MOVING
    #[arg(long, value_name = "CHANNEL", default_value = "auto")]
    #[arg(allow_negative_numbers = true, help_heading = "Images")]
    pub moving_channel: Channel,
}

impl Images {
    /// Returns how to read the fixed image.
    pub fn fixed(&self) -> ReadOptions {
        ReadOptions {
            role: Role::Fixed,
            series: self.fixed_series.clone(),
            volume: self.fixed_volume,
            channel: self.fixed_channel,
            most_pixels: None,
        }
    }

    /// Returns how to read the moving image.
    pub fn moving(&self) -> ReadOptions {
        ReadOptions {
            role: Role::Moving,
            series: self.moving_series.clone(),
            volume: self.moving_volume,
            channel: self.moving_channel,
            most_pixels: None,
        }
    }
}

/// The arguments of commands that read a single image.
#[derive(Args)]
pub struct Single {
    /// Series to read if IMAGE is a folder of several DICOM series: its number in the list that mireg prints without
    /// this option, its UID or its description
    #[arg(long, value_name = "SERIES", help_heading = "Images")]
    pub series: Option<String>,
    /// Volume to read if IMAGE has four dimensions, or page if it is a TIFF file: a number from 0, or mean for the mean
    /// of all
    #[arg(long, value_name = "N|mean", allow_negative_numbers = true, help_heading = "Images")]
    pub volume: Option<Select>,
    /// Channel to read if IMAGE has colours or other channels: luma, red, green, blue, or a number from 0; auto is
    /// luma, or for false colours, such as those of PET, the values behind them
    #[arg(long, value_name = "CHANNEL", default_value = "auto")]
    #[arg(allow_negative_numbers = true, help_heading = "Images")]
    pub channel: Channel,
}

impl Single {
    /// Returns how to read the image.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            role: Role::Image,
            series: self.series.clone(),
            volume: self.volume,
            channel: self.channel,
            most_pixels: None,
        }
    }
}
