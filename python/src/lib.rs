//! The extension behind the Python package: it converts, and calls the library. What a Python program sees is in `python/mireg/`.
//!
//! Commands are given as the words of a command line, so that options, their defaults and the errors about them are the
//! same.

mod commands;
mod dlpack;
mod ending;
mod engine;
mod errors;
mod images;
mod numbers;
mod transform;
mod watch;

use pyo3::prelude::*;

/// The functions and classes that the package is made of.
#[pymodule]
mod _mireg {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::commands::{Averaged, Finished, command, devices, run};
    #[pymodule_export]
    use crate::engine::Engine;
    #[pymodule_export]
    use crate::images::{axes, grid, read, write};
    #[pymodule_export]
    use crate::transform::Transform;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::errors::listen();
        crate::ending::listen(module)?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
