//! Files that are read, and must not be written over.

use std::path::{Path, PathBuf};

use glam::DVec3;
use mireg::io::points::{Frame, Landmarks};
use mireg::io::{self, Image, ReadOptions, Role};
use mireg::{Error, Result, Volume};

use crate::arguments::images::Images;
use crate::{flags, terminal};

/// A slide of more pixels is registered on fewer: at a tenth of a pixel of those that are left, nothing is lost.
pub const MOST_PIXELS: usize = 1 << 26;

/// Reads the fixed and the moving image at the same time, pictures thinned to so many pixels; those that are `held` are not read. Returns
/// them with what is to be said of how they were read, a line each.
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

/// Reads what lies on the grid of an image, such as a mask, and is thinned as that is.
///
/// # Errors
/// As [`io::read_with`].
pub fn on_grid(path: &Path) -> Result<Volume> {
    let options = ReadOptions { role: Role::Plain, most_pixels: Some(MOST_PIXELS), ..ReadOptions::default() };
    io::read_with(path, &options).map(|image| image.volume)
}

/// Reads points, LPS mm; `frame` is that of their coordinates, by default what the file says, or else LPS.
///
/// # Errors
/// As [`Landmarks::read`].
pub fn points(path: &Path, frame: Option<Frame>) -> Result<Vec<DVec3>> {
    Ok(Landmarks::read(path, None, frame)?.points().to_vec())
}

/// What is to be said of how the image at `path` was read, a line each.
pub fn notes(path: &Path, image: &Image) -> Vec<String> {
    image.notes.iter().map(|note| format!("{}: {}", path.display(), flags::message(note))).collect()
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

/// The input that is the same file as an output.
pub fn replaced<'a>(output: &Path, inputs: impl IntoIterator<Item = &'a PathBuf>) -> Option<&'a PathBuf> {
    let there = output.canonicalize().ok()?;
    inputs.into_iter().find(|input| input.canonicalize().is_ok_and(|input| input == there))
}
