//! Tests of the tagged update in the emulator: order of lanes, collisions, and counters filled to their last bit.

use super::partial::Partial;
use crate::kernels::WARP;
use cuda_std::emulator::{Launch, run};
use cuda_std::global::DeviceSliceMut;
use cuda_std::shared;
use cuda_std::thread;
use cuda_std::warp::lane_id;

const COUNTERS: u32 = 7;
const WARPS: u32 = 2;
const SEEDS: u64 = 5;

/// The counter to which a lane adds in a round, if any.
type Rounds = fn(round: u32, lane: u32) -> Option<u32>;

/// Runs `rounds` rounds of each warp on counters that begin with `filled`, and returns the flushed counters. Asserts
/// that every seed of the emulator's schedule gives the same.
fn counts<const N: u32>(filled: u32, rounds: u32, counter: Rounds) -> [u32; COUNTERS as usize] {
    let words = COUNTERS.div_ceil(N);
    let one = (0..N).fold(0, |word, i| word | filled << (i * Partial::<N>::BITS));
    let of_seed = |seed| {
        let mut out = [0; COUNTERS as usize + 1];
        // SAFETY: the array is there until the launch is done.
        let slice = unsafe { DeviceSliceMut::new(out.as_mut_ptr(), out.len() as u64) };
        // SAFETY: the launch below has whole warps and the words of both; every thread makes the same calls, and `slice` has the counters
        // and one more.
        let kernel = || unsafe {
            let partial = Partial::<N>::new(COUNTERS);
            partial.clear();
            if thread::thread_idx_x() < WARPS * words {
                shared::dynamic(0, WARPS * words).store(thread::thread_idx_x(), one);
            }
            thread::sync_threads();
            for round in 0..rounds {
                let counter = counter(round, lane_id());
                partial.add(counter.is_some(), counter.unwrap_or(u32::MAX));
            }
            partial.flush(slice, |counter| counter);
        };
        run("rounds", &Launch::default().block(WARPS * WARP).shared_bytes(4 * WARPS * words).seed(seed), kernel)
            .unwrap();
        out
    };
    let counts = of_seed(0);
    assert!((1..SEEDS).all(|seed| of_seed(seed) == counts));
    // With two counters per word the last word has one too many.
    std::array::from_fn(|i| counts[i])
}

/// The result that [`counts`] should return.
fn expected(filled: u32, rounds: u32, counter: Rounds) -> [u32; COUNTERS as usize] {
    let mut counts = [filled; COUNTERS as usize];
    let all = (0..rounds).flat_map(|round| (0..WARP).filter_map(move |lane| counter(round, lane)));
    all.for_each(|counter| counts[counter as usize] += 1);
    counts.map(|count| WARPS * count)
}

#[test]
fn every_lane_is_counted_once() {
    let all_in_one: Rounds = |_, _| Some(3);
    let all_in_two_of_a_word: Rounds = |_, lane| Some(4 + lane % 2);
    let mixed: Rounds = |round, lane| Some((round * 5 + lane * lane) % COUNTERS);
    let some: Rounds = |round, lane| (lane % 3 == round % 3).then_some((lane / 4 + round) % COUNTERS);
    let none: Rounds = |_, _| None;
    for counter in [all_in_one, all_in_two_of_a_word, mixed, some, none] {
        assert_eq!(counts::<1>(0, 5, counter), expected(0, 5, counter));
        assert_eq!(counts::<2>(0, 5, counter), expected(0, 5, counter));
    }
}

/// Counts up to 2^27 - 1 and 2^13 - 1 do not change the tag above or the other counter of the word.
#[test]
fn counters_hold_all_of_their_bits() {
    let rounds = 3;
    let all_in_one: Rounds = |_, _| Some(2);
    let all_in_the_other: Rounds = |_, _| Some(5);
    for counter in [all_in_one, all_in_the_other] {
        let filled = Partial::<1>::MOST - rounds * WARP;
        assert_eq!(
            (Partial::<1>::MOST, counts::<1>(filled, rounds, counter)),
            ((1 << 27) - 1, expected(filled, rounds, counter))
        );
        let filled = Partial::<2>::MOST - rounds * WARP;
        assert_eq!(
            (Partial::<2>::MOST, counts::<2>(filled, rounds, counter)),
            ((1 << 13) - 1, expected(filled, rounds, counter))
        );
    }
}

/// The longest run without a flush that [`Partial::ADDS`] allows, all in one counter.
#[test]
fn no_counter_overflows_before_it_is_flushed() {
    assert_eq!((Partial::<1>::ADDS, Partial::<2>::ADDS), (4_194_303, 255));
    let all_in_one: Rounds = |_, _| Some(0);
    assert_eq!(counts::<2>(0, Partial::<2>::ADDS, all_in_one), expected(0, Partial::<2>::ADDS, all_in_one));
}
