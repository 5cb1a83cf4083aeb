//! Search for displacements of two images of a level on one grid, as deeds and ConvexAdam do it: what every block of voxels, a cell, looks
//! like is compared with all places within reach, and a displacement counts by that and by those of the cells around (Heinrich et al. 2013,
//! 2014; Siebert et al. 2021).

pub(super) mod cpu;
pub(super) mod device;

use gpu::params::SearchGrid;

/// What is searched.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// 16-bit values of the fixed image, and of the moving image where the start takes each voxel.
    pub images: [&'a [u16]; 2],
    pub size: [usize; 3],
    /// Distances between voxels, over the smallest one.
    pub spacing: [f32; 3],
    /// The largest displacement along each axis, voxels.
    pub reach: [usize; 3],
    /// Voxels along each side of a cell.
    pub side: usize,
}

/// What a displacement costs by its squared distance from those around, bits per voxel of a cell: neighbours count more and more, until they
/// agree. The first is the distance from 0: of places that look alike the nearest counts, as in air.
const WEIGHTS: [f32; 6] = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

/// How often the fields of both directions are brought together.
const ROUNDS: usize = 15;

impl Search<'_> {
    /// Cells along each axis.
    pub fn cells(&self) -> [usize; 3] {
        self.size.map(|n| n.div_ceil(self.side))
    }

    /// Costs that are compared.
    pub fn costs(&self) -> usize {
        self.cells().iter().product::<usize>() * self.displacements()
    }

    /// Displacements that are compared.
    fn displacements(&self) -> usize {
        self.reach.iter().map(|reach| 2 * reach + 1).product()
    }

    fn grid(&self) -> SearchGrid {
        let [size, reach, cells] = [self.size, self.reach, self.cells()].map(|axes| axes.map(|n| n as u32));
        SearchGrid { size, reach, cells, side: self.side as u32 }
    }

    /// A weight along each axis, per voxel^2.
    fn weights(&self, weight: f32) -> [f32; 3] {
        self.spacing.map(|spacing| weight * spacing * spacing)
    }
}
