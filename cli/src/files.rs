//! Reads images and points, writes text, and refuses outputs that would replace an input.

use std::path::{Path, PathBuf, absolute};

use glam::DVec3;
use mireg::io::points::{Frame, Landmarks};
use mireg::io::{self, Image, ReadOptions, Role};
use mireg::{Error, Result, Volume};

use crate::arguments::images::Images;
use crate::{flags, terminal};

/// The most pixels of a picture on which it is registered. A larger one, such as a slide, is subsampled while it is
/// read: registration is accurate to a tenth of the pixels that remain, so nothing is lost.
pub const MOST_PIXELS: usize = 1 << 26;

/// Reads the fixed and the moving image in parallel, unless they are in memory. Pictures of more than `most_pixels` are
/// subsampled. Returns the images, and notes on how they were read, one line each.
///
/// # Errors
/// As [`io::read_with`].
pub fn read(
    [fixed, moving]: [&Path; 2],
    images: &Images,
    most_pixels: Option<usize>,
    [held_fixed, held_moving]: [Option<Volume>; 2],
) -> Result<([Image; 2], Vec<String>)> {
    let read = |path, options, held: Option<Volume>| match held {
        Some(volume) => Ok(volume.into()),
        None => io::read_with(path, &ReadOptions { most_pixels, ..options }),
    };
    let (of_fixed, of_moving) =
        rayon::join(|| read(fixed, images.fixed(), held_fixed), || read(moving, images.moving(), held_moving));
    let (of_fixed, of_moving) = (of_fixed?, of_moving?);
    let notes = [notes(fixed, &of_fixed), notes(moving, &of_moving)].concat();
    Ok(([of_fixed, of_moving], notes))
}

/// Reads an image, such as a mask, that lies on the grid of another one. If it is a picture, it is subsampled as that
/// one is.
///
/// # Errors
/// As [`io::read_with`].
pub fn on_grid(path: &Path) -> Result<Volume> {
    let options = ReadOptions { role: Role::Plain, most_pixels: Some(MOST_PIXELS), ..ReadOptions::default() };
    io::read_with(path, &options).map(|image| image.volume)
}

/// Reads points and returns them in LPS mm. `frame` is the frame of the coordinates in the file; by default, the one
/// that the file names, or else LPS.
///
/// # Errors
/// As [`Landmarks::read`].
pub fn points(path: &Path, frame: Option<Frame>) -> Result<Vec<DVec3>> {
    Ok(Landmarks::read(path, None, frame)?.points().to_vec())
}

/// Returns notes on how the image at `path` was read, one line each.
pub fn notes(path: &Path, image: &Image) -> Vec<String> {
    image.notes.iter().map(|note| format!("{}: {}", path.display(), flags::message(note))).collect()
}

/// Writes a file of text.
///
/// # Errors
/// [`Error::File`] where it cannot be written.
pub fn write(path: &Path, text: impl AsRef<[u8]>) -> Result<()> {
    std::fs::write(path, text).map_err(|e| Error::file(path, format!("cannot be written ({})", e.kind())))
}

/// Returns an error about a temporary file in `temporary` as one about the file that it would have become in `folder`,
/// since the temporary file is soon removed.
pub fn with_final_path(error: Error, temporary: &Path, folder: &Path) -> Error {
    let temporary = absolute(temporary).unwrap_or_default();
    match error {
        Error::File { path, message } if path.starts_with(&temporary) => {
            let path = path.file_name().map_or_else(|| folder.to_owned(), |name| folder.join(name));
            Error::File { path, message }
        }
        error => error,
    }
}

/// Prints notes on stderr.
pub fn say(notes: &[String]) {
    notes.iter().for_each(|note| terminal::say(&format!("mireg: note: {note}")));
}

/// Refuses an output that would replace an input.
pub fn keep_inputs<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Result<()> {
    match replaced(output, inputs) {
        Some(input) => Err(Error::file(input, "the results would replace this input; choose another --out")),
        None => Ok(()),
    }
}

/// Returns the input that is the same file as `output`, if there is one.
pub fn replaced<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Option<&'a PathBuf> {
    let there = output.canonicalize().ok()?;
    inputs.into_iter().find(|input| input.canonicalize().is_ok_and(|input| input == there))
}
