//! Real volumes, if they are available: their geometry is that of SimpleITK 2.4, and they are unchanged by a round trip
//! through every format.

use std::path::{Path, PathBuf};

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::{PixelType, io};

use super::{Folder, bits};
use crate::support::{data_dir, trial};

pub fn tests() -> Vec<Trial> {
    let folder = data_dir();
    let of_file = |known: Known| {
        let path = folder.as_ref().map(|folder| folder.join(known.path)).filter(|path| path.is_file());
        let (name, ignored) = (format!("io::real::{}", known.path), path.is_none());
        trial(name, move || known.check(&path.expect("ignored without the file"))).with_ignored_flag(ignored)
    };
    known().into_iter().map(of_file).collect()
}

/// A file and what SimpleITK reads from it: centres of the first voxel, of the last along i, and of the last of all.
struct Known {
    path: &'static str,
    size: [usize; 3],
    pixel: PixelType,
    sum: f64,
    first: [f64; 3],
    end_of_i: [f64; 3],
    last: [f64; 3],
}

fn known() -> Vec<Known> {
    vec![
        Known {
            path: "cases/bw_00/fixed.nii.gz",
            size: [181, 217, 180],
            pixel: PixelType::U8,
            sum: 366_579_326.0,
            first: [0.0, 0.0, 0.0],
            end_of_i: [180.0, 0.0, 0.0],
            last: [180.0, 216.0, 179.0],
        },
        Known {
            path: "cases/bw_00/moving.nii.gz",
            size: [192, 208, 52],
            pixel: PixelType::U8,
            sum: 70_988_254.0,
            first: [-29.375, -21.375, -12.5],
            end_of_i: [209.375, -21.375, -12.5],
            last: [209.375, 237.375, 191.5],
        },
        Known {
            path: "chris/chris_PD.nii.gz",
            size: [191, 256, 54],
            pixel: PixelType::U8,
            sum: 125_243_884.0,
            first: [80.83112335205078, 131.49412536621094, -30.349937438964844],
            end_of_i: [-82.16115826301825, 130.60417842280944, -31.06294256299585],
            last: [-81.28246716339918, -105.00740653884257, 62.15088979995875],
        },
        Known {
            path: "liver/dataset18/cyc_1_10.z4_fixed.mha",
            size: [166, 195, 25],
            pixel: PixelType::U8,
            sum: 20_945_273.0,
            first: [0.0, 0.0, 0.0],
            end_of_i: [225.58635, 0.0, 0.0],
            last: [225.58635, 265.23486, 96.0],
        },
        Known {
            path: "rire/training_001_mr_T1.mha",
            size: [256, 256, 26],
            pixel: PixelType::I16,
            sum: 219_735_913.0,
            first: [0.0, 0.0, 0.0],
            end_of_i: [318.75, 0.0, 0.0],
            last: [318.75, 318.75, 100.0],
        },
    ]
}

impl Known {
    fn check(&self, path: &Path) {
        let volume = io::read(path).unwrap();
        assert_eq!((volume.geometry.size, volume.pixel), (self.size, self.pixel));
        assert_eq!(volume.voxels.iter().map(|&v| f64::from(v)).sum::<f64>(), self.sum);
        let corners = volume.geometry.corners();
        for (found, expected) in [(corners[0], self.first), (corners[1], self.end_of_i), (corners[7], self.last)] {
            assert!(found.abs_diff_eq(DVec3::from_array(expected), 1e-4), "{found} is not {expected:?}");
        }
        let folder = Folder::new();
        let copies: Vec<PathBuf> = ["a.nii.gz", "a.nii", "a.mha", "a.mhd"].map(|name| folder.path(name)).into();
        for copy in copies {
            io::write(&copy, &volume).unwrap();
            let again = io::read(&copy).unwrap();
            assert!(again.voxels == volume.voxels, "{}", copy.display());
            // NIfTI rounds a MetaImage's geometry to f32.
            if copy.extension().is_some_and(|end| end == "mha" || end == "mhd") || self.path.ends_with(".nii.gz") {
                assert_eq!(bits(&again.geometry), bits(&volume.geometry), "{}", copy.display());
            }
        }
    }
}
