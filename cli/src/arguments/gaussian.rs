//! The arguments of the Gaussian windows of `viola`.

use super::choice::choice;
use clap::Args;
use mireg::backend::FULL;
use mireg::error::Setting;
use mireg::metric::{Exponentials, Metric, Sigmas, Viola};
use mireg::{Error, Result};

#[derive(Args)]
#[command(next_help_heading = "Metric")]
pub struct Gaussian {
    /// Standard deviations of viola's Gaussian windows, as fractions of the intensity ranges: 0.02,0.03. A third number is for the
    /// joint density [default: estimated from the samples of each level]
    #[arg(long, value_name = "FIXED,MOVING[,JOINT]", value_parser = sigmas, allow_negative_numbers = true)]
    pub sigmas: Option<Sigmas>,
    /// How the exponentials of viola are computed
    #[arg(long, value_parser = choice::<Exponentials>(), value_name = "HOW")]
    pub exponentials: Option<Exponentials>,
}

impl Gaussian {
    /// Refuses these arguments. Called for all metrics but `viola`.
    pub fn refuse(&self) -> Result<()> {
        match self.sigmas.is_some() || self.exponentials.is_some() {
            true => {
                let text = "--sigmas and --exponentials are for --metric viola; leave them out";
                Err(Error::option(Setting::Sigmas, text))
            }
            false => Ok(()),
        }
    }

    /// Returns the metric with these arguments.
    pub fn windows(&self, viola: Viola) -> Metric {
        let exponentials = self.exponentials.unwrap_or(viola.exponentials);
        Metric::Viola(Viola { sigmas: self.sigmas, exponentials, ..viola })
    }
}

/// Parses two or three fractions of the intensity range.
fn sigmas(text: &str) -> std::result::Result<Sigmas, String> {
    let part = |text: &str| text.trim().parse().ok().filter(|part: &f64| *part > 0.0 && *part <= 1.0);
    let parts: Option<Vec<f64>> = text.split(',').map(|text| Some(part(text)? * f64::from(FULL))).collect();
    match parts.as_deref() {
        Some(&[fixed, moving]) => Ok(Sigmas { fixed, moving, joint: None }),
        Some(&[fixed, moving, joint]) => Ok(Sigmas { fixed, moving, joint: Some([joint; 2]) }),
        _ => Err("two or three numbers above 0 and up to 1 are possible, such as 0.02,0.03".into()),
    }
}
