//! Which images are read, where files or folders hold several.

use clap::Args;
use mireg::io::{Channel, ReadOptions, Role, Select};

/// Of a fixed and a moving image.
#[derive(Args, Clone, Default)]
pub struct Images {
    /// Series of FIXED, a folder of several DICOM series: its number in the list that mireg prints without it, its UID or its
    /// description
    #[arg(long, value_name = "SERIES", help_heading = "Images")]
    pub fixed_series: Option<String>,
    /// Series of MOVING
    #[arg(long, value_name = "SERIES", help_heading = "Images")]
    pub moving_series: Option<String>,
    /// Volume of FIXED, an image of four dimensions, or its page, a TIFF file: a number from 0, or mean for the mean of all
    #[arg(long, value_name = "N|mean", allow_negative_numbers = true, help_heading = "Images")]
    pub fixed_volume: Option<Select>,
    /// Volume of MOVING
    #[arg(long, value_name = "N|mean", allow_negative_numbers = true, help_heading = "Images")]
    pub moving_volume: Option<Select>,
    /// Channel of FIXED, an image of colours or of other channels: luma, red, green, blue, or a number from 0; auto is luma, or for
    /// false colours, such as those of PET, the values behind them
    #[arg(long, value_name = "CHANNEL", default_value = "auto")]
    #[arg(allow_negative_numbers = true, help_heading = "Images")]
    pub fixed_channel: Channel,
    /// Channel of MOVING
    #[arg(long, value_name = "CHANNEL", default_value = "auto")]
    #[arg(allow_negative_numbers = true, help_heading = "Images")]
    pub moving_channel: Channel,
}

impl Images {
    /// How the fixed image is read.
    pub fn fixed(&self) -> ReadOptions {
        ReadOptions {
            role: Role::Fixed,
            series: self.fixed_series.clone(),
            volume: self.fixed_volume,
            channel: self.fixed_channel,
            most_pixels: None,
        }
    }

    /// How the moving image is read.
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

/// Of a single image.
#[derive(Args)]
pub struct Single {
    /// Series of IMAGE, a folder of several DICOM series: its number in the list that mireg prints without it, its UID or its
    /// description
    #[arg(long, value_name = "SERIES", help_heading = "Images")]
    pub series: Option<String>,
    /// Volume of IMAGE, if it has four dimensions, or its page, if it is a TIFF file: a number from 0, or mean for the mean of all
    #[arg(long, value_name = "N|mean", allow_negative_numbers = true, help_heading = "Images")]
    pub volume: Option<Select>,
    /// Channel of IMAGE, if it has colours or other channels: luma, red, green, blue, or a number from 0; auto is luma, or for false
    /// colours, such as those of PET, the values behind them
    #[arg(long, value_name = "CHANNEL", default_value = "auto")]
    #[arg(allow_negative_numbers = true, help_heading = "Images")]
    pub channel: Channel,
}

impl Single {
    /// How the image is read.
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
