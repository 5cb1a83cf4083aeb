//! Every device that can be opened, as a backend: the launchers of the families on queues of the device.

use super::flow::device::FlowOnDevice;
use super::flow::{Flow, FlowPair};
use super::gaussian::SmoothingSeconds;
use super::histogram::device::{HistogramOnDevice, from_pairs};
use super::histogram::{Evaluator, HistogramMethod, Pair};
use super::interface::Backend;
use super::mattes::device::MattesOnDevice;
use super::mattes::{MattesPair, SmoothEvaluator};
use super::queue::{Opened, Queue};
use super::viola::{ViolaEvaluator, ViolaPair};
use super::{gaussian, resample, viola};
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

    fn load<'a>(&'a self, pair: Pair<'a>, method: HistogramMethod) -> Result<Box<dyn Evaluator + 'a>> {
        Ok(Box::new(HistogramOnDevice::new(self.queue()?, &pair, method)?))
    }

    fn load_mattes<'a>(&'a self, pair: MattesPair<'a>) -> Result<Box<dyn SmoothEvaluator + 'a>> {
        Ok(Box::new(MattesOnDevice::new(self.queue()?, &pair)?))
    }

    fn load_viola<'a>(&'a self, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>> {
        viola::device::load(self.queue()?, pair)
    }

    fn flow<'a>(&'a self) -> Result<Box<dyn Flow + 'a>> {
        Ok(Box::new(FlowOnDevice::new(self.queue()?)))
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
        resample::device::resample(&self.queue()?, moving, size, affine, how)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::queue::cuda;
    use crate::backend::{flow, histogram, mattes};
    use std::collections::BTreeSet;

    #[test]
    fn every_kernel_of_a_family_is_in_every_ptx_and_no_other() {
        let families = [
            histogram::device::NAMES.concat().concat(),
            mattes::device::NAMES.to_vec(),
            viola::device::NAMES.to_vec(),
            flow::device::NAMES.to_vec(),
            gaussian::device::NAMES.to_vec(),
            resample::device::NAMES.to_vec(),
        ];
        let kernels: BTreeSet<_> = families.concat().into_iter().collect();
        for ptx in cuda::entry_points() {
            assert_eq!(ptx.into_iter().collect::<BTreeSet<_>>(), kernels);
        }
    }
}
