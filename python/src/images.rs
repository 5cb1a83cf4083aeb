//! Converts images between numpy and the library: voxels with i fastest, LPS mm.

use std::path::PathBuf;

use glam::{DMat3, DVec3};
use mireg::io::memory::{self, Axes};
use mireg::io::{self, ReadOptions, Role};
use mireg::{Geometry, PixelType, Volume};
use numpy::{PyArray1, PyUntypedArray};
use pyo3::prelude::*;

use crate::engine::with_threads;
use crate::errors::{input, raise};
use crate::numbers::intensities;

/// A grid as the package describes it.
#[derive(FromPyObject)]
pub struct Grid {
    pub name: PathBuf,
    pub size: [usize; 3],
    spacing: [f64; 3],
    /// The rows of the matrix.
    direction: [[f64; 3]; 3],
    origin: [f64; 3],
}

/// A grid and what is on it.
#[derive(FromPyObject)]
pub struct Voxels<'py> {
    grid: Grid,
    /// Indexed (i, j, k).
    voxels: Bound<'py, PyUntypedArray>,
    /// The type that the voxels had, by numpy's name.
    dtype: String,
}

/// A grid for the package: size, spacing, rows of the direction, origin.
pub type Placed = ([usize; 3], [f64; 3], [[f64; 3]; 3], [f64; 3]);

/// An image for the package: its numbers, their type, its grid.
pub type Image<'py> = (Bound<'py, PyAny>, &'static str, Placed);

impl Grid {
    /// Converts it for the library.
    pub fn geometry(&self, py: Python<'_>) -> PyResult<Geometry> {
        let direction = DMat3::from_cols_array_2d(&self.direction).transpose();
        let axes = Axes { spacing: self.spacing.into(), direction };
        memory::grid(&self.name, self.size, &axes, self.origin.into()).map_err(|e| raise(py, &e))
    }
}

impl Voxels<'_> {
    /// Converts it for the library.
    pub fn volume(&self, py: Python<'_>) -> PyResult<Volume> {
        let wrong = || format!("{}: has voxels of type {}; give it numbers", self.grid.name.display(), self.dtype);
        let pixel = pixel(&self.dtype).ok_or_else(|| input(py, &wrong()))?;
        let voxels = intensities(py, &self.voxels)?.ok_or_else(|| input(py, &wrong()))?;
        let (name, geometry) = (&self.grid.name, self.grid.geometry(py)?);
        with_threads(py, || memory::volume(name, geometry, voxels, pixel))
    }
}

/// numpy's names of the pixel types that files can hold.
const TYPES: [(&str, PixelType); 10] = [
    ("uint8", PixelType::U8),
    ("int8", PixelType::I8),
    ("uint16", PixelType::U16),
    ("int16", PixelType::I16),
    ("uint32", PixelType::U32),
    ("int32", PixelType::I32),
    ("uint64", PixelType::U64),
    ("int64", PixelType::I64),
    ("float32", PixelType::F32),
    ("float64", PixelType::F64),
];

fn pixel(dtype: &str) -> Option<PixelType> {
    TYPES.iter().find(|(name, _)| *name == dtype).map(|&(_, pixel)| pixel)
}

/// Converts the grid of a volume for the package.
pub fn placed(geometry: &Geometry) -> Placed {
    let direction = geometry.direction.transpose().to_cols_array_2d();
    (geometry.size, geometry.spacing.to_array(), direction, geometry.origin.to_array())
}

/// Converts a volume for the package. Floats keep their memory; integers are rounded and clamped as in a file.
pub fn image(py: Python<'_>, volume: Volume) -> PyResult<Image<'_>> {
    let placed = placed(&volume.geometry);
    let dtype = TYPES.iter().find(|(_, pixel)| *pixel == volume.pixel).map_or("float32", |&(name, _)| name);
    let voxels = match volume.pixel {
        PixelType::F32 => PyArray1::from_vec(py, volume.voxels).into_any(),
        _ => PyArray1::from_vec(py, with_threads(py, || Ok(memory::stored(&volume)))?).into_any(),
    };
    Ok((voxels, dtype, placed))
}

/// Splits a matrix whose columns are the steps from voxel to voxel into the spacing and the rows of the direction.
#[pyfunction]
pub fn axes(rows: [[f64; 3]; 3]) -> ([f64; 3], [[f64; 3]; 3]) {
    let axes = Axes::of(DMat3::from_cols_array_2d(&rows).transpose());
    (axes.spacing.to_array(), axes.direction.transpose().to_cols_array_2d())
}

/// Reads the grid of an image in a file.
#[pyfunction]
pub fn grid(py: Python<'_>, path: PathBuf) -> PyResult<Placed> {
    Ok(placed(&with_threads(py, || io::geometry(&path))?))
}

/// Reads an image. `series`, `volume` and `channel` choose one of several, as on the command line.
#[pyfunction]
pub fn read<'py>(
    py: Python<'py>,
    path: PathBuf,
    series: Option<String>,
    volume: Option<&str>,
    channel: Option<&str>,
) -> PyResult<Image<'py>> {
    let wrong = |what: &str, message: String| input(py, &format!("{what}: {message}"));
    let volume = volume.map(|text| text.parse().map_err(|e| wrong("volume", e))).transpose()?;
    let channel = channel.map(|text| text.parse().map_err(|e| wrong("channel", e))).transpose()?.unwrap_or_default();
    let options = ReadOptions { role: Role::Image, series, volume, channel, most_pixels: None };
    let read = with_threads(py, || io::read_with(&path, &options))?;
    image(py, read.volume)
}

/// Writes an image.
#[pyfunction]
pub fn write(py: Python<'_>, path: PathBuf, image: Voxels<'_>) -> PyResult<()> {
    let volume = image.volume(py)?;
    with_threads(py, || io::write(&path, &volume))
}

/// Converts rows of three numbers to points.
pub fn points(rows: Vec<[f64; 3]>) -> Vec<DVec3> {
    rows.into_iter().map(DVec3::from).collect()
}
