//! The histogram of an array of 16-bit numbers in global memory, such as the joint indices of voxels.
//!
//! A thread reads vectors of eight numbers, several at a time, and prefetches the next ones before it counts these. A
//! thread block has its counters in shared memory, with 32 bits each if they fit. The increment is the constant 1, for
//! which the hardware combines all lanes with the same address in one operation.
//!
//! Larger tables have two 16-bit counters in a word. A thread first adds up runs of equal numbers, so that with
//! constant data there are fewer atomics on the same word. No counter overflows. A period begins with all counters
//! below 2^15; in a period a block adds at most 2^15; and 16 bits hold 2^15 - 1 + 2^15. At the end of a period, a scan
//! between two block barriers moves each counter that has reached 2^15 to global memory. The shortest period is one
//! step, in which a thread counts 8 * [`VECTORS_AT_ONCE`] numbers: 2^15 in all with 1024 threads.
//!
//! Even larger tables are counted in ranges, one for each z of the grid. A number that is not to be counted is added to
//! a word after the counters, which is cheaper than a branch. That word may overflow, as it is never read.

use crate::kernels::{block_threads, each_of, thread_number};
use crate::params::FromPairs;
use cuda_std::kernel;
use cuda_std::shared::{self, SharedSlice};
use cuda_std::thread::{block_idx_x, block_idx_z, grid_dim_x, sync_threads};

/// Numbers in a vector.
pub const VECTOR: u32 = 8;

/// Vectors that a thread reads together.
pub const VECTORS_AT_ONCE: usize = 4;

/// 16-bit counters are below this number when a period begins, and at most this number is added in a period.
const HALF_RANGE: u32 = 1 << 15;

/// Subtracted from a number that is not to be counted: the difference is in no range.
const OUT_OF_RANGE_OFFSET: u32 = 1 << 31;

/// Counts with 32 bits. Blocks of any size; `range + 1` words of dynamic shared memory.
///
/// # Safety
/// The slices are as long as their documentation says.
#[kernel]
pub unsafe fn count_pairs(p: FromPairs) {
    // SAFETY: by this function's contract.
    unsafe { count::<Words>(&p) }
}

/// Counts with 16 bits. Blocks of at most 1024 threads; `range / 2 + 1` words of dynamic shared memory, the range an
/// even number.
///
/// # Safety
/// As [`count_pairs`].
#[kernel]
pub unsafe fn count_pairs_packed(p: FromPairs) {
    // SAFETY: by this function's contract.
    unsafe { count::<Halves>(&p) }
}

/// Numbers of a vector.
type Numbers = [u32; VECTOR as usize];

/// How a block's counters lie in the words of shared memory.
trait Counters {
    /// log2 of the counters in a word.
    const LOG2_PER_WORD: u32;

    /// Adds 1 to the counter of each number.
    unsafe fn add(words: SharedSlice<u32>, numbers: Numbers);

    /// Calls `each` with each counter of a word that is not 0, and its place in the word.
    fn each(word: u32, each: impl Fn(u32, u32));
}

/// One word per counter.
struct Words;

impl Counters for Words {
    const LOG2_PER_WORD: u32 = 0;

    #[inline(always)]
    unsafe fn add(words: SharedSlice<u32>, numbers: Numbers) {
        for i in 0..VECTOR as usize {
            // SAFETY: the numbers have counters.
            unsafe { words.add(numbers[i], 1) };
        }
    }

    #[inline(always)]
    fn each(word: u32, each: impl Fn(u32, u32)) {
        if word > 0 {
            each(0, word);
        }
    }
}

/// Two counters per word.
struct Halves;

impl Counters for Halves {
    const LOG2_PER_WORD: u32 = 1;

    #[inline(always)]
    unsafe fn add(words: SharedSlice<u32>, numbers: Numbers) {
        let mut run = 0;
        for i in 0..VECTOR as usize {
            run += 1;
            let last = i + 1 == VECTOR as usize || numbers[i + 1] != numbers[i];
            // SAFETY: the numbers have counters.
            unsafe { words.add_if(last, numbers[i] >> 1, run << (16 * (numbers[i] & 1))) };
            run = if last { 0 } else { run };
        }
    }

    #[inline(always)]
    fn each(word: u32, each: impl Fn(u32, u32)) {
        if word & 0xFFFF > 0 {
            each(0, word & 0xFFFF);
        }
        if word >> 16 > 0 {
            each(1, word >> 16);
        }
    }
}

#[inline(always)]
unsafe fn count<C: Counters>(p: &FromPairs) {
    let len = p.range >> C::LOG2_PER_WORD;
    // SAFETY: the launch gives as many words. The last takes the numbers that are not to be counted.
    let words = unsafe { shared::dynamic::<u32>(0, len + 1) };
    // SAFETY: only one thread uses each word before the barrier.
    each_word(len + 1, |i| unsafe { words.store(i, 0) });
    sync_threads();
    // SAFETY: the vectors are there.
    unsafe {
        if block_idx_x() == 0 && thread_number() == 0 {
            count_tail::<C>(p, words);
        }
        count_vectors::<C>(p, words);
    }
    sync_threads();
    each_word(len, |i| {
        // SAFETY: only this thread uses the word after the barrier.
        let word = unsafe { words.load(i) };
        // SAFETY: `i` is a word of the range and `part` one of its counters; `add` checks that there is such a bin.
        C::each(word, |part, count| unsafe { add::<C>(p, i, part, count) });
    });
}

/// Adds a count to the global counter of its number, if there is such a counter.
#[inline(always)]
unsafe fn add<C: Counters>(p: &FromPairs, word: u32, part: u32, count: u32) {
    let number = p.range * block_idx_z() + (word << C::LOG2_PER_WORD) + part;
    if number < p.bins {
        // SAFETY: there is one.
        unsafe { p.counters.add(number as usize, count) };
    }
}

/// Calls `each` for this thread's share of `len` words. Blocks begin at different words, so that their atomics on
/// global memory are less likely to contend.
#[inline(always)]
fn each_word(len: u32, each: impl Fn(u32)) {
    // SAFETY: a grid has blocks.
    unsafe { core::hint::assert_unchecked(grid_dim_x() > 0) };
    let first = len / grid_dim_x() * block_idx_x();
    each_of(len, |i| each(if i + first < len { i + first } else { i + first - len }));
}

/// Counts the block's share of the full vectors.
#[inline(always)]
unsafe fn count_vectors<C: Counters>(p: &FromPairs, words: SharedSlice<u32>) {
    let (vectors, step) = (p.len / VECTOR, block_threads() * VECTORS_AT_ONCE as u32);
    let (mut first, mut added) = (block_idx_x() * step, 0);
    // SAFETY: the vectors are there.
    let mut next = unsafe { load(p, first) };
    while first < vectors {
        let [a, b, c, d] = next;
        // SAFETY: as above.
        next = unsafe { load(p, first + grid_dim_x() * step) };
        // SAFETY: what `numbers` gives has a counter.
        unsafe {
            C::add(words, numbers(p, a, vector(first, 0) < vectors));
            C::add(words, numbers(p, b, vector(first, 1) < vectors));
            C::add(words, numbers(p, c, vector(first, 2) < vectors));
            C::add(words, numbers(p, d, vector(first, 3) < vectors));
        }
        added += VECTOR * step;
        if C::LOG2_PER_WORD > 0 && added > HALF_RANGE - VECTOR * step {
            // SAFETY: all threads of the block are here.
            unsafe { scan::<C>(p, words) };
            added = 0;
        }
        first += grid_dim_x() * step;
    }
}

/// The number of this thread's `i`-th vector in the step that begins with vector `first`.
#[inline(always)]
fn vector(first: u32, i: u32) -> u32 {
    first + i * block_threads() + thread_number()
}

/// Reads this thread's vectors of the step that begins with vector `first`. In place of vectors beyond the full ones,
/// it reads the tail.
#[inline(always)]
unsafe fn load(p: &FromPairs, first: u32) -> [[u32; 4]; VECTORS_AT_ONCE] {
    let tail = p.len / VECTOR;
    let mut loaded = [[0; 4]; VECTORS_AT_ONCE];
    for i in 0..VECTORS_AT_ONCE {
        let at = vector(first, i as u32);
        // Not `get_cached`, whose loads the compiler may move behind the counting.
        // SAFETY: there is a tail, even if it is empty.
        loaded[i] = unsafe { p.pairs.get(if at < tail { at } else { tail } as usize) };
    }
    loaded
}

/// Counts the numbers after the last full vector.
#[inline(always)]
unsafe fn count_tail<C: Counters>(p: &FromPairs, words: SharedSlice<u32>) {
    // SAFETY: there is a tail.
    let mut numbers = numbers(p, unsafe { p.pairs.get((p.len / VECTOR) as usize) }, true);
    for i in 0..VECTOR {
        if i >= p.len % VECTOR {
            numbers[i as usize] = p.range;
        }
    }
    // SAFETY: these numbers have a counter.
    unsafe { C::add(words, numbers) };
}

/// Returns the numbers of a vector minus the first number of this block's range. Numbers outside the range, and all
/// numbers unless `counted`, become the length of the range.
#[inline(always)]
fn numbers(p: &FromPairs, vector: [u32; 4], counted: bool) -> Numbers {
    let first = if counted { p.range * block_idx_z() } else { OUT_OF_RANGE_OFFSET };
    let number = |number: u32| {
        let number = number.wrapping_sub(first);
        if number < p.range { number } else { p.range }
    };
    let [a, b, c, d] = vector;
    let (low, high) = (|word: u32| number(word & 0xFFFF), |word: u32| number(word >> 16));
    [low(a), high(a), low(b), high(b), low(c), high(c), low(d), high(d)]
}

/// Moves counters that have reached [`HALF_RANGE`] to global memory.
#[inline(always)]
unsafe fn scan<C: Counters>(p: &FromPairs, words: SharedSlice<u32>) {
    sync_threads();
    each_word(p.range >> C::LOG2_PER_WORD, |i| {
        // SAFETY: only this thread uses the word between the barriers.
        let word = unsafe { words.load(i) };
        C::each(word, |part, count| {
            if count >= HALF_RANGE {
                // SAFETY: as above; the counter holds at least `count`.
                unsafe {
                    add::<C>(p, i, part, count);
                    words.store(i, words.load(i) - (count << (16 * part)));
                }
            }
        });
    });
    sync_threads();
}
