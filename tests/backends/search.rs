//! Checks that the discrete search for displacements gives the same bits on CPU, emulator and GPU, and finds known
//! displacements.

use super::volumes;
use crate::support::{gpu, gpu_is_absent, stored};
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, Search, cpu::Cpu};

/// Sizes, with the largest displacements and the side of cells: odd sizes, a plane, and an axis along which the largest
/// displacement is 0.
const SMALL: &[([usize; 3], [usize; 3], usize)] =
    &[([11, 9, 7], [2, 3, 1], 2), ([23, 17, 1], [4, 3, 0], 3), ([13, 12, 10], [3, 0, 2], 4)];
const LARGE: &[([usize; 3], [usize; 3], usize)] = &[([45, 54, 45], [9, 10, 9], 2), ([64, 75, 64], [10, 10, 10], 3)];

pub fn tests() -> Vec<Trial> {
    vec![
        Trial::test("backends::emulator_searches_as_the_cpu", || agree(&Emulated::default(), SMALL)),
        Trial::test("backends::emulator_searches_in_any_order", || agree(&Emulated::with_seed(3), &SMALL[..1])),
        Trial::test("backends::gpu_searches_as_the_cpu", || agree(&*gpu()?, SMALL)).with_ignored_flag(gpu_is_absent()),
        Trial::test("backends::gpu_searches_large_images_as_the_cpu", || agree(&*gpu()?, LARGE))
            .with_ignored_flag(gpu_is_absent()),
        Trial::test("backends::a_search_finds_a_shift", finds),
    ]
}

fn agree(backend: &dyn Backend, cases: &[([usize; 3], [usize; 3], usize)]) -> Result<(), Failed> {
    for &(size, reach, side) in cases {
        for kind in 0..2 {
            let [fixed, moving] = [1, 2].map(|seed| stored(&volumes(size, seed).swap_remove(kind), 1024));
            let images = [fixed.voxels(), moving.voxels()];
            let search = Search { images, size, spacing: [1.0, 1.0, 1.5], reach, side };
            let (ours, theirs) = (Cpu.search(&search)?, backend.search(&search)?);
            if ours.iter().zip(&theirs).any(|(a, b)| a.to_bits() != b.to_bits()) || ours.len() != theirs.len() {
                return Err(format!("searches of {size:?} differ").into());
            }
        }
    }
    Ok(())
}

/// Checks that the displacement of noise that is translated, with its contrast inverted, is found, except in the cells
/// at the border.
fn finds() -> Result<(), Failed> {
    let (size, shift) = ([40, 36, 30], [5, -4, 3]);
    let fixed = stored(&volumes(size, 7).swap_remove(0), 1024);
    let at = |place: [i64; 3]| {
        let at = [0, 1, 2].map(|axis: usize| (place[axis] - shift[axis]).clamp(0, size[axis] as i64 - 1) as usize);
        fixed.voxels()[at[0] + size[0] * (at[1] + size[1] * at[2])]
    };
    let place = |n: usize| [n % size[0], n / size[0] % size[1], n / (size[0] * size[1])].map(|n| n as i64);
    let moving: Vec<u16> = (0..size.iter().product()).map(|n| u16::MAX - at(place(n))).collect();
    let search = Search { images: [fixed.voxels(), &moving], size, spacing: [1.0; 3], reach: [8, 7, 6], side: 2 };
    let (found, cells) = (Cpu.search(&search)?, search.cells());
    let middle = cells[0] / 2 + cells[0] * (cells[1] / 2 + cells[1] * (cells[2] / 2));
    let count: usize = cells.iter().product();
    for axis in 0..3 {
        let voxels = 2.0 * found[middle + axis * count];
        if (voxels - shift[axis] as f32).abs() > 0.25 {
            return Err(format!("along axis {axis} {voxels} voxels were found, not {}", shift[axis]).into());
        }
    }
    Ok(())
}
