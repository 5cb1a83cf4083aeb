//! Implements `Backend` for every device that can be opened, by the launchers of the metric families on queues of that
//! device.

use super::flow::device::FlowOnDevice;
use super::flow::{Flow, FlowPair};
use super::gaussian::SmoothingSeconds;
use super::histogram::device::{HistogramOnDevice, from_pairs};
use super::histogram::{Evaluator, HistogramMethod, Pair};
use super::image::device::{Images, gathered};
use super::image::{ImageCache, Tensor, Voxels};
use super::interface::Backend;
use super::mattes::device::MattesOnDevice;
use super::mattes::{MattesPair, SmoothEvaluator};
use super::queue::{Memory, Opened, Queue, Resident};
use super::search::Search;
use super::viola::{ViolaEvaluator, ViolaPair};
use super::{gaussian, resample, viola};
use crate::image::pyramid::{self, Filters};
use crate::{Result, Volume};
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;

impl<D: Opened> Backend for D {
    fn name(&self) -> &'static str {
        self.kind()
    }

    fn device(&self) -> String {
        self.describe()
    }

    fn free_memory(&self) -> Option<u64> {
        self.free_bytes()
    }

    fn waits(&self) -> bool {
        true
    }

    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>> {
        CachingDevice::without_images(self).histogram(&pair, method)
    }

    fn load_mattes<'a>(&'a self, pair: MattesPair<'a>) -> Result<Box<dyn SmoothEvaluator + 'a>> {
        CachingDevice::without_images(self).mattes(&pair)
    }

    fn load_viola<'a>(&'a self, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>> {
        viola::device::load(self.queue()?, pair)
    }

    fn flow<'a>(&'a self) -> Result<Box<dyn Flow + 'a>> {
        Ok(Box::new(FlowOnDevice::new(self.queue()?)))
    }

    fn search(&self, search: &Search) -> Result<Vec<f32>> {
        super::search::device::displacements(&self.queue()?, search)
    }

    fn flow_pair<'a>(&'a self) -> Result<Box<dyn FlowPair + 'a>> {
        Ok(Box::new(FlowOnDevice::pair(self.queue()?)))
    }

    fn numbers_seconds(&self, numbers: &[u16], bins: u32, times: u32) -> Result<Option<f64>> {
        let queue = self.queue()?;
        if !queue.limits().clock {
            return Ok(None);
        }
        Ok(from_pairs::count_pairs(&queue, numbers, bins, times)?.1)
    }

    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>> {
        CachingDevice::without_images(self).resample(moving, size, affine, how)
    }

    fn filtered(&self, volume: &Volume, filters: &Filters) -> Result<Volume> {
        CachingDevice::without_images(self).filtered(volume, filters)
    }

    fn gathered(&self, tensor: &Tensor) -> Result<Option<(Vec<f32>, Resident<'_>)>> {
        if tensor.gpu != self.number() {
            return Ok(None);
        }
        let queue = self.queue()?;
        let memory = gathered(&queue, tensor)?;
        let view = memory.view();
        Ok(Some((queue.download(&memory, view.len())?, Resident::new(self.loans(), view, memory))))
    }

    fn keeping<'a>(&'a self, images: &[&'a Volume]) -> Box<dyn Backend + 'a> {
        Box::new(CachingDevice { device: self, cache: ImageCache::new(images) })
    }

    fn smooth(&self, planes: &mut [f32], size: [usize; 3], sigmas: [f64; 3]) -> Result<()> {
        gaussian::device::smooth(&self.queue()?, planes, size, sigmas)
    }

    fn smoothing_seconds(
        &self,
        size: [usize; 3],
        volumes: usize,
        sigmas: [f64; 3],
        times: u32,
    ) -> Result<Option<SmoothingSeconds>> {
        let queue = self.queue()?;
        if !queue.limits().clock {
            return Ok(None);
        }
        gaussian::device::seconds(&queue, (size, volumes), sigmas, times)
    }
}

/// A device that keeps the images of a run in its memory.
struct CachingDevice<'a, D: Opened> {
    device: &'a D,
    cache: ImageCache<'a, D::Queue<'a>>,
}

impl<'a, D: Opened> CachingDevice<'a, D> {
    fn without_images(device: &'a D) -> Self {
        Self { device, cache: ImageCache::new(&[]) }
    }

    fn histogram(&self, pair: &Pair, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>> {
        Ok(Box::new(HistogramOnDevice::new(self.device.queue()?, &self.cache, pair, method)?))
    }

    fn mattes(&self, pair: &MattesPair) -> Result<Box<dyn SmoothEvaluator + 'a>> {
        Ok(Box::new(MattesOnDevice::new(self.device.queue()?, &self.cache, pair)?))
    }
}

/// Methods that don't use the kept images call the device.
impl<D: Opened> Backend for CachingDevice<'_, D> {
    fn name(&self) -> &'static str {
        self.device.name()
    }

    fn device(&self) -> String {
        self.device.device()
    }

    fn free_memory(&self) -> Option<u64> {
        self.device.free_memory()
    }

    fn waits(&self) -> bool {
        self.device.waits()
    }

    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>> {
        self.histogram(&pair, method)
    }

    fn load_mattes<'a>(&'a self, pair: MattesPair<'a>) -> Result<Box<dyn SmoothEvaluator + 'a>> {
        self.mattes(&pair)
    }

    fn load_viola<'a>(&'a self, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>> {
        self.device.load_viola(pair)
    }

    fn flow<'a>(&'a self) -> Result<Box<dyn Flow + 'a>> {
        self.device.flow()
    }

    fn search(&self, search: &Search) -> Result<Vec<f32>> {
        self.device.search(search)
    }

    fn flow_pair<'a>(&'a self) -> Result<Box<dyn FlowPair + 'a>> {
        self.device.flow_pair()
    }

    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>> {
        let images = Images { queue: &self.device.queue()?, cache: &self.cache };
        resample::device::resample(&images, moving, size, affine, how)
    }

    fn filtered(&self, volume: &Volume, filters: &Filters) -> Result<Volume> {
        let queue = self.device.queue()?;
        let made = Images { queue: &queue, cache: &self.cache }.filtered(volume, filters)?;
        let geometry = pyramid::filtered_grid(volume.geometry, filters);
        let voxels = match made {
            Voxels::Owned(memory) => queue.download(&memory, geometry.voxels())?,
            Voxels::Borrowed(_) => volume.voxels.clone(),
        };
        Ok(Volume { geometry, voxels, pixel: volume.pixel })
    }

    fn keeping<'a>(&'a self, images: &[&'a Volume]) -> Box<dyn Backend + 'a> {
        self.device.keeping(images)
    }

    fn smooth(&self, planes: &mut [f32], size: [usize; 3], sigmas: [f64; 3]) -> Result<()> {
        self.device.smooth(planes, size, sigmas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::queue::cuda;
    use crate::backend::{flow, histogram, image, mattes, search};
    use std::collections::BTreeSet;

    #[test]
    fn every_kernel_of_a_family_is_in_every_ptx_and_no_other() {
        let families = [
            histogram::device::NAMES.concat().concat(),
            mattes::device::NAMES.to_vec(),
            viola::device::NAMES.to_vec(),
            flow::device::NAMES.to_vec(),
            gaussian::device::NAMES.to_vec(),
            image::device::NAMES.to_vec(),
            resample::device::NAMES.to_vec(),
            search::device::NAMES.to_vec(),
        ];
        let kernels: BTreeSet<_> = families.concat().into_iter().collect();
        for ptx in cuda::entry_points() {
            assert_eq!(ptx.into_iter().collect::<BTreeSet<_>>(), kernels);
        }
    }
}
