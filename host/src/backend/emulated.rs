//! The GPU's kernels in the SIMT emulator: slow, and checked at every step.

use super::plan::{self, Limits, Plan};
use super::{Backend, Evaluator, Pair, Wanted};
use crate::{Error, Result, Volume};
use cuda_std::emulator::{Fault, Launch, run};
use cuda_std::global::{DeviceSlice, DeviceSliceMut};
use gpu::kernels::entropy::{COLUMNS, RESULTS, THREADS};
use gpu::kernels::histogram::WIDTH;
use gpu::kernels::{entropy, histogram, resample};
use gpu::math::entropy::Entropies;
use gpu::math::interpolate::Interpolator;
use gpu::params::{self, Affine};

/// The emulator as a backend.
pub struct Emulated {
    limits: Limits,
    /// Order in which threads run; results do not depend on it.
    seed: u64,
}

impl Default for Emulated {
    /// Small blocks with the 48 KB of shared memory that every GPU has.
    fn default() -> Self {
        Self { limits: Limits { rows: 4, words: 12 << 10, blocks: 8 }, seed: 0 }
    }
}

impl Emulated {
    /// With another order of threads.
    pub fn with_seed(seed: u64) -> Self {
        Self { seed, ..Self::default() }
    }

    /// What is wanted of joint histograms of `bins` fixed and moving bins, one after the other.
    ///
    /// # Errors
    /// [`Error::Device`] where the emulator finds a fault in the kernel.
    pub fn entropies(&self, mut counters: Vec<u32>, bins: [u32; 2], wanted: Wanted) -> Result<Vec<Entropies>> {
        let [fixed_bins, moving_bins] = bins.map(|n| n as usize);
        let batch = counters.len() / (fixed_bins * moving_bins);
        let mut columns = vec![0.0; moving_bins * batch];
        let (mut moving, mut fixed) = (vec![0; moving_bins * batch], vec![0; fixed_bins * batch]);
        let (mut moving_sums, mut fixed_sums) = (vec![0; moving_bins * batch], vec![0; fixed_bins * batch]);
        let (mut done, mut results) = (vec![0; batch], vec![0.0; RESULTS * batch]);
        let params = params::Entropy {
            counters: slice_mut(&mut counters),
            columns: slice_mut(&mut columns),
            moving: slice_mut(&mut moving),
            fixed: slice_mut(&mut fixed),
            moving_sums: slice_mut(&mut moving_sums),
            fixed_sums: slice_mut(&mut fixed_sums),
            done: slice_mut(&mut done),
            results: slice_mut(&mut results),
            bins,
            ratios: u32::from(wanted == Wanted::Ratios),
            unused: 0,
        };
        let grid = [bins[1].div_ceil(COLUMNS), batch as u32, 1];
        let launch = Launch::default().grid(grid).block(THREADS).seed(self.seed);
        // SAFETY: the slices are as long as their documentation says.
        run("entropies", &launch, || unsafe { entropy::entropies(params) }).map_err(fault)?;
        if counters.iter().chain(&fixed).chain(&done).any(|&n| n != 0) || fixed_sums.iter().any(|&n| n != 0) {
            return Err(Error::Device("a kernel is wrong, please report it: entropies leaves counts behind".into()));
        }
        Ok(plan::entropies(&results))
    }
}

impl Backend for Emulated {
    fn name(&self) -> &'static str {
        "emulated"
    }

    fn device(&self) -> String {
        "SIMT emulator".into()
    }

    fn load<'a>(&'a self, pair: Pair<'a>) -> Result<Box<dyn Evaluator + 'a>> {
        let plan = Plan::new(&pair, &self.limits);
        Ok(Box::new(Loaded { backend: self, pair, plan, words: plan::words(pair.moving) }))
    }

    fn resample(&self, moving: &Volume, size: [usize; 3], affine: &Affine, how: Interpolator) -> Result<Vec<f32>> {
        let mut out = vec![0.0; size.iter().product()];
        let (source, target) = (slice(&moving.voxels), slice_mut(&mut out));
        let params = plan::resample_params(source, moving.geometry.size, target, size, affine, how);
        let [x, y, z] = params.size;
        let launch = Launch::default().grid([x.div_ceil(32), y.div_ceil(4), z]).block([32, 4, 1]).seed(self.seed);
        run("resample", &launch, || unsafe { resample::resample(params) }).map_err(fault)?;
        Ok(out)
    }
}

struct Loaded<'a> {
    backend: &'a Emulated,
    pair: Pair<'a>,
    plan: Plan,
    words: Vec<u32>,
}

impl Loaded<'_> {
    /// A joint histogram a transform.
    fn count(&self, transforms: &[Affine]) -> Result<Vec<u32>> {
        let (limits, batch) = (&self.backend.limits, transforms.len() as u32);
        let rows: Vec<f32> = transforms.iter().flat_map(|transform| transform.rows).flatten().collect();
        let mut counters = vec![0; (self.pair.bins[0] * self.pair.bins[1] * batch) as usize];
        let (fixed, out) = (slice(&self.pair.fixed.bins), slice_mut(&mut counters));
        let p = plan::histogram_params(
            &self.pair,
            &self.plan,
            fixed,
            slice(&self.words),
            &transforms[0],
            slice(&rows),
            out,
        );
        let launch = Launch::default()
            .grid([self.plan.blocks(limits, batch), batch, self.plan.passes])
            .block([WIDTH, limits.rows, 1])
            .shared_bytes(4 * self.plan.range)
            .seed(self.backend.seed);
        // SAFETY: the slices are as long as the sizes say.
        match self.pair.interpolator {
            Interpolator::Linear => {
                run("joint_histogram_linear", &launch, || unsafe { histogram::joint_histogram_linear(p) })
            }
            Interpolator::Nearest => {
                run("joint_histogram_nearest", &launch, || unsafe { histogram::joint_histogram_nearest(p) })
            }
        }
        .map_err(fault)?;
        Ok(counters)
    }
}

impl Evaluator for Loaded<'_> {
    fn evaluate(&mut self, transforms: &[Affine], wanted: Wanted) -> Result<Vec<Entropies>> {
        match transforms {
            [] => Ok(Vec::new()),
            _ => self.backend.entropies(self.count(transforms)?, self.pair.bins, wanted),
        }
    }

    fn histogram(&mut self, transform: &Affine) -> Result<Vec<u32>> {
        self.count(std::slice::from_ref(transform))
    }
}

fn slice<T>(host: &[T]) -> DeviceSlice<T> {
    // SAFETY: the caller keeps the memory for as long as the kernel runs.
    unsafe { DeviceSlice::new(host.as_ptr(), host.len() as u64) }
}

fn slice_mut<T>(host: &mut [T]) -> DeviceSliceMut<T> {
    // SAFETY: the caller keeps the memory, and touches it only after the kernel has run.
    unsafe { DeviceSliceMut::new(host.as_mut_ptr(), host.len() as u64) }
}

fn fault(fault: Fault) -> Error {
    Error::Device(format!("a kernel is wrong, please report it: {fault}"))
}
