//! Discrete search for the displacements between two images on one grid, as in deeds and ConvexAdam (Heinrich et al.
//! 2013, 2014; Siebert et al. 2021). The grid is divided into cells, which are blocks of voxels. Each cell is compared
//! with the other image at all displacements within reach. The best displacement is chosen by that cost and by its
//! distance from the displacements of the neighbouring cells.

pub(super) mod cpu;
pub(super) mod device;

use gpu::params::SearchGrid;

/// The parameters of a search.
#[derive(Debug, Clone, Copy)]
pub struct Search<'a> {
    /// 16-bit values of the fixed image, and of the moving image resampled at the same voxels by the initial transform.
    pub images: [&'a [u16]; 2],
    pub size: [usize; 3],
    /// The spacing along each axis, divided by the smallest.
    pub spacing: [f32; 3],
    /// The largest displacement along each axis, in voxels.
    pub reach: [usize; 3],
    /// Voxels along each side of a cell.
    pub side: usize,
}

/// The weight of each round's penalty: the squared distance of a displacement from those of its neighbours times the
/// weight, in differing bits per voxel of a cell. The weights grow, until neighbours agree. In the first round the
/// distance is from 0, so that the nearest of equally similar places is chosen, as in air.
const WEIGHTS: [f32; 6] = [0.003, 0.01, 0.03, 0.1, 0.3, 1.0];

/// The rounds in which the fields of both directions are made consistent.
const ROUNDS: usize = 15;

impl Search<'_> {
    /// The number of cells along each axis.
    pub fn cells(&self) -> [usize; 3] {
        self.size.map(|n| n.div_ceil(self.side))
    }

    /// The number of costs that are computed per direction.
    pub fn costs(&self) -> usize {
        self.cells().iter().product::<usize>() * self.displacements()
    }

    /// The number of displacements that are compared for each cell.
    fn displacements(&self) -> usize {
        self.reach.iter().map(|reach| 2 * reach + 1).product()
    }

    fn grid(&self) -> SearchGrid {
        let [size, reach, cells] = [self.size, self.reach, self.cells()].map(|axes| axes.map(|n| n as u32));
        SearchGrid { size, reach, cells, side: self.side as u32 }
    }

    /// Converts a weight to one along each axis, per voxel^2.
    fn weights(&self, weight: f32) -> [f32; 3] {
        self.spacing.map(|spacing| weight * spacing * spacing)
    }
}
