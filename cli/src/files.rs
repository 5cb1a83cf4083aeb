//! Files that are read, and must not be written over.

use std::path::{Path, PathBuf};

use mireg::{Error, Result, Volume, io};

use crate::interrupt;

/// Reads the fixed and the moving image at the same time.
pub fn read(fixed: &Path, moving: &Path) -> Result<(Volume, Volume)> {
    let (fixed, moving) = rayon::join(|| io::read(fixed), || io::read(moving));
    interrupt::proceed()?;
    Ok((fixed?, moving?))
}

/// Refuses an output that would replace an input.
pub fn keep_inputs<const N: usize>(output: &Path, inputs: [&PathBuf; N]) -> Result<()> {
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
