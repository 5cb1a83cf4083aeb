//! Checks that Viola's mutual information and its derivatives have the same bits on CPU, emulator and GPU.

use super::{transforms, volumes};
use crate::support::{gpu, gpu_is_absent, random, stored};
use gpu::math::viola::{CHUNKS_PER_SEGMENT, SAMPLES_PER_CHUNK, SEGMENTS_PER_STRETCH};
use gpu::params::Affine;
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, Exponentials, Group, Sample, Sigmas, ViolaPair, cpu::Cpu};
use mireg::image::StoredImage;

pub fn tests() -> Vec<Trial> {
    let absent = gpu_is_absent();
    vec![
        Trial::test("backends::viola::emulator", || agree(&Emulated::default(), &SMALL)),
        Trial::test("backends::viola::order_of_threads_does_not_matter", || {
            agree(&Emulated::with_seed(5), &SMALL[1..])
        }),
        Trial::test("backends::viola::gpu_viola_small_sets", || agree(&*gpu()?, &SMALL)).with_ignored_flag(absent),
        Trial::test("backends::viola::gpu_viola_large_sets", || agree(&*gpu()?, &LARGE)).with_ignored_flag(absent),
        Trial::test("backends::viola::gpu_viola_fast_is_about_the_same", || about(&*gpu()?)).with_ignored_flag(absent),
    ]
}

/// The numbers of samples of A and of B, for each group of an evaluation.
type Sets = &'static [[u32; 2]];
const LONG: u32 = (SEGMENTS_PER_STRETCH * CHUNKS_PER_SEGMENT * SAMPLES_PER_CHUNK) as u32;
const SMALL: [Sets; 3] = [&[[1, 1], [0, 70], [63, 0], [65, 64]], &[[300, 257], [1, 700]], &[[1100, 600]]];
/// More samples than a stretch has, and sets so large that a lane takes several samples.
const LARGE: [Sets; 3] =
    [&[[20_000, 900], [300, 3 * LONG]], &[[4 * LONG + 7, 4 * LONG + 900]], &[[40_000, 70], [70, 40_000]]];

/// Returns samples of a volume, in groups. Every other group is sorted by fixed intensity, so that there are chunks
/// that are near to each other and chunks that are far apart.
fn samples(fixed: &StoredImage, sets: Sets) -> (Vec<Sample>, Vec<Group>) {
    let mut random = random(11);
    let [x, y, z] = fixed.size;
    let mut samples = Vec::new();
    let mut set = |len: u32, sorted: bool| {
        let first = samples.len();
        samples.extend((0..len).map(|_| {
            let voxel = [x, y, z].map(|n| ((random() * n as f32) as usize).min(n - 1));
            let value = f32::from(fixed.values[voxel[0] + x * (voxel[1] + y * voxel[2])]);
            Sample { voxel: voxel.map(|n| n as u32), value }
        }));
        if sorted {
            samples[first..].sort_by(|a, b| a.value.total_cmp(&b.value));
        }
        first as u32..samples.len() as u32
    };
    let group = |(n, [a, b]): (usize, &[u32; 2])| Group { a: set(*a, n % 2 == 0), b: set(*b, n % 2 == 0) };
    let groups = sets.iter().enumerate().map(group).collect();
    (samples, groups)
}

/// Windows of several widths, with and without a separate joint window.
const SIGMAS: [Sigmas; 3] = [
    Sigmas { fixed: 900.0, moving: 1500.0, joint: None },
    Sigmas { fixed: 900.0, moving: 1500.0, joint: Some([1600.0, 2400.0]) },
    Sigmas { fixed: 20_000.0, moving: 9000.0, joint: Some([15_000.0, 9000.0]) },
];

fn agree(backend: &dyn Backend, problems: &[Sets]) -> Result<(), Failed> {
    for (fixed, moving) in volumes([37, 21, 11], 1).iter().zip(&volumes([29, 24, 9], 2)).take(2) {
        let maps = transforms(&fixed.geometry, &moving.geometry);
        let (fixed, moving) = (stored(fixed, 1024), stored(moving, 1024));
        for sets in problems {
            let (samples, groups) = samples(&fixed, sets);
            for sigmas in SIGMAS {
                let exponentials = Exponentials::Exact;
                let pair = ViolaPair { samples: &samples, groups: &groups, moving: &moving, sigmas, exponentials };
                let (mut ours, mut theirs) = (Cpu.load_viola(pair)?, backend.load_viola(pair)?);
                // Each group with each map. A large group, which takes long, only with the maps that leave most and
                // half of it inside.
                let first_maps = if groups.len() > 1 { 0..maps.len() } else { 1..3 };
                for first in first_maps {
                    let maps: Vec<Affine> = (0..groups.len()).map(|n| maps[(first + n) % maps.len()]).collect();
                    let (a, b) = (ours.slopes(&maps)?, theirs.slopes(&maps)?);
                    if a != b {
                        return Err(format!("{sets:?}, {sigmas:?}: {b:?} is not {a:?}").into());
                    }
                    let values: Vec<_> = a.into_iter().map(|(value, _)| value).collect();
                    if theirs.values(&maps)? != values {
                        return Err(format!("{sets:?}, {sigmas:?}: values without slopes differ").into());
                    }
                }
            }
        }
    }
    Ok(())
}

fn about(backend: &dyn Backend) -> Result<(), Failed> {
    let (fixed, moving) = (&volumes([37, 21, 11], 1)[1], &volumes([29, 24, 9], 2)[1]);
    let map = transforms(&fixed.geometry, &moving.geometry)[1];
    let (fixed, moving) = (stored(fixed, 1024), stored(moving, 1024));
    let (samples, groups) = samples(&fixed, &[[3000, 2000]]);
    for sigmas in SIGMAS {
        let load = |exponentials| {
            backend.load_viola(ViolaPair { samples: &samples, groups: &groups, moving: &moving, sigmas, exponentials })
        };
        let ((exact, by_map), (fast, fast_by_map)) =
            (load(Exponentials::Exact)?.slopes(&[map])?[0], load(Exponentials::Fast)?.slopes(&[map])?[0]);
        let most = by_map.as_flattened().iter().fold(0.0_f64, |most, n| most.max(n.abs()));
        let pairs = by_map.as_flattened().iter().zip(fast_by_map.as_flattened());
        let apart = pairs.map(|(a, b)| (a - b).abs()).fold(0.0_f64, f64::max);
        if (exact.mi - fast.mi).abs() > 1e-5 * exact.mi.abs() || apart > 1e-4 * most {
            return Err(format!("{sigmas:?}: {fast:?} is not about {exact:?}, or {apart} of {most}").into());
        }
    }
    Ok(())
}
