//! Every way in which mireg refuses, each as one line that says what is wrong with what and what to do.

use std::path::{Path, PathBuf};

/// What went wrong. `Display` is one line without a trailing full stop.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file that cannot be read, written or used.
    #[error("{}: {message}", path.display())]
    File { path: PathBuf, message: String },
    /// An option or a combination of inputs that makes no sense.
    #[error("{0}")]
    Input(String),
    /// A backend that is not there or gave up.
    #[error("{0}")]
    Device(String),
    /// The images were read but no registration of them can be trusted.
    #[error("{0}")]
    Untrusted(String),
    /// The observer asked for an end.
    #[error("stopped before the end")]
    Stopped,
}

/// Short for a result, with mireg's [`enum@Error`] where no other is named.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error about `path`.
    pub fn file(path: impl AsRef<Path>, message: impl ToString) -> Self {
        Self::File { path: path.as_ref().to_owned(), message: message.to_string() }
    }
}

impl From<cust::error::CudaError> for Error {
    fn from(error: cust::error::CudaError) -> Self {
        let says = error.to_string();
        Self::Device(format!("the CUDA driver says: {}", says.trim_matches('"')))
    }
}
