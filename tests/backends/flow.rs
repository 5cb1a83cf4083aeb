//! Checks that deformable registration gives the same bits on CPU, emulator and GPU.

use super::volumes;
use crate::support::{gpu, gpu_is_absent, stored};
use glam::DVec3;
use gpu::params::Affine;
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{
    Agreement, Backend, Compare, Flow, FlowChannel, FlowLandmark, FlowLevel, FlowPair, FlowStep, Halves,
    KnownDisplacement, Score, VectorMaps, cpu::Cpu,
};
use mireg::image::voxel_map;
use mireg::transform::Rigid;
use mireg::{Geometry, Volume};

/// Sizes of a fixed and a moving image, for each of two levels.
type Levels = [[[usize; 3]; 2]; 2];
const SMALL: &[Levels] = &[
    [[[11, 9, 7], [12, 10, 5]], [[37, 21, 11], [29, 24, 9]]],
    [[[35, 23, 1], [33, 25, 1]], [[70, 45, 1], [66, 50, 1]]],
];
const LARGE: &[Levels] = &[[[[91, 109, 90], [75, 90, 25]], [[181, 217, 180], [150, 180, 50]]]];

/// The metrics, and the number of channels.
type Compared = (&'static [Compare], usize);

/// With a name: the largest table does not fit into the emulator's shared memory.
const COMPARED: [(&str, Compared); 6] = [
    ("2_bins", (&[Compare::Joint { bins: 2 }], 1)),
    ("50_bins", (&[FIFTY], 1)),
    ("120_bins", (&[Compare::Joint { bins: 120 }], 1)),
    ("local_means", (&[LOCAL], 1)),
    ("both_at_once", (&[FIFTY, LOCAL], 1)),
    ("two_channels", (&[LOCAL, Compare::Joint { bins: 9 }], 2)),
];
const PAIRS: [(&str, Compared); 3] =
    [("histograms", (&[FIFTY], 1)), ("local_means", (&[LOCAL], 1)), ("two_channels", (&[FIFTY, LOCAL], 2))];
const FIFTY: Compare = Compare::Joint { bins: 50 };
const LOCAL: Compare = Compare::Local { window_mm: 3.0 };

pub fn tests() -> Vec<Trial> {
    let mut tests = vec![
        Trial::test("backends::emulator_flows_in_any_order", || {
            agree(
                &Emulated::with_seed(5),
                &SMALL[..1],
                &[(&[Compare::Joint { bins: 9 }], 1), (&[Compare::Local { window_mm: 5.0 }], 1), (&[FIFTY, LOCAL], 2)],
            )
        }),
        Trial::test("backends::gpu_flows_large_images_as_the_cpu", || {
            let [few, many]: [&'static [Compare]; 2] =
                [&[Compare::Joint { bins: 100 }], &[Compare::Joint { bins: 255 }]];
            agree(&*gpu()?, LARGE, &[(few, 1), (many, 1), (&[LOCAL], 1), (&[FIFTY, LOCAL], 2)])
        })
        .with_ignored_flag(gpu_is_absent()),
        Trial::test("backends::a_flow_refuses_what_it_cannot_do", || refuses(&Emulated::default())),
    ];
    for (name, compared) in PAIRS {
        tests.push(Trial::test(format!("backends::emulator_meets_by_{name}_as_the_cpu"), move || {
            meet(&Emulated::default(), SMALL, &[compared])
        }));
        tests.push(
            Trial::test(format!("backends::gpu_meets_by_{name}_as_the_cpu"), move || {
                meet(&*gpu()?, SMALL, &[compared])
            })
            .with_ignored_flag(gpu_is_absent()),
        );
    }
    tests.push(
        Trial::test("backends::gpu_meets_in_large_images_as_the_cpu", || {
            meet(&*gpu()?, LARGE, &[(&[FIFTY, LOCAL], 2)])
        })
        .with_ignored_flag(gpu_is_absent()),
    );
    for (name, compared) in COMPARED {
        tests.push(Trial::test(format!("backends::emulator_flows_by_{name}_as_the_cpu"), move || {
            agree(&Emulated::default(), SMALL, &[compared])
        }));
        tests.push(
            Trial::test(format!("backends::gpu_flows_by_{name}_as_the_cpu"), move || {
                agree(&*gpu()?, SMALL, &[compared])
            })
            .with_ignored_flag(gpu_is_absent()),
        );
    }
    tests
}

/// Compares two levels of a few steps, and everything computed from the field, for noise and for a smooth image.
fn agree(backend: &dyn Backend, sizes: &[Levels], compared: &[Compared]) -> Result<(), Failed> {
    for levels in sizes {
        for &compared in compared {
            for kind in 0..2 {
                let (mut ours, mut theirs) = (Cpu.flow()?, backend.flow()?);
                for (number, &[fixed, moving]) in levels.iter().enumerate() {
                    let images = [(fixed, 1), (moving, 2)].map(|(size, seed)| {
                        let mut volumes = volumes(size, seed);
                        volumes.swap(0, kind);
                        volumes
                    });
                    let from = (number > 0).then(|| between(levels[0][0], fixed));
                    let mut both = Both { ours: &mut *ours, theirs: &mut *theirs };
                    both.level(&images, compared, from, kind == 1)?;
                    for step in 0..3 {
                        both.step(step)?;
                    }
                    both.ends([&images[0][0], &images[1][0]])?;
                }
            }
        }
    }
    Ok(())
}

/// Compares two levels of a few steps of symmetric registration. The middle grid is that of one image; the other image
/// has another grid.
fn meet(backend: &dyn Backend, sizes: &[Levels], compared: &[Compared]) -> Result<(), Failed> {
    for levels in sizes {
        for &compared in compared {
            for masked in [false, true] {
                let (mut ours, mut theirs) = (Cpu.flow_pair()?, backend.flow_pair()?);
                for (number, &sizes) in levels.iter().enumerate() {
                    let from = (number > 0).then(|| between(levels[0][0], sizes[0]));
                    enter([&mut *ours, &mut *theirs], sizes, compared, from, masked)?;
                    for step in 0..3 {
                        let half = [Halves::Both, Halves::First, Halves::Second][step];
                        let (agreements, same_ones) = (ours.agreement(half)?, theirs.agreement(half)?);
                        same("agreements of a pair", &agreements, &same_ones)?;
                        let scores = agreements.iter().map(|agreement| Ok((score(agreement)?, 0.8)));
                        let scores = scores.collect::<Result<Vec<_>, Failed>>()?;
                        let step = FlowStep { half, prior_mm: 2.0, smooth_mm: [1.5, 0.7], limit: 0.5, share: 0.5 };
                        ours.step(&scores, &step)?;
                        theirs.step(&scores, &step)?;
                        let fields = ours.fields()?;
                        if fields[0] == fields[1] || fields.iter().flatten().any(|v| !v.is_finite()) {
                            return Err("the fields are the same or not finite".into());
                        }
                        same("fields of a pair", &fields, &theirs.fields()?)?;
                    }
                    same("ranges of a pair", &ours.jacobian_range()?, &theirs.jacobian_range()?)?;
                    ours.smooth(1.3)?;
                    theirs.smooth(1.3)?;
                    same("smoothed pairs", &ours.fields()?, &theirs.fields()?)?;
                }
            }
        }
    }
    Ok(())
}

/// Takes pairs to a level, on the first grid.
fn enter(
    pairs: [&mut dyn FlowPair; 2],
    sizes: [[usize; 3]; 2],
    (compare, channels): Compared,
    from: Option<[[f32; 3]; 2]>,
    masked: bool,
) -> Result<(), Failed> {
    let images = [(sizes[0], 1), (sizes[1], 2)].map(|(size, seed)| volumes(size, seed));
    let grid = images[0][0].geometry;
    let stored = images.each_ref().map(|all| all.iter().map(|volume| stored(volume, 1024)).collect::<Vec<_>>());
    let masks = images.each_ref().map(|all| if masked { mask(&all[0]) } else { Vec::new() });
    let (blank, all) = (stored[0][2].clone(), vec![1; grid.voxels()]);
    let sides = [0, 1].map(|side: usize| {
        let channel = |number: usize| FlowChannel {
            fixed: &blank,
            moving: &stored[side][1 - number],
            masks: [&all, &masks[side]],
        };
        (0..channels).map(channel).collect::<Vec<_>>()
    });
    let levels = [0, 1].map(|side: usize| level(&sides[side], map(&grid, &images[side][0].geometry), compare, from));
    for pair in pairs {
        pair.level(levels.each_ref())?;
    }
    Ok(())
}

/// The same flow on two backends.
struct Both<'a> {
    ours: &'a mut dyn Flow,
    theirs: &'a mut dyn Flow,
}

impl Both<'_> {
    /// The images by channels.
    fn level(
        &mut self,
        images: &[Vec<Volume>; 2],
        (compare, channels): Compared,
        from: Option<[[f32; 3]; 2]>,
        masked: bool,
    ) -> Result<(), Failed> {
        let map = map(&images[0][0].geometry, &images[1][0].geometry);
        let stored = images.each_ref().map(|all| all.iter().map(|volume| stored(volume, 1024)).collect::<Vec<_>>());
        let masks = images.each_ref().map(|all| if masked { mask(&all[0]) } else { Vec::new() });
        // The first channel alone is masked, if any.
        let channel = |number: usize| FlowChannel {
            fixed: &stored[0][number],
            moving: &stored[1][number],
            masks: if number == 0 { masks.each_ref().map(Vec::as_slice) } else { [&[]; 2] },
        };
        let channels: Vec<_> = (0..channels).map(channel).collect();
        let landmarks = landmarks(&images[0][0].geometry);
        let landmarks = if masked { &landmarks[..] } else { &[] };
        let level = FlowLevel { landmarks, ..level(&channels, map, compare, from) };
        self.ours.level(&level)?;
        self.theirs.level(&level)?;
        self.field("a level")
    }

    fn step(&mut self, number: u32) -> Result<(), Failed> {
        for half in [Halves::First, Halves::Second] {
            same("agreements of a half", &self.ours.agreement(half)?, &self.theirs.agreement(half)?)?;
        }
        let agreements = self.ours.agreement(Halves::Both)?;
        same("agreements", &agreements, &self.theirs.agreement(Halves::Both)?)?;
        let weights = [0.7, 1.0, 2.3].into_iter().cycle();
        let scores = agreements.iter().zip(weights).map(|(agreement, weight)| Ok((score(agreement)?, weight)));
        let scores = scores.collect::<Result<Vec<_>, Failed>>()?;
        // Steps with and without a limit that applies, without smoothing and with increasing smoothing.
        let n = f64::from(number);
        let half = [Halves::Both, Halves::First, Halves::Second][number as usize % 3];
        let step = FlowStep {
            half,
            prior_mm: 2.0,
            smooth_mm: [1.5 * n, 0.6 * n],
            limit: [0.5, 4.0][number as usize % 2],
            share: 1.0,
        };
        self.ours.step(&scores, &step)?;
        self.theirs.step(&scores, &step)?;
        self.field("a step")
    }

    /// Compares everything that is computed from the field, on its grid and then on another.
    fn ends(&mut self, [fixed, moving]: [&Volume; 2]) -> Result<(), Failed> {
        let (there, back) = (map(&fixed.geometry, &moving.geometry), map(&moving.geometry, &fixed.geometry));
        same("jacobians", &self.ours.jacobians()?, &self.theirs.jacobians()?)?;
        same("ranges", &self.ours.jacobian_range()?, &self.theirs.jacobian_range()?)?;
        same("moved images", &self.ours.moved(moving, &there)?, &self.theirs.moved(moving, &there)?)?;
        let size = moving.geometry.size;
        let rows = |scale: f64| [[scale, 0.1, -0.3, 2.0], [0.2, scale, 0.7, -1.0], [0.05, 0.0, scale, 0.4]];
        let maps = VectorMaps { from: rows(1.0), to: rows(1.3), own: rows(0.9) };
        same("vectors", &self.ours.vectors(&maps)?, &self.theirs.vectors(&maps)?)?;
        let inverse = |flow: &mut dyn Flow| flow.inverse(size, [&there, &back], &maps);
        let (ours, theirs) = (inverse(self.ours)?, inverse(self.theirs)?);
        if ours.mean_mm == 0.0 || ours.worst_mm <= ours.mean_mm {
            return Err(format!("no way back misses: {} mm, {} mm", ours.mean_mm, ours.worst_mm).into());
        }
        same("ways back", &ours, &theirs)?;
        self.field("what is made of the field")?;
        self.ours.smooth(1.3)?;
        self.theirs.smooth(1.3)?;
        self.field("smoothing")?;
        for limits in [[0.97, 1.03], [0.5, 2.0]] {
            self.ours.relax(limits, 5)?;
            self.theirs.relax(limits, 5)?;
            self.field("relaxing")?;
        }
        let size = fixed.geometry.size;
        let half = size.map(|n| n.div_ceil(2));
        let voxels = |size: [usize; 3]| size.iter().product::<usize>();
        let field = self.ours.field()?;
        // The first numbers of each plane, as many as a smaller plane has.
        let planes = field.chunks_exact(voxels(size)).flat_map(|plane| &plane[..voxels(half)]);
        let planes: Vec<f32> = planes.map(|displacement| 0.3 * displacement).collect();
        self.ours.take(&planes, half, between(half, size))?;
        self.theirs.take(&planes, half, between(half, size))?;
        self.field("taking another field")?;
        let larger = size.map(|n| n + n / 3);
        for (to, from) in [(larger, between(size, larger)), (size, between(larger, size))] {
            self.ours.refine(to, SPACING_MM, from)?;
            self.theirs.refine(to, SPACING_MM, from)?;
            self.field("refining")?;
        }
        Ok(())
    }

    fn field(&mut self, after: &str) -> Result<(), Failed> {
        let field = self.ours.field()?;
        if field.iter().any(|displacement| !displacement.is_finite()) {
            return Err(format!("after {after} the field is not finite").into());
        }
        same(after, &field, &self.theirs.field()?)
    }
}

/// Returns landmarks that exist on every grid, with large and small displacements along all axes.
pub fn landmarks(grid: &Geometry) -> [FlowLandmark; 3] {
    let landmark = |voxel, [x, y, z]: [f32; 3], precision| {
        let displacement = [x, y, if grid.is_flat() { 0.0 } else { z }];
        FlowLandmark { voxel, known: KnownDisplacement { displacement, precision } }
    };
    [landmark(5, [0.3, -2.0, 0.0], 0.5), landmark(300, [7.0, 0.25, -0.4], 0.002), landmark(692, [-1.0, 0.0, 0.7], 0.01)]
}

const SPACING_MM: [f64; 3] = [1.0, 1.2, 2.5];

/// Returns a map with which most of the images overlaps.
pub fn map(fixed: &Geometry, moving: &Geometry) -> Affine {
    let angles = DVec3::new(0.05, 0.0, 0.1);
    let angles = if fixed.is_flat() { DVec3::new(0.0, 0.0, 0.1) } else { angles };
    let turned = Rigid { angles, translation: DVec3::new(0.3, -0.2, 0.0), centre: fixed.centre() };
    voxel_map(fixed, moving, &turned.to_affine())
}

/// Returns a mask that excludes one voxel of nine.
pub fn mask(volume: &Volume) -> Vec<u8> {
    (0..volume.voxels.len()).map(|n| u8::from(!(n * n + 3 * n).is_multiple_of(9))).collect()
}

pub fn level<'a>(
    channels: &'a [FlowChannel<'a>],
    map: Affine,
    compare: &'a [Compare],
    from: Option<[[f32; 3]; 2]>,
) -> FlowLevel<'a> {
    FlowLevel { channels, map, spacing_mm: SPACING_MM, from, compare, block_mm: 3.7, landmarks: &[] }
}

/// Returns how a grid of size `new` lies on a grid of size `old` that covers the same region ([`FlowLevel::from`]).
pub fn between(old: [usize; 3], new: [usize; 3]) -> [[f32; 3]; 2] {
    let ratio = [0, 1, 2].map(|i: usize| new[i] as f32 / old[i] as f32);
    [ratio.map(|ratio| 0.5 / ratio - 0.5), ratio]
}

/// A score: of counts one that is high for frequent pairs, with its slope along the moving bins.
fn score(agreement: &Agreement) -> Result<Score, Failed> {
    let counts = match agreement {
        Agreement::Local { overlap: 0, .. } => return Err("no voxel is inside".into()),
        Agreement::Local { .. } => return Ok(Score::Local),
        Agreement::Joint(counts) => counts,
    };
    if counts.iter().sum::<u32>() == 0 {
        return Err("no voxel is counted".into());
    }
    let bins = counts.len().isqrt();
    let height = |fixed: usize, moving: usize| counts[fixed + bins * moving.min(bins - 1)] as f32;
    let scores = (0..counts.len()).map(|i| {
        let (fixed, moving) = (i % bins, i / bins);
        (height(fixed, moving + 1) - height(fixed, moving)) / (height(fixed, moving) + 10.0)
    });
    let information = (0..bins).map(|fixed| 0.01 + height(fixed, fixed) / 100.0);
    Ok(Score::Joint { scores: scores.collect(), information: information.collect() })
}

fn same<T: PartialEq>(what: &str, ours: &T, theirs: &T) -> Result<(), Failed> {
    (ours == theirs).then_some(()).ok_or_else(|| format!("{what}: not the same").into())
}

/// Checks that calls before the first level, invalid levels, and scores that do not fit the level are refused.
fn refuses(backend: &dyn Backend) -> Result<(), Failed> {
    let volume = &volumes([5, 4, 3], 1)[0];
    let image = stored(volume, 1024);
    let map = map(&volume.geometry, &volume.geometry);
    let step = FlowStep { half: Halves::Both, prior_mm: 1.0, smooth_mm: [0.0; 2], limit: 1.0, share: 1.0 };
    let mut flow = backend.flow()?;
    let early = flow.agreement(Halves::Both).is_err() && flow.field().is_err();
    let alone = [FlowChannel { fixed: &image, moving: &image, masks: [&[]; 2] }];
    let other = stored(&volumes([5, 4, 4], 1)[0], 1024);
    let sizes = [alone[0], FlowChannel { fixed: &other, ..alone[0] }];
    let apart = flow.level(&level(&sizes, map, &[LOCAL], None)).is_err();
    let nothing = flow.level(&level(&alone, map, &[], None)).is_err();
    let many = flow.level(&level(&alone, map, &[Compare::Joint { bins: 256 }], None)).is_err();
    flow.level(&level(&alone, map, &[Compare::Joint { bins: 4 }], None))?;
    let other = flow.step(&[(Score::Local, 1.0)], &step).is_err();
    let two = Score::Joint { scores: vec![0.0; 16], information: vec![1.0; 4] };
    let two = flow.step(&[(two.clone(), 1.0), (two, 1.0)], &step).is_err();
    let short = Score::Joint { scores: vec![0.0; 9], information: vec![1.0; 3] };
    let short = flow.step(&[(short, 1.0)], &step).is_err();
    let known = KnownDisplacement { displacement: [0.0; 3], precision: 1.0 };
    let mut landmarks = |voxels: &[u32]| {
        let landmarks: Vec<_> = voxels.iter().map(|&voxel| FlowLandmark { voxel, known }).collect();
        flow.level(&FlowLevel { landmarks: &landmarks, ..level(&alone, map, &[LOCAL], None) })
    };
    landmarks(&[0, 59])?;
    let [beyond, twice] = [&[0, 60], &[7, 7]].map(|voxels| landmarks(voxels).is_err());
    let refused = [early, apart, nothing, many, other, two, short, beyond, twice];
    refused
        .iter()
        .all(|&refused| refused)
        .then_some(())
        .ok_or_else(|| format!("what is wrong is taken: {refused:?}").into())
}
