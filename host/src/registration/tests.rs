//! Whole registrations of small images.

use super::*;
use crate::backend::cpu::Cpu;
use crate::image::IntensityRange;
use crate::{PixelType, Silent, random};
use glam::{DAffine3, DVec3};
use std::sync::Mutex;
use std::time::Instant;

/// Blobs that have no symmetry.
fn blobs(geometry: Geometry) -> Volume {
    let voxel = |n: usize| {
        let index = DVec3::from(geometry.index_of(n).map(|i| i as f64));
        let p = geometry.direction * (index * geometry.spacing) + geometry.origin - geometry.centre();
        let blob =
            |x: f64, y: f64, z: f64, wide: f64| libm::exp(-p.distance_squared(DVec3::new(x, y, z)) / (wide * wide));
        let texture = (0.7 * p.x + 0.2 * p.y).sin() * (0.5 * p.y - 0.3 * p.x + 0.4 * p.z).cos();
        let bulk = blob(8.0, 3.0, 0.0, 18.0) + 0.7 * blob(-14.0, 9.0, 4.0, 12.0) + 0.9 * blob(2.0, -16.0, -5.0, 9.0);
        (100.0 * bulk * (1.0 + 0.4 * texture)) as f32
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
}

#[test]
fn a_single_level_has_the_starts_of_several_however_far_away_a_mask_lies() {
    let grid = |origin| Geometry::axis_aligned([32; 3], DVec3::splat(2.0), origin);
    let (fixed, moving) = (blobs(grid(DVec3::ZERO)), blobs(grid(DVec3::splat(300.0))));
    let mask = moving.with(|n| if (4..28).contains(&(n % 32)) { 1.0 } else { 0.0 });
    for levels in [vec![4.0, 2.0], vec![2.0]] {
        let options = Options {
            dof: Kind::Translation,
            moving_mask: Some(mask.clone()),
            levels: Some(levels),
            moved: false,
            ..Options::default()
        };
        let found = register_once([&fixed, &moving], &options, &Cpu, &Silent).unwrap();
        let shift = found.transform.to_affine().translation;
        assert!(shift.distance(DVec3::splat(300.0)) < 0.5, "{:?}: {shift}", options.levels);
    }
}

#[test]
fn how_thick_a_picture_is_said_to_be_changes_nothing() {
    let picture = |size, mm, thick| blobs(Geometry::axis_aligned(size, DVec3::new(mm, mm, thick), DVec3::ZERO));
    let found = [1.0, 40.0, 0.01].map(|thick| {
        let (fixed, moving) = (picture([60, 56, 1], 2.0, thick), picture([120, 112, 1], 1.0, 1.0));
        let options = Options { moved: false, ..Options::default() };
        let found = register(&fixed, &moving, &options, &Cpu, &Silent).unwrap();
        format!("{:?} {:?} {:?} {:?}", found.transform, found.end, found.place, found.doubts)
    });
    assert_eq!(found[0], found[1]);
    assert_eq!(found[0], found[2]);
}

#[test]
fn foregrounds_that_do_not_meet_have_no_information() {
    let image = blobs(Geometry::axis_aligned([48; 3], DVec3::splat(2.0), DVec3::ZERO));
    let prepared = || Prepared::new(&image, None, IntensityRange::Full);
    let foregrounds = Foregrounds::of([&prepared(), &prepared()], [&[], &[]]).unwrap().unwrap();
    let away = DAffine3::from_translation(DVec3::splat(500.0));
    assert_eq!(foregrounds.place(&away, &[], false).unwrap(), Place::NOWHERE);
}

#[test]
fn a_rival_where_nothing_agrees_takes_nothing_away() {
    let grid = Geometry::axis_aligned([48; 3], DVec3::splat(2.0), DVec3::ZERO);
    let image = blobs(grid);
    let prepared = || Prepared::new(&image, None, IntensityRange::Full);
    let foregrounds = Foregrounds::of([&prepared(), &prepared()], [&[], &[]]).unwrap().unwrap();
    let place = foregrounds.place(&DAffine3::IDENTITY, &[], false).unwrap();
    for by in [500.0, 60.0] {
        let rival = DAffine3::from_translation(DVec3::splat(by));
        assert_eq!(foregrounds.including_rival(place, &DAffine3::IDENTITY, &rival), place);
    }
    assert_eq!(foregrounds.including_rival(place, &DAffine3::IDENTITY, &DAffine3::IDENTITY).contrast, 1.0);
}

/// Two volumes that have nothing in common.
fn noise() -> [Volume; 2] {
    let geometry = Geometry::axis_aligned([24; 3], DVec3::splat(3.0), DVec3::ZERO);
    [1, 2].map(|seed| {
        let voxels = (0..geometry.voxels()).map(|n| random::normal(seed, n as u64)).collect();
        Volume { geometry, voxels, pixel: PixelType::F32 }
    })
}

/// Keeps what it is told.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

#[test]
fn the_parts_take_as_long_as_the_whole_also_where_attempts_are_discarded() {
    let images = noise();
    let accounted = |run: &dyn Fn(&Notes) -> Registration, tried: &str| {
        let (notes, clock) = (Notes::default(), Instant::now());
        let RegistrationSeconds { upload, pyramid, optimise, compare, resample } = run(&notes).seconds;
        let (parts, whole) = (upload + pyramid + optimise + compare + resample, clock.elapsed().as_secs_f64());
        let notes = notes.0.into_inner().unwrap();
        assert!(notes.iter().any(|note| note.ends_with(tried)), "{notes:?}");
        assert!(parts <= whole && parts > 0.95 * whole, "{parts} of {whole} s, {notes:?}");
    };
    let options = Options { moved: false, ..Options::default() };
    accounted(&|notes| register(&images[0], &images[1], &options, &Cpu, notes).unwrap(), "trying an affine one");
    let prepared = images.each_ref().map(|image| Prepared::new(image, None, IntensityRange::Full));
    let start = |notes: &Notes| linear(Kind::Affine, prepared.each_ref(), || Ok(&Cpu), notes).unwrap();
    accounted(&start, "trying a rigid one");
}

#[test]
fn missing_voxels_are_told_once_however_many_attempts_are_made() {
    let [mut fixed, moving] = noise();
    fixed.voxels[7] = f32::NAN;
    let notes = Notes::default();
    register(&fixed, &moving, &Options { moved: false, ..Options::default() }, &Cpu, &notes).unwrap();
    let notes = notes.0.into_inner().unwrap();
    assert!(notes.iter().any(|note| note.ends_with("trying an affine one")), "{notes:?}");
    assert_eq!(notes.iter().filter(|note| note.contains("no data")).count(), 1, "{notes:?}");
}
