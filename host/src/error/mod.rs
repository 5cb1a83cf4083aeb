//! The errors of mireg. Each says which file, option or device is concerned, what is wrong, and what to do.

mod message;
mod setting;

use std::fmt::{self, Display, Formatter};
use std::path::{Path, PathBuf};

pub use message::{Message, Piece};
pub(crate) use message::{message, piece};
pub use setting::Setting;

/// An error. `Display` gives one line without a full stop, with the names that options have in this library.
/// [`Error::line`] lets the caller name them.
#[derive(Debug)]
pub enum Error {
    /// A file that cannot be read, written or used.
    File { path: PathBuf, message: Message },
    /// An option or an image that is not valid, by itself or together with the others.
    Option { setting: Setting, message: Message },
    /// A backend that is not available or failed: `cpu`, `cuda` or `emulated`.
    Device { backend: &'static str, message: Message },
    /// No registration of the images can be trusted.
    Untrusted(Message),
    /// The observer stopped the run.
    Stopped,
}

/// A result, by default with mireg's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// An error about `path`.
    pub fn file(path: impl AsRef<Path>, message: impl Into<Message>) -> Self {
        Self::File { path: path.as_ref().to_owned(), message: message.into() }
    }

    /// Returns a function that makes an error about `path` of a message.
    pub fn at<M: Into<Message>>(path: &Path) -> impl Fn(M) -> Self + '_ {
        move |message| Self::file(path, message)
    }

    /// An error about the value of `setting`.
    pub fn option(setting: Setting, message: impl Into<Message>) -> Self {
        Self::Option { setting, message: message.into() }
    }

    /// An error about `backend`.
    pub fn device(backend: &'static str, message: impl Into<Message>) -> Self {
        Self::Device { backend, message: message.into() }
    }

    /// An error about a result.
    pub fn untrusted(message: impl Into<Message>) -> Self {
        Self::Untrusted(message.into())
    }

    /// What is wrong and what to do; `None` for [`Error::Stopped`].
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::File { message, .. } | Self::Option { message, .. } | Self::Device { message, .. } => Some(message),
            Self::Untrusted(message) => Some(message),
            Self::Stopped => None,
        }
    }

    /// The error in one line, with options named by `name`.
    pub fn line(&self, name: impl Fn(Setting) -> String) -> String {
        let message = self.message().map_or_else(|| "stopped before the end".to_owned(), |message| message.line(name));
        match self {
            Self::File { path, .. } => format!("{}: {message}", message::printable_line(&path.display().to_string())),
            _ => message,
        }
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line(Setting::quoted))
    }
}

impl std::error::Error for Error {}

impl From<cust::error::CudaError> for Error {
    fn from(error: cust::error::CudaError) -> Self {
        let says = error.to_string();
        Self::device("cuda", format!("the CUDA driver says: {}", says.trim_matches('"')))
    }
}
