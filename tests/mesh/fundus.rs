//! A synthetic fundus photograph: a tree of dark vessels from a bright disc, with the shading of a lamp and noise; and
//! the same as seen by another camera.

use crate::support::random;
use glam::{DVec2, DVec3};
use mireg::transform::{Mesh, MeshMap};
use mireg::{Geometry, PixelType, Volume};

/// A piece of a vessel.
struct Piece {
    from: DVec2,
    to: DVec2,
    radius: f64,
}

pub struct Fundus {
    size: [usize; 2],
    disc: DVec2,
    pieces: Vec<Piece>,
}

impl Fundus {
    pub fn new(size: [usize; 2]) -> Self {
        let disc = DVec2::new(0.2 * size[0] as f64, 0.5 * size[1] as f64);
        let mut fundus = Self { size, disc, pieces: Vec::new() };
        let mut random = random(5);
        for vessel in 0..9 {
            let angle = f64::from(vessel) * std::f64::consts::TAU / 9.0;
            fundus.grow(disc, angle, 2.6 * fundus.unit(), &mut random);
        }
        fundus
    }

    /// Returns a 320th of the width, in pixels.
    fn unit(&self) -> f64 {
        self.size[0] as f64 / 320.0
    }

    /// A vessel that winds, thins and branches until it leaves the picture.
    fn grow(&mut self, mut at: DVec2, mut angle: f64, mut radius: f64, random: &mut dyn FnMut() -> f32) {
        let [width, height] = self.size.map(|n| n as f64);
        let unit = self.unit();
        while radius > 0.8 * unit && (-20.0..width + 20.0).contains(&at.x) && (-20.0..height + 20.0).contains(&at.y) {
            angle += 0.7 * (f64::from(random()) - 0.5);
            let to = at + 9.0 * unit * DVec2::from_angle(angle);
            self.pieces.push(Piece { from: at, to, radius });
            at = to;
            radius *= 0.975;
            if random() < 0.22 {
                let side = if random() < 0.5 { -0.7 } else { 0.7 };
                self.grow(at, angle + side, 0.75 * radius, random);
            }
        }
    }

    /// The reflectance at a point: vessels are dark, the disc is bright.
    fn at(&self, point: DVec2) -> f64 {
        let depth = self.pieces.iter().map(|piece| {
            let along = piece.to - piece.from;
            let part = ((point - piece.from).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            let off = point.distance_squared(piece.from + part * along) / (piece.radius * piece.radius);
            if off < 20.0 { (-0.5 * off).exp() } else { 0.0 }
        });
        let disc = (-0.5 * (point.distance(self.disc) / (14.0 * self.unit())).powi(4)).exp();
        135.0 + 80.0 * disc - 75.0 * depth.fold(0.0, f64::max)
    }

    /// The picture, brighter to one side.
    pub fn picture(&self) -> Volume {
        self.taken(1, |point| self.at(point) + 30.0 * (point.x / self.size[0] as f64 - 0.5))
    }

    /// Returns the picture of another camera. `truth` takes a point of this picture to its position in the other one.
    /// Intensities are changed such that vessels and disc are both brighter than the tissue between them, and the lamp
    /// is different, too.
    pub fn remapped(&self, truth: &Mesh) -> Volume {
        let map = MeshMap::new(truth);
        self.taken(2, |point| {
            let before = self.at(map.backward(point));
            let after = if before < 140.0 { 70.0 + 1.6 * (140.0 - before) } else { 70.0 + 0.9 * (before - 140.0) };
            after - 25.0 * (point.y / self.size[1] as f64 - 0.5)
        })
    }

    /// Renders a picture, and adds noise.
    fn taken(&self, seed: u64, at: impl Fn(DVec2) -> f64) -> Volume {
        let [width, height] = self.size;
        let mut random = random(seed);
        let mut noise = || 6.0 * f64::from(random() + random() + random() - 1.5);
        let pixel = |n: usize| DVec2::new((n % width) as f64, (n / width) as f64);
        let voxels = (0..width * height).map(|n| (at(pixel(n)) + noise()).round().clamp(1.0, 255.0) as f32).collect();
        let geometry = Geometry::axis_aligned([width, height, 1], DVec3::ONE, DVec3::ZERO);
        Volume { geometry, voxels, pixel: PixelType::U8 }
    }
}
