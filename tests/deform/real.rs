//! Real volumes with a known deformation: BrainWeb's T1, deformed by a thin-plate spline, and breathing livers with
//! landmarks.

use super::from_headers;
use crate::support::{block_means, data_dir};
use glam::{DAffine3, DMat3, DVec3, EulerRot};
use libtest_mimic::{Failed, Trial};
use mireg::deform::{Force, Options};
use mireg::io::points::Landmarks;
use mireg::{Volume, io};
use std::path::Path;

/// Mean error over the head, mm.
const HEAD_MM: f64 = 0.6;
/// The same if the finest level has 3 mm.
const COARSE_HEAD_MM: f64 = 1.2;
/// For heads of two people in two contrasts, the mean distance in mm from the result with the same contrast. For an
/// affine map, it is 3.2 and 2.6.
const PEOPLE_MM: f64 = 4.0;
/// Mean error for thick slices whose brightness varies, mm. It is 7 if coarse levels are climbed by intensities alone.
const SHADED_MM: f64 = 2.0;
/// Mean error of landmarks in the liver, mm.
const LIVER_MM: f64 = 2.5;
/// The same around the liver, with default options. It is 10 if a registration that follows the liver is the only
/// start.
const AROUND_MM: f64 = 4.0;

pub fn tests() -> Vec<Trial> {
    let Some(data) = data_dir() else {
        return vec![Trial::test("deform::real", || Ok(())).with_ignored_flag(true)];
    };
    let head = |name: &'static str| {
        let folder = data.join("brainweb");
        Trial::test(format!("deform::brainweb_tps_to_{name}"), move || brainweb(&folder, name, None, HEAD_MM))
    };
    let coarse_head = |name: &'static str| {
        let folder = data.join("brainweb");
        let test = move || brainweb(&folder, name, Some(vec![12.0, 6.0, 3.0]), COARSE_HEAD_MM);
        Trial::test(format!("deform::brainweb_tps_to_{name}_by_levels_from_12_to_3_mm"), test)
    };
    let liver = |subject: &'static str, breaths: [[&'static str; 2]; 2]| {
        let folder = data.join("liver").join(subject);
        Trial::test(format!("deform::liver_{subject}"), move || livers(&folder, &breaths))
    };
    let subject = data.join("liver/dataset18");
    let around = move || around_a_liver(&subject);
    let [t1, t2] = ["t1.mha", "t2.mha"].map(|name| data.join("brainweb").join(name));
    let other = data.join("cases/mni_00/fixed.nii.gz");
    let people = move || people(&other, [&t1, &t2]);
    let folder = data.join("brainweb");
    let shaded = move || shaded_slices(&folder);
    vec![
        Trial::test("deform::thick_slices_whose_brightness_varies", shaded),
        Trial::test("deform::two_people_in_two_contrasts", people),
        Trial::test("deform::what_keeps_still_around_a_liver_by_default", around),
        head("t2"),
        head("pd"),
        coarse_head("t2"),
        coarse_head("pd"),
        liver("dataset18", [["cyc_1_10", "cyc_1_10.z4_fixed.mha"], ["cyc_3_10", "cyc_3_10.force_direction.mha"]]),
        liver("dataset23", [["cyc_1_4", "cyc_1_4.force_direction.mha"], ["cyc_5_4", "cyc_5_4.force_direction.mha"]]),
    ]
}

/// Returns every fifth voxel along each axis that is in the head, which is where a smoothed image is brighter than air.
fn head(fixed: &Volume) -> Vec<DVec3> {
    let smooth = mireg::image::pyramid::smoothed(fixed, [1.5; 3]);
    let [width, height, depth] = fixed.geometry.size;
    let to_mm = fixed.geometry.index_to_world();
    let mut points = Vec::new();
    for k in (0..depth).step_by(5) {
        for j in (0..height).step_by(5) {
            for i in (0..width).step_by(5) {
                if smooth.voxels[i + width * (j + height * k)] > 15.0 {
                    points.push(to_mm.transform_point3(DVec3::new(i as f64, j as f64, k as f64)));
                }
            }
        }
    }
    points
}

fn brainweb(folder: &Path, name: &str, levels: Option<Vec<f64>>, most_mm: f64) -> Result<(), Failed> {
    let (fixed, moving) = (io::read(&folder.join("t1_tps.mha"))?, io::read(&folder.join(format!("{name}.mha")))?);
    let truth = io::field::read(&folder.join("t1_tps_field.mha"))?;
    let found = mireg::deform(&fixed, &moving, &Options { levels, ..from_headers() })?;
    let points = head(&fixed);
    let (truth, field) = (truth.map(), found.field.map());
    let mean = points.iter().map(|&p| field.at(p).distance(truth.at(p))).sum::<f64>() / points.len() as f64;
    let (low, miss) = (found.jacobian_range[0], found.consistency.mean_mm);
    match mean <= most_mm && low > 0.0 && miss <= 0.1 && points.len() > 10_000 {
        true => Ok(()),
        false => {
            Err(format!("{mean:.3} mm at {} points, Jacobian from {low:.3}, inverse {miss:.3} mm", points.len()).into())
        }
    }
}

/// Registers the deformed T1 with a PD of slices of 5 mm, shaded by a coil, of a head that has moved.
fn shaded_slices(folder: &Path) -> Result<(), Failed> {
    let fixed = block_means(&io::read(&folder.join("t1_tps.mha"))?, [2; 3]);
    let mut moving = block_means(&io::read(&folder.join("pd.mha"))?, [2, 2, 5]);
    let truth = io::field::read(&folder.join("t1_tps_field.mha"))?;
    let size = DVec3::from(moving.geometry.size.map(|n| (n - 1) as f64));
    for n in 0..moving.voxels.len() {
        let at = DVec3::from(moving.geometry.index_of(n).map(|n| n as f64)) / size * 2.0 - 1.0;
        let shade = 1.0 + 0.3 * (2.0 * at.x + at.y).sin() * (1.5 * at.z - 0.5 * at.y).cos();
        moving.voxels[n] *= shade as f32;
    }
    let turn = DMat3::from_euler(EulerRot::XYZ, 0.15, -0.1, 0.12);
    let middle = moving.geometry.centre();
    let motion = DAffine3::from_mat3_translation(turn, middle - turn * middle + DVec3::new(12.0, -8.0, 9.0));
    moving.geometry.origin = motion.transform_point3(moving.geometry.origin);
    moving.geometry.direction = turn;

    let found = mireg::deform(&fixed, &moving, &Options::default())?;
    let points = head(&fixed);
    let (truth, field) = (truth.map(), found.field.map());
    let error = |&p: &DVec3| field.transform_point3(p).distance(motion.transform_point3(truth.transform_point3(p)));
    let mean = points.iter().map(error).sum::<f64>() / points.len() as f64;
    match mean <= SHADED_MM && found.trusted() && points.len() > 1000 {
        true => Ok(()),
        false => Err(format!("{mean:.2} mm at {} points, {:?}", points.len(), found.doubts).into()),
    }
}

/// Registers one person's T1 with another's T2. The result of T1 with T1 stands for the truth. With intensities, a
/// field with little smoothing ends 14 mm away, where the metric is higher.
fn people(other: &Path, [t1, t2]: [&Path; 2]) -> Result<(), Failed> {
    let (fixed, t1, t2) = (io::read(other)?, io::read(t1)?, io::read(t2)?);
    let options = Options { levels: Some(vec![16.0, 8.0, 4.0, 2.0]), ..Options::default() };
    let points = head(&fixed);
    let same = mireg::deform(&fixed, &t1, &options)?;
    let found = mireg::deform(&fixed, &t2, &options)?;
    let (to, field) = (same.field.map(), found.field.map());
    let mean = points.iter().map(|&p| field.at(p).distance(to.at(p))).sum::<f64>() / points.len() as f64;
    match mean <= PEOPLE_MM && same.trusted() && found.trusted() && points.len() > 10_000 {
        true => Ok(()),
        false => Err(format!("{mean:.2} mm at {} points, {:?}", points.len(), found.doubts).into()),
    }
}

/// Registers a deep breath with two other breathing states.
fn livers(folder: &Path, breaths: &[[&str; 2]]) -> Result<(), Failed> {
    let fixed = io::read(&folder.join("exhMaster_unmasked.force_direction.mha"))?;
    let landmarks = |name: &str| landmarks(folder, name, "liver");
    let from = landmarks("exhMaster")?;
    let options = Options {
        force: Force::Lcc.into(),
        levels: Some([16.0, 8.0, 4.0, 2.0, 1.0].map(|n| n * fixed.geometry.spacing.x).into()),
        iterations: Some(vec![200, 200, 200, 200, 100]),
        smooth_mm: Some(4.0),
        smooth_field_mm: Some(1.0),
        ..from_headers()
    };
    let mut errors = Vec::new();
    for [breath, image] in breaths {
        let (moving, to) = (io::read(&folder.join(image))?, landmarks(breath)?);
        let found = mireg::deform(&fixed, &moving, &options)?;
        let mean = |map: &dyn Fn(DVec3) -> DVec3| distance([&from, &to], map);
        errors.push([mean(&|p| p), mean(&|p| found.field.transform_point3(p)), found.jacobian_range[0]]);
    }
    let after = errors.iter().map(|[_, after, _]| after).sum::<f64>() / errors.len() as f64;
    match after <= LIVER_MM && errors.iter().all(|[before, _, low]| *before > 9.0 && *low > 0.0) {
        true => Ok(()),
        false => Err(format!("mm before, mm after and smallest Jacobian: {errors:.2?}").into()),
    }
}

/// With default options, the chest wall must stay in place while the liver moves by 20 mm.
fn around_a_liver(folder: &Path) -> Result<(), Failed> {
    let fixed = io::read(&folder.join("exhMaster_unmasked.force_direction.mha"))?;
    let moving = io::read(&folder.join("cyc_1_10.z4_fixed.mha"))?;
    let [from, to] = [landmarks(folder, "exhMaster", "outside")?, landmarks(folder, "cyc_1_10", "outside")?];
    for symmetric in [false, true] {
        let found = mireg::deform(&fixed, &moving, &Options { symmetric, ..Options::default() })?;
        let mean = distance([&from, &to], |p| found.field.transform_point3(p));
        if mean > AROUND_MM || !found.trusted() {
            return Err(format!("{mean:.2} mm, symmetric {symmetric}, {:?}", found.doubts).into());
        }
    }
    Ok(())
}

/// Reads the landmarks of a breathing state, in the liver or outside of it.
fn landmarks(folder: &Path, breath: &str, place: &str) -> Result<Landmarks, Failed> {
    Ok(Landmarks::read(&folder.join(format!("{breath}LM{place}.vtk")), None, None)?)
}

/// Returns the mean distance, in mm, of landmarks from the positions to which a map takes the corresponding ones.
fn distance([from, to]: [&Landmarks; 2], map: impl Fn(DVec3) -> DVec3) -> f64 {
    let errors = from.points().iter().zip(to.points()).map(|(&from, &to)| map(from).distance(to));
    errors.sum::<f64>() / from.points().len() as f64
}
