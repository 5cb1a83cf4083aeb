//! Computes the value of mutual information and the tables of its force from a joint histogram, on the device.

use super::kernels::{FLOW_TABLE_DENSITY, FLOW_TABLE_SCORES, FLOW_TABLE_SMOOTH};
use crate::Result;
use crate::backend::flow::Measured;
use crate::backend::flow::table::{Relation, window};
use crate::backend::queue::{HostResults, Memory, Queue, Shape};
use cuda_std::global::DeviceSliceMut;
use gpu::kernels::WARP;
use gpu::params::FlowTable;

/// Threads per block: four warps, which take four rows where a warp takes a row.
const THREADS: u32 = 128;
const ROWS: u32 = THREADS / WARP;

/// Memory for the joint density, and what is computed from it.
pub struct TableOnDevice<Q: Queue> {
    bins: u32,
    weights: Q::Memory<f64>,
    reach: u32,
    smoothed: Q::Memory<f64>,
    density: Q::Memory<f64>,
    logarithms: Q::Memory<f64>,
    sums: Q::Memory<f64>,
    totals: Q::Memory<u64>,
    done: Q::Memory<u32>,
    measured: HostResults<Q>,
}

impl<Q: Queue> TableOnDevice<Q> {
    pub fn new(queue: &Q, bins: u32) -> Result<Self> {
        let (weights, pairs) = (window(bins as usize), (bins * bins) as usize);
        Ok(Self {
            bins,
            reach: (weights.len() / 2) as u32,
            weights: queue.upload(&weights)?,
            smoothed: queue.zeros(pairs)?,
            density: queue.zeros(pairs)?,
            logarithms: queue.zeros(pairs)?,
            sums: queue.zeros(4 * bins as usize + 1)?,
            totals: queue.zeros(bins as usize)?,
            done: queue.zeros(2)?,
            measured: HostResults::new(queue, 2)?,
        })
    }

    /// Queues computing the tables and the value from `counts`, which are then set to 0.
    pub fn make(
        &mut self,
        queue: &Q,
        counts: DeviceSliceMut<u32>,
        relation: Relation,
        tables: DeviceSliceMut<f32>,
    ) -> Result<()> {
        let params = FlowTable {
            counts,
            weights: self.weights.view(),
            smoothed: self.smoothed.view_mut(),
            density: self.density.view_mut(),
            logarithms: self.logarithms.view_mut(),
            sums: self.sums.view_mut(),
            totals: self.totals.view_mut(),
            tables,
            value: self.measured.view_mut(),
            done: self.done.view_mut(),
            bins: self.bins,
            reach: self.reach,
            normalised: u32::from(relation == Relation::Nmi),
            unused: 0,
        };
        let shape = |blocks| Shape { grid: [blocks, 1, 1], block: [THREADS, 1, 1], shared_bytes: 0 };
        let of_rows = shape(self.bins.div_ceil(ROWS));
        // SAFETY: the memory is as long as the bins say and lives until the queue is done.
        unsafe {
            queue.launch(&FLOW_TABLE_SMOOTH, shape(self.bins), params)?;
            queue.launch(&FLOW_TABLE_DENSITY, of_rows, params)?;
            queue.launch(&FLOW_TABLE_SCORES, of_rows, params)
        }
    }

    /// The value of the last tables, or `None` if it has not arrived. The device may be writing it meanwhile.
    pub fn measured(&self) -> Option<Measured> {
        Some(Measured { value: self.measured.get(0)?, nats: self.measured.get(1)? })
    }

    /// Forgets the value of the last tables.
    pub fn forget(&mut self) {
        self.measured.forget(0..2);
    }
}
