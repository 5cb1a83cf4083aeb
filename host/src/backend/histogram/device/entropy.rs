//! Entropies and correlation ratios of joint histograms, on a device.

use crate::backend::histogram::Wanted;
use crate::backend::queue::emulated::Emulated;
use crate::backend::queue::{HostResults, Memory, Queue, Shape, kernels};
use crate::error::message;
use crate::{Error, Result};
use gpu::kernels::histogram::entropy::{self, COLUMNS, RESULTS, THREADS};
use gpu::math::entropy::Entropies;
use gpu::params;

kernels! {
    ENTROPIES = entropy::entropies(params::Entropy);
}

/// Memory for a batch of evaluations on the device, and for their results on the host.
pub struct Space<Q: Queue> {
    pub batch: usize,
    pub counters: Q::Memory<u32>,
    columns: Q::Memory<f64>,
    moving: Q::Memory<u32>,
    fixed: Q::Memory<u32>,
    moving_sums: Q::Memory<u64>,
    fixed_sums: Q::Memory<u64>,
    done: Q::Memory<u32>,
    results: HostResults<Q>,
}

impl<Q: Queue> Space<Q> {
    pub fn new(queue: &Q, batch: usize, bins: [u32; 2]) -> Result<Self> {
        let [fixed, moving] = bins.map(|n| n as usize);
        Self::with(queue, batch, bins, queue.zeros(batch * fixed * moving)?)
    }

    /// Memory around joint histograms that are counted already.
    fn with(queue: &Q, batch: usize, bins: [u32; 2], counters: Q::Memory<u32>) -> Result<Self> {
        let [fixed, moving] = bins.map(|n| n as usize);
        Ok(Self {
            batch,
            counters,
            columns: queue.zeros(batch * moving)?,
            moving: queue.zeros(batch * moving)?,
            fixed: queue.zeros(batch * fixed)?,
            moving_sums: queue.zeros(batch * moving)?,
            fixed_sums: queue.zeros(batch * fixed)?,
            done: queue.zeros(batch)?,
            results: HostResults::new(queue, RESULTS * batch)?,
        })
    }

    /// The entropies, and if wanted the correlation ratios, of the first `batch` joint histograms. Their counts are
    /// then set to 0.
    pub fn entropies(&mut self, queue: &Q, bins: [u32; 2], batch: usize, wanted: Wanted) -> Result<Vec<Entropies>> {
        self.results.forget(0..RESULTS * batch);
        let params = params::Entropy {
            counters: self.counters.view_mut(),
            columns: self.columns.view_mut(),
            moving: self.moving.view_mut(),
            fixed: self.fixed.view_mut(),
            moving_sums: self.moving_sums.view_mut(),
            fixed_sums: self.fixed_sums.view_mut(),
            done: self.done.view_mut(),
            results: self.results.view_mut(),
            bins,
            ratios: u32::from(wanted == Wanted::Ratios),
            unused: 0,
        };
        let shape =
            Shape { grid: [bins[1].div_ceil(COLUMNS), batch as u32, 1], block: [THREADS, 1, 1], shared_bytes: 0 };
        // SAFETY: the memory is as long as the bins say and lives until the queue is done.
        unsafe { queue.launch(&ENTROPIES, shape, params)? };
        Ok(self.results.wait(queue, 0..RESULTS * batch)?.chunks_exact(RESULTS).map(result).collect())
    }
}

/// Makes entropies of the numbers that the kernel writes.
fn result(n: &[f64]) -> Entropies {
    Entropies { fixed: n[0], moving: n[1], joint: n[2], mi: n[3], nmi: n[4], counts: n[5] as u64, ratios: [n[6], n[7]] }
}

impl Space<Emulated> {
    /// Whether all memory that must be 0 before an evaluation is 0.
    fn is_clear(&self) -> bool {
        let zero = |counts: &[u32]| counts.iter().all(|&n| n == 0);
        zero(&self.counters) && zero(&self.fixed) && zero(&self.done) && self.fixed_sums.iter().all(|&n| n == 0)
    }
}

impl Emulated {
    /// The entropies, and if wanted the correlation ratios, of several joint histograms with `bins` fixed and moving
    /// bins, one after the other in `counters`.
    ///
    /// # Errors
    /// [`Error::Device`] if the emulator finds a fault in the kernel.
    pub fn entropies(&self, counters: Vec<u32>, bins: [u32; 2], wanted: Wanted) -> Result<Vec<Entropies>> {
        let batch = counters.len() / (bins[0] * bins[1]) as usize;
        let mut space = Space::with(self, batch, bins, counters)?;
        let entropies = space.entropies(self, bins, batch, wanted)?;
        match space.is_clear() {
            true => Ok(entropies),
            false => Err(Error::device(
                "emulated",
                message!("a kernel is wrong: entropies leaves counts behind"; "please report it"),
            )),
        }
    }
}
