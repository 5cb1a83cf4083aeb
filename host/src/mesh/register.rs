//! Registers pictures by a mesh: searches for its corners from coarse to fine meshes, then moves them by gradient
//! ascent.

use super::climb::{Guard, climb};
use super::confidence::confidence;
use super::links::Links;
use super::objective::Objective;
use super::options::Climbed;
use super::picture::{DEVIATION, Packed, Picture};
use super::search::search;
use super::shifts::{Binned, Shifts};
use super::{Found, LevelFound, Options, Samples, Start, align::align, trust};
use crate::backend::{Backend, Sigmas, ViolaPair};
use crate::doubt::Doubt;
use crate::error::{Setting, message};
use crate::image::Prepared;
use crate::metric;
use crate::observer::ask_observer;
use crate::plane::foreground::masked_to_foreground;
use crate::plane::local_contrast;
use crate::registration::{self, Init, LinearStart};
use crate::transform::Mesh;
use crate::transform::mesh::{corners, twice_area};
use crate::{Error, Observer, Result, Volume};
use glam::{DAffine3, DVec2};
use std::time::Instant;

/// Samples of a triangle that are enough. Pictures are reduced so that triangles do not have more.
const ENOUGH: f64 = 1024.0;
/// Cells along a mesh that is coarse enough to begin with.
const CELLS: f64 = 4.0;
/// Pixels along a cell during the search.
const SEARCHED: f64 = 24.0;
/// Searches per level.
const SEARCHES: usize = 2;

/// Finds where a mesh starts, and moves its corners from there: see [`Engine::mesh`](crate::Engine::mesh).
pub(crate) fn mesh(
    fixed: &Volume,
    moving: &Volume,
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<Found> {
    if !moving.geometry.is_flat() {
        return Err(Error::option(
            Setting::Moving,
            message!("the moving image has several slices, and a mesh is for 2-D images"; "register volumes instead"),
        ));
    }
    let ranges = [options.fixed_range, options.moving_range];
    let images = metric::check::images([fixed, moving], [options.fixed_mask.as_ref(), None], ranges)?;
    let images = images.map(Prepared::without_frame);
    metric::check::note_left_out(&images, observer);
    let fixed_mask = match options.fixed_mask {
        Some(_) => images[0].borrowed().mask,
        None => masked_to_foreground(&images[0]).mask,
    };
    let build = |start: &DAffine3| Mesh::build(&images[0].image, start, options.spacing, fixed_mask.as_deref());
    // Checks that the mesh can be built before the affine registration is run.
    build(&DAffine3::IDENTITY)?;
    let (linear, mut doubts) = find_start(&images, options, backend, observer)?;
    observer.stage("mesh");
    let clock = Instant::now();
    let start = linear.transform.to_affine();
    let before = build(&start)?;
    let plan = MeshLevels::new(fixed, &before);
    let searched: Vec<f64> = plan.factors().map(|factor| plan.cell * plan.side * factor / SEARCHED).collect();
    let [searched, climbed] = [&searched[..], &[plan.pixel]].map(|spacings| pictures(&images, &start, spacings));
    let run = Run { fixed: &images[0], start: &start, options, observer, backend, searched, climbed, plan };
    let (mut after, levels) = run.levels(&before)?;
    let climbed = run.climb(&before, &mut after)?;
    let confidence = confidence(&after, &Shifts::new(&after, &run.binned(0)?))?;
    let place = trust::place(&images, &after)?;
    doubts.retain(|doubt| trust::start_doubt_remains(doubt, place));
    let mut found = Found {
        intensities: images.each_ref().map(|image| image.intensities),
        start: linear,
        before,
        after,
        levels,
        climbed,
        confidence,
        place,
        seconds: clock.elapsed().as_secs_f64(),
        backend: backend.name(),
        device: backend.device(),
        doubts,
    };
    let doubts = trust::doubts(&found);
    found.doubts.extend(doubts);
    Ok(found)
}

/// Reduces both pictures to grids of these spacings, mm of the fixed one.
fn pictures<'a>(images: &'a [Prepared; 2], start: &DAffine3, spacings: &[f64]) -> [Picture<'a>; 2] {
    let scale = start.matrix3.determinant().abs().sqrt();
    let neighbourhood = local_contrast::neighbourhood(&images[0].image.geometry);
    let scaled: Vec<f64> = spacings.iter().map(|mm| mm * scale).collect();
    [
        Picture::new(Setting::Fixed, &images[0], spacings, neighbourhood),
        Picture::new(Setting::Moving, &images[1], &scaled, neighbourhood * scale),
    ]
}

/// Returns the transform that the mesh starts from, and the checks that it did not pass.
fn find_start(
    images: &[Prepared; 2],
    options: &Options,
    backend: &dyn Backend,
    observer: &dyn Observer,
) -> Result<(LinearStart, Vec<Doubt>)> {
    let clock = Instant::now();
    let (transform, from, doubts) = match &options.start {
        Start::Transform(transform) => (transform.clone(), "a transform", Vec::new()),
        Start::Register(init) => {
            let found = align(images, init, backend, observer)?;
            let from =
                if *init == Init::Auto { registration::kind_label(found.transform.kind) } else { found.started.from };
            (found.transform, from, found.doubts)
        }
    };
    Ok((LinearStart { transform, from, seconds: clock.elapsed().as_secs_f64() }, doubts))
}

/// The levels of a registration. Each has cells and pixels twice as large as the next finer one, so that triangles have
/// the same number of samples on all of them.
struct MeshLevels {
    /// The side of a cell of the finest mesh, pixels of the fixed picture.
    cell: f64,
    /// The side of a pixel, mm: of the fixed picture, and of that reduced for the ascent.
    side: f64,
    pixel: f64,
    count: u32,
}

impl MeshLevels {
    fn new(fixed: &Volume, mesh: &Mesh) -> Self {
        let areas = mesh.triangles.iter().map(|triangle| twice_area(corners(&mesh.fixed, triangle)).abs());
        let cell = (areas.sum::<f64>() / mesh.triangles.len() as f64).sqrt();
        let side = (fixed.geometry.spacing.x * fixed.geometry.spacing.y).sqrt();
        let thinned = (cell / side / (2.0 * ENOUGH).sqrt()).round().max(1.0);
        let (low, high) = mesh
            .fixed
            .iter()
            .fold((DVec2::INFINITY, DVec2::NEG_INFINITY), |(low, high), &point| (low.min(point), high.max(point)));
        let across = (high - low).max_element() / cell;
        let coarser = (1..).take_while(|level| across / f64::from(1_u32 << level) >= CELLS).count();
        Self { cell: cell / side, side, pixel: side * thinned, count: 1 + coarser as u32 }
    }

    /// Returns the factors by which cells are larger than on the finest level, fine to coarse.
    fn factors(&self) -> impl Iterator<Item = f64> {
        (0..self.count).map(|level| f64::from(1_u32 << level))
    }
}

/// A registration in progress.
struct Run<'a> {
    fixed: &'a Prepared<'a>,
    start: &'a DAffine3,
    options: &'a Options,
    observer: &'a dyn Observer,
    backend: &'a dyn Backend,
    /// The fixed and the moving picture on the grids of all levels of the search, and on that of the ascent.
    searched: [Picture<'a>; 2],
    climbed: [Picture<'a>; 2],
    plan: MeshLevels,
}

impl Run<'_> {
    /// Searches on all levels; `before` is the finest mesh at the start of the registration.
    fn levels(&self, before: &Mesh) -> Result<(Mesh, Vec<LevelFound>)> {
        let mut found = Vec::new();
        let mut mesh: Option<Mesh> = None;
        for (level, factor) in self.plan.factors().enumerate().collect::<Vec<_>>().into_iter().rev() {
            let mut next = match level {
                0 => before.clone(),
                _ => Mesh::build(&self.fixed.image, self.start, Some(self.plan.cell * factor), self.fixed.mask())?,
            };
            let start = next.clone();
            if let Some(coarser) = &mesh {
                let map = coarser.map();
                next.moving = next.fixed.iter().map(|&point| map.forward(point)).collect();
                unfold(&mut next, &start);
            }
            found.push(self.level(level, &start, &mut next)?);
            mesh = Some(next);
        }
        Ok((mesh.unwrap_or_else(|| before.clone()), found))
    }

    /// Searches on a level; `start` is the same mesh at the start of the registration.
    fn level(&self, level: usize, start: &Mesh, mesh: &mut Mesh) -> Result<LevelFound> {
        let pictures = self.binned(level)?;
        let (to_pixels, to_mm) = (pictures[1].geometry.world_to_index(), pictures[1].geometry.index_to_world());
        let links = Links::new(mesh);
        let before = mesh.moving.clone();
        for _ in 0..SEARCHES {
            ask_observer(self.observer)?;
            let away = |(&at, &from): (&DVec2, &DVec2)| to_pixels.transform_vector3((at - from).extend(0.0)).truncate();
            let away: Vec<DVec2> = mesh.moving.iter().zip(&start.moving).map(away).collect();
            let moved = search(mesh, &links, &Shifts::new(mesh, &pictures), &away)?;
            for (at, by) in mesh.moving.iter_mut().zip(moved) {
                *at += to_mm.transform_vector3(by.extend(0.0)).truncate();
            }
            unfold(mesh, start);
        }
        let squares: f64 = mesh.moving.iter().zip(&before).map(|(a, b)| a.distance_squared(*b)).sum();
        let cell = self.plan.cell * self.plan.side * f64::from(1_u32 << level);
        Ok(LevelFound {
            spacing_mm: cell,
            pixel_mm: cell / SEARCHED,
            triangles: mesh.triangles.len(),
            moved_mm: (squares / before.len() as f64).sqrt(),
        })
    }

    /// Returns the pictures that a level is searched on.
    fn binned(&self, level: usize) -> Result<[Binned; 2]> {
        Ok([
            Binned::new(&self.searched[0].local_contrast(level)?),
            Binned::new(&self.searched[1].local_contrast(level)?),
        ])
    }

    /// Moves the corners of the finest mesh by gradient ascent; `start` is the same mesh at the start of the
    /// registration.
    fn climb(&self, start: &Mesh, mesh: &mut Mesh) -> Result<Climbed> {
        self.observer.level(0, 1, [self.plan.pixel; 3]);
        let [fixed, moving] = [self.climbed[0].prepared(0)?, self.climbed[1].prepared(0)?];
        let values = |pixel: usize, at: DVec2| {
            let there = moving.nearest(moving.pixel(at))?;
            fixed.foreground[pixel].then(|| [fixed.stored.values[pixel], moving.stored.values[there]].map(f32::from))
        };
        let samples = Samples::new(mesh, &fixed.geometry, values);
        if samples.samples.is_empty() {
            return Err(Error::Untrusted(message!(
                "no triangle of the mesh has enough pixels inside the moving picture";
                "check where the mesh starts"
            )));
        }
        let sigmas = self.sigmas(&samples)?;
        let pair = ViolaPair {
            samples: &samples.samples,
            groups: &samples.groups,
            moving: &moving.stored,
            sigmas,
            exponentials: self.options.exponentials,
        };
        let pixels = |points: &[DVec2]| -> Vec<DVec2> { points.iter().map(|&point| moving.pixel(point)).collect() };
        let evaluator = self.backend.load_viola(pair)?;
        let from = pixels(&mesh.moving);
        let mut objective = Objective::new(evaluator, &samples, mesh, &fixed.geometry, from.clone());
        let start = pixels(&start.moving);
        let areas = mesh.triangles.iter().map(|triangle| twice_area(corners(&start, triangle))).collect();
        let guard = Guard { triangles: mesh.triangles.clone(), areas };
        let climbed = climb(&mut objective, &guard, from, self.options.iterations, self.observer)?;
        mesh.moving = millimetres(&moving, &climbed.corners);
        Ok(Climbed {
            pixel_mm: self.plan.pixel,
            patches: samples.triangles.len(),
            samples: samples.samples.len(),
            sigmas: [sigmas.fixed / DEVIATION, sigmas.moving / DEVIATION],
            iterations: climbed.iterations,
            before: climbed.trace[0],
            after: climbed.trace[climbed.iterations],
            trace: climbed.trace,
            stopped: climbed.stopped,
        })
    }

    /// Returns the sigmas of the windows. The joint window is the product of both, as in the paper.
    fn sigmas(&self, samples: &Samples) -> Result<Sigmas> {
        let sigmas = match self.options.sigmas {
            Some([fixed, moving]) => Sigmas { fixed: fixed * DEVIATION, moving: moving * DEVIATION, joint: None },
            None => {
                let fixed: Vec<f32> = samples.samples.iter().map(|sample| sample.value).collect();
                Sigmas { joint: None, ..Sigmas::likeliest(&fixed, &samples.moving)? }
            }
        };
        sigmas.check()?;
        Ok(sigmas)
    }
}

fn millimetres(picture: &Packed, pixels: &[DVec2]) -> Vec<DVec2> {
    let to_mm = picture.geometry.index_to_world();
    pixels.iter().map(|pixel| to_mm.transform_point3(pixel.extend(0.0)).truncate()).collect()
}

/// Smooths the displacements from `start` until no triangle is folded. The map of a coarser mesh may fold a finer one,
/// whose corners lie elsewhere.
fn unfold(mesh: &mut Mesh, start: &Mesh) {
    let links = Links::new(mesh);
    let mut moved: Vec<DVec2> = mesh.moving.iter().zip(&start.moving).map(|(&to, &from)| to - from).collect();
    while mesh.least_area_ratio() <= 0.0 {
        moved = links.smoothed(&moved);
        mesh.moving = start.moving.iter().zip(&moved).map(|(&from, &by)| from + by).collect();
    }
}
