//! Any transform, and several one after the other.

use glam::{DAffine3, DVec3};

use super::field::Field;
use super::kind::{Dimension, Kind};
use super::linear::Linear;
use super::mesh::Mesh;
use super::rigid::Rigid;
use crate::Geometry;

/// A map from points of the fixed image to points of the moving image, LPS mm.
#[derive(Debug, Clone, PartialEq)]
pub enum Transform {
    /// A linear map, by its parameters.
    Linear(Linear),
    /// A displacement at each voxel of a grid.
    Field(Field),
    /// A mesh of triangles over 2-D images, each with an affine map of its own. z is unchanged.
    Mesh(Mesh),
    /// Transforms that are applied one after the other, from the first to the last. An empty chain is the identity.
    Chain(Vec<Transform>),
}

impl Transform {
    /// Returns the transforms that a point goes through, in order: this one or, for a chain, its parts with nested
    /// chains flattened.
    pub fn parts(&self) -> Vec<&Self> {
        match self {
            Self::Chain(chain) => chain.iter().flat_map(Self::parts).collect(),
            one => vec![one],
        }
    }

    /// Returns the number of the first part that folds, and at how many voxels: there the inverse is not unique. Meshes
    /// are not checked; those that mireg makes do not fold.
    pub fn folds(&self) -> Option<(usize, usize)> {
        let folds = |part: &Self| if let Self::Field(field) = part { field.folds() } else { 0 };
        self.parts().into_iter().map(folds).enumerate().find(|(_, count)| *count > 0)
    }

    /// Returns the chain of this transform and then `next`.
    pub fn then(self, next: impl Into<Self>) -> Self {
        let mut chain = if let Self::Chain(chain) = self { chain } else { vec![self] };
        match next.into() {
            Self::Chain(next) => chain.extend(next),
            next => chain.push(next),
        }
        Self::Chain(chain)
    }

    /// Returns the whole as one linear map, or `None` if a part is not linear. The map of a chain is about the centre
    /// of its first part that has one, and of the first kind that can represent it (see [`Linear::then`]).
    pub fn to_linear(&self) -> Option<Linear> {
        if let Self::Linear(linear) = self {
            return Some(linear.clone());
        }
        let none = Linear::identity(Kind::Translation, Dimension::Two, DVec3::ZERO);
        self.parts().into_iter().try_fold(none, |whole, part| match part {
            Self::Linear(next) => Some(whole.then(next)),
            _ => None,
        })
    }

    /// Returns the whole as one matrix, the product of those of its parts, or `None` if a part is not linear.
    pub fn to_affine(&self) -> Option<DAffine3> {
        self.parts().into_iter().try_fold(DAffine3::IDENTITY, |first, part| match part {
            Self::Linear(next) => Some(next.to_affine() * first),
            _ => None,
        })
    }

    /// Returns the grid of the first displacement field among its parts.
    pub fn grid(&self) -> Option<&Geometry> {
        self.parts()
            .into_iter()
            .find_map(|part| if let Self::Field(field) = part { Some(&field.geometry) } else { None })
    }

    /// Samples the whole as a displacement field on `grid`, a grid in the fixed image.
    pub fn to_field(&self, grid: &Geometry) -> Field {
        let map = self.map();
        Field::of(grid, |point| map.transform_point3(point))
    }

    /// Returns the inverse: linear if the whole is linear, else a displacement field on `grid`, a grid in the moving
    /// image. (For single points [`Transform::inverse_map`] needs no grid.)
    pub fn inverse(&self, grid: &Geometry) -> Self {
        match self.to_linear() {
            Some(linear) => linear.inverse().into(),
            None => {
                let map = self.inverse_map();
                Field::of(grid, |point| map.transform_point3(point)).into()
            }
        }
    }
}

impl From<Linear> for Transform {
    fn from(linear: Linear) -> Self {
        Self::Linear(linear)
    }
}

impl From<Rigid> for Transform {
    fn from(rigid: Rigid) -> Self {
        Self::Linear(rigid.into())
    }
}

impl From<Field> for Transform {
    fn from(field: Field) -> Self {
        Self::Field(field)
    }
}

impl From<Mesh> for Transform {
    fn from(mesh: Mesh) -> Self {
        Self::Mesh(mesh)
    }
}

impl FromIterator<Transform> for Transform {
    /// Collects transforms into a chain.
    fn from_iter<T: IntoIterator<Item = Transform>>(transforms: T) -> Self {
        transforms.into_iter().fold(Self::Chain(Vec::new()), Self::then)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(shift: DVec3, turn: f64) -> Transform {
        let map = DAffine3::from_rotation_z(turn) * DAffine3::from_translation(shift);
        Linear::new(Kind::Rigid, Dimension::Three, DVec3::ZERO, &map).into()
    }

    fn bent(grid: &Geometry) -> Transform {
        Field::of(grid, |p| p + DVec3::new(libm::sin(p.y / 6.0), libm::cos(p.x / 7.0), 0.0)).into()
    }

    fn mesh() -> Transform {
        let fixed: Vec<_> = [(0.0, 0.0), (9.0, 0.0), (0.0, 9.0), (9.0, 9.0)].map(glam::DVec2::from).into();
        let mut moving = fixed.clone();
        moving[3] += 1.0;
        Mesh { fixed, moving, triangles: vec![[0, 1, 2], [1, 3, 2]] }.into()
    }

    #[test]
    fn a_chain_is_what_its_parts_do_in_turn_and_back() {
        let grid = Geometry::axis_aligned([12, 11, 10], DVec3::ONE, DVec3::ZERO);
        let parts = [linear(DVec3::new(0.5, -1.0, 0.25), 0.1), bent(&grid), mesh()];
        let chain: Transform = parts.iter().cloned().collect();
        let nested = parts[0].clone().then(Transform::Chain(parts[1..].to_vec()));
        assert_eq!(chain, nested);
        assert!(chain.to_linear().is_none() && chain.to_affine().is_none());
        assert_eq!(chain.grid(), Some(&grid));
        let point = DVec3::new(4.3, 5.1, 6.2);
        let there = parts.iter().fold(point, |point, part| part.map().transform_point3(point));
        assert_eq!(chain.map().transform_point3(point), there);
        assert!(chain.inverse_map().transform_point3(there).distance(point) < 1e-7);
        let (field, back) = (chain.to_field(&grid), chain.inverse(&grid));
        assert!(field.transform_point3(point).distance(there) < 0.2);
        assert!(back.map().transform_point3(there).distance(point) < 0.2);
    }

    #[test]
    fn linear_parts_make_one_linear_map() {
        let [a, b] = [linear(DVec3::X, 0.2), linear(DVec3::NEG_Y, -0.7)];
        let both = a.clone().then(b.clone());
        let (linear, affine) = (both.to_linear().unwrap(), both.to_affine().unwrap());
        assert!(linear.to_affine().abs_diff_eq(affine, 1e-12));
        assert_eq!(affine, b.to_affine().unwrap() * a.to_affine().unwrap());
        let back = both.inverse(&Geometry::axis_aligned([2; 3], DVec3::ONE, DVec3::ZERO));
        assert!(back.to_affine().unwrap().abs_diff_eq(affine.inverse(), 1e-12));
        assert_eq!(Transform::Chain(Vec::new()).map().transform_point3(DVec3::ONE), DVec3::ONE);
    }
}
