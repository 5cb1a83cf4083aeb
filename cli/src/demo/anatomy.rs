//! A head as a function of position: skin, fat, skull, folded cortex, ventricles, sinuses, eyes. Made up, not measured.

use fastnoise_lite::{FastNoiseLite, FractalType, NoiseType};
use glam::{Vec3, vec3};

use super::parts::{self, paint_ellipsoids, paint_rods};
use super::shapes::{coverage, cut, ellipsoid, rod, union};
use super::tissue::*;

/// One person's head.
pub struct Head {
    folds: FastNoiseLite,
    fine: FastNoiseLite,
    slow: FastNoiseLite,
}

impl Head {
    /// The head that belongs to a seed.
    pub fn new(seed: u64) -> Self {
        let noise = |stream: i32, wavelength: f32, octaves: i32| {
            let mut noise = FastNoiseLite::with_seed((seed as i32).wrapping_mul(3).wrapping_add(stream));
            noise.set_noise_type(Some(NoiseType::OpenSimplex2));
            noise.set_frequency(Some(1.0 / wavelength));
            noise.set_fractal_type(Some(if octaves > 1 { FractalType::FBm } else { FractalType::None }));
            noise.set_fractal_octaves(Some(octaves));
            noise
        };
        Self { folds: noise(0, 30.0, 2), fine: noise(1, 7.0, 1), slow: noise(2, 45.0, 1) }
    }

    /// The tissue at `p`, mm: x to the left, y to the back, z up, 0 in the middle of the brain.
    pub fn at(&self, p: Vec3) -> Tissue {
        let mut tissue = AIR;
        let cavity = cavity(p);
        let skin = outline(p, cavity);
        if skin > 2.0 {
            return tissue;
        }
        let slow = at(&self.slow, p);
        tissue.paint(MUSCLE, coverage(skin));
        let fat = 3.0 + 2.0 * slow;
        tissue.paint(FAT, coverage(skin + 1.5) * coverage(-(skin + 1.5 + fat)));
        if cavity > 1.0 {
            paint_rods(&mut tissue, p, &parts::NECK_AND_FACE_RODS);
            discs(&mut tissue, p);
        }
        skull(&mut tissue, p, cavity, slow);
        if cavity < 2.0 {
            self.brain(&mut tissue, p, cavity, slow);
        }
        if p.z < 30.0 {
            paint_ellipsoids(&mut tissue, p, &parts::BASE, 1.2 * slow);
            paint_ellipsoids(&mut tissue, p, &parts::EYES, 0.0);
            paint_rods(&mut tissue, p, &parts::ORBIT_RODS);
        }
        tissue
    }

    fn brain(&self, tissue: &mut Tissue, p: Vec3, cavity: f32, slow: f32) {
        let inside = coverage(cavity);
        tissue.paint(CSF, inside);
        let below = under_tentorium(p);
        tissue.paint(FALX, inside * coverage(below.abs() - 0.6) * coverage(22.0 - p.y));
        tissue.paint(FALX, inside * coverage(p.x.abs() - 0.8) * coverage(-below) * coverage(28.0 - p.z));
        self.cerebrum(tissue, p, cavity.max(-below), slow);
        if below < 2.0 {
            self.cerebellum(tissue, p, slow);
        }
        paint_ellipsoids(tissue, p, &parts::DEEP, 0.8 * slow);
    }

    /// Paints grey and white matter. `surface` is the signed distance to the surface of the space for the cerebrum.
    /// Sulci are the valleys where the noise crosses zero.
    fn cerebrum(&self, tissue: &mut Tissue, p: Vec3, surface: f32, slow: f32) {
        let depth = -surface - 1.5;
        if depth < -1.0 {
            return;
        }
        let midline = p.x - 1.5 * slow;
        let bend = if p.z > 22.0 || p.y < -35.0 || p.y > 40.0 { midline.abs() } else { 99.0 };
        let valley = if depth < 30.0 { (at(&self.folds, p) * 2.6).abs() } else { 1.0 };
        let grooves = |width: f32, reach: f32| reach * (1.0 - valley / width).max(0.0);
        let pial = (depth - grooves(0.25, 16.0)).min(bend - 1.6);
        let inner = (depth - 3.6 - grooves(0.8, 13.0)).min(bend - 5.0);
        tissue.paint(GREY, coverage(-pial));
        tissue.paint(WHITE, coverage(-inner));
    }

    fn cerebellum(&self, tissue: &mut Tissue, p: Vec3, slow: f32) {
        let surface = ellipsoid(p, vec3(1.0, 45.0, -34.0), vec3(48.0, 32.0, 24.0)) + 2.0 * slow;
        // The leaves of the cerebellum are shells around a point in front of it, a few mm apart.
        let shell = (p - vec3(0.0, 25.0, -30.0)).length() / 5.0 + 0.8 * at(&self.fine, p * 0.3);
        let leaf = (shell - shell.floor() - 0.5).abs() * 2.0;
        tissue.paint(GREY, coverage(surface + 4.0 * (leaf - 0.75).max(0.0)));
        tissue.paint(WHITE, coverage(surface + 7.0 + 5.0 * (0.5 - leaf)));
    }
}

fn at(noise: &FastNoiseLite, p: Vec3) -> f32 {
    noise.get_noise_3d(p.x, p.y, p.z)
}

/// Returns the signed distance to the inner face of the skull.
pub fn cavity(p: Vec3) -> f32 {
    let cerebral = ellipsoid(p, vec3(0.0, -2.0, 22.0), vec3(69.0, 86.0, 56.0));
    if cerebral > 60.0 {
        return cerebral;
    }
    let left = ellipsoid(p, vec3(42.0, -8.0, -16.0), vec3(25.0, 37.0, 23.0));
    let right = ellipsoid(p, vec3(-43.0, -6.0, -15.0), vec3(25.0, 38.0, 22.0));
    let posterior = ellipsoid(p, vec3(1.0, 42.0, -26.0), vec3(52.0, 38.0, 34.0));
    let whole = union(union(union(cerebral, left, 12.0), right, 12.0), posterior, 12.0);
    cut(whole, ellipsoid(p, vec3(0.0, -40.0, -42.0), vec3(31.0, 46.0, 27.0)), 10.0)
}

/// Returns the signed distance to the skin.
fn outline(p: Vec3, cavity: f32) -> f32 {
    let face = ellipsoid(p, vec3(0.0, -46.0, -60.0), vec3(62.0, 52.0, 62.0));
    let neck = rod(p, vec3(0.0, 18.0, -70.0), vec3(0.0, 32.0, -220.0), 57.0);
    let head = union(union(cavity - 13.5, face, 25.0), neck, 25.0);
    let near = |(centre, radii): &&(Vec3, Vec3)| (p - centre).abs().cmplt(radii + 12.0).all();
    parts::OUTLINE
        .iter()
        .filter(near)
        .fold(head, |head, &(centre, radii)| union(head, ellipsoid(p, centre, radii), 6.0))
}

/// Returns a signed distance that is negative in the space for cerebellum and stem, below the tentorium.
fn under_tentorium(p: Vec3) -> f32 {
    let roof = -8.0 - 0.22 * p.x.abs() - 0.12 * (p.y - 45.0);
    (p.z - roof).max(14.0 - p.y)
}

/// Paints two tables of bone with marrow between. They are thicker at the back, and open where the spinal cord leaves.
fn skull(tissue: &mut Tissue, p: Vec3, cavity: f32, slow: f32) {
    let thickness = 6.5 + 2.5 * slow + 0.02 * p.y;
    let hole = coverage(rod(p, vec3(0.0, 41.0, -40.0), vec3(0.0, 44.0, -90.0), 14.0));
    let shell = |from: f32, to: f32| coverage(from - cavity) * coverage(cavity - to) * (1.0 - hole);
    tissue.paint(BONE, shell(0.0, thickness));
    tissue.paint(MARROW, shell(2.0, thickness - 2.0) * 0.8);
}

/// Paints the discs between the vertebrae, every 20 mm.
fn discs(tissue: &mut Tissue, p: Vec3) {
    let from_disc = ((p.z + 90.0) / 20.0 - ((p.z + 90.0) / 20.0).round()).abs() * 20.0;
    let spine = rod(p, vec3(0.0, 22.0, -84.0), vec3(0.0, 26.0, -220.0), 13.0);
    tissue.paint(DISC, coverage(from_disc - 2.5) * coverage(spine));
}
