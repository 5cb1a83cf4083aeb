//! Runs a case: damages a file, reads it, and judges the outcome.

use std::path::{Path, PathBuf};

use mireg::io::points::Landmarks;
use mireg::io::transform::{self, Grids};
use mireg::io::{self, Channel, ReadOptions, Select};
use mireg::{Error, Geometry, Result};

use crate::allocator::{Asked, noted};
use crate::damage;
use crate::random::Random;
use crate::samples::{self, Reader, Sample};

/// The largest allocation, bytes, that is allowed however short the files are: decoders have buffers and tables.
const FREE: usize = 16 << 20;
/// How much larger it may be for each byte of the files: 1032 is the highest ratio of deflate, and each byte may become
/// a float of four.
const AT_ONCE: usize = 1032 * 4;
/// As [`FREE`], for all memory that is allocated at a time.
const FREE_IN_ALL: usize = 64 << 20;
/// As [`AT_ONCE`], for all memory that is allocated at a time.
const IN_ALL: usize = 10;
/// The most characters of an error.
const LINE: usize = 5000;

/// What all cases of a run share.
pub struct Cases {
    samples: Vec<Sample>,
    grids: [Geometry; 2],
    seed: u64,
    folder: PathBuf,
}

impl Cases {
    /// Creates the cases of the samples whose names contain `format`, in folders below `folder`.
    pub fn new(folder: &Path, seed: u64, format: &str) -> Self {
        std::fs::create_dir_all(folder).expect("a folder can be made");
        let mut samples = samples::all(folder);
        samples.retain(|sample| sample.name.contains(format));
        let folder = folder.join("cases");
        for sample in &samples {
            std::fs::create_dir_all(folder.join(&sample.name)).expect("a folder can be made");
        }
        Self { samples, grids: samples::grids(), seed, folder }
    }

    /// Returns the number of samples.
    pub fn kinds(&self) -> usize {
        self.samples.len()
    }

    /// Returns the name of a case's sample, and the folder of its files.
    pub fn name(&self, case: u64) -> String {
        let sample = self.sample(case);
        format!("{} in {}", sample.name, self.folder.join(&sample.name).display())
    }

    fn sample(&self, case: u64) -> &Sample {
        &self.samples[(case % self.samples.len() as u64) as usize]
    }

    /// Checks that all samples can be read when their trees are written as files again: a bad one would hide what comes
    /// after it.
    pub fn check(&self) -> Result<(), String> {
        for sample in &self.samples {
            let files: Vec<_> = sample.files.iter().map(|(name, node)| (name, node.bytes())).collect();
            let read = self.read(sample, &self.write(sample, &files), &mut |_| 0);
            read.map_err(|error| format!("the sample {} is bad: {error}", sample.name))?;
        }
        Ok(())
    }

    fn write(&self, sample: &Sample, files: &[(&String, Vec<u8>)]) -> PathBuf {
        let folder = self.folder.join(&sample.name);
        for (name, bytes) in files {
            std::fs::write(folder.join(name), bytes).expect("the folder takes files");
        }
        folder.join(files[0].0)
    }

    /// Runs a case. Returns what mireg says about the file; if that is wrong, the error says how.
    pub fn run(&self, case: u64) -> Result<String, String> {
        let sample = self.sample(case);
        let mut random = Random::of_case(self.seed, case);
        let hit = if random.once_in(4) { random.below(sample.files.len()) } else { 0 };
        let file = |(n, (name, node)): (usize, _)| {
            let bytes = if n == hit { damage::damaged(node, &mut random) } else { node.bytes() };
            (name, bytes)
        };
        let files: Vec<_> = sample.files.iter().map(|(name, node)| (name, node)).enumerate().map(file).collect();
        let length = files.iter().map(|(_, bytes)| bytes.len()).sum();
        let path = self.write(sample, &files);
        let (read, asked) = noted(|| self.read(sample, &path, &mut |end| random.below(end)));
        modest(length, asked)?;
        match read {
            Ok(()) => Ok("read".into()),
            Err(error) => error_line(&error, path.parent().unwrap_or(&path)),
        }
    }

    /// Reads the first file of a sample in one of several ways, which `choose` picks.
    fn read(&self, sample: &Sample, path: &Path, choose: &mut dyn FnMut(usize) -> usize) -> Result<()> {
        let [fixed, moving] = &self.grids;
        let grids = Grids::of(fixed, moving);
        match sample.reader {
            Reader::Image => image(path, choose(8)),
            Reader::Field => io::field::read(path).map(|field| whole(&field.geometry, field.vectors.len())),
            Reader::Transform(format) => {
                transform::read(path, format.filter(|_| choose(3) < 2), &grids).map(drop)?;
                Ok(())
            }
            Reader::Points => {
                let landmarks = Landmarks::read(path, None, None)?;
                landmarks.write(&path.with_file_name(format!("out-{}", sample.files[0].0)))
            }
            Reader::Mesh => io::mesh::read(path).map(drop),
        }
    }
}

fn image(path: &Path, way: usize) -> Result<()> {
    let channel = if way == 5 { Channel::Number(1) } else { Channel::Luma };
    let options = |volume| ReadOptions { volume, channel, ..ReadOptions::default() };
    let read = |path: &Path, volume| {
        let image = io::read_with(path, &options(volume))?;
        image.notes.iter().for_each(|note| one_line(&note.to_string()).expect("a note is one line"));
        whole(&image.volume.geometry, image.volume.voxels.len());
        assert!(image.volume.voxels.iter().all(|voxel| !voxel.is_infinite()), "a voxel is infinite");
        Ok(())
    };
    match way {
        1 => io::geometry(path).map(|geometry| whole(&geometry, geometry.voxels())),
        2 if path.extension().is_some_and(|end| end == "dcm") => read(path.parent().unwrap_or(path), None),
        3 => read(path, Some(Select::Mean)),
        4 => read(path, Some(Select::Number(1))),
        _ => match read(path, None) {
            // A file of several volumes is read with one of them.
            Err(error) if way == 0 && error.to_string().contains("; choose one with `volume`") => {
                read(path, Some(Select::Number(0)))
            }
            outcome => outcome,
        },
    }
}

/// Panics if what was read is impossible.
fn whole(geometry: &Geometry, values: usize) {
    assert_eq!(values, geometry.voxels(), "values do not fill the grid");
    assert!(geometry.index_to_world().is_finite() && geometry.world_to_index().is_finite(), "{geometry:?}");
}

fn modest(length: usize, Asked { largest, peak }: Asked) -> Result<(), String> {
    if largest > FREE + AT_ONCE * length {
        return Err(format!("{largest} bytes asked for at once, for files of {length}"));
    }
    if peak > FREE_IN_ALL + IN_ALL * length {
        return Err(format!("{peak} bytes allocated at a time, for files of {length}"));
    }
    Ok(())
}

/// Returns the error as text, if it is one line about a file in `folder`.
fn error_line(error: &Error, folder: &Path) -> Result<String, String> {
    let line = error.to_string();
    let Error::File { path, message } = error else { return Err(format!("an error about no file: {line}")) };
    if !path.starts_with(folder) {
        return Err(format!("an error about another file: {line}"));
    }
    one_line(&message.to_string())?;
    Ok(line)
}

fn one_line(message: &str) -> Result<(), String> {
    match () {
        () if message.trim().is_empty() => Err("an empty message".into()),
        () if message.chars().any(char::is_control) => Err(format!("a message of several lines: {message:?}")),
        () if message.chars().count() > LINE => Err(format!("a message without an end: {message:.200}")),
        () => Ok(()),
    }
}
