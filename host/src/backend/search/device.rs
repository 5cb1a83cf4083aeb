//! The search for displacements, on a device.

use super::{ROUNDS, Search, WEIGHTS};
use crate::Result;
use crate::backend::flow::device::{FLOW_RELAX, launch};
use crate::backend::queue::{Memory, Queue, Shape, kernels};
use gpu::kernels::WARP;
use gpu::kernels::search as kernel;
use gpu::math::interpolate;
use gpu::params::{self, SearchGrid};

kernels! {
    SEARCH_DESCRIPTORS = kernel::search_descriptors(params::SearchDescriptors);
    SEARCH_COSTS = kernel::search_costs(params::SearchCosts);
    SEARCH_COUPLE = kernel::search_couple(params::SearchCouple);
    SEARCH_CONSISTENT = kernel::search_consistent(params::SearchConsistent);
}

/// Warps per block.
const WARPS: u32 = 4;

/// See [`crate::backend::Backend::search`].
pub fn displacements<Q: Queue>(queue: &Q, search: &Search) -> Result<Vec<f32>> {
    let on = OnDevice { queue, search, grid: search.grid() };
    let [fixed, moving] = search.images;
    let (fixed, moving) = (on.descriptors(fixed)?, on.descriptors(moving)?);
    let mut costs = queue.zeros(on.cells() * search.displacements())?;
    let mut there = on.one_way([&fixed, &moving], &mut costs)?;
    let mut back = on.one_way([&moving, &fixed], &mut costs)?;
    let (mut next_there, mut next_back) = (on.field()?, on.field()?);
    for _ in 0..ROUNDS {
        on.consistent([&there, &back], &mut next_there)?;
        on.consistent([&back, &there], &mut next_back)?;
        std::mem::swap(&mut there, &mut next_there);
        std::mem::swap(&mut back, &mut next_back);
    }
    queue.download(&there, 3 * on.cells())
}

struct OnDevice<'a, Q: Queue> {
    queue: &'a Q,
    search: &'a Search<'a>,
    grid: SearchGrid,
}

impl<Q: Queue> OnDevice<'_, Q> {
    fn cells(&self) -> usize {
        self.grid.cells.iter().map(|&n| n as usize).product()
    }

    /// A field of 0 on the cells.
    fn field(&self) -> Result<Q::Memory<f32>> {
        self.queue.zeros(3 * self.cells() + interpolate::padding(self.grid.cells))
    }

    fn descriptors(&self, values: &[u16]) -> Result<Q::Memory<u64>> {
        let padded = [0, 1, 2].map(|axis: usize| self.grid.size[axis] + 2 * self.grid.reach[axis]);
        let values = self.queue.upload(values)?;
        let mut descriptors = self.queue.zeros(padded.iter().map(|&n| n as usize).product())?;
        let (values_view, view) = (values.view(), descriptors.view_mut());
        let params = params::SearchDescriptors { values: values_view, descriptors: view, grid: self.grid };
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { launch::each(self.queue, &SEARCH_DESCRIPTORS, padded, params)? };
        self.queue.wait()?;
        Ok(descriptors)
    }

    /// The launch shape with a warp for every cell.
    fn per_cell(&self) -> Shape {
        let warps = WARPS.min(self.queue.limits().threads / WARP).max(1);
        Shape { grid: [(self.cells() as u32).div_ceil(warps), 1, 1], block: [WARP, warps, 1], shared_bytes: 0 }
    }

    /// The displacements from the cells of one image to where the other image is most similar.
    fn one_way(&self, [from, to]: [&Q::Memory<u64>; 2], costs: &mut Q::Memory<u16>) -> Result<Q::Memory<f32>> {
        let (mut found, mut relaxed) = (self.field()?, self.field()?);
        let (mut all, mut counted) = (self.queue.upload(&vec![1; self.cells()])?, self.queue.zeros(1)?);
        let params = params::SearchCosts { from: from.view(), to: to.view(), costs: costs.view_mut(), grid: self.grid };
        // SAFETY: as above.
        unsafe { self.queue.launch(&SEARCH_COSTS, self.per_cell(), params)? };
        for weight in WEIGHTS {
            let couple = params::SearchCouple {
                costs: costs.view(),
                near: relaxed.view(),
                found: found.view_mut(),
                grid: self.grid,
                weights: self.search.weights(weight),
                unused: 0,
            };
            let relax = params::FlowRelax {
                field: found.view(),
                relaxed: relaxed.view_mut(),
                marks: all.view_mut(),
                outside_limits: counted.view_mut(),
                size: self.grid.cells,
                limits: [0.0; 2],
                unused: 0,
            };
            // SAFETY: as above.
            unsafe {
                self.queue.launch(&SEARCH_COUPLE, self.per_cell(), couple)?;
                launch::each(self.queue, &FLOW_RELAX, self.grid.cells, relax)?;
            }
        }
        self.queue.wait()?;
        Ok(relaxed)
    }

    fn consistent(&self, [there, back]: [&Q::Memory<f32>; 2], found: &mut Q::Memory<f32>) -> Result<()> {
        let params = params::SearchConsistent {
            there: there.view(),
            back: back.view(),
            found: found.view_mut(),
            cells: self.grid.cells,
            unused: 0,
        };
        // SAFETY: as above.
        unsafe { launch::each(self.queue, &SEARCH_CONSISTENT, self.grid.cells, params) }
    }
}
