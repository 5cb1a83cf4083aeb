//! Viola's mutual information and its derivative.

use super::real;
use crate::support::random;
use glam::{DAffine3, DMat3, DVec3};
use gpu::math::bin::FULL;
use gpu::params::Affine;
use libtest_mimic::{Failed, Trial};
use mireg::backend::{Backend, Exponentials, Group, Sample, Sigmas, ViolaPair, ViolaValue, cpu::Cpu};
use mireg::image::StoredImage;
use mireg::image::voxel_map;
use mireg::reference::{self, Deviations, Interpolator, Samples, viola_derivative};
use mireg::{Geometry, PixelType, Volume, threads};
use std::ops::Range;
use std::path::Path;

pub fn tests() -> Vec<Trial> {
    let mut tests = vec![
        Trial::test("reference::viola::random samples", random_samples_agree),
        Trial::test("reference::viola::central differences", central_differences_agree),
        Trial::test("reference::viola::levels", levels_are_exact),
        Trial::test("reference::viola::threads", threads_change_nothing),
        Trial::test("reference::viola::nothing to compare", nothing_to_compare),
        Trial::test("reference::viola::bad sigmas", bad_sigmas_are_refused),
    ];
    tests.extend(real::cases(|name| format!("reference::viola::{name}"), real_samples_agree));
    tests
}

type Slope = (ViolaValue, [[f64; 4]; 3]);

/// Windows with the joint window as their product, and with a separate joint window.
const SIGMAS: [Sigmas; 2] = [
    Sigmas { fixed: 6000.0, moving: 5000.0, joint: None },
    Sigmas { fixed: 6000.0, moving: 5000.0, joint: Some([7000.0, 4500.0]) },
];

/// Samples of a fixed image, and a moving image.
struct Scene {
    /// The moving image, as stored values.
    moving: Volume,
    stored: StoredImage,
    samples: Vec<Sample>,
    groups: Vec<Group>,
    /// One for each group.
    maps: Vec<Affine>,
}

impl Scene {
    /// Makes a scene with a group for each of `sizes`, with that many samples of A and one less of B. The moving image
    /// has `levels` grey values. Some samples are outside.
    fn random(size: [usize; 3], sizes: &[u32], levels: f32, seed: u64) -> Self {
        let mut random = random(seed);
        let mut between = move |low: f32, high: f32| low + (high - low) * random();
        let waves: Vec<[f32; 4]> = (0..6).map(|_| [0.0; 4].map(|_| between(-0.4, 0.4))).collect();
        let [nx, ny, _] = size;
        let intensity = |i: usize| {
            let place = [(i % nx) as f32, (i / nx % ny) as f32, (i / nx / ny) as f32];
            let wave = |wave: &[f32; 4]| ((0..3).map(|k| wave[k] * place[k]).sum::<f32>() + 9.0 * wave[3]).sin();
            let fraction = 0.5 + waves.iter().map(wave).sum::<f32>() / 12.0;
            (fraction * (levels - 1.0)).round() * (FULL / (levels - 1.0))
        };
        let voxels = (0..size.iter().product()).map(intensity).collect();
        let moving =
            Volume { geometry: Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO), voxels, pixel: PixelType::F32 };
        let (mut samples, mut groups, mut maps) = (vec![], vec![], vec![]);
        for &n in sizes {
            let start = samples.len() as u32;
            for _ in 0..2 * n - 1 {
                let voxel = size.map(|n| (between(0.0, n as f32) as u32).min(n as u32 - 1));
                let there = moving.voxels[voxel[0] as usize + nx * (voxel[1] as usize + ny * voxel[2] as usize)] / FULL;
                let value = ((there * there + between(-0.1, 0.1)).clamp(0.0, 1.0) * (levels - 1.0)).round()
                    * (FULL / (levels - 1.0));
                samples.push(Sample { voxel, value });
            }
            groups.push(Group { a: start..start + n, b: start + n..start + 2 * n - 1 });
            let mut rows = [[0.0; 4]; 3];
            for (k, row) in rows.iter_mut().enumerate().filter(|(k, _)| size[*k] > 1) {
                *row = [between(-0.05, 0.05), between(-0.05, 0.05), between(-0.05, 0.05), between(-1.0, 1.0)];
                row[k] += 1.0;
            }
            maps.push(Affine { rows });
        }
        Self { stored: StoredImage::new(&moving, (0.0, FULL), 1024), moving, samples, groups, maps }
    }

    /// Returns a scene of volumes and one of pictures.
    fn all() -> [Self; 2] {
        let sizes = [1, 7, 33, 64, 65, 1000, 1153];
        [Self::random([24, 20, 16], &sizes, 65536.0, 3), Self::random([50, 40, 1], &sizes, 65536.0, 4)]
    }

    fn slopes(&self, sigmas: Sigmas, exponentials: Exponentials) -> mireg::Result<Vec<Slope>> {
        let Self { samples, groups, stored: moving, .. } = self;
        let mut loaded = Cpu.load_viola(ViolaPair { samples, groups, moving, sigmas, exponentials })?;
        let slopes = loaded.slopes(&self.maps)?;
        let values = loaded.values(&self.maps)?;
        assert!(slopes.iter().map(|(value, _)| *value).eq(values), "values and slopes differ");
        Ok(slopes)
    }

    /// Returns the reference's samples of A and of B that a map takes inside the moving image.
    fn reference(&self, group: &Group, map: [[f64; 4]; 3], moving: &Samples) -> [Vec<reference::Sample>; 2] {
        let matrix = DMat3::from_cols_array_2d(&map.map(|row| [row[0], row[1], row[2]])).transpose();
        let map = (matrix, DVec3::from_array(map.map(|row| row[3])));
        let set = |range: &Range<u32>| {
            let samples = self.samples[range.start as usize..range.end as usize].iter();
            let voxel = |sample: &Sample| DVec3::from_array(sample.voxel.map(f64::from));
            samples
                .filter_map(|sample| reference::Sample::of(sample.value.into(), voxel(sample), map, moving))
                .collect()
        };
        [&group.a, &group.b].map(set)
    }

    /// Fails unless every group's value agrees with the reference to `tolerance` nats, and its derivative to
    /// `tolerance` times the largest number.
    fn check(&self, sigmas: Sigmas, tolerance: f64) -> Result<(), Failed> {
        let moving = Samples::new(&self.moving, Interpolator::Linear);
        let found = self.slopes(sigmas, Exponentials::Exact)?;
        for ((group, map), (value, slope)) in self.groups.iter().zip(&self.maps).zip(found) {
            let [a, b] = self.reference(group, map.rows.map(|row| row.map(f64::from)), &moving);
            if value.overlap != [a.len() as u32, b.len() as u32] {
                return Err(
                    format!("{group:?}: {:?} samples inside, not {:?}", value.overlap, [a.len(), b.len()]).into()
                );
            }
            if a.is_empty() || b.is_empty() {
                assert_eq!((value.mi, slope), (0.0, Default::default()));
                continue;
            }
            let deviations = deviations(sigmas);
            let expected = reference::Viola::of(&a, &b, &deviations);
            let pairs = [
                (value.fixed, expected.fixed_entropy),
                (value.moving, expected.moving_entropy),
                (value.joint, expected.joint_entropy),
                (value.mi, expected.mi),
            ];
            if !pairs.iter().all(|(found, expected)| (found - expected).abs() <= tolerance) {
                return Err(format!("{group:?}: {value:?} is not {expected:?}").into());
            }
            agree(slope, &viola_derivative(&a, &b, &deviations), tolerance)
                .map_err(|wrong| format!("{group:?}: {wrong}"))?;
        }
        Ok(())
    }
}

/// Rounds a map such that positions are exact in f32. Otherwise rounding alone would move some samples to the next cell
/// of voxels, where gradients differ, which changes a derivative by 1e-5 of its value and more.
fn exact(map: Affine) -> Affine {
    Affine { rows: map.rows.map(|row| row.map(|n| (n * 1024.0).round() / 1024.0)) }
}

fn deviations(sigmas: Sigmas) -> Deviations {
    let Sigmas { fixed: u, moving: v, joint } = sigmas;
    Deviations { u, v, joint: joint.unwrap_or([u, v]) }
}

/// Fails unless all numbers agree to `tolerance` times the largest one.
fn agree(found: [[f64; 4]; 3], expected: &[f64], tolerance: f64) -> Result<(), String> {
    let largest = expected.iter().fold(0.0_f64, |most, n| most.max(n.abs()));
    let far = found.as_flattened().iter().zip(expected).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()));
    if far <= tolerance * largest {
        Ok(())
    } else {
        Err(format!("by {:e} of it, {found:?} is not {expected:?}", far / largest))
    }
}

fn random_samples_agree() -> Result<(), Failed> {
    for mut scene in Scene::all() {
        scene.maps.iter_mut().for_each(|map| *map = exact(*map));
        for sigmas in SIGMAS {
            scene.check(sigmas, 1e-5)?;
        }
    }
    Ok(())
}

/// Compares the reference's derivative with central differences of its value, along each coefficient of a map.
fn central_differences_agree() -> Result<(), Failed> {
    for (scene, sigmas) in Scene::all().iter().zip(SIGMAS) {
        let moving = Samples::new(&scene.moving, Interpolator::Linear);
        let deviations = deviations(sigmas);
        let found = scene.slopes(sigmas, Exponentials::Exact)?;
        for n in [3, 4, 5] {
            let (group, rows) = (&scene.groups[n], scene.maps[n].rows.map(|row| row.map(f64::from)));
            let value = |k: usize, step: f64| {
                let mut rows = rows;
                rows.as_flattened_mut()[k] += step;
                let [a, b] = scene.reference(group, rows, &moving);
                reference::Viola::of(&a, &b, &deviations).mi
            };
            // A picture has no neighbouring voxels along z.
            let numbers = if scene.stored.size[2] > 1 { 12 } else { 8 };
            let difference = |k: usize| if k < numbers { (value(k, 1e-7) - value(k, -1e-7)) / 2e-7 } else { 0.0 };
            let expected: Vec<f64> = (0..12).map(difference).collect();
            agree(found[n].1, &expected, 1e-3)?;
        }
    }
    Ok(())
}

/// The quantised mode, by pairs or, with many samples, by tables, gives the same as the exact mode if the images have
/// no values between the levels.
fn levels_are_exact() -> Result<(), Failed> {
    for size in [[24, 20, 16], [50, 40, 1]] {
        let mut scene = Scene::random(size, &[65, 4200], 256.0, 5);
        for map in &mut scene.maps {
            // From voxel to voxel.
            map.rows = [[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, -1.0], [0.0, 0.0, 1.0, 0.0]];
        }
        for sigmas in SIGMAS {
            let [exact, quantised] =
                [Exponentials::Exact, Exponentials::Quantised].map(|how| scene.slopes(sigmas, how));
            for ((expected, slope), (found, quantised)) in exact?.into_iter().zip(quantised?) {
                let near = |a: f64, b: f64| (a - b).abs() < 1e-5;
                if !(near(found.fixed, expected.fixed)
                    && near(found.moving, expected.moving)
                    && near(found.mi, expected.mi))
                {
                    return Err(format!("{found:?} is not {expected:?}").into());
                }
                agree(quantised, slope.as_flattened(), 1e-5)?;
            }
        }
    }
    Ok(())
}

fn threads_change_nothing() -> Result<(), Failed> {
    let scene = Scene::random([24, 20, 16], &[65, 1000, 4200], 65536.0, 6);
    for (sigmas, how) in
        [(SIGMAS[0], Exponentials::Exact), (SIGMAS[1], Exponentials::Exact), (SIGMAS[1], Exponentials::Quantised)]
    {
        let [one, two, three] = [1, 2, 3].map(|n| threads::with(n, || scene.slopes(sigmas, how)));
        let one = one?;
        if one != two? || one != three? {
            return Err(format!("{how:?} depends on the number of threads").into());
        }
    }
    Ok(())
}

/// Checks groups with all samples outside, with those of A outside, and with empty sets.
fn nothing_to_compare() -> Result<(), Failed> {
    let mut scene = Scene::random([24, 20, 16], &[65, 65, 65], 65536.0, 7);
    scene.maps[0].rows[0][3] = 1000.0;
    scene.groups[1].a = 0..0;
    scene.groups[2].b = 0..0;
    for (sigmas, how) in SIGMAS.iter().flat_map(|s| [(*s, Exponentials::Exact), (*s, Exponentials::Quantised)]) {
        for (value, slope) in scene.slopes(sigmas, how)? {
            if (value.fixed, value.moving, value.joint, value.mi) != (0.0, 0.0, 0.0, 0.0)
                || slope != <[[f64; 4]; 3]>::default()
            {
                return Err(format!("{value:?}, {slope:?}").into());
            }
        }
    }
    Ok(())
}

fn bad_sigmas_are_refused() -> Result<(), Failed> {
    let scene = Scene::random([4, 4, 4], &[2], 65536.0, 8);
    for (sigmas, says) in [
        (Sigmas { fixed: 0.0, ..SIGMAS[0] }, "fixed image need a sigma above 0"),
        (Sigmas { moving: f64::NAN, ..SIGMAS[0] }, "moving image need a sigma above 0"),
        (Sigmas { joint: Some([1000.0, f64::INFINITY]), ..SIGMAS[0] }, "moving image need a sigma above 0"),
        (Sigmas { joint: Some([60_000.0, 1000.0]), ..SIGMAS[0] }, "10 times as wide as that of the fixed image"),
    ] {
        let error = scene.slopes(sigmas, Exponentials::Exact).expect_err("bad sigmas").to_string();
        if !error.contains(says) {
            return Err(format!("{error:?} does not say {says:?}").into());
        }
    }
    Ok(())
}

/// A few thousand voxels of a real pair, some millimetres beside its true transform, where derivatives are not about 0.
fn real_samples_agree(folder: &Path) -> Result<(), Failed> {
    let (fixed, moving, truth) = real::pair(folder)?;
    let beside = DAffine3::from_translation(DVec3::new(4.0, -3.0, 2.0)) * truth;
    let [fixed_values, stored] = [&fixed, &moving].map(|image| StoredImage::new(image, image.range(), 1024));
    let mut random = random(9);
    let mut sample = |_| {
        let voxel = fixed.geometry.size.map(|n| ((random() * n as f32) as usize).min(n - 1));
        let [nx, ny, _] = fixed.geometry.size;
        let value = fixed_values.values[voxel[0] + nx * (voxel[1] + ny * voxel[2])];
        Sample { voxel: voxel.map(|n| n as u32), value: value.into() }
    };
    let scene = Scene {
        samples: (0..4000).map(&mut sample).collect(),
        groups: vec![Group { a: 0..2100, b: 2100..4000 }, Group { a: 10..50, b: 60..200 }],
        maps: vec![exact(voxel_map(&fixed.geometry, &moving.geometry, &beside)); 2],
        moving: Volume { voxels: stored.voxels().iter().map(|&v| v.into()).collect(), ..moving },
        stored,
    };
    for sigmas in SIGMAS {
        scene.check(sigmas, 1e-5)?;
    }
    Ok(())
}
