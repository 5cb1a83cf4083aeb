//! Viola's mutual information on a device: the memory and the launches.

mod kernels;
mod layout;

use super::cpu::ViolaOnCpu;
use super::{Exponentials, ViolaEvaluator, ViolaPair, ViolaValue};
use crate::backend::queue::{Kernel, Memory, Queue, Shape};
use crate::error::Setting;
use crate::{Error, Result};
use gpu::kernels::WARP;
use gpu::kernels::viola::{BLOCK, RESULTS, densities, finish, tile};
use gpu::math::gauss::REACH;
use gpu::math::viola::{CHUNKS_PER_SEGMENT, JointGaussian, SEGMENTS_PER_STRETCH, derivative};
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

/// The size of the largest set from which on a lane takes several samples.
const SEVERAL_PER_LANE_FROM: u32 = 1 << 15;

/// The size of the largest set above which a part is a whole stretch.
const WHOLE_STRETCH_ABOVE: u32 = 1 << 14;

/// The most bytes of partial sums.
const MOST_PARTIAL_BYTES: usize = 256 << 20;

/// The kernels that sum over pairs, and the number of samples per lane.
struct Pairs {
    samples: u32,
    /// The kernels for values, and for values with derivatives.
    densities: [Kernel<params::Viola>; 2],
    derivatives: Kernel<params::Viola>,
}

impl Pairs {
    fn new(exponentials: Exponentials, joint_gaussian: bool, largest: u32) -> Self {
        let fast = exponentials == Exponentials::Fast;
        let (samples, densities, derivatives) = match (fast, largest >= SEVERAL_PER_LANE_FROM, joint_gaussian) {
            (true, _, false) => (2, [VIOLA_DENSITIES_FAST, VIOLA_DENSITIES_FAST_SLOPE], VIOLA_DERIVATIVES_FAST),
            (true, _, true) => (
                2,
                [VIOLA_DENSITIES_FAST_JOINT_GAUSSIAN, VIOLA_DENSITIES_FAST_SLOPE_JOINT_GAUSSIAN],
                VIOLA_DERIVATIVES_FAST_JOINT_GAUSSIAN,
            ),
            (false, true, false) => (4, [VIOLA_DENSITIES, VIOLA_DENSITIES_SLOPE], VIOLA_DERIVATIVES),
            (false, true, true) => (
                4,
                [VIOLA_DENSITIES_JOINT_GAUSSIAN, VIOLA_DENSITIES_SLOPE_JOINT_GAUSSIAN],
                VIOLA_DERIVATIVES_JOINT_GAUSSIAN,
            ),
            (false, false, false) => (1, [VIOLA_DENSITIES_FEW, VIOLA_DENSITIES_FEW_SLOPE], VIOLA_DERIVATIVES_FEW),
            (false, false, true) => (
                1,
                [VIOLA_DENSITIES_FEW_JOINT_GAUSSIAN, VIOLA_DENSITIES_FEW_SLOPE_JOINT_GAUSSIAN],
                VIOLA_DERIVATIVES_FEW_JOINT_GAUSSIAN,
            ),
        };
        Self { samples, densities, derivatives }
    }
}

/// Samples that are loaded on a device.
pub struct ViolaOnDevice<Q: Queue> {
    /// The recorded launches for values, and for values with derivatives. Declared before the memory they point to, so
    /// that they are dropped first.
    graphs: [Option<Q::Graph>; 2],
    launches: Launches<Q>,
}

/// The launches and their memory.
struct Launches<Q: Queue> {
    queue: Q,
    pairs: Pairs,
    finish_densities_slope: Kernel<params::Viola>,
    groups: usize,
    /// The number of blocks of B and of A.
    blocks: [u32; 2],
    /// The number of parts of the largest set (`parts`), and of blocks for whose partial sums there is memory
    /// (`blocks_at_once`).
    parts: u32,
    blocks_at_once: u32,
    scale_v: f32,
    norms: [f64; 3],
    maps: Q::Pinned<f32>,
    results: Q::Pinned<f64>,
    /// The rest of the memory that `params` points to, besides `maps` and `results`.
    _memory: KernelMemory<Q>,
    params: params::Viola,
}

/// Memory that only kernels access.
struct KernelMemory<Q: Queue> {
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

impl<Q: Queue> KernelMemory<Q> {
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
            folded: queue.zeros(slots / WARP as usize * finish::FOLDED as usize)?,
            counts: queue.zeros(2 * groups)?,
            done: queue.zeros(groups)?,
        })
    }
}

impl<Q: Queue> Launches<Q> {
    fn new(queue: Q, pair: &ViolaPair) -> Result<Self> {
        pair.sigmas.check()?;
        let layout = Layout::new(pair);
        let gaussian = pair.sigmas.joint_gaussian();
        let pairs = Pairs::new(pair.exponentials, gaussian.is_some(), layout.largest);
        let segment = tile::SLOTS_PER_SEGMENT;
        let part = if layout.largest > WHOLE_STRETCH_ABOVE { segment * SEGMENTS_PER_STRETCH as u32 } else { segment };
        let parts = layout.largest.div_ceil(part).max(1);
        let partials_per_block = parts as usize * densities::SLOPE_SUMS as usize * BLOCK as usize;
        let blocks_at_once = ((MOST_PARTIAL_BYTES / (8 * partials_per_block)).max(1) as u32).min(layout.most_blocks());
        let mut memory = KernelMemory::new(&queue, pair, &layout, blocks_at_once as usize * partials_per_block)?;
        let groups = pair.groups.len();
        let maps = queue.pinned(12 * groups)?;
        let mut results = queue.pinned(RESULTS * groups)?;
        let scales = pair.sigmas.scales();
        let params = params::Viola {
            moving: memory.moving.view(),
            slots: memory.slots.view(),
            maps: maps.view(),
            groups: memory.groups.view(),
            blocks: memory.blocks.view(),
            scaled: memory.scaled.view_mut(),
            slopes: memory.slopes.view_mut(),
            weights: memory.weights.view_mut(),
            partials: memory.partials.view_mut(),
            folded: memory.folded.view_mut(),
            counts: memory.counts.view_mut(),
            done: memory.done.view_mut(),
            results: results.view_mut(),
            moving_size: pair.moving.size.map(|n| n as u32),
            b_blocks: layout.b_blocks,
            scales: [scales.u, scales.v],
            joint: gaussian.map_or([0.0; 2], |gaussian| [gaussian.u, gaussian.v]),
            far: far(gaussian),
            first_block: 0,
            part,
            stride: blocks_at_once * BLOCK,
        };
        Ok(Self {
            queue,
            pairs,
            finish_densities_slope: if gaussian.is_some() {
                VIOLA_FINISH_DENSITIES_SLOPE_JOINT_GAUSSIAN
            } else {
                VIOLA_FINISH_DENSITIES_SLOPE
            },
            groups,
            blocks: [layout.b_blocks, layout.blocks.len() as u32 - layout.b_blocks],
            parts,
            blocks_at_once,
            scale_v: scales.v,
            norms: pair.sigmas.norms(),
            maps,
            results,
            _memory: memory,
            params,
        })
    }

    /// Queues all launches for the maps that were written.
    fn enqueue(&self, slopes: bool) -> Result<()> {
        let [b_blocks, a_blocks] = self.blocks;
        self.launch(&VIOLA_SAMPLE, [b_blocks + a_blocks, 1], 0, 0)?;
        let kinds = if slopes { densities::SLOPE_SUMS } else { densities::VALUE_SUMS };
        let finish = if slopes { self.finish_densities_slope } else { VIOLA_FINISH_DENSITIES };
        self.sum_and_finish(0..b_blocks, &self.pairs.densities[usize::from(slopes)], kinds, &finish)?;
        if slopes {
            self.sum_and_finish(b_blocks..b_blocks + a_blocks, &self.pairs.derivatives, 1, &VIOLA_FINISH_DERIVATIVES)?;
        }
        Ok(())
    }

    /// Queues the sums over pairs for some blocks, and the kernel that finishes them, for as many blocks at a time as
    /// there is memory for.
    fn sum_and_finish(
        &self,
        mut blocks: std::ops::Range<u32>,
        pairs: &Kernel<params::Viola>,
        kinds: u32,
        finish: &Kernel<params::Viola>,
    ) -> Result<()> {
        let tiles = BLOCK / (WARP * self.pairs.samples);
        while !blocks.is_empty() {
            let count = self.blocks_at_once.min(blocks.len() as u32);
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
        Ok(Self { graphs: [None, None], launches: Launches::new(queue, pair)? })
    }

    fn enqueue(&mut self, slopes: bool) -> Result<()> {
        let Self { graphs, launches } = self;
        launches.queue.record_or_replay(&mut graphs[usize::from(slopes)], || launches.enqueue(slopes))
    }

    fn run(&mut self, maps: &[Affine], slopes: bool) -> Result<Vec<(ViolaValue, [[f64; 4]; 3])>> {
        self.launches.write(maps)?;
        self.enqueue(slopes)?;
        self.launches.queue.wait()?;
        Ok(self.launches.results.chunks_exact(RESULTS).map(|numbers| self.launches.result(numbers)).collect())
    }
}

/// The scaled distance from which on both windows have their least value, with a small margin for rounding.
fn far(gaussian: Option<JointGaussian>) -> f32 {
    let joint = gaussian.map_or(0.0, |gaussian| (2.0 / gaussian.u).sqrt() * 1.001);
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
        let Self { graphs, launches } = self;
        let graph = &mut graphs[usize::from(slopes)];
        let again = |_| launches.queue.record_or_replay(graph, || launches.enqueue(slopes));
        let seconds = launches.queue.seconds(|| (0..times).try_for_each(again))?;
        Ok(seconds.map(|seconds| seconds / f64::from(times)))
    }
}

const _: () =
    assert!(SLOTS_BEYOND >= tile::SLOTS_PER_SEGMENT as usize && CHUNKS_PER_SEGMENT * SEGMENTS_PER_STRETCH > 1);
