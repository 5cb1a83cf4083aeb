//! The mutual information of two pictures in some triangles of a mesh, at many shifts.

use crate::Geometry;
use crate::metric;
use crate::plane::local_contrast::LocalContrast;
use crate::threads::should_continue;
use crate::transform::Mesh;
use crate::transform::mesh::{Locator, corners};
use glam::{DVec2, IVec2};

/// Bins per picture, and the local standard deviations on either side of 0 that they span.
const BINS: usize = 8;
const ENDS: f32 = 2.5;
/// The fewest samples whose mutual information means anything.
const LEAST: u64 = 100;
/// The samples that a shift needs, as a fraction of the most that any shift has.
const MOST: f64 = 0.5;

/// A picture's local contrast, sorted into bins.
pub struct Binned {
    pub geometry: Geometry,
    /// `None` in the background.
    bins: Vec<Option<u8>>,
}

impl Binned {
    pub fn new(contrast: &LocalContrast) -> Self {
        let bin = |value: f32| (((value + ENDS) / (2.0 * ENDS) * BINS as f32).max(0.0) as u8).min(BINS as u8 - 1);
        let bins = contrast
            .picture
            .voxels
            .iter()
            .zip(&contrast.foreground)
            .map(|(&value, &is)| is.then(|| bin(value)))
            .collect();
        Self { geometry: contrast.picture.geometry, bins }
    }

    /// Returns the bin of a pixel; `None` in the background and outside of the picture.
    fn at(&self, IVec2 { x, y }: IVec2) -> Option<u8> {
        let [width, height, _] = self.geometry.size;
        let inside = x >= 0 && y >= 0 && (x as usize) < width && (y as usize) < height;
        inside.then(|| self.bins[x as usize + width * y as usize]).flatten()
    }
}

/// The pixels of the fixed picture in each triangle, and where the mesh takes them in the moving picture.
pub struct Shifts<'a> {
    moving: &'a Binned,
    /// For each triangle: the bin of the fixed picture, and the pixel of the moving one.
    members: Vec<Vec<(u8, IVec2)>>,
}

impl<'a> Shifts<'a> {
    pub fn new(mesh: &Mesh, [fixed, moving]: &'a [Binned; 2]) -> Self {
        let locator = Locator::new(&mesh.fixed, &mesh.triangles);
        let (to_mm, to_pixels) = (fixed.geometry.index_to_world(), moving.geometry.world_to_index());
        let there: Vec<DVec2> =
            mesh.moving.iter().map(|p| to_pixels.transform_point3(p.extend(0.0)).truncate()).collect();
        let mut members = vec![Vec::new(); mesh.triangles.len()];
        for (pixel, bin) in fixed.bins.iter().enumerate().take_while(|_| should_continue()) {
            let Some(bin) = *bin else { continue };
            let at = to_mm.transform_point3(fixed.geometry.index_of(pixel).map(|n| n as f64).into());
            let Some(place) = locator.find(at.truncate()) else { continue };
            let there = place.among(corners(&there, &mesh.triangles[place.triangle]));
            members[place.triangle].push((bin, (there + 0.5).floor().as_ivec2()));
        }
        Self { moving, members }
    }

    /// Returns for each of `shifts`, pixels of the moving picture, the mutual information of `triangles` together, nats
    /// beyond chance, and its standard deviation by chance. `None` if too few pixels are foreground in both.
    pub fn information(&self, triangles: &[usize], shifts: &[IVec2]) -> Vec<Option<[f64; 2]>> {
        let mut counts = vec![[0_u32; BINS * BINS]; shifts.len()];
        for &(bin, at) in triangles.iter().flat_map(|&triangle| &self.members[triangle]) {
            for (counts, &shift) in counts.iter_mut().zip(shifts) {
                if let Some(other) = self.moving.at(at + shift) {
                    counts[usize::from(bin) + BINS * usize::from(other)] += 1;
                }
            }
        }
        let samples: Vec<u64> = counts.iter().map(|counts| counts.iter().map(|&n| u64::from(n)).sum()).collect();
        let most = samples.iter().copied().max().unwrap_or(0);
        let enough = |&n: &u64| n >= LEAST && n as f64 >= MOST * most as f64;
        let information = |(counts, n): (&[u32; BINS * BINS], &u64)| {
            let cells = (BINS - 1) * (BINS - 1);
            enough(n).then(|| [metric::information(counts, BINS), (cells as f64 / 2.0).sqrt() / *n as f64])
        };
        counts.iter().zip(&samples).map(information).collect()
    }
}
