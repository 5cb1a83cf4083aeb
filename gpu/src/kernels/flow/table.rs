//! Computes mutual information and the tables of scores from the joint histogram, summing in the order of
//! [`crate::math::table`]. This is done on the GPU so that no step waits for the host. The kernels run in the order
//! [`flow_table_smooth`], [`flow_table_density`], [`flow_table_scores`].

use crate::kernels::ordered::{fold, lane_sum};
use crate::kernels::{WARP, block_threads, each_of, is_last, thread_number, warp_number};
use crate::math::table::{self, Value};
use crate::params::FlowTable;
#[cfg(target_arch = "nvptx64")]
use cuda_std::GpuFloat;
use cuda_std::global::DeviceSliceMut;
use cuda_std::thread::{block_idx_x, grid_dim_x, sync_threads};
use cuda_std::{kernel, shared_slice, warp};

/// The most bins of an image.
pub const MOST_BINS: u32 = 255;

/// Numbers that a thread reads together, so that the reads overlap.
const READS_AT_ONCE: usize = 8;

/// Smooths the joint histogram along both axes, and sums each row (one moving bin). One thread block of any size per
/// moving bin.
///
/// # Safety
/// The slices are as long as their documentation says; bins are 2 to [`MOST_BINS`].
#[kernel]
pub unsafe fn flow_table_smooth(p: FlowTable) {
    let (m, bins) = (block_idx_x(), p.bins);
    let row = shared_slice![f64; MOST_BINS as usize];
    let total = shared_slice![u32; 1];
    if thread_number() == 0 {
        // SAFETY: the slice has one word, which only this thread uses before the barrier.
        unsafe { total.store(0, 0) };
    }
    sync_threads();
    // SAFETY: bins and their neighbours are below `bins`, and offsets below the number of weights. Only this thread
    // uses the row's word before the barrier, and the additions are atomic.
    each_of(bins, |f| unsafe {
        let count = |m: u32| p.counts.get((f + bins * m) as usize);
        row.store(f, weighted(&p, |offset| f64::from(count(table::neighbour(m, offset, p.reach, bins)))));
        total.add(0, count(m));
    });
    sync_threads();
    // SAFETY: as above; the row was written before the barrier.
    each_of(bins, |f| unsafe {
        let sum = weighted(&p, |offset| row.load(table::neighbour(f, offset, p.reach, bins)));
        p.smoothed.set((f + bins * m) as usize, sum);
    });
    if thread_number() == 0 {
        // SAFETY: one thread's element; the additions were before the barrier.
        unsafe { p.totals.set(m as usize, u64::from(total.load(0))) };
    }
}

/// Returns the sum of what `read` returns for each offset, times the weight of that offset.
///
/// # Safety
/// The weights are as many as `reach` says, and `read` may be called with each of their numbers.
#[inline(always)]
unsafe fn weighted(p: &FlowTable, read: impl Fn(u32) -> f64) -> f64 {
    // SAFETY: `batched` reads offsets below the number of weights.
    let term = |offset: u32| unsafe { (p.weights.get_cached(offset as usize), read(offset)) };
    batched(2 * p.reach + 1, term, |sum, (weight, value)| value.mul_add(weight, sum))
}

/// Folds `n` terms, in order, into a sum that begins at 0. [`READS_AT_ONCE`] terms are read before they are added, so
/// that the reads overlap.
#[inline(always)]
fn batched<T: Copy + Default>(n: u32, read: impl Fn(u32) -> T, take: impl Fn(f64, T) -> f64) -> f64 {
    let mut sum = 0.0;
    let mut first = 0;
    while first < n {
        let mut terms = [T::default(); READS_AT_ONCE];
        for i in 0..READS_AT_ONCE {
            let at = first + i as u32;
            if at < n {
                terms[i] = read(at);
            }
        }
        // Terms beyond the end are 0 and add 0.
        for i in 0..READS_AT_ONCE {
            sum = take(sum, terms[i]);
        }
        first += READS_AT_ONCE as u32;
    }
    sum
}

/// Computes the density from the smoothed counts, its logarithms and its sums, and sets the counts to 0. One warp per
/// moving bin, in thread blocks of whole warps, at least three. The last block to finish computes the metric's value.
///
/// # Safety
/// As [`flow_table_smooth`], after it.
#[kernel]
pub unsafe fn flow_table_density(p: FlowTable) {
    let (m, bins) = (row_of_warp(), p.bins);
    // SAFETY: all lanes come here.
    let total = unsafe { total(&p) };
    let scale = table::scale(total);
    if m < bins {
        let mut density_sum = 0.0;
        // SAFETY: `f` and `m` are below `bins`; the element is this lane's alone.
        let read = |f: u32| unsafe {
            let at = (f + bins * m) as usize;
            let density = p.smoothed.get(at) * scale;
            let logarithm = table::logarithm(density);
            p.density.set(at, density);
            p.logarithms.set(at, logarithm);
            p.counts.set(at, 0);
            (density, density * logarithm)
        };
        let sum = lane_sum(bins, read, |_, (density, _)| density_sum += density, |(_, term)| term);
        // SAFETY: a row belongs to a whole warp, so that all its lanes come here.
        let (sum, density_sum) = unsafe { (fold(sum), fold(density_sum)) };
        if warp::lane_id() == 0 {
            // SAFETY: below `bins`, of which there is one element each; they are this lane's alone.
            unsafe {
                set(p.sums, 0, m, bins, sum);
                set(p.sums, 1, m, bins, density_sum);
            }
        }
    }
    // SAFETY: all threads of the block come here; the element was 0 at launch.
    unsafe {
        if is_last(p.done, 0, grid_dim_x) {
            value(&p, total);
        }
    }
}

/// The moving bin of this warp, which may be beyond the last one.
#[inline(always)]
fn row_of_warp() -> u32 {
    (block_idx_x() * block_threads() + thread_number()) / WARP
}

/// Returns the sum of all counts, in every lane.
///
/// # Safety
/// All lanes of the warp call it, after [`flow_table_smooth`].
#[inline(always)]
unsafe fn total(p: &FlowTable) -> u64 {
    let mut sum = 0;
    let mut m = warp::lane_id();
    while m < p.bins {
        // SAFETY: below `bins`, of which there is one element each.
        sum += unsafe { p.totals.get(m as usize) };
        m += WARP;
    }
    // SAFETY: the caller says that all lanes come here.
    unsafe { warp::shuffle_idx(warp::ALL, fold(sum), 0) }
}

/// Sets an element of [`FlowTable::sums`]: the sum of kind `which` for a bin.
///
/// # Safety
/// `which` is below 4 and `bin` below `bins`; no other thread uses the element.
#[inline(always)]
unsafe fn set(sums: DeviceSliceMut<f64>, which: u32, bin: u32, bins: u32, value: f64) {
    // SAFETY: as the caller says.
    unsafe { sums.set((bin + bins * which) as usize, value) };
}

/// Returns the sum over the moving bins, for the fixed bin `f`, of an array with one number per pair of bins. Other
/// blocks wrote the array, so that it is read past the L1 cache.
///
/// # Safety
/// `f` is below `bins`; nothing writes the array.
#[inline(always)]
unsafe fn column(array: DeviceSliceMut<f64>, f: u32, bins: u32) -> f64 {
    // SAFETY: `batched` reads below `bins`.
    batched(bins, |m| unsafe { array.load_relaxed((f + bins * m) as usize) }, |sum, term| sum + term)
}

/// Adds up what the blocks have written, and writes the metric's value, its [`share`](Value::share), and the marginals
/// that the scores need.
///
/// # Safety
/// As [`flow_table_density`]; all threads of the last block call it, at least three warps.
#[inline(always)]
unsafe fn value(p: &FlowTable, total: u64) {
    let bins = p.bins;
    let terms = [
        shared_slice![f64; MOST_BINS as usize],
        shared_slice![f64; MOST_BINS as usize],
        shared_slice![f64; MOST_BINS as usize],
    ];
    let sums = shared_slice![f64; 3];
    // SAFETY: bins are below `bins`, at most `MOST_BINS`; the words are this thread's until the barrier, and the elements that are written
    // are nobody else's.
    each_of(bins, |bin| unsafe {
        let fixed = column(p.density, bin, bins);
        let moving = p.sums.load_relaxed((bin + bins) as usize);
        let logarithm = table::logarithm(moving);
        set(p.sums, 2, bin, bins, fixed);
        set(p.sums, 3, bin, bins, logarithm);
        terms[0].store(bin, fixed * table::logarithm(fixed));
        terms[1].store(bin, moving * logarithm);
        terms[2].store(bin, p.sums.load_relaxed(bin as usize));
    });
    sync_threads();
    let me = warp_number();
    if me < 3 {
        // SAFETY: `lane_sum` reads below `bins`; written before the barrier.
        let read = |bin: u32| unsafe { pick(terms, me).load(bin) };
        let sum = lane_sum(bins, read, |_, _| (), |term| term);
        // SAFETY: `me` is the warp's number, so that all its lanes come here.
        let sum = unsafe { fold(sum) };
        if warp::lane_id() == 0 {
            // SAFETY: below 3, one lane's until the barrier.
            unsafe { sums.store(me, sum) };
        }
    }
    sync_threads();
    if thread_number() == 0 {
        // SAFETY: stored before the barrier; one thread's elements.
        unsafe {
            let Value { value, nats, share } =
                Value::new([sums.load(0), sums.load(1), sums.load(2)], p.normalised != 0, total);
            p.value.set(0, value);
            p.value.set(1, nats);
            p.sums.set(4 * bins as usize, share);
            p.done.set(0, 0);
        }
    }
}

/// Returns the element of this number. Indexing the array would put it into local memory.
#[inline(always)]
fn pick<T>([a, b, c]: [T; 3], number: u32) -> T {
    match number {
        0 => a,
        1 => b,
        _ => c,
    }
}

/// Writes the table of scores. One warp per moving bin, in thread blocks of whole warps. The last block to finish
/// writes the information of each fixed bin.
///
/// # Safety
/// As [`flow_table_density`], after it.
#[kernel]
pub unsafe fn flow_table_scores(p: FlowTable) {
    let (m, bins) = (row_of_warp(), p.bins);
    if m < bins {
        let ends = table::around(m, bins);
        // SAFETY: bins are below `bins`, and what the kernel before has written is there; the elements that are written are this lane's.
        unsafe {
            let share = p.sums.get(4 * bins as usize);
            let moving = ends.map(|m| p.sums.get((m + 3 * bins) as usize));
            let mut f = warp::lane_id();
            while f < bins {
                let joint = ends.map(|m| p.logarithms.get((f + bins * m) as usize));
                let score = table::score(ends, joint, moving, share);
                let at = (f + bins * m) as usize;
                p.tables.set(at, score as f32);
                p.smoothed.set(at, p.density.get(at) * score * score);
                f += WARP;
            }
        }
    }
    // SAFETY: all threads of the block come here; the element was 0 at launch. Below `bins`, there is one element each, and one thread's.
    unsafe {
        if is_last(p.done, 1, grid_dim_x) {
            each_of(bins, |f| {
                let fixed = p.sums.get((f + 2 * bins) as usize);
                p.tables.set((bins * bins + f) as usize, table::information(column(p.smoothed, f, bins), fixed));
            });
            if thread_number() == 0 {
                p.done.set(1, 0);
            }
        }
    }
}
