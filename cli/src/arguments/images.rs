//! Which images are read, where files or folders hold several.

use clap::Args;
use mireg::io::{ReadOptions, Role};

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
}

impl Images {
    /// How the fixed image is read.
    pub fn fixed(&self) -> ReadOptions {
        ReadOptions { role: Role::Fixed, series: self.fixed_series.clone() }
    }

    /// How the moving image is read.
    pub fn moving(&self) -> ReadOptions {
        ReadOptions { role: Role::Moving, series: self.moving_series.clone() }
    }
}

/// Of a single image.
#[derive(Args)]
pub struct Single {
    /// Series of IMAGE, a folder of several DICOM series: its number in the list that mireg prints without it, its UID or its
    /// description
    #[arg(long, value_name = "SERIES", help_heading = "Images")]
    pub series: Option<String>,
}

impl Single {
    /// How the image is read.
    pub fn options(&self) -> ReadOptions {
        ReadOptions { role: Role::Image, series: self.series.clone() }
    }
}
