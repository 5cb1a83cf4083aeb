//! Reads and writes meshes as mireg's own JSON, and writes them as VTK.

mod json;
mod vtk;

use std::path::Path;

use super::atomic;
use super::source::Source;
use crate::transform::Mesh;
use crate::{Error, Result};

/// Bytes at the start of a file that must include its kind.
const HEAD: u64 = 1 << 12;

/// Whether a file declares itself a mesh.
pub fn is(path: &Path) -> bool {
    let head = Source::open(path).and_then(|source| source.rest(HEAD)).unwrap_or_default();
    json::is(&String::from_utf8_lossy(&head))
}

/// Reads a mesh from JSON.
///
/// # Errors
/// [`Error::File`] for a file that does not exist, is damaged, or holds a mesh that is not a valid map: without
/// triangles, with indices of vertices that do not exist, or with folded triangles.
pub fn read(path: &Path) -> Result<Mesh> {
    json::parse(&Source::open(path)?.text()?).map_err(|message| Error::file(path, message))
}

/// Writes a mesh as JSON. [`read`] restores it to the last bit.
///
/// # Errors
/// [`Error::File`] if the file cannot be written.
pub fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    atomic::write(path, &[json::text(mesh).as_bytes()])
}

/// Writes a mesh as legacy VTK polydata in ASCII, for ParaView and 3D Slicer: the vertices in the fixed image and their
/// `displacement` to the moving image, in LPS mm; for each triangle, its area in the moving image divided by that in
/// the fixed image (`area_ratio`), and the numbers of `cells`, given by a name without spaces and one number per
/// triangle.
///
/// # Errors
/// [`Error::File`] if the file cannot be written.
pub fn write_vtk(path: &Path, mesh: &Mesh, cells: &[(&str, &[f64])]) -> Result<()> {
    atomic::write(path, &[vtk::text(mesh, cells).as_bytes()])
}
