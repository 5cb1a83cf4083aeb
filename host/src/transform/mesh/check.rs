//! Checks whether a mesh can be used as a map.

use super::{Mesh, corners, twice_area};

impl Mesh {
    /// Checks whether points can be mapped through the mesh, and back: there is a triangle, all corners exist and are
    /// finite, all triangles have the same orientation in the fixed picture, and none is degenerate or folded.
    ///
    /// # Errors
    /// What is wrong, worded to follow "a mesh".
    pub fn check(&self) -> Result<(), String> {
        let count = self.fixed.len();
        if self.moving.len() != count {
            return Err(format!("of {count} corners in the fixed picture and {} in the moving one", self.moving.len()));
        }
        if self.triangles.is_empty() {
            return Err("without triangles".into());
        }
        if let Some(corner) = self.triangles.iter().flatten().find(|corner| **corner as usize >= count) {
            return Err(format!("with a triangle that has corner {corner} of {count}"));
        }
        if !self.fixed.iter().chain(&self.moving).all(|point| point.is_finite()) {
            return Err("with corners that are not finite".into());
        }
        let areas = || self.triangles.iter().map(|triangle| twice_area(corners(&self.fixed, triangle)));
        if !areas().all(|area| area.is_normal() && (area > 0.0) == (areas().next() > Some(0.0))) {
            return Err("with triangles that are flat or turn in different senses".into());
        }
        match self.area_ratios().all(|ratio| ratio.is_normal() && ratio > 0.0) {
            true => Ok(()),
            false => Err("with folded triangles".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::transform::Mesh;
    use glam::DVec2;

    #[test]
    fn what_is_no_map_is_told() {
        let points: Vec<_> = [(0.0, 0.0), (2.0, 0.0), (0.0, 2.0), (2.0, 2.0)].map(DVec2::from).into();
        let good = Mesh { fixed: points.clone(), moving: points, triangles: vec![[0, 1, 2], [1, 3, 2]] };
        assert_eq!(good.check(), Ok(()));
        let refusal = |change: &dyn Fn(&mut Mesh)| {
            let mut bad = good.clone();
            change(&mut bad);
            bad.check().unwrap_err()
        };
        assert!(refusal(&|mesh| mesh.triangles.clear()).contains("without"));
        assert!(refusal(&|mesh| mesh.triangles[1][0] = 4).contains("corner 4 of 4"));
        assert!(refusal(&|mesh| mesh.moving.truncate(3)).contains("4 corners"));
        assert!(refusal(&|mesh| mesh.moving[3].x = f64::NAN).contains("finite"));
        assert!(refusal(&|mesh| mesh.triangles[1].reverse()).contains("senses"));
        assert!(refusal(&|mesh| mesh.triangles[1] = [1, 1, 2]).contains("flat"));
        assert!(refusal(&|mesh| mesh.moving[3] = DVec2::splat(0.5)).contains("folded"));
    }
}
