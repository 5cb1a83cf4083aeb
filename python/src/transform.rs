//! Transforms, from points of the fixed image to points of the moving image, LPS mm.

use std::path::PathBuf;

use glam::{DAffine3, DMat3, DVec2, DVec3};
use mireg::Geometry;
use mireg::error::Setting;
use mireg::io::transform::{self, Format, Grids};
use mireg::transform::{Dimension, Field, Kind, Linear, Mesh};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};

use crate::engine::with_threads;
use crate::errors::input;
use crate::images::{Grid, placed};

/// A transform of the library.
#[pyclass(frozen, eq, module = "mireg._mireg")]
#[derive(PartialEq)]
pub struct Transform(pub mireg::transform::Transform);

/// The numbers of a field: its grid, and x, y and z of each vector.
type OfField<'py> = (Grid, numpy::PyReadonlyArray1<'py, f32>);
/// The numbers of a mesh: vertices in both pictures, and triangles.
type OfMesh = (Vec<[f64; 2]>, Vec<[f64; 2]>, Vec<[u32; 3]>);

#[pymethods]
impl Transform {
    /// Makes a transform of a matrix: four rows of four numbers.
    #[staticmethod]
    fn of_matrix(py: Python<'_>, rows: [[f64; 4]; 4]) -> PyResult<Self> {
        let [x, y, z, last] = rows;
        let axes = DMat3::from_cols_array_2d(&[0, 1, 2].map(|n| [x[n], y[n], z[n]]));
        let map = DAffine3::from_mat3_translation(axes, DVec3::new(x[3], y[3], z[3]));
        if last != [0.0, 0.0, 0.0, 1.0] || !map.is_finite() || axes.determinant() == 0.0 {
            return Err(input(py, "the matrix is no affine map with an inverse; its last row must be 0 0 0 1"));
        }
        Ok(Self(Linear::new(Kind::Translation, Dimension::Three, DVec3::ZERO, &map).into()))
    }

    /// Makes a transform of what [`Transform::parts`] returns.
    #[staticmethod]
    fn of_parts(py: Python<'_>, parts: Vec<(String, Bound<'_, PyTuple>)>) -> PyResult<Self> {
        let mut made = Vec::new();
        for (kind, numbers) in parts {
            made.push(match kind.as_str() {
                "field" => {
                    let (grid, vectors): OfField = numbers.extract()?;
                    let vectors = vectors.as_slice().map_err(|e| input(py, &e.to_string()))?;
                    let geometry = grid.geometry(py)?;
                    if vectors.len() != 3 * geometry.voxels() || !vectors.iter().all(|v| v.is_finite()) {
                        return Err(input(py, "a field needs three finite numbers for each voxel of its grid"));
                    }
                    Field { geometry, vectors: vectors.as_chunks().0.to_vec() }.into()
                }
                "mesh" => {
                    let (fixed, moving, triangles): OfMesh = numbers.extract()?;
                    let points = |rows: Vec<[f64; 2]>| rows.into_iter().map(DVec2::from).collect();
                    Mesh { fixed: points(fixed), moving: points(moving), triangles }.into()
                }
                _ => {
                    let (axes, parameters, centre): (usize, Vec<f64>, [f64; 3]) = numbers.extract()?;
                    let dimension = if axes == 2 { Dimension::Two } else { Dimension::Three };
                    let kind: Kind = kind.parse().map_err(|_| input(py, &format!("{kind} is no kind of transform")))?;
                    if parameters.len() != kind.parameters(dimension) {
                        return Err(input(py, &format!("{} parameters are not those of this kind", parameters.len())));
                    }
                    Linear { kind, dimension, parameters, centre: centre.into() }.into()
                }
            });
        }
        Ok(Self(if made.len() == 1 { made.remove(0) } else { made.into_iter().collect() }))
    }

    /// All that defines the transform: the kind and the numbers of each of its parts, in the order in which a point
    /// goes through them.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        use mireg::transform::Transform as Of;
        let parts = PyList::empty(py);
        for part in self.0.parts() {
            match part {
                Of::Linear(Linear { kind, dimension, parameters, centre }) => {
                    parts.append((kind.name(), (dimension.axes(), parameters, centre.to_array())))?;
                }
                Of::Field(Field { geometry, vectors }) => {
                    let vectors = PyArray1::from_slice(py, vectors.as_flattened());
                    parts.append(("field", (placed(geometry), vectors)))?;
                }
                Of::Mesh(Mesh { fixed, moving, triangles }) => {
                    let rows = |points: &[DVec2]| points.iter().map(|point| point.to_array()).collect::<Vec<_>>();
                    parts.append(("mesh", (rows(fixed), rows(moving), triangles)))?;
                }
                Of::Chain(_) => {}
            }
        }
        Ok(parts)
    }

    /// The matrix of a linear transform: four rows of four numbers.
    fn matrix(&self) -> Option<[[f64; 4]; 4]> {
        let map = self.0.to_linear()?.to_affine();
        let row = |n: usize| [map.matrix3.x_axis[n], map.matrix3.y_axis[n], map.matrix3.z_axis[n], map.translation[n]];
        Some([row(0), row(1), row(2), [0.0, 0.0, 0.0, 1.0]])
    }

    /// The composition of this transform and then `next`.
    fn then(&self, next: &Self) -> Self {
        let both = self.0.clone().then(next.0.clone());
        Self(both.to_linear().map_or(both, Into::into))
    }

    /// The inverse. That of a transform that is not linear is a field on `grid`, by default on that of its first field.
    #[pyo3(signature = (grid=None))]
    fn inverse(&self, py: Python<'_>, grid: Option<Grid>) -> PyResult<Self> {
        if let Some(linear) = self.0.to_linear() {
            return Ok(Self(linear.inverse().into()));
        }
        let given = grid.map(|grid| grid.geometry(py)).transpose()?;
        let grid = given.as_ref().or(self.0.grid());
        let grid = grid.ok_or_else(|| input(py, "a mesh has no grid of its own; give the moving image as like"))?;
        with_threads(py, || Ok(Self(self.0.inverse(grid))))
    }

    /// The number of voxels at which a field folds, if one does. The inverse is not unique there.
    fn folds(&self, py: Python<'_>) -> PyResult<Option<usize>> {
        with_threads(py, || Ok(self.0.folds().map(|(_, count)| count)))
    }

    /// The transform as one displacement field on `grid`.
    fn to_field(&self, py: Python<'_>, grid: Grid) -> PyResult<Self> {
        let grid = grid.geometry(py)?;
        with_threads(py, || Ok(Self(self.0.to_field(&grid).into())))
    }

    /// Maps points, one per row, by the transform or by its inverse.
    fn points<'py>(
        &self,
        py: Python<'py>,
        points: PyReadonlyArray2<'py, f64>,
        back: bool,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = points.as_slice().map_err(|e| input(py, &e.to_string()))?;
        let count = points.as_array().nrows();
        let moved = with_threads(py, || {
            let map = if back { self.0.inverse_map() } else { self.0.map() };
            let moved = rows.as_chunks::<3>().0.iter().flat_map(|&row| map.transform_point3(row.into()).to_array());
            Ok(moved.collect())
        })?;
        PyArray1::from_vec(py, moved).reshape([count, 3])
    }

    /// Reads a file, between images of these grids.
    #[staticmethod]
    #[pyo3(signature = (path, format=None, fixed=None, moving=None))]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        fixed: Option<Grid>,
        moving: Option<Grid>,
    ) -> PyResult<Self> {
        let (format, grids) = (of_name(py, format)?, between(py, fixed, moving)?);
        with_threads(py, || transform::read(&path, format, &as_grids(&grids)).map(Self))
    }

    /// Writes a file, between images of these grids.
    #[pyo3(signature = (path, format=None, fixed=None, moving=None))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        fixed: Option<Grid>,
        moving: Option<Grid>,
    ) -> PyResult<()> {
        let (format, grids) = (of_name(py, format)?, between(py, fixed, moving)?);
        with_threads(py, || transform::write(&path, format, &self.0, &as_grids(&grids)))
    }
}

fn of_name(py: Python<'_>, format: Option<&str>) -> PyResult<Option<Format>> {
    let known = || Setting::TransformFormat.name();
    let parse = |name: &str| {
        name.parse().map_err(|_| input(py, &format!("{name} is no {}; see `mireg convert --help`", known())))
    };
    format.map(parse).transpose()
}

type Between = [Option<Geometry>; 2];

fn between(py: Python<'_>, fixed: Option<Grid>, moving: Option<Grid>) -> PyResult<Between> {
    let geometry = |grid: Option<Grid>| grid.map(|grid| grid.geometry(py)).transpose();
    Ok([geometry(fixed)?, geometry(moving)?])
}

fn as_grids([fixed, moving]: &Between) -> Grids<'_> {
    Grids { fixed: fixed.as_ref(), moving: moving.as_ref() }
}
