//! A pair and a transform, ready to be counted.

use crate::Result;
use crate::backend::histogram::{Pair, samples_words};
use crate::backend::lanes::{Lanes, columns};
use crate::image::{BinImage, CubicImage};
use gpu::math::interpolate::{self, Interpolator};
use gpu::params::Affine;
use std::borrow::Cow;

/// What an interpolator samples, made once for a pair.
pub enum Samples<'a> {
    /// 16-bit values.
    Values(&'a [u16]),
    /// [Words](gpu::math::eight_bit::word) of 8-bit levels.
    Words(Cow<'a, [u32]>),
    /// A padded volume.
    Cubic(CubicImage),
}

impl<'a> Samples<'a> {
    /// Those of a pair's moving image.
    pub fn new(pair: &Pair<'a>) -> Result<Self> {
        let how = pair.interpolator;
        if samples_words(how, pair.bins[1]) {
            let [width, height, _] = pair.moving.size();
            let words = pair.words()?;
            assert!(words.len() == pair.moving.size().iter().product::<usize>() + width * height);
            return Ok(Self::Words(words));
        }
        let moving = pair.moving.values()?;
        let size = moving.size.map(|n| n as u32);
        assert!(moving.values.len() == moving.size.iter().product::<usize>() + interpolate::padding(size));
        Ok(if how.is_cubic() { Self::Cubic(CubicImage::new(moving, how)?) } else { Self::Values(&moving.values) })
    }
}

/// A pair of images and a transform, ready to be counted.
pub struct HistogramTask<'a> {
    pub fixed: &'a [u16],
    pub fixed_size: [usize; 3],
    /// Each is empty where the interpolator samples another.
    pub moving: &'a [u16],
    pub words: &'a [u32],
    pub cubic: &'a [f32],
    pub moving_size: [u32; 3],
    pub bins: [u32; 2],
    /// What a sample counts.
    pub unit: u32,
    pub interpolator: Interpolator,
    pub affine: Affine,
    /// The x terms of the positions along a row, in whole chunks.
    pub columns: Vec<[Lanes; 3]>,
}

impl<'a> HistogramTask<'a> {
    /// A run over `pair` through `affine`; `fixed` and `samples` are the pair's, each of which counts `unit`.
    pub fn new(fixed: &'a BinImage, pair: &Pair, unit: u32, samples: &'a Samples<'a>, affine: &Affine) -> Self {
        assert!(fixed.bins.len() == fixed.size.iter().product::<usize>());
        let (mut moving, mut words, mut cubic) = (&[][..], &[][..], &[][..]);
        match samples {
            Samples::Values(values) => moving = values,
            Samples::Words(all) => words = all,
            Samples::Cubic(image) => cubic = &image.values,
        }
        Self {
            fixed: &fixed.bins,
            fixed_size: fixed.size,
            moving,
            words,
            cubic,
            moving_size: pair.moving.size().map(|n| n as u32),
            bins: pair.bins,
            unit,
            interpolator: pair.interpolator,
            affine: *affine,
            columns: columns(affine, fixed.size[0]),
        }
    }

    /// Rows of the fixed image, numbered with y fastest, then z.
    pub fn rows(&self) -> usize {
        self.fixed_size[1] * self.fixed_size[2]
    }

    /// Counters of a count: one more than the histogram has, for samples outside.
    pub fn counters(&self) -> usize {
        (self.bins[0] * self.bins[1]) as usize + 1
    }
}
