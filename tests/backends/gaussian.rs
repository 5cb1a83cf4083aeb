//! Checks that the recursive Gaussian gives the same bits on CPU, emulator and GPU.

use crate::support::{gpu, gpu_is_absent, random};
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, cpu::Cpu};

/// A size, volumes of it, and the sigmas along x, y and z.
type Case = ([usize; 3], usize, [f64; 3]);

/// Lines shorter and longer than the prefetched samples, of whole chunks and of one sample more; fewer lines than a
/// warp has lanes, and more.
const SMALL: &[Case] = &[
    ([37, 21, 11], 3, [1.5, 2.0, 0.4]),
    ([64, 33, 2], 1, [0.5, 0.0, 3.0]),
    ([65, 1, 40], 2, [20.0, 5.0, 1.0]),
    ([1, 31, 70], 1, [2.0, 100.0, 0.7]),
    ([7, 32, 96], 1, [4.0, 1.0, 8.0]),
];

/// Lines too long for 48 KB of shared memory, along each axis.
const LONG: &[Case] =
    &[([400, 3, 2], 1, [3.0, 1.0, 1.0]), ([33, 417, 1], 1, [0.0, 9.0, 0.0]), ([3, 2, 500], 2, [1.0, 1.0, 30.0])];

/// Typical sizes of images, and lines longer than any shared memory.
const LARGE: &[Case] = &[
    ([181, 217, 180], 3, [2.0, 2.0, 2.0]),
    ([256, 256, 256], 1, [1.0, 5.0, 20.0]),
    ([4096, 40, 2], 1, [10.0, 3.0, 1.0]),
    ([40, 4096, 2], 1, [10.0, 3.0, 1.0]),
    ([17, 5, 4096], 1, [10.0, 3.0, 1.0]),
];

pub fn tests() -> Vec<Trial> {
    vec![
        Trial::test("backends::emulator_smooths_as_the_cpu", || agree(&Emulated::with_seed(5), SMALL)),
        Trial::test("backends::emulator_smooths_long_lines_as_the_cpu", || agree(&Emulated::default(), LONG)),
        Trial::test("backends::gpu_smooths_as_the_cpu", || {
            let gpu = gpu()?;
            [SMALL, LONG, LARGE].into_iter().try_for_each(|cases| agree(&*gpu, cases))
        })
        .with_ignored_flag(gpu_is_absent()),
    ]
}

fn agree(backend: &dyn Backend, cases: &[Case]) -> Result<(), Failed> {
    for &(size, volumes, sigmas) in cases {
        let mut random = random(6);
        let noise: Vec<f32> = (0..volumes * size.iter().product::<usize>()).map(|_| random() - 0.3).collect();
        let (mut ours, mut theirs) = (noise.clone(), noise.clone());
        Cpu.smooth(&mut ours, size, sigmas)?;
        backend.smooth(&mut theirs, size, sigmas)?;
        if ours == noise {
            return Err(format!("{size:?} stays as it is").into());
        }
        if let Some(voxel) = (0..ours.len()).find(|&i| ours[i].to_bits() != theirs[i].to_bits()) {
            let (ours, theirs) = (ours[voxel], theirs[voxel]);
            return Err(format!("{size:?} by {sigmas:?}, voxel {voxel}: {theirs} is not {ours}").into());
        }
    }
    Ok(())
}
