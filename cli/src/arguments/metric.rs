//! The arguments of the metric that `mireg register` maximises.

use clap::Args;
use mireg::error::Setting;
use mireg::metric::{self, Counted, HistogramMethod, Interpolator, Mattes, Metric, Viola};
use mireg::{Error, Result};

use super::choice;
use super::gaussian::Gaussian;
use super::histogram::Histogram;
use super::search::Search;

#[derive(Args)]
pub struct Maximised {
    /// Similarity metric [default: mattes; nmi with --interpolation, --histogram or fewer than 5 bins]
    #[arg(long, value_parser = choice::metric(), help_heading = "Metric")]
    pub metric: Option<Metric>,
    #[command(flatten)]
    pub histogram: Histogram,
    #[command(flatten)]
    pub gaussian: Gaussian,
}

impl Maximised {
    /// Returns the metric with its settings. Refuses arguments that it does not use.
    pub fn metric(&self, search: &Search) -> Result<Metric> {
        let metric::Histogram { bins, interpolator, method } = self.histogram.counted();
        let asked = self.metric.unwrap_or_else(|| self.default_metric());
        if asked.has_gradient() {
            self.refuse_unused(asked.name())?;
        }
        match asked {
            Metric::Viola(_) => (),
            _ => self.gaussian.refuse()?,
        }
        Ok(match asked {
            Metric::Counted(counted) => Metric::Counted(Counted { bins, interpolator, method, ..counted }),
            Metric::Mattes(mattes) => Metric::Mattes(Mattes { bins, ..mattes }),
            Metric::Viola(viola) => {
                let (samples, seed) = (search.samples().unwrap_or(viola.samples), search.seed);
                self.gaussian.windows(Viola { samples, seed, bins, ..viola })
            }
        })
    }

    /// Returns the default metric: Mattes mutual information, or NMI if an argument is given that only joint histograms
    /// of counts use.
    fn default_metric(&self) -> Metric {
        let metric::Histogram { bins, interpolator, method } = self.histogram.counted();
        let plain = interpolator == Interpolator::Linear && method == HistogramMethod::Auto;
        match plain && bins >= Mattes::LEAST_BINS {
            true => Metric::default(),
            false => Metric::Counted(Counted::default()),
        }
    }

    /// Refuses arguments that a metric with a gradient does not use.
    fn refuse_unused(&self, name: &str) -> Result<()> {
        let metric::Histogram { interpolator, method, .. } = self.histogram.counted();
        if interpolator != Interpolator::Linear {
            let text = format!("{name} takes --interpolation linear alone, of which it has the gradient");
            return Err(Error::option(Setting::Interpolator, text));
        }
        match method {
            HistogramMethod::Auto => Ok(()),
            _ => Err(Error::option(
                Setting::Histogram,
                format!("{name} counts no joint histogram; leave --histogram out"),
            )),
        }
    }
}
