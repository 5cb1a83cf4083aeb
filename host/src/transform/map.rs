//! Maps points through a transform, with what many points need prepared in advance.

use std::sync::atomic::{AtomicBool, Ordering};

use glam::{DAffine3, DVec3};

use super::any::Transform;
use super::field::FieldMap;
use super::mesh::MeshMap;

impl Transform {
    /// Returns the map from points of the fixed image to points of the moving image.
    pub fn map(&self) -> TransformMap<'_> {
        TransformMap::new(self, false)
    }

    /// Returns the map from points of the moving image to points of the fixed image: exact if the transform is linear,
    /// else what [`FieldMap::back`] and [`MeshMap::backward`] find.
    pub fn inverse_map(&self) -> TransformMap<'_> {
        TransformMap::new(self, true)
    }
}

/// A [`Transform`], or its inverse, as a map of points, LPS mm.
pub struct TransformMap<'a> {
    /// The whole as one matrix, if it is linear.
    affine: Option<DAffine3>,
    /// In the order of the transform's parts.
    parts: Vec<Part<'a>>,
    /// Whether this is the inverse.
    back: bool,
}

enum Part<'a> {
    /// Inverted already if the map is the inverse.
    Linear(DAffine3),
    /// With a flag that is set once a point lies inside its grid.
    Field(FieldMap<'a>, AtomicBool),
    Mesh(Box<MeshMap<'a>>),
}

impl<'a> TransformMap<'a> {
    fn new(transform: &'a Transform, back: bool) -> Self {
        let way = |map: DAffine3| if back { map.inverse() } else { map };
        let part = |part: &'a Transform| match part {
            Transform::Linear(linear) => Some(Part::Linear(way(linear.to_affine()))),
            Transform::Field(field) => Some(Part::Field(field.map(), AtomicBool::new(false))),
            Transform::Mesh(mesh) => Some(Part::Mesh(Box::new(mesh.map()))),
            Transform::Chain(_) => None,
        };
        let parts = transform.parts().into_iter().filter_map(part).collect();
        Self { affine: transform.to_affine().map(way), parts, back }
    }

    /// Returns the map as one matrix, if it is linear.
    pub fn affine(&self) -> Option<&DAffine3> {
        self.affine.as_ref()
    }

    // Inlined here and below: a call would lose the vector instructions that a loop over many points is compiled for.
    /// Maps a point, LPS mm.
    #[inline(always)]
    pub fn transform_point3(&self, point: DVec3) -> DVec3 {
        match (&self.affine, self.back) {
            (Some(affine), _) => affine.transform_point3(point),
            (None, false) => self.parts.iter().fold(point, |point, part| part.transform_point3(point, false)),
            (None, true) => self.parts.iter().rev().fold(point, |point, part| part.transform_point3(point, true)),
        }
    }

    /// Returns the number, in [`Transform::parts`], of the first field whose grid contained none of the points mapped
    /// so far. Beyond its grid a field continues as at its border, so what it did to the points means little.
    pub fn missed(&self) -> Option<usize> {
        self.parts.iter().position(|part| matches!(part, Part::Field(_, reached) if !reached.load(Ordering::Relaxed)))
    }
}

impl From<DAffine3> for TransformMap<'_> {
    fn from(affine: DAffine3) -> Self {
        Self { affine: Some(affine), parts: Vec::new(), back: false }
    }
}

impl Part<'_> {
    #[inline(always)]
    fn transform_point3(&self, point: DVec3, back: bool) -> DVec3 {
        match self {
            Self::Linear(map) => map.transform_point3(point),
            Self::Mesh(mesh) if back => mesh.back(point),
            Self::Mesh(mesh) => mesh.transform_point3(point),
            Self::Field(map, reached) => {
                let other = if back { map.back(point) } else { map.transform_point3(point) };
                let of_field = if back { other } else { point };
                // Reading first keeps threads from all writing the same flag.
                if !reached.load(Ordering::Relaxed) && map.holds(of_field) {
                    reached.store(true, Ordering::Relaxed);
                }
                other
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Geometry;
    use crate::transform::{Dimension, Field, Kind, Linear};

    #[test]
    fn a_field_that_no_point_came_into_is_found() {
        let grid = Geometry::axis_aligned([4; 3], DVec3::ONE, DVec3::ZERO);
        let field = Field::of(&grid, |point| point + 0.25);
        let away = DAffine3::from_translation(DVec3::splat(50.0));
        let away = Linear::new(Kind::Translation, Dimension::Three, DVec3::ZERO, &away);
        let chain = Transform::from(field.clone()).then(away).then(field);
        let map = chain.map();
        assert_eq!(map.missed(), Some(0));
        map.transform_point3(DVec3::ONE);
        assert_eq!(map.missed(), Some(2));
        map.transform_point3(DVec3::splat(-49.0));
        assert_eq!(map.missed(), None);
        // For the inverse, the point that counts is where the field is evaluated: the one that is returned.
        let back = chain.inverse_map();
        back.transform_point3(DVec3::splat(51.0));
        assert_eq!(back.missed(), Some(2));
    }
}
