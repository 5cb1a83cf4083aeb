//! The grid of a volume, and its conversion between voxel indices and millimetres.

use glam::{DAffine3, DMat3, DVec3};
use gpu::math::eight_bit::REACH;
use gpu::params::Affine;

/// A grid of voxels in space. Voxel centres have whole indices; index (0, 0, 0) lies at `origin`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Geometry {
    /// Voxels along i (fastest in memory), j and k.
    pub size: [usize; 3],
    /// Distance between neighbouring voxel centres along each axis, mm, positive.
    pub spacing: DVec3,
    /// Centre of the first voxel, LPS mm.
    pub origin: DVec3,
    /// Columns: unit vectors of the i, j and k axes in LPS.
    pub direction: DMat3,
}

impl Geometry {
    /// A grid whose axes are those of LPS.
    pub fn axis_aligned(size: [usize; 3], spacing: DVec3, origin: DVec3) -> Self {
        Self { size, spacing, origin, direction: DMat3::IDENTITY }
    }

    /// Number of voxels.
    pub fn voxels(&self) -> usize {
        self.size.iter().product()
    }

    /// Whether the grid is that of a two-dimensional image, with one voxel along k.
    pub fn is_flat(&self) -> bool {
        self.size[2] == 1
    }

    /// The smallest and the largest spacing, mm. Axes with a single voxel are left out, because their spacing in
    /// headers means nothing.
    pub fn spacing_range(&self) -> [f64; 2] {
        let several = (0..3).filter(|&axis| self.size[axis] > 1).map(|axis| self.spacing[axis]);
        several.fold([f64::INFINITY, 0.0], |[low, high], mm| [low.min(mm), high.max(mm)])
    }

    /// The volume of a voxel, mm^3, or its area in a two-dimensional image, mm^2.
    pub fn voxel_size(&self) -> f64 {
        (0..if self.is_flat() { 2 } else { 3 }).map(|axis| self.spacing[axis]).product()
    }

    /// Whether the grid is that of a single slice that is not parallel to the x-y plane, and so has a position in
    /// space.
    pub fn is_slice_in_space(&self) -> bool {
        self.is_flat() && (self.direction.x_axis.z != 0.0 || self.direction.y_axis.z != 0.0)
    }

    /// The number of dimensions of the image: 2 or 3.
    pub fn dimensions(&self) -> usize {
        if self.is_flat() && !self.is_slice_in_space() { 2 } else { 3 }
    }

    /// The grid with another spacing, in mm, that has the same centre and covers about the same box. An axis with a
    /// single voxel stays as it is.
    pub fn respaced(&self, spacing: DVec3) -> Self {
        let mut new = *self;
        for axis in (0..3).filter(|&axis| self.size[axis] > 1) {
            new.spacing[axis] = spacing[axis];
            new.size[axis] = ((self.size[axis] as f64 * self.spacing[axis] / spacing[axis]).round() as usize).max(1);
        }
        new.origin += self.centre() - new.centre();
        new
    }

    /// Whether every voxel can be addressed. Voxels are numbered by 31 bits, including one more row and plane, and
    /// positions have 15 bits.
    pub fn is_addressable(&self) -> bool {
        let [i, j, k] = self.size;
        i.max(j).max(k) <= REACH && i * j * k + i * j + i < 1 << 31
    }

    /// The index of a voxel from its number, i fastest.
    pub fn index_of(&self, number: usize) -> [usize; 3] {
        let [width, height, _] = self.size;
        [number % width, number / width % height, number / width / height]
    }

    /// The number of a voxel from its index.
    pub fn number_of(&self, [i, j, k]: [usize; 3]) -> usize {
        let [width, height, _] = self.size;
        i + width * (j + height * k)
    }

    /// Maps a voxel index (fractions allowed) to LPS mm.
    pub fn index_to_world(&self) -> DAffine3 {
        let axes = self.direction * DMat3::from_diagonal(self.spacing);
        DAffine3::from_mat3_translation(axes, self.origin)
    }

    /// Maps LPS mm to a voxel index. The readers refuse headers whose matrix has no inverse.
    pub fn world_to_index(&self) -> DAffine3 {
        self.index_to_world().inverse()
    }

    /// The centre of the grid, LPS mm: halfway between the first and the last voxel centre.
    pub fn centre(&self) -> DVec3 {
        let last = DVec3::from_array(self.size.map(|n| n as f64 - 1.0));
        self.index_to_world().transform_point3(last / 2.0)
    }

    /// Whether both grids have the same size, and their corners lie within a hundredth of a voxel of each other.
    pub fn is_close(&self, other: &Self) -> bool {
        let near = |(a, b): (&DVec3, &DVec3)| a.distance(*b) < 0.01 * self.spacing.min_element();
        self.size == other.size && self.corners().iter().zip(&other.corners()).all(near)
    }

    /// The axis that is most nearly parallel to a direction, LPS.
    pub(crate) fn axis_along(&self, direction: DVec3) -> usize {
        (self.direction.transpose() * direction).abs().max_position()
    }

    /// The eight outermost voxel centres, LPS mm, i fastest.
    pub fn corners(&self) -> [DVec3; 8] {
        let map = self.index_to_world();
        let last = self.size.map(|n| n as f64 - 1.0);
        std::array::from_fn(|corner| {
            let pick = |axis: usize| if corner >> axis & 1 == 1 { last[axis] } else { 0.0 };
            map.transform_point3(DVec3::new(pick(0), pick(1), pick(2)))
        })
    }
}

/// The numbers of a map are rounded to multiples of 1 / `ROUND`.
const ROUND: f64 = (1_u64 << 36) as f64;

/// The voxel of a grid of `size` from its number, x fastest.
#[inline(always)]
pub(crate) fn voxel(size: [u32; 3], number: usize) -> [u32; 3] {
    let number = number as u32;
    [number % size[0], number / size[0] % size[1], number / (size[0] * size[1])]
}

/// The map from voxels of one grid to voxels of another, through a transform of points in LPS mm. If a slice maps to
/// within half a voxel of the plane of a slice in space, it is put exactly on that plane.
pub fn voxel_map(from: &Geometry, to: &Geometry, transform: &DAffine3) -> Affine {
    let mut map = to.world_to_index() * *transform * from.index_to_world();
    if from.is_flat() && to.is_slice_in_space() {
        let [i, j, _] = from.size.map(|n| n as f64 - 1.0);
        let corners = [DVec3::ZERO, DVec3::X * i, DVec3::Y * j, DVec3::new(i, j, 0.0)];
        if corners.iter().all(|&corner| map.transform_point3(corner).z.abs() <= 0.5) {
            let DAffine3 { matrix3: DMat3 { x_axis: x, y_axis: y, .. }, translation } = map;
            map.matrix3 = DMat3::from_cols(x.with_z(0.0), y.with_z(0.0), map.matrix3.z_axis);
            map.translation = translation.with_z(0.0);
        }
    }
    // Rounding to 2^-36, which is finer than f32 resolves, keeps round-off from pushing border voxels out of an image
    // on the same grid. Adding 0 turns -0 into 0, so that no position is -0.
    let number = |v: f64| ((v * ROUND).round() / ROUND) as f32 + 0.0;
    let row = |i: usize| [map.x_axis[i], map.y_axis[i], map.z_axis[i], map.translation[i]].map(number);
    Affine { rows: [row(0), row(1), row(2)] }
}
