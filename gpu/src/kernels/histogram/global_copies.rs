//! The joint histogram, counted in several copies in global memory (Jung & Wesarg, sections 2.1 and 2.2).
//!
//! Each thread of a block counts into a different one of 256 copies, so that the atomics of a block never have the same
//! address; those of different blocks may. A wrap-up ([`super::partials`]) adds the copies. There are two versions of
//! the marginals:
//! - version 1 (section 2.1, [`count_copies_and_marginals`]) counts them together with the joint histogram: a block has
//!   both marginals in its shared memory and adds them to global memory at its end;
//! - version 2 (section 2.2, [`project`]) sums the rows and columns of the joint histogram, one row and one column per
//!   thread.
//!
//! Deliberate differences: a thread takes several voxels instead of one; if 256 copies do not fit or are slower,
//! threads share fewer copies; and the wrap-up adds by atomics, so that several threads can share the copies of a bin.
//! No 32-bit counter overflows, as there are at most 2^31 voxels.

use super::pair::{self, NONE};
use crate::kernels::each_along_x;
use crate::params::{GlobalCopies, Projection};
use cuda_std::kernel;
use cuda_std::shared;
use cuda_std::thread::{block_dim_x, grid_dim_x, index_1d, sync_threads};

/// Threads of a block that counts, which is also the largest number of copies.
pub const THREADS: u32 = 256;

/// Threads of a block of [`project`]. With 256 bins this gives 16 blocks, as in the paper.
pub const PROJECT_THREADS: u32 = 16;

/// Counts into the copies, without the marginals. Blocks of any size along x.
///
/// # Safety
/// The images are as their documentation says, there is at least one copy, and every size is at least 1.
#[kernel]
pub unsafe fn count_copies(p: GlobalCopies) {
    // SAFETY: by this function's contract.
    unsafe { each_pair(&p, |_| ()) }
}

/// Counts into the copies and the marginals. Blocks of any size along x; one word of dynamic shared memory per bin of
/// either image.
///
/// # Safety
/// As [`count_copies`].
#[kernel]
pub unsafe fn count_copies_and_marginals(p: GlobalCopies) {
    let [fixed_bins, moving_bins] = p.images.bins;
    let bins = fixed_bins + moving_bins;
    // SAFETY: the launcher gives as many.
    let marginals = unsafe { shared::dynamic::<u32>(0, bins) };
    // SAFETY: each element is one thread's, and what all add to is written before the barrier.
    unsafe {
        each_along_x(bins, |bin| marginals.store(bin, 0));
        sync_threads();
        core::hint::assert_unchecked(fixed_bins > 0);
        each_pair(&p, |pair| {
            marginals.add(pair % fixed_bins, 1);
            marginals.add(fixed_bins + pair / fixed_bins, 1);
        });
        sync_threads();
        each_along_x(bins, |bin| {
            let count = marginals.load(bin);
            if count > 0 {
                p.marginals.add(bin as usize, count);
            }
        });
    }
}

/// Counts this thread's voxels in its copy, and calls `also` with the joint index of each voxel that counts.
#[inline(always)]
unsafe fn each_pair(p: &GlobalCopies, also: impl Fn(u32)) {
    let [width, height, depth] = p.images.fixed_size;
    let pairs = p.images.bins[0] * p.images.bins[1];
    // SAFETY: by the caller's contract; without it a division by zero would bring a panic into the PTX.
    unsafe { core::hint::assert_unchecked(p.copies_len > 0) };
    let copy = (index_1d() % p.copies_len) as usize * pairs as usize;
    let mut voxel = index_1d();
    while voxel < width * height * depth {
        // SAFETY: the voxel is in the fixed image, and a pair that counts in the histogram.
        unsafe {
            let pair = pair::pair_or_none(&p.images, voxel);
            if pair != NONE {
                p.copies.add(copy + pair as usize, 1);
                also(pair);
            }
        }
        voxel += grid_dim_x() * block_dim_x();
    }
}

/// Writes the marginals of a joint histogram. One thread along x per bin number, for that bin of the fixed and of the
/// moving image.
///
/// # Safety
/// The slices are as long as their documentation says.
#[kernel]
pub unsafe fn project(p: Projection) {
    let [fixed_bins, moving_bins] = p.bins;
    let (bin, joint) = (index_1d(), p.first as usize);
    if bin < fixed_bins {
        // SAFETY: the row of a fixed bin lies in the joint histogram.
        let sum = unsafe { sum(&p, joint + bin as usize, fixed_bins, moving_bins) };
        // SAFETY: below the fixed bins, and this thread's alone.
        unsafe { p.marginals.set(bin as usize, sum) };
    }
    if bin < moving_bins {
        // SAFETY: the column of a moving bin lies in the joint histogram.
        let sum = unsafe { sum(&p, joint + (bin * fixed_bins) as usize, 1, fixed_bins) };
        // SAFETY: the marginals have the bins of both images; this thread's alone.
        unsafe { p.marginals.set((fixed_bins + bin) as usize, sum) };
    }
}

/// The sum of `n` counters, `stride` apart.
#[inline(always)]
unsafe fn sum(p: &Projection, first: usize, stride: u32, n: u32) -> u32 {
    let mut sum = 0;
    for i in 0..n {
        // SAFETY: by the caller's contract.
        sum += unsafe { p.counters.get(first + (i * stride) as usize) };
    }
    sum
}
