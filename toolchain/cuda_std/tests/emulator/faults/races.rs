//! Races in shared memory, and accesses that are not races.

use super::{FAULTY, faulty};
use cuda_std::emulator::{Access, Fault, FaultKind, Launch, run};
use cuda_std::prelude::*;

/// The threads of `one` and `other` access word 2 of shared memory after it was written, with `between` between the two
/// accesses.
#[kernel]
unsafe fn two_accesses(one: (u32, Access), other: (u32, Access), between: Between) {
    let words = shared_slice![u32; 4];
    let me = thread::thread_idx_x();
    // SAFETY: indices are in bounds, and the emulator stops the kernel at a race.
    unsafe {
        if me < 4 {
            words.store(me, 0);
        }
        thread::sync_threads();
        if matches!(between, Between::NothingButBefore) && me < 32 {
            warp::sync_warp(warp::ALL);
        }
        for (i, (who, access)) in [one, other].into_iter().enumerate() {
            if me == who {
                match access {
                    Access::Read => _ = words.load(2),
                    Access::Write => words.store(2, me),
                    Access::Atomic => words.add(2, me),
                }
            }
            match between {
                Between::Barrier => thread::sync_threads(),
                Between::Warp if i == 0 && me < 32 => warp::sync_warp(warp::ALL),
                Between::Shuffle if i == 0 && me < 32 => _ = warp::shuffle_xor(warp::ALL, me, 1),
                Between::HalfWarp if i == 0 && me < 16 => warp::sync_warp(0xffff),
                _ => {}
            }
        }
    }
}

#[derive(Clone, Copy, Debug)]
enum Between {
    Nothing,
    NothingButBefore,
    Barrier,
    Warp,
    HalfWarp,
    Shuffle,
}

fn result_of(one: (u32, Access), other: (u32, Access), between: Between) -> [Result<(), Fault>; 4] {
    std::array::from_fn(|seed| {
        let launch = Launch::default().block(64).seed(seed as u64);
        // SAFETY: the emulator stops the kernel at its fault.
        run("two_accesses", &launch, || unsafe { two_accesses(one, other, between) })
    })
}

#[test]
fn races_between_two_threads() {
    use Access::{Atomic, Read, Write};
    for (one, other) in [(Write, Write), (Write, Read), (Read, Write), (Atomic, Write), (Atomic, Read)] {
        let cases =
            [(7, Between::Nothing), (40, Between::Nothing), (7, Between::NothingButBefore), (7, Between::Shuffle)];
        for (first, second, between) in cases.map(|(second, between)| (3, second, between)) {
            for result in result_of((first, one), (second, other), between) {
                let fault = result.unwrap_err();
                let FaultKind::SharedRace { address: 8, access, other_access, other: with } = fault.kind else {
                    panic!("{fault}")
                };
                let mut threads = [(fault.thread[0], access), (with[0], other_access)];
                threads.sort_by_key(|(thread, _)| *thread);
                assert_eq!(threads, [(first, one), (second, other)]);
            }
        }
    }
}

#[test]
fn accesses_that_are_no_race() {
    use Access::{Atomic, Read, Write};
    let passes = |one, other, between| result_of(one, other, between).into_iter().all(|result| result.is_ok());
    assert!(passes((3, Read), (40, Read), Between::Nothing));
    assert!(passes((3, Atomic), (40, Atomic), Between::Nothing));
    assert!(passes((3, Write), (3, Read), Between::Nothing));
    assert!(passes((3, Write), (40, Write), Between::Barrier));
    assert!(passes((3, Write), (7, Read), Between::Warp));
    assert!(passes((3, Atomic), (7, Write), Between::HalfWarp));
}

#[test]
fn a_warp_orders_only_the_lanes_of_the_mask() {
    for between in [Between::HalfWarp, Between::Warp] {
        let other = if matches!(between, Between::Warp) { 40 } else { 20 };
        for result in result_of((3, Access::Write), (other, Access::Read), between) {
            assert!(matches!(result.unwrap_err().kind, FaultKind::SharedRace { address: 8, .. }));
        }
    }
}

/// The threads of `readers` read a word and `writer` writes it. If `meeting`, lanes 0 and 1 call `sync_warp` in
/// between.
#[kernel]
unsafe fn read_and_write(readers: u64, writer: u32, meeting: bool) {
    let word = shared_slice![u32; 1];
    let me = thread::thread_idx_x();
    // SAFETY: the index is in bounds, and the emulator stops the kernel at a race.
    unsafe {
        if me == 0 {
            word.store(0, 1);
        }
        thread::sync_threads();
        if readers >> me & 1 == 1 {
            word.load(0);
        }
        if meeting && me < 2 {
            warp::sync_warp(0b11);
        }
        if me == writer {
            word.store(0, 2);
        }
    }
}

#[test]
fn a_write_races_with_every_reader_that_it_has_not_met() {
    let cases = [
        (0xffff_ffff, 40, false),
        (1 << 3 | 1 << 40, 4, false),
        (1 << 3, 35, false),
        (0b111, 1, true),
        (0b1111, 1, true),
    ];
    for ((readers, writer, meeting), seed) in cases.into_iter().flat_map(|case| (0..60).map(move |seed| (case, seed))) {
        let launch = Launch::default().block(64).seed(seed);
        // SAFETY: the emulator stops the kernel at its fault.
        let fault = run("planted", &launch, || unsafe { read_and_write(readers, writer, meeting) }).unwrap_err();
        let FaultKind::SharedRace { other, .. } = fault.kind else { panic!("{fault}") };
        let [one, other] = [fault.thread[0], other[0]];
        let reader = if one == writer { other } else { one };
        assert!(one == writer || other == writer, "{fault}");
        assert!(reader != writer && readers >> reader & 1 == 1 && !(meeting && reader == 0), "{fault}");
    }
}

#[test]
fn a_write_does_not_race_with_those_it_has_met() {
    for seed in 0..20 {
        let launch = Launch::default().block(64).seed(seed);
        // SAFETY: lanes 0 and 1 meet before the write.
        run("met", &launch, || unsafe { read_and_write(0b11, 1, true) }).unwrap();
    }
}

#[kernel]
unsafe fn neighbouring_bytes(same: bool) {
    let bytes = shared_slice![u8; 64];
    let me = thread::thread_idx_x();
    let at = if same && faulty() && me == 9 { 8 } else { me };
    // SAFETY: 64 threads and bytes; the emulator stops the kernel at a race.
    unsafe { bytes.store(at, 1) }
}

#[test]
fn neighbouring_bytes_are_no_race_but_the_same_byte_is() {
    let launch = Launch::default().grid(9).block(64);
    // SAFETY: each thread has its own byte.
    run("neighbouring_bytes", &launch, || unsafe { neighbouring_bytes(false) }).unwrap();
    // SAFETY: the emulator stops the kernel at its fault.
    let fault = run("neighbouring_bytes", &launch, || unsafe { neighbouring_bytes(true) }).unwrap_err();
    assert!(fault.block[0] == FAULTY && [8, 9].contains(&fault.thread[0]));
}

/// All lanes store their number in one word and read which one won, with a barrier in between if `ordered`.
#[kernel]
unsafe fn one_wins(ordered: bool, winners: DeviceSliceMut<u32>) {
    let word = shared_slice![u32; 1];
    let me = thread::thread_idx_x();
    // SAFETY: one warp; the emulator stops the kernel at a race.
    unsafe {
        if me == 0 {
            word.store(0, 0);
        }
        warp::sync_warp(warp::ALL);
        word.store_relaxed(0, me);
        if ordered {
            warp::sync_warp(warp::ALL);
        }
        winners.set(me as usize, word.load(0));
    }
}

#[test]
fn of_relaxed_stores_any_one_wins_but_reading_takes_a_barrier() {
    let mut all = std::collections::BTreeSet::new();
    for seed in 0..40 {
        let mut winners = [99; 32];
        // SAFETY: the array is there until the launch is done.
        let slice = unsafe { DeviceSliceMut::new(winners.as_mut_ptr(), 32) };
        let launch = Launch::default().block(32).seed(seed);
        // SAFETY: 32 threads and winners, with a barrier before the read.
        run("one_wins", &launch, || unsafe { one_wins(true, slice) }).unwrap();
        assert_eq!(winners, [winners[0]; 32]);
        all.insert(winners[0]);
        // SAFETY: the emulator stops the kernel at its fault.
        let fault = run("one_wins", &launch, || unsafe { one_wins(false, slice) }).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::SharedRace { .. }), "{fault}");
    }
    assert!(all.len() > 8 && all.iter().all(|winner| *winner < 32));
}
