//! Runs the rounds of a template.

use super::affine::{Places, places};
use super::checkpoints::Checkpoints;
use super::intensity::{self, Intensity};
use super::shape;
use super::{Fit, Member, Options, Round, Template};
use crate::backend::{Backend, BackendKind, Chosen};
use crate::doubt::{Check, Doubt};
use crate::observer::ask_observer;
use crate::resample::{Resampling, resample};
use crate::transform::{Field, Linear, Transform};
use crate::{Geometry, Observer, PixelType, Result, Volume, deform};

/// What a template is made from.
pub struct Run<'a> {
    pub images: &'a [Volume],
    pub intensities: &'a [Intensity],
    pub grid: Geometry,
    pub options: &'a Options,
    pub checkpoints: &'a Checkpoints,
    pub backend: &'a dyn Backend,
    pub asked: BackendKind,
    pub observer: &'a dyn Observer,
}

impl Run<'_> {
    /// Makes the template. `each` gets the number of every image and its field, from the template to the image, in
    /// their order.
    pub fn template(&self, each: &mut dyn FnMut(usize, &Field) -> Result<()>) -> Result<Template> {
        let places = places(self.images, self.checkpoints, self.backend, self.observer)?;
        let (affine_mean, start) = self.checkpoints.mean(0, || self.affine_mean(&places))?;
        let (mut before, mut mean, mut back) = (affine_mean.clone(), None, None);
        let mut rounds = Vec::new();
        for round in 1..=self.options.rounds {
            ask_observer(self.observer)?;
            // That of the round before is freed while images are deformed.
            back = None;
            let (made, facts) = self.checkpoints.mean(round, || {
                let (inverse, made) = self.round(round, &before, &places)?;
                back = Some(inverse);
                Ok(made)
            })?;
            rounds.push(facts);
            if round == self.options.rounds {
                mean = Some(made);
            } else {
                self.checkpoints.drop_fields(round, self.images.len());
                before = made;
            }
        }
        let images = self.members(&before, &places, back, each)?;
        Ok(Template {
            mean: mean.unwrap_or(before),
            affine_mean,
            doubts: [places.doubts, doubts(&images)].concat(),
            images,
            rounds,
            affine_sharpness: start.sharpness,
            resumed: self.checkpoints.resumed(),
            backend: self.backend.name(),
            device: self.backend.device(),
        })
    }

    /// Returns the members of the template, and passes the field of each from the last round to `each`. `back` removes
    /// the mean displacement of that round; `None` if the round was made by an earlier run.
    fn members(
        &self,
        before: &Volume,
        places: &Places,
        back: Option<Field>,
        each: &mut dyn FnMut(usize, &Field) -> Result<()>,
    ) -> Result<Vec<Member>> {
        let round = self.options.rounds;
        let back = match back {
            Some(back) => back,
            None => self.inverse_mean_displacement(round, before, places)?.0,
        };
        let member = |(number, affine): (usize, &Linear)| {
            ask_observer(self.observer)?;
            let (field, Fit { values }) = self.field(round, number, before, places)?;
            let field = back.then(&field);
            let jacobians = Volume { geometry: self.grid, voxels: field.jacobians(), pixel: PixelType::F32 };
            let (low, high) = jacobians.range();
            each(number, &field)?;
            Ok(Member { affine: affine.clone(), values, jacobian_range: [low, high].map(f64::from) })
        };
        places.affine.iter().enumerate().map(member).collect()
    }

    /// Reads or makes the field of an image in a round, start included.
    fn field(&self, round: usize, image: usize, before: &Volume, places: &Places) -> Result<(Field, Fit)> {
        self.checkpoints.field(round, image, || {
            let (rounds, images) = (self.options.rounds, self.images.len());
            self.observer.stage(&format!("round {round} of {rounds}, image {} of {images}", image + 1));
            let start = deform::Start::Transform(places.affine[image].clone());
            let options = deform::Options { start, moved: false, ..self.options.deform.clone() };
            let chosen = Chosen::One(self.backend, self.asked);
            let found = deform::deform(before, &self.images[image], &options, chosen, self.observer)?;
            Ok((found.field, Fit { values: found.values }))
        })
    }

    /// Returns the field that removes the mean displacement of a round, and the mean and the largest length of that
    /// displacement, mm.
    fn inverse_mean_displacement(&self, round: usize, before: &Volume, places: &Places) -> Result<(Field, [f64; 2])> {
        let mut displacement = shape::Mean::new(self.grid);
        for (image, rigid) in places.rigid.iter().enumerate() {
            displacement.add(&self.field(round, image, before, places)?.0, rigid);
        }
        let (displacement, lengths) = displacement.field();
        ask_observer(self.observer)?;
        Ok((displacement.inverse(&self.grid), lengths))
    }

    fn affine_mean(&self, places: &Places) -> Result<(Volume, Round)> {
        let all = places.affine.iter().map(|linear| Ok(Transform::from(linear.clone())));
        let (mean, sharpness) = self.mean(all)?;
        Ok((mean, Round { mean_displacement_mm: 0.0, largest_displacement_mm: 0.0, sharpness }))
    }

    /// Averages all images through transforms from the template to each of them. Also returns the mean gradient.
    fn mean(&self, transforms: impl Iterator<Item = Result<Transform>>) -> Result<(Volume, f64)> {
        let how = Resampling { outside: f32::NAN, ..Default::default() };
        let mut mean = intensity::Mean::new(self.grid);
        for ((image, transform), &of) in self.images.iter().zip(transforms).zip(self.intensities) {
            ask_observer(self.observer)?;
            let transform = transform?;
            mean.add(&resample(image, &self.grid, &transform.map(), &how, self.backend)?.volume.voxels, of);
        }
        Ok(mean.volume(self.intensities))
    }

    /// Deforms every image to the mean of the round before, and averages the images with the mean displacement removed.
    /// Returns the field that removes it, and the mean.
    fn round(&self, round: usize, before: &Volume, places: &Places) -> Result<(Field, (Volume, Round))> {
        let (back, [mean_displacement_mm, largest_displacement_mm]) =
            self.inverse_mean_displacement(round, before, places)?;
        let fields = (0..self.images.len()).map(|image| {
            let (field, _) = self.field(round, image, before, places)?;
            Ok(Transform::from(back.then(&field)))
        });
        let (mean, sharpness) = self.mean(fields)?;
        Ok((back, (mean, Round { mean_displacement_mm, largest_displacement_mm, sharpness })))
    }
}

fn doubts(images: &[Member]) -> Vec<Doubt> {
    let of = |(number, member): (usize, &Member)| {
        let (image, [low, _]) = (number + 1, member.jacobian_range);
        let folds = || format!("the field of image {image} folds: its smallest Jacobian determinant is {low:.3}");
        let no_rise = || format!("the deformation of image {image} did not improve its match with the template");
        if low.is_nan() || low <= 0.0 {
            Some(Doubt::grave(Check::Folded, folds()))
        } else if member.values[1] <= member.values[0] {
            Some(Doubt::slight(Check::NoRise, no_rise()))
        } else {
            None
        }
    };
    images.iter().enumerate().filter_map(of).collect()
}
