//! Checks that damaged files neither cause a panic nor are read in part.

use std::path::Path;

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::io::transform::{Format, Grids, read_linear, write_linear};
use mireg::transform::{Dimension, Kind, Linear};
use mireg::{Error, Result};
use proptest::prelude::*;
use strum::VariantArray;

use super::grids;
use crate::io::Folder;
use crate::io::round_trip::check;
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::transform::damage::truncated", every_truncation_is_refused_or_changes_nothing),
        trial("io::transform::damage::bits", a_flipped_bit_is_refused_or_read),
        trial("io::transform::damage::noise", noise_is_refused_or_read),
    ]
}

/// A map, and its file in each format.
fn files() -> (Linear, Vec<(Format, Vec<u8>)>) {
    let folder = Folder::new();
    let parameters = vec![0.1234567, -0.2345678, 0.3456789, 45.6789012, -5.6789012, 67.8901234, 1.2345678];
    let centre = DVec3::new(12.345, -67.891, 23.456);
    let given = Linear { kind: Kind::Similarity, dimension: Dimension::Three, parameters, centre };
    let [fixed, moving] = grids();
    let bytes = |&format: &Format| {
        let path = folder.path("a");
        write_linear(&path, Some(format), &given, &Grids::of(&fixed, &moving)).unwrap();
        (format, std::fs::read(path).unwrap())
    };
    (given.clone(), Format::VARIANTS.iter().map(bytes).collect())
}

/// Reads a damaged file, once with its original format given and once with the format detected. Asserts that an error
/// is one line.
fn attempts(path: &Path, format: Format) -> [Result<Linear>; 2] {
    let [fixed, moving] = grids();
    let grids = Grids::of(&fixed, &moving);
    [Some(format), None].map(|format| {
        let outcome = read_linear(path, format, &grids);
        match &outcome {
            Ok(linear) => assert!(linear.to_affine().inverse().is_finite(), "{linear:?}"),
            Err(error) => {
                let message = error.to_string();
                assert!(matches!(error, Error::File { .. }) && !message.chars().any(char::is_control), "{message:?}");
                assert!(message.len() < 1000, "{message}");
            }
        }
        outcome
    })
}

fn every_truncation_is_refused_or_changes_nothing() {
    let folder = Folder::new();
    let (given, files) = files();
    for (format, bytes) in files {
        for length in 0..bytes.len() {
            for found in attempts(&folder.file("a", &bytes[..length]), format).into_iter().flatten() {
                let same = found.to_affine().abs_diff_eq(given.to_affine(), 1e-6);
                assert!(same, "{format:?}: {length} of {} bytes are read as {found:?}", bytes.len());
            }
        }
    }
}

/// Flips one or two bits of every byte.
fn a_flipped_bit_is_refused_or_read() {
    let folder = Folder::new();
    for (format, bytes) in files().1 {
        for bit in (0..8 * bytes.len()).step_by(5) {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let _ = attempts(&folder.file("a", damaged), format);
        }
    }
}

/// Replaces bytes after the start of a good file by noise, so that readers get past their first checks.
fn noise_is_refused_or_read() {
    let folder = Folder::new();
    let files = files().1;
    let noise = proptest::collection::vec(any::<u8>(), 0..300);
    check((0..files.len(), 0.0..1.0f64, noise), |(file, part, noise)| {
        let (format, bytes) = &files[file];
        let kept = (part * bytes.len() as f64) as usize;
        let _ = attempts(&folder.file("a", [&bytes[..kept], &noise].concat()), *format);
        Ok(())
    });
}
