//! Keeps the finished steps of a run in files. A later run with the same inputs and options reads them instead of
//! repeating the steps.

use super::{Fit, Options, Round};
use crate::io;
use crate::io::transform::{Grids, read_linear, write_linear};
use crate::transform::{Field, Linear};
use crate::{Error, Geometry, Result, Volume, deform};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// A folder of finished steps. A step is finished once its transform, field or image is there, which is written under
/// another name and then renamed.
pub struct Checkpoints {
    folder: PathBuf,
    /// The prefix of the names of the files that belong to this run's inputs and options.
    fingerprint: String,
    /// The template's grid. Files may hold it with fewer digits.
    grid: Geometry,
    /// The files that were there before.
    before: HashSet<OsString>,
    /// Those of them that were used.
    used: RefCell<HashSet<OsString>>,
}

/// Returns a hash of the images and the options of a run. Threads and the device are left out, because no result
/// depends on them.
pub fn fingerprint(images: &[Volume], options: &Options) -> String {
    // All options are named, so that a new one cannot be forgotten.
    let Options { grid, rounds, deform } = options;
    let deform::Options {
        start,
        force,
        extra,
        symmetric,
        levels,
        iterations,
        smooth_mm,
        smooth_field_mm,
        bins,
        fixed_mask,
        moving_mask,
        landmarks,
        fixed_range,
        moving_range,
        moved,
    } = deform;
    let smoothing = [smooth_mm, smooth_field_mm];
    let small =
        (start, force, symmetric, levels, iterations, smoothing, bins, landmarks, fixed_range, moving_range, moved);
    let weights: Vec<_> = extra.iter().map(|channel| channel.weight).collect();
    let small = format!("{:?}", (grid, rounds, small, weights));
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), small, images.len()).hash(&mut hasher);
    let masks = [fixed_mask.as_ref(), moving_mask.as_ref()];
    let extra = extra.iter().flat_map(|channel| [&channel.fixed, &channel.moving]);
    let volumes = images.iter().chain(extra).map(Some).chain(masks);
    volumes.for_each(|volume| hash(volume, &mut hasher));
    format!("{:016x}", hasher.finish())
}

fn hash(volume: Option<&Volume>, hasher: &mut DefaultHasher) {
    let Some(Volume { geometry, voxels, .. }) = volume else { return hasher.write_u8(0) };
    format!("{geometry:?}").hash(hasher);
    voxels.iter().for_each(|voxel| hasher.write_u32(voxel.to_bits()));
}

impl Checkpoints {
    /// Opens the folder, and makes it if it does not exist.
    ///
    /// # Errors
    /// [`Error::File`]
    pub fn open(folder: &Path, fingerprint: String, grid: Geometry) -> Result<Self> {
        fs::create_dir_all(folder).map_err(|e| Error::file(folder, format!("cannot be made ({})", e.kind())))?;
        let names = fs::read_dir(folder).map_err(|e| Error::file(folder, format!("cannot be read ({})", e.kind())))?;
        let before = names.filter_map(|entry| Some(entry.ok()?.file_name())).collect();
        Ok(Self { folder: folder.to_owned(), fingerprint, grid, before, used: RefCell::default() })
    }

    /// Returns the number of steps that were read instead of made.
    pub fn resumed(&self) -> usize {
        self.used.borrow().len()
    }

    /// Reads or makes the affine transform of an image, and whether it can be trusted.
    pub fn affine(&self, image: usize, make: impl FnOnce() -> Result<(Linear, bool)>) -> Result<(Linear, bool)> {
        let (path, facts) = (self.path(&format!("affine_{image}.tfm")), self.path(&format!("affine_{image}.json")));
        self.step(
            &path,
            make,
            |path| Ok((read_linear(path, None, &Grids::default())?, self.read_facts(&facts)?)),
            |path, (linear, trusted)| {
                write_facts(&facts, trusted)?;
                write_linear(path, None, linear, &Grids::default())
            },
        )
    }

    /// Reads or makes the field of an image in a round.
    pub fn field(
        &self,
        round: usize,
        image: usize,
        make: impl FnOnce() -> Result<(Field, Fit)>,
    ) -> Result<(Field, Fit)> {
        let (path, facts) = self.of_field(round, image);
        self.step(
            &path,
            make,
            |path| Ok((Field { geometry: self.grid, ..io::field::read(path)? }, self.read_facts(&facts)?)),
            |path, (field, fit)| {
                write_facts(&facts, fit)?;
                io::field::write(path, field)
            },
        )
    }

    /// Reads or makes the template after a round.
    pub fn mean(&self, round: usize, make: impl FnOnce() -> Result<(Volume, Round)>) -> Result<(Volume, Round)> {
        let (path, facts) = (self.path(&format!("mean_{round}.mha")), self.path(&format!("mean_{round}.json")));
        self.step(
            &path,
            make,
            |path| Ok((Volume { geometry: self.grid, ..io::read(path)? }, self.read_facts(&facts)?)),
            |path, (mean, round)| {
                write_facts(&facts, round)?;
                io::write(path, mean)
            },
        )
    }

    /// Removes the fields of a round, which are no longer needed.
    pub fn drop_fields(&self, round: usize, images: usize) {
        for image in 0..images {
            let (path, facts) = self.of_field(round, image);
            // A file that cannot be removed only takes up space.
            let _ = (fs::remove_file(path), fs::remove_file(facts));
        }
    }

    fn of_field(&self, round: usize, image: usize) -> (PathBuf, PathBuf) {
        let path = |end: &str| self.path(&format!("field_{round}_{image}.{end}"));
        (path("nii"), path("json"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{}_{name}", self.fingerprint))
    }

    /// Reads a step from its file. If there is none, makes the step, writes it and reads it back, so that the result is
    /// the same either way.
    fn step<T>(
        &self,
        path: &Path,
        make: impl FnOnce() -> Result<T>,
        read: impl Fn(&Path) -> Result<T>,
        write: impl FnOnce(&Path, &T) -> Result<()>,
    ) -> Result<T> {
        if !path.exists() {
            write(path, &make()?)?;
        } else if let Some(name) = path.file_name().filter(|&name| self.before.contains(name)) {
            self.used.borrow_mut().insert(name.to_owned());
        }
        read(path)
    }

    fn read_facts<T: DeserializeOwned>(&self, path: &Path) -> Result<T> {
        let damaged = |e: &dyn std::fmt::Display| {
            Error::file(path, format!("is damaged ({e}); remove {}", self.folder.display()))
        };
        let text = fs::read_to_string(path).map_err(|e| damaged(&e))?;
        serde_json::from_str(&text).map_err(|e| damaged(&e))
    }
}

fn write_facts(path: &Path, facts: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(facts).map_err(|e| Error::file(path, e.to_string()))?;
    fs::write(path, text).map_err(|e| Error::file(path, e.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PixelType, random};
    use glam::DVec3;
    use std::time::{Duration, Instant};

    /// Text would take many times as long, and more memory than the mask itself.
    #[test]
    fn a_mask_is_hashed_about_as_fast_as_an_image_and_changes_the_fingerprint() {
        let geometry = Geometry::axis_aligned([64; 3], DVec3::ONE, DVec3::ZERO);
        let volume = |seed| {
            let voxels = (0..geometry.voxels()).map(|n| random::uniform(seed, n as u64) as f32).collect();
            Volume { geometry, voxels, pixel: PixelType::F32 }
        };
        let images = [volume(1)];
        let with = |fixed_mask, moving_mask| {
            let deform = deform::Options { fixed_mask, moving_mask, ..Default::default() };
            let options = Options { deform, ..Default::default() };
            let runs = (0..5).map(|_| {
                let clock = Instant::now();
                let name = fingerprint(&images, &options);
                (clock.elapsed(), name)
            });
            runs.min().unwrap()
        };
        let (alone, masked) = (with(None, None), with(Some(volume(2)), None));
        assert!(masked.0 < 8 * alone.0 + Duration::from_millis(1), "{masked:?} and {alone:?}");
        let names = [alone.1, masked.1, with(None, Some(volume(2))).1, with(Some(volume(3)), None).1];
        assert_eq!(names.iter().collect::<HashSet<_>>().len(), 4, "{names:?}");
    }
}
