//! A pair of images and a transform, prepared for counting on the CPU.

use crate::Result;
use crate::backend::histogram::{Pair, samples_words};
use crate::backend::lanes::{Lanes, columns};
use crate::image::{BinImage, CubicImage};
use gpu::math::interpolate::{self, Interpolator};
use gpu::params::Affine;
use std::borrow::Cow;

/// The moving image in the form that the interpolator reads, made once for a pair.
pub enum Samples<'a> {
    /// 16-bit values.
    Values(&'a [u16]),
    /// [Words](gpu::math::eight_bit::word) of 8-bit levels.
    Words(Cow<'a, [u32]>),
    /// The padded volume that cubic interpolators read.
    Cubic(CubicImage),
}

impl<'a> Samples<'a> {
    /// Prepares the moving image of a pair.
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

/// A pair of images and a transform, prepared for counting.
pub struct HistogramTask<'a> {
    pub fixed: &'a [u16],
    pub fixed_size: [usize; 3],
    /// The moving image. Of `moving`, `words` and `cubic`, all but the one that the interpolator reads are empty.
    pub moving: &'a [u16],
    pub words: &'a [u32],
    pub cubic: &'a [f32],
    pub moving_size: [u32; 3],
    pub bins: [u32; 2],
    /// The count of one sample: see [`Pair::unit`].
    pub unit: u32,
    pub interpolator: Interpolator,
    pub affine: Affine,
    /// The x terms of the positions along a row, in whole chunks.
    pub columns: Vec<[Lanes; 3]>,
}

impl<'a> HistogramTask<'a> {
    /// A task that counts `pair` through `affine`. `fixed` and `samples` belong to the pair, and each sample counts
    /// `unit`.
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

    /// The number of rows of the fixed image. They are numbered with y fastest, then z.
    pub fn rows(&self) -> usize {
        self.fixed_size[1] * self.fixed_size[2]
    }

    /// The number of counters: one more than the histogram has, for samples that don't count.
    pub fn counters(&self) -> usize {
        (self.bins[0] * self.bins[1]) as usize + 1
    }
}
