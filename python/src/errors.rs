//! Converts errors of the library to exceptions, with the line that the command line prints.

use std::any::Any;
use std::sync::{Mutex, PoisonError};

use mireg::Error;
use mireg_cli::{fault, memory};
use pyo3::prelude::*;

/// The line of the last panic.
static FAULT: Mutex<Option<String>> = Mutex::new(None);

/// Keeps the line of a panic for [`fault`] instead of printing it. The hook belongs to this extension alone and does
/// not affect others.
pub fn listen() {
    std::panic::set_hook(Box::new(|info| {
        *FAULT.lock().unwrap_or_else(PoisonError::into_inner) = Some(fault::line(info));
    }));
}

/// Makes an exception of the package, by the name of its class.
fn of_class(py: Python<'_>, class: &str, line: &str) -> PyErr {
    let made = || PyResult::Ok(PyErr::from_value(py.import("mireg._errors")?.getattr(class)?.call1((line,))?));
    made().unwrap_or_else(|failed| failed)
}

/// Makes the exception for a wrong argument.
pub fn input(py: Python<'_>, line: &str) -> PyErr {
    of_class(py, "InputError", line)
}

/// Makes the exception for an error of the library.
pub fn raise(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::File { .. } => "FileError",
        Error::Option { .. } => "InputError",
        Error::Device { .. } => "DeviceError",
        Error::Untrusted(_) => "UntrustedError",
        // A run that was stopped raises what stopped it; see `watch.rs`.
        Error::Stopped => "Fault",
    };
    of_class(py, class, &memory::line(error))
}

/// Makes the exception for a panic, which is a bug of mireg.
pub fn fault(py: Python<'_>, payload: &(dyn Any + Send)) -> PyErr {
    let kept = FAULT.lock().unwrap_or_else(PoisonError::into_inner).take();
    let line = kept.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a fault in mireg".into());
    of_class(py, "Fault", line.trim_start_matches("mireg: "))
}
