//! Meshes in files: mireg's own JSON, read and written, and VTK, written.

mod json;
mod vtk;

use std::path::Path;

use super::atomic;
use super::source::Source;
use crate::transform::Mesh;
use crate::{Error, Result};

/// Bytes at the start of a file within which it says what it is.
const HEAD: u64 = 1 << 12;

/// Whether a file says that it holds a mesh.
pub fn is(path: &Path) -> bool {
    let head = Source::open(path).and_then(|source| source.rest(HEAD)).unwrap_or_default();
    json::is(&String::from_utf8_lossy(&head))
}

/// Reads a mesh from JSON.
///
/// # Errors
/// [`Error::File`] for a file that is not there, is damaged, or holds a mesh that is no map: without triangles, with corners that are not
/// there, or with folded triangles.
pub fn read(path: &Path) -> Result<Mesh> {
    json::parse(&Source::open(path)?.text()?).map_err(|message| Error::file(path, message))
}

/// Writes a mesh as JSON. [`read`] finds it again to the last bit.
///
/// # Errors
/// [`Error::File`] where the file cannot be written.
pub fn write(path: &Path, mesh: &Mesh) -> Result<()> {
    atomic::write(path, &[json::text(mesh).as_bytes()])
}

/// Writes a mesh as legacy VTK polydata in ASCII, for ParaView and 3D Slicer: where the corners lie in the fixed picture, their
/// `displacement` to where they lie in the moving one (LPS mm), and of each triangle how many times larger it is there (`area_ratio`)
/// and what `cells` says, names without spaces and a number for each triangle.
///
/// # Errors
/// [`Error::File`] where the file cannot be written.
pub fn write_vtk(path: &Path, mesh: &Mesh, cells: &[(&str, &[f64])]) -> Result<()> {
    atomic::write(path, &[vtk::text(mesh, cells).as_bytes()])
}
