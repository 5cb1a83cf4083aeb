//! A metric of two loaded images.

use super::{Images, Samples};
use crate::backend::{Backend, Evaluator, SmoothEvaluator, ViolaEvaluator, Windows};
use crate::error::Setting;
use crate::metric::MetricKind;
use crate::registration::Options;
use crate::{Error, Result};
use glam::DAffine3;

/// The metric at a map.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct At {
    pub value: f64,
    /// Samples inside the other image.
    pub overlap: u64,
}

/// Images where a metric of them is evaluated.
pub struct Measure<'a> {
    images: &'a Images,
    loaded: Loaded<'a>,
}

/// By what they are compared.
enum Loaded<'a> {
    Counts(Box<dyn Evaluator + 'a>, MetricKind),
    Mattes(Box<dyn SmoothEvaluator + 'a>),
    Viola(Box<dyn ViolaEvaluator + 'a>),
}

impl<'a> Measure<'a> {
    /// Loads images for a metric; `samples` are what Viola's compares.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn load(
        images: &'a Images,
        samples: Option<&'a Samples>,
        backend: &'a dyn Backend,
        options: &Options,
    ) -> Result<Self> {
        let loaded = match (options.metric(), samples) {
            (_, Some(samples)) => {
                Loaded::Viola(backend.load_viola(samples.pair(images.stored().1, options.viola.exponentials))?)
            }
            (MetricKind::Mattes, _) => Loaded::Mattes(backend.load_mattes(images.mattes(Windows::Moving))?),
            (MetricKind::MattesSymmetric, _) => Loaded::Mattes(backend.load_mattes(images.mattes(Windows::Both))?),
            (kind, _) => Loaded::Counts(images.load(backend)?, kind),
        };
        Ok(Self { images, loaded })
    }

    /// The metric at each map of points in LPS mm.
    ///
    /// # Errors
    /// Those of the backend.
    pub fn values(&mut self, transforms: &[DAffine3]) -> Result<Vec<At>> {
        let maps = || -> Vec<_> { transforms.iter().map(|transform| self.images.map(transform)).collect() };
        match &mut self.loaded {
            Loaded::Counts(evaluator, kind) => {
                let found = self.images.evaluate(&mut **evaluator, transforms, kind.wanted())?;
                let at =
                    |e: &crate::metric::Evaluation| At { value: e.value(*kind).unwrap_or(0.0), overlap: e.overlap };
                Ok(found.iter().map(at).collect())
            }
            Loaded::Mattes(evaluator) => Ok(evaluator.values(&maps())?.iter().map(At::from).collect()),
            // A group of samples has one map at a time.
            Loaded::Viola(evaluator) => maps().chunks(1).map(|map| Ok(At::from(&evaluator.values(map)?[0]))).collect(),
        }
    }

    /// The metric at a map, and its derivatives by the numbers of [`Images::map`].
    ///
    /// # Errors
    /// Those of the backend; [`Error::Option`] for a metric without a gradient.
    pub fn slope(&mut self, transform: &DAffine3) -> Result<(At, [[f64; 4]; 3])> {
        let map = self.images.map(transform);
        match &mut self.loaded {
            Loaded::Counts(_, kind) => Err(Error::option(Setting::Metric, format!("{} has no gradient", kind.name()))),
            Loaded::Mattes(evaluator) => {
                let slope = evaluator.slope(&map)?;
                Ok((At::from(&slope.at), slope.by_map))
            }
            Loaded::Viola(evaluator) => {
                let (viola, by_map) = evaluator.slopes(&[map])?[0];
                Ok((At::from(&viola), by_map))
            }
        }
    }
}

impl From<&crate::backend::Smooth> for At {
    fn from(smooth: &crate::backend::Smooth) -> Self {
        Self { value: smooth.mi, overlap: smooth.overlap }
    }
}

impl From<&crate::backend::Viola> for At {
    fn from(viola: &crate::backend::Viola) -> Self {
        Self { value: viola.mi, overlap: viola.overlap.map(u64::from).iter().sum() }
    }
}
