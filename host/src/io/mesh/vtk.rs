//! A mesh as legacy VTK.

use std::fmt::Write;

use glam::DVec2;

use super::super::number::joined;
use crate::transform::Mesh;

pub fn text(mesh: &Mesh) -> String {
    let (corners, triangles) = (mesh.fixed.len(), mesh.triangles.len());
    let row = |point: DVec2| joined(point.extend(0.0).to_array()) + "\n";
    let points: String = mesh.fixed.iter().copied().map(row).collect();
    let vectors: String = mesh.fixed.iter().zip(&mesh.moving).map(|(from, to)| row(*to - *from)).collect();
    let mut polygons = String::new();
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(polygons, "3 {a} {b} {c}");
    }
    let ratios: String = mesh.area_ratios().map(|ratio| joined([ratio]) + "\n").collect();
    format!(
        "# vtk DataFile Version 3.0\nmireg mesh, mm. SPACE=LPS\nASCII\nDATASET POLYDATA\nPOINTS {corners} double\n{points}\
         POLYGONS {triangles} {}\n{polygons}POINT_DATA {corners}\nVECTORS displacement double\n{vectors}\
         CELL_DATA {triangles}\nSCALARS area_ratio double 1\nLOOKUP_TABLE default\n{ratios}",
        4 * triangles
    )
}
