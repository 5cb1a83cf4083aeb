//! Runs commands for Python, and returns their results.

use std::time::Instant;

use mireg::Volume;
use mireg::backend::Resident;
use mireg_cli::in_memory::InMemory;
use mireg_cli::memory::{self, Done, Found, ParsedCommand};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::dlpack::OnGpu;
use crate::engine::{Engine, with_threads};
use crate::errors;
use crate::images::{self, Grid, Image, Voxels, image};
use crate::transform::Transform;
use crate::watch;

/// A registration, a deformation or a mesh.
#[pyclass(frozen, module = "mireg._mireg")]
pub struct Finished(Box<memory::Finished>);

/// A template.
#[pyclass(frozen, module = "mireg._mireg")]
pub struct Averaged(Box<memory::FinishedTemplate>);

/// What a command returns to Python: a registration, the moved or resampled image, JSON, notes, and a template with its
/// transforms. What a command does not have is `None` or empty.
type Returned<'py> =
    (Option<Finished>, Option<Image<'py>>, Option<String>, Vec<String>, Option<(Averaged, Vec<Transform>)>);

/// Runs a command. `words` is its command line; `held` has the images, transforms and points that are in memory.
/// Without an `engine`, a shared one is used that suits the words. `listener` is called with the progress and the notes
/// of the run, and with each value of the metric only if `values` is true.
#[pyfunction]
pub fn run<'py>(
    py: Python<'py>,
    words: Vec<String>,
    held: &Bound<'py, PyDict>,
    engine: Option<&Engine>,
    listener: &Bound<'py, PyAny>,
    values: bool,
) -> PyResult<Returned<'py>> {
    let words = words.into_iter().map(Into::into).collect();
    let command = ParsedCommand::parse(words).map_err(|line| errors::input(py, &line))?;
    let (kind, threads) = command.compute();
    let engine = match engine {
        Some(engine) => engine.get(py, Some(listener)),
        None => Engine::shared(py, kind, threads)?.get().get(py, Some(listener)),
    }?;
    let held = of_python(py, held, &engine)?;
    Ok(match watch::run(py, Some(listener), values, |observer| command.run(held, &engine, observer))? {
        Done::Registered(mut finished) => {
            let moved = finished.take_moved();
            (Some(Finished(finished)), Some(image(py, moved)?), None, Vec::new(), None)
        }
        Done::Averaged(mut averaged) => {
            let fields = std::mem::take(&mut averaged.fields).into_iter();
            let transforms = fields.map(|field| Transform(field.into())).collect();
            (None, None, None, Vec::new(), Some((Averaged(averaged), transforms)))
        }
        Done::Resampled(volume, notes) => (None, Some(image(py, volume)?), None, notes, None),
        Done::Measured(json, notes) => (None, None, Some(json), notes, None),
    })
}

/// Returns an image, and its voxels on the engine's device if they are there.
fn of_pair<'e>(
    py: Python<'_>,
    image: Option<Bound<'_, PyAny>>,
    engine: &'e mireg::Engine,
) -> PyResult<(Option<Volume>, Option<Resident<'e>>)> {
    let Some(image) = image else { return Ok((None, None)) };
    let (volume, there) = match image.extract::<OnGpu>() {
        Ok(image) => image.volume(py, engine)?,
        Err(_) => (image.extract::<Voxels>()?.volume(py)?, None),
    };
    Ok((Some(volume), there))
}

/// Converts the images, transforms and points in a dict, by their names.
fn of_python<'e>(py: Python<'_>, held: &Bound<'_, PyDict>, engine: &'e mireg::Engine) -> PyResult<InMemory<'e>> {
    let volume = |name: &str| {
        let voxels = held.get_item(name)?;
        voxels.map(|voxels| voxels.extract::<Voxels>()?.volume(py)).transpose()
    };
    let transform = |name: &str| {
        let transform = held.get_item(name)?;
        transform.map(|transform| PyResult::Ok(transform.cast::<Transform>()?.get().0.clone())).transpose()
    };
    let points = |name: &str| {
        let rows = held.get_item(name)?;
        rows.map(|rows| PyResult::Ok(images::points(rows.extract()?))).transpose()
    };
    let volumes = |name: &str| {
        let Some(all) = held.get_item(name)? else { return Ok(Vec::new()) };
        let all = all.extract::<Vec<Option<Voxels>>>()?.into_iter();
        all.map(|voxels| voxels.map(|voxels| voxels.volume(py)).transpose()).collect::<PyResult<_>>()
    };
    let [(fixed, fixed_there), (moving, moving_there)] =
        [of_pair(py, held.get_item("fixed")?, engine)?, of_pair(py, held.get_item("moving")?, engine)?];
    let grid = held.get_item("grid")?.map(|grid| grid.extract::<Grid>()?.geometry(py)).transpose()?;
    Ok(InMemory {
        fixed,
        moving,
        on_device: [fixed_there, moving_there],
        fixed_mask: volume("fixed_mask")?,
        moving_mask: volume("moving_mask")?,
        fixed_labels: volume("fixed_labels")?,
        moving_labels: volume("moving_labels")?,
        extra: [volumes("fixed_extra")?, volumes("moving_extra")?],
        images: volumes("images")?,
        unfinished: held.get_item("unfinished")?.map(|folder| folder.extract()).transpose()?,
        image: volume("image")?,
        grid,
        transform: transform("transform")?,
        truth: transform("truth")?,
        points: points("points")?,
        moving_points: points("moving_points")?,
    })
}

#[pymethods]
impl Finished {
    /// The content of report.json.
    #[getter]
    fn report(&self) -> &str {
        &self.0.report
    }

    /// The transform from points of the fixed image to points of the moving image.
    fn transform(&self) -> Transform {
        Transform(match &self.0.found {
            Found::Linear(found, _) => found.transform.clone().into(),
            Found::Deformed(found, ..) => found.field.clone().into(),
            Found::Meshed(found) => found.after.clone().into(),
        })
    }

    /// The linear transform that a deformation or a mesh started from.
    fn start(&self) -> Option<Transform> {
        let start = match &self.0.found {
            Found::Linear(..) => return None,
            Found::Deformed(found, ..) => &found.start,
            Found::Meshed(found) => &found.start,
        };
        Some(Transform(start.transform.clone().into()))
    }

    /// The inverse of a deformation, on the grid of the moving image.
    fn inverse(&self) -> Option<Transform> {
        let Found::Deformed(found, ..) = &self.0.found else { return None };
        Some(Transform(found.inverse.clone().into()))
    }

    /// The Jacobian determinant of a deformation.
    fn jacobian<'py>(&self, py: Python<'py>) -> PyResult<Option<Image<'py>>> {
        let Found::Deformed(found, ..) = &self.0.found else { return Ok(None) };
        image(py, found.jacobian.clone()).map(Some)
    }

    /// A deformation without its initial linear transform, on the grid of the fixed image.
    fn warp(&self, py: Python<'_>) -> PyResult<Option<Transform>> {
        let Found::Deformed(found, ..) = &self.0.found else { return Ok(None) };
        with_threads(py, || Ok(Some(Transform(found.warp().into()))))
    }

    /// The logarithms of the Jacobian determinant of a deformation, with and without its initial transform.
    fn log_jacobians<'py>(&self, py: Python<'py>) -> PyResult<Option<(Image<'py>, Image<'py>)>> {
        let Found::Deformed(found, ..) = &self.0.found else { return Ok(None) };
        let [whole, warp] = with_threads(py, || Ok(found.log_jacobians()))?;
        Ok(Some((image(py, whole)?, image(py, warp)?)))
    }

    /// The content of report.html.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        with_threads(py, || self.0.page())
    }
}

#[pymethods]
impl Averaged {
    /// The content of report.json.
    #[getter]
    fn report(&self) -> &str {
        &self.0.report
    }

    /// The template, and the mean of the images after their affine registration alone.
    fn means<'py>(&self, py: Python<'py>) -> PyResult<[Image<'py>; 2]> {
        let [mean, affine_mean] = self.0.means().map(|mean| image(py, mean.clone()));
        Ok([mean?, affine_mean?])
    }

    /// The content of report.html.
    fn page(&self, py: Python<'_>) -> PyResult<String> {
        with_threads(py, || self.0.page())
    }
}

/// Where mireg can compute, as JSON.
#[pyfunction]
pub fn devices(py: Python<'_>) -> PyResult<String> {
    let devices = py.detach(mireg::backend::devices);
    serde_json::to_string(&devices).map_err(|e| errors::input(py, &e.to_string()))
}

/// The program `mireg`: runs a command line, the program's name first, and returns the exit code.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<String>) -> u8 {
    let started = Instant::now();
    let words = words.into_iter().map(Into::into).collect();
    py.detach(move || mireg_cli::fault::guard(move || mireg_cli::run(started, words)))
}
