//! Meshes as legacy VTK.

use std::fmt::Write;

use glam::DVec2;

use super::super::number::joined;
use crate::transform::Mesh;

pub fn text(mesh: &Mesh, cells: &[(&str, &[f64])]) -> String {
    let (corners, triangles) = (mesh.fixed.len(), mesh.triangles.len());
    let row = |point: DVec2| joined(point.extend(0.0).to_array()) + "\n";
    let points: String = mesh.fixed.iter().copied().map(row).collect();
    let vectors: String = mesh.fixed.iter().zip(&mesh.moving).map(|(from, to)| row(*to - *from)).collect();
    let mut polygons = String::new();
    for [a, b, c] in &mesh.triangles {
        let _ = writeln!(polygons, "3 {a} {b} {c}");
    }
    let ratios: Vec<f64> = mesh.area_ratios().collect();
    let scalars = |(name, values): &(&str, &[f64])| {
        let rows: String = values.iter().map(|&value| joined([value]) + "\n").collect();
        format!("SCALARS {name} double 1\nLOOKUP_TABLE default\n{rows}")
    };
    let scalars: String = [("area_ratio", &ratios[..])].iter().chain(cells).map(scalars).collect();
    format!(
        "# vtk DataFile Version 3.0\nmireg mesh, mm. SPACE=LPS\nASCII\nDATASET POLYDATA\nPOINTS {corners} double\n{points}\
         POLYGONS {triangles} {}\n{polygons}POINT_DATA {corners}\nVECTORS displacement double\n{vectors}\
         CELL_DATA {triangles}\n{scalars}",
        4 * triangles
    )
}
