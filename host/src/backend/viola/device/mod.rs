//! Viola's mutual information on a device: the memory and the launches.

mod kernels;
mod layout;

use super::cpu::ViolaOnCpu;
use super::{Exponentials, ViolaEvaluator, ViolaPair, ViolaValue};
use crate::backend::queue::{Kernel, Memory, Queue, Shape};
use crate::error::Setting;
use crate::{Error, Result};
use gpu::kernels::viola::{BLOCK, RESULTS, finish, sums, tile};
use gpu::math::gauss::REACH;
use gpu::math::viola::{Own, SEGMENT, STRETCH, derivative};
use gpu::params::{self, Affine};
#[cfg(test)]
pub use kernels::NAMES;
use kernels::*;
use layout::{Layout, SLOTS_BEYOND};

/// Loads samples on a device. Quantised samples stay on the CPU, because convolving tables of levels leaves too little
/// to be done in parallel.
///
/// # Errors
/// [`Error::Option`] for standard deviations that [`Sigmas::check`](super::Sigmas::check) refuses, [`Error::Device`] if
/// the samples do not fit.
pub fn load<'a, Q: Queue + 'a>(queue: Q, pair: ViolaPair<'a>) -> Result<Box<dyn ViolaEvaluator + 'a>> {
    Ok(match pair.exponentials {
        Exponentials::Quantised => Box::new(ViolaOnCpu::new(pair)?),
        Exponentials::Exact | Exponentials::Fast => Box::new(ViolaOnDevice::new(queue, &pair)?),
    })
}

/// The sizes of the largest set from which on a lane takes several samples ([`MANY`]), and above which a part is a
/// whole stretch ([`LONG`]).
const MANY: u32 = 1 << 15;
const LONG: u32 = 1 << 14;

/// The most bytes of partial sums.
const PARTIALS: usize = 256 << 20;

/// The kernels that sum over pairs, and the number of samples per lane.
struct Pairs {
    samples: u32,
    /// The kernels for values, and for values with derivatives.
    sums: [Kernel<params::Viola>; 2],
    pull: Kernel<params::Viola>,
}

impl Pairs {
    fn new(exponentials: Exponentials, own: bool, largest: u32) -> Self {
        let fast = exponentials == Exponentials::Fast;
        let (samples, sums, pull) = match (fast, largest >= MANY, own) {
            (true, _, false) => (2, [VIOLA_SUMS_FAST, VIOLA_SUMS_FAST_SLOPE], VIOLA_PULL_FAST),
            (true, _, true) => (2, [VIOLA_SUMS_FAST_OWN, VIOLA_SUMS_FAST_SLOPE_OWN], VIOLA_PULL_FAST_OWN),
            (false, true, false) => (4, [VIOLA_SUMS, VIOLA_SUMS_SLOPE], VIOLA_PULL),
            (false, true, true) => (4, [VIOLA_SUMS_OWN, VIOLA_SUMS_SLOPE_OWN], VIOLA_PULL_OWN),
            (false, false, false) => (1, [VIOLA_SUMS_FEW, VIOLA_SUMS_FEW_SLOPE], VIOLA_PULL_FEW),
            (false, false, true) => (1, [VIOLA_SUMS_FEW_OWN, VIOLA_SUMS_FEW_SLOPE_OWN], VIOLA_PULL_FEW_OWN),
        };
        Self { samples, sums, pull }
    }
}

/// Samples that are loaded on a device.
pub struct ViolaOnDevice<Q: Queue> {
    /// The recorded launches for values, and for values with derivatives. Declared before the memory they point to, so
    /// that they are dropped first.
    graphs: [Option<Q::Graph>; 2],
    work: Work<Q>,
}

/// The launches and their memory.
struct Work<Q: Queue> {
    queue: Q,
    pairs: Pairs,
    finish_slope: Kernel<params::Viola>,
    groups: usize,
    /// The number of blocks of B and of A.
    blocks: [u32; 2],
    /// The number of parts of the largest set (`parts`), and of blocks for whose partial sums there is memory (`room`).
    parts: u32,
    room: u32,
    scale_v: f32,
    norms: [f64; 3],
    maps: Q::Pinned<f32>,
    results: Q::Pinned<f64>,
    /// The rest of the memory that `params` points to, besides `maps` and `results`.
    _held: Held<Q>,
    params: params::Viola,
}

/// Memory that only kernels access.
struct Held<Q: Queue> {
    moving: Q::Memory<u32>,
    slots: Q::Memory<[u32; 4]>,
    groups: Q::Memory<[u32; 4]>,
    blocks: Q::Memory<[u32; 2]>,
    scaled: Q::Memory<[f32; 2]>,
    slopes: Q::Memory<[f32; 4]>,
    weights: Q::Memory<[f32; 2]>,
    partials: Q::Memory<f64>,
    folded: Q::Memory<f64>,
    counts: Q::Memory<u32>,
    done: Q::Memory<u32>,
}

impl<Q: Queue> Held<Q> {
    fn new(queue: &Q, pair: &ViolaPair, layout: &Layout, partials: usize) -> Result<Self> {
        let (slots, groups) = (layout.slots.len(), pair.groups.len());
        Ok(Self {
            moving: queue.upload(&pair.moving.words(true))?,
            slots: queue.upload(&layout.slots)?,
            groups: queue.upload(&layout.groups)?,
            blocks: queue.upload(&layout.blocks)?,
            scaled: queue.zeros(slots)?,
            slopes: queue.zeros(slots)?,
            weights: queue.zeros(slots)?,
            partials: queue.zeros(partials)?,
            folded: queue.zeros(slots / 32 * finish::FOLDED as usize)?,
            counts: queue.zeros(2 * groups)?,
            done: queue.zeros(groups)?,
        })
    }
}

impl<Q: Queue> Work<Q> {
    fn new(queue: Q, pair: &ViolaPair) -> Result<Self> {
        pair.sigmas.check()?;
        let layout = Layout::new(pair);
        let own = pair.sigmas.own();
        let pairs = Pairs::new(pair.exponentials, own.is_some(), layout.largest);
        let segment = tile::SLOTS;
        let part = if layout.largest > LONG { segment * STRETCH as u32 } else { segment };
        let parts = layout.largest.div_ceil(part).max(1);
        let of_block = parts as usize * sums::SLOPE as usize * BLOCK as usize;
        let room = ((PARTIALS / (8 * of_block)).max(1) as u32).min(layout.most_blocks());
        let mut held = Held::new(&queue, pair, &layout, room as usize * of_block)?;
        let groups = pair.groups.len();
        let maps = queue.pinned(12 * groups)?;
        let mut results = queue.pinned(RESULTS * groups)?;
        let scales = pair.sigmas.scales();
        let params = params::Viola {
            moving: held.moving.view(),
            slots: held.slots.view(),
            maps: maps.view(),
            groups: held.groups.view(),
            blocks: held.blocks.view(),
            scaled: held.scaled.view_mut(),
            slopes: held.slopes.view_mut(),
            weights: held.weights.view_mut(),
            partials: held.partials.view_mut(),
            folded: held.folded.view_mut(),
            counts: held.counts.view_mut(),
            done: held.done.view_mut(),
            results: results.view_mut(),
            moving_size: pair.moving.size.map(|n| n as u32),
            b_blocks: layout.b_blocks,
            scales: [scales.u, scales.v],
            joint: own.map_or([0.0; 2], |own| [own.u, own.v]),
            far: far(own),
            first_block: 0,
            part,
            stride: room * BLOCK,
        };
        Ok(Self {
            queue,
            pairs,
            finish_slope: if own.is_some() { VIOLA_FINISH_SLOPE_OWN } else { VIOLA_FINISH_SLOPE },
            groups,
            blocks: [layout.b_blocks, layout.blocks.len() as u32 - layout.b_blocks],
            parts,
            room,
            scale_v: scales.v,
            norms: pair.sigmas.norms(),
            maps,
            results,
            _held: held,
            params,
        })
    }

    /// Queues all launches for the maps that were written.
    fn enqueue(&self, slopes: bool) -> Result<()> {
        let [of_b, of_a] = self.blocks;
        self.launch(&VIOLA_SAMPLE, [of_b + of_a, 1], 0, 0)?;
        let kinds = if slopes { sums::SLOPE } else { sums::VALUE };
        let finish = if slopes { self.finish_slope } else { VIOLA_FINISH };
        self.over(0..of_b, &self.pairs.sums[usize::from(slopes)], kinds, &finish)?;
        if slopes {
            self.over(of_b..of_b + of_a, &self.pairs.pull, 1, &VIOLA_FINISH_PULL)?;
        }
        Ok(())
    }

    /// Queues the sums over pairs for some blocks, and the kernel that finishes them, for as many blocks at a time as
    /// there is memory for.
    fn over(
        &self,
        mut blocks: std::ops::Range<u32>,
        pairs: &Kernel<params::Viola>,
        kinds: u32,
        finish: &Kernel<params::Viola>,
    ) -> Result<()> {
        let tiles = BLOCK / (32 * self.pairs.samples);
        while !blocks.is_empty() {
            let count = self.room.min(blocks.len() as u32);
            let shared = tile::shared_bytes(self.pairs.samples, kinds);
            self.launch(pairs, [count * tiles, self.parts], blocks.start, shared)?;
            self.launch(finish, [count, 1], blocks.start, 0)?;
            blocks.start += count;
        }
        Ok(())
    }

    fn launch(&self, kernel: &Kernel<params::Viola>, [x, y]: [u32; 2], first_block: u32, shared: u32) -> Result<()> {
        let shape = Shape { grid: [x, y, 1], block: [BLOCK, 1, 1], shared_bytes: shared };
        // SAFETY: the memory is as long as the layout says and lives until the queue is done.
        unsafe { self.queue.launch(kernel, shape, params::Viola { first_block, ..self.params }) }
    }

    fn write(&mut self, maps: &[Affine]) -> Result<()> {
        if maps.len() != self.groups {
            return Err(Error::option(
                Setting::Samples,
                format!("{} maps for {} groups of samples", maps.len(), self.groups),
            ));
        }
        for (coefficients, map) in self.maps.chunks_exact_mut(12).zip(maps) {
            coefficients.copy_from_slice(map.rows.as_flattened());
        }
        Ok(())
    }

    /// Converts the numbers that the kernels write. The derivative is valid only if it was computed.
    fn result(&self, n: &[f64]) -> (ViolaValue, [[f64; 4]; 3]) {
        let overlap = [n[3] as u32, n[4] as u32];
        let entropies = gpu::math::viola::finish([n[0], n[1], n[2]], overlap, self.norms);
        let number = |row: usize, column: usize| derivative(n[5 + 4 * row + column], self.scale_v, overlap);
        let by_map = std::array::from_fn(|row| std::array::from_fn(|column| number(row, column)));
        (ViolaValue::new(entropies, overlap), by_map)
    }
}

impl<Q: Queue> ViolaOnDevice<Q> {
    /// # Errors
    /// [`Error::Option`] for standard deviations that [`Sigmas::check`](super::Sigmas::check) refuses,
    /// [`Error::Device`] if the samples do not fit into memory.
    pub fn new(queue: Q, pair: &ViolaPair) -> Result<Self> {
        Ok(Self { graphs: [None, None], work: Work::new(queue, pair)? })
    }

    fn enqueue(&mut self, slopes: bool) -> Result<()> {
        let Self { graphs, work } = self;
        work.queue.record_or_replay(&mut graphs[usize::from(slopes)], || work.enqueue(slopes))
    }

    fn run(&mut self, maps: &[Affine], slopes: bool) -> Result<Vec<(ViolaValue, [[f64; 4]; 3])>> {
        self.work.write(maps)?;
        self.enqueue(slopes)?;
        self.work.queue.wait()?;
        Ok(self.work.results.chunks_exact(RESULTS).map(|numbers| self.work.result(numbers)).collect())
    }
}

/// The scaled distance from which on both windows have their least value, with a small margin for rounding.
fn far(own: Option<Own>) -> f32 {
    let joint = own.map_or(0.0, |own| (2.0 / own.u).sqrt() * 1.001);
    REACH * joint.max(1.0)
}

impl<Q: Queue> ViolaEvaluator for ViolaOnDevice<Q> {
    fn values(&mut self, maps: &[Affine]) -> Result<Vec<ViolaValue>> {
        Ok(self.run(maps, false)?.into_iter().map(|(value, _)| value).collect())
    }

    fn slopes(&mut self, maps: &[Affine]) -> Result<Vec<(ViolaValue, [[f64; 4]; 3])>> {
        self.run(maps, true)
    }

    fn seconds(&mut self, maps: &[Affine], slopes: bool, times: u32) -> Result<Option<f64>> {
        self.run(maps, slopes)?;
        let Self { graphs, work } = self;
        let graph = &mut graphs[usize::from(slopes)];
        let again = |_| work.queue.record_or_replay(graph, || work.enqueue(slopes));
        let seconds = work.queue.seconds(|| (0..times).try_for_each(again))?;
        Ok(seconds.map(|seconds| seconds / f64::from(times)))
    }
}

const _: () = assert!(SLOTS_BEYOND >= tile::SLOTS as usize && SEGMENT * STRETCH > 1);
