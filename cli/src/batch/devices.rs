//! The GPUs of a study.

use std::env;
use std::fmt::Display;
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::thread;
use std::time::Duration;

use mireg::{Error, Observer, Result, backend};

use crate::interrupt;

/// How often to check whether a GPU is free.
const ASKED: Duration = Duration::from_millis(200);

/// Which GPUs a study takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Devices {
    All,
    /// The first GPU that no other study with `any` has taken.
    Any,
    /// The GPUs of these numbers, from 0.
    These(Vec<usize>),
}

impl Devices {
    /// Returns the numbers of the GPUs. `Any` waits until one is free.
    ///
    /// # Errors
    /// [`Error::Device`] if there is no GPU, [`Error::File`] if a lock cannot be made, [`Error::Stopped`] after a
    /// signal.
    pub fn numbers(&self, observer: &dyn Observer) -> Result<Vec<usize>> {
        let gpus = backend::gpus()
            .map_err(|e| Error::device("cuda", format!("{e}; leave out --devices to compute on the CPU")))?;
        match self {
            Self::All => Ok((0..gpus.len()).collect()),
            Self::Any => Ok(vec![free(&gpus, observer)?]),
            Self::These(numbers) => Ok(numbers.clone()),
        }
    }
}

impl FromStr for Devices {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let numbers = || {
            let mut numbers: Vec<usize> = text.split(',').map(|number| number.parse().ok()).collect::<Option<_>>()?;
            numbers.sort_unstable();
            numbers.dedup();
            Some(numbers)
        };
        match text {
            "all" => Ok(Self::All),
            "any" => Ok(Self::Any),
            _ => numbers().map(Self::These).ok_or("give all, any, or numbers from 0, as in 0,2"),
        }
    }
}

/// Returns the first GPU that no other process has locked. This process keeps it locked until it ends.
fn free(places: &[String], observer: &dyn Observer) -> Result<usize> {
    let mut waits = false;
    loop {
        for (number, place) in places.iter().enumerate() {
            if let Some(lock) = lock(&path(place))? {
                // The lock is released when the process ends, however it ends.
                std::mem::forget(lock);
                return Ok(number);
            }
        }
        if !waits {
            observer.note("other studies have taken all GPUs: waiting for one");
            waits = true;
        }
        thread::sleep(ASKED);
        interrupt::proceed()?;
    }
}

/// Returns the file whose lock stands for the GPU at this place on the bus.
fn path(place: &str) -> PathBuf {
    env::temp_dir().join(format!("mireg-gpu-{}.lock", place.replace(':', "-")))
}

/// Opens and locks a file. Returns `None` if another process has it locked. The file may have been made by another
/// user.
fn lock(path: &Path) -> Result<Option<File>> {
    let unusable = |e: &dyn Display| {
        Error::file(
            path,
            format!("no GPU can be locked by it ({e}); set TMPDIR to a local folder, or give --devices a number"),
        )
    };
    let made = OpenOptions::new().create(true).append(true).open(path);
    let file = made.or_else(|_| File::open(path)).map_err(|e| unusable(&e))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(e)) => Err(unusable(&e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_have_names() {
        assert_eq!("all".parse(), Ok(Devices::All));
        assert_eq!("any".parse(), Ok(Devices::Any));
        assert_eq!("2,0,2".parse(), Ok(Devices::These(vec![0, 2])));
        for text in ["", "0,", "-1", "gpu", "0;1"] {
            assert!(text.parse::<Devices>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_gpu_that_is_held_is_not_free() {
        let places = [1, 2].map(|n| format!("test-{}-{n}", std::process::id()));
        let held = lock(&path(&places[0])).unwrap();
        assert!(held.is_some());
        assert_eq!(free(&places, &mireg::Silent).unwrap(), 1);
        drop(held);
        assert_eq!(free(&places, &mireg::Silent).unwrap(), 0);
        places.iter().for_each(|place| std::fs::remove_file(path(place)).unwrap());
    }
}
