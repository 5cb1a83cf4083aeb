//! The whole chain on real volumes, if they are available, with their true transforms.

use super::scene::{INTERPOLATORS, Scene};
use crate::support::data_dir;
use glam::{DAffine3, DMat4};
use libtest_mimic::{Failed, Trial};
use mireg::Volume;
use mireg::backend::cpu::Cpu;
use mireg::io;
use std::path::Path;

pub fn tests() -> Vec<Trial> {
    cases(|name| format!("reference::real::{name}"), metrics_agree)
}

/// A test on each of two cases.
pub fn cases(named: fn(&str) -> String, test: fn(&Path) -> Result<(), Failed>) -> Vec<Trial> {
    let of_case = |name: &'static str| {
        let folder = data_dir().map(|folder| folder.join("cases").join(name)).filter(|folder| folder.is_dir());
        let absent = folder.is_none();
        let run = move || test(&folder.ok_or("ignored without the case")?);
        Trial::test(named(name), run).with_ignored_flag(absent)
    };
    ["bw_00", "mni_00"].map(of_case).into()
}

/// The fixed and the moving image of a case, and its true transform.
pub fn pair(folder: &Path) -> Result<(Volume, Volume, DAffine3), Failed> {
    let [fixed, moving] = ["fixed.nii.gz", "moving.nii.gz"].map(|name| io::read(&folder.join(name)));
    Ok((fixed?, moving?, truth(&folder.join("truth.json"))?))
}

fn metrics_agree(folder: &Path) -> Result<(), Failed> {
    let (fixed, moving, transform) = pair(folder)?;
    let scene = Scene { fixed, moving, transform };
    for bins in [[64, 64], [100, 100]] {
        scene.check(&Cpu, &INTERPOLATORS, bins, 1e-5)?;
    }
    Ok(())
}

/// Reads the rows of `lps`, a map from fixed point to moving point, LPS mm.
fn truth(path: &Path) -> Result<DAffine3, Failed> {
    #[derive(serde::Deserialize)]
    struct Truth {
        lps: [[f64; 4]; 4],
    }
    let truth: Truth = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    Ok(DAffine3::from_mat4(DMat4::from_cols_array_2d(&truth.lps).transpose()))
}
