//! Registration of meshes, compared with the known deformation between the pictures.

#[path = "mesh/fundus.rs"]
mod fundus;

use crate::support::{CPU, data_dir, engine, random};
use fundus::Fundus;
use glam::{DAffine3, DVec2, DVec3};
use libtest_mimic::{Failed, Trial};
use mireg::backend::BackendKind;
use mireg::io::{self, ReadOptions};
use mireg::mesh::{Options, Start};
use mireg::transform::{Dimension, Kind, Linear, Mesh, MeshMap};
use mireg::{Check, Error, Silent, Volume, registration};

pub fn tests() -> Vec<Trial> {
    let data = data_dir().map(|data| data.join("retina"));
    let absent = data.is_none();
    vec![
        Trial::test("mesh::a_bent_and_remapped_fundus", bent),
        Trial::test("mesh::from_afar_and_nowhere", afar),
        Trial::test("mesh::starts_where_a_registration_ends", starts),
        Trial::test("mesh::slices_that_do_not_tell_of_shears", slices).with_ignored_flag(absent),
        Trial::test("mesh::same_bits_for_any_number_of_threads", threads),
        Trial::test("mesh::pictures_that_cannot_be_registered", refused),
        Trial::test("mesh::fundus_and_angiogram", move || retina(&data.unwrap_or_default())).with_ignored_flag(absent),
    ]
}

/// Returns options with a start from a given transform.
fn from(start: &DAffine3) -> Options {
    let start = Linear::new(Kind::Affine, Dimension::Two, DVec3::ZERO, start);
    Options { start: Start::Transform(start), ..Options::default() }
}

/// Returns a mesh with cells of `cell` pixels, whose corners are each moved in a random direction by up to 12 pixels.
fn truth(picture: &Volume, cell: f64) -> Result<Mesh, Failed> {
    let mut mesh = Mesh::build(picture, &DAffine3::IDENTITY, Some(cell), None)?;
    let mut random = random(3);
    for corner in &mut mesh.moving {
        let angle = std::f64::consts::TAU * f64::from(random());
        *corner += 12.0 * f64::from(random()).sqrt() * DVec2::from_angle(angle);
    }
    assert!(mesh.least_area_ratio() > 0.2, "the truth is folded");
    Ok(mesh)
}

/// Returns the errors of points mapped by `mesh`, in ascending order.
fn errors(mesh: &Mesh, points: impl Iterator<Item = [DVec2; 2]>) -> Vec<f64> {
    let map = MeshMap::new(mesh);
    let mut errors: Vec<f64> = points.map(|[from, to]| map.forward(from).distance(to)).collect();
    errors.sort_by(f64::total_cmp);
    errors
}

fn median(errors: &[f64]) -> f64 {
    errors[errors.len() / 2]
}

fn bent() -> Result<(), Failed> {
    let [width, height] = [640, 480];
    let fundus = Fundus::new([width, height]);
    let fixed = fundus.picture();
    // With smaller cells, whose corners move independently, the pictures would not determine the mesh.
    let truth = truth(&fixed, 160.0)?;
    let moving = fundus.remapped(&truth);
    let found = CPU.mesh(&fixed, &moving, &from(&DAffine3::IDENTITY), &Silent)?;
    let map = MeshMap::new(&truth);
    // The region in which the pictures overlap.
    let [right, bottom] = [width, height].map(|n| n as f64 - 4.0);
    let inside = |p: DVec2| (4.0..right).contains(&p.x) && (4.0..bottom).contains(&p.y);
    let points = (0..width * height).step_by(7).map(|n| DVec2::new((n % width) as f64, (n / width) as f64));
    let points: Vec<[DVec2; 2]> =
        points.map(|p| [p, map.forward(p)]).filter(|[p, q]| inside(*p) && inside(*q)).collect();
    let [before, after] = [&found.before, &found.after].map(|mesh| errors(mesh, points.iter().copied()));
    assert!(median(&before) > 5.0, "there was little to do: {} px", median(&before));
    assert!(median(&after) < 0.5, "half of the points are off by more than {} px", median(&after));
    assert!(found.after.least_area_ratio() > 0.0, "a triangle is folded");
    assert!(found.doubts.is_empty(), "{:?}", found.doubts);
    Ok(())
}

/// The mesh is found from a start that is 20 pixels off. With a mirrored picture, the result is not trusted.
fn afar() -> Result<(), Failed> {
    let fundus = Fundus::new([640, 480]);
    let fixed = fundus.picture();
    let moving = fundus.remapped(&truth(&fixed, 160.0)?);
    let by = DAffine3::from_translation(DVec3::new(16.0, -12.0, 0.0));
    let [near, far] = [DAffine3::IDENTITY, by].map(|start| CPU.mesh(&fixed, &moving, &from(&start), &Silent));
    let [near, far] = [near?, far?];
    let mut off: Vec<f64> = near.after.moving.iter().zip(&far.after.moving).map(|(a, b)| a.distance(*b)).collect();
    off.sort_by(f64::total_cmp);
    assert!(median(&off) < 0.5, "half of the corners are {} px from where they ended from nearby", median(&off));
    let mean = |confidence: &[f64]| confidence.iter().sum::<f64>() / confidence.len() as f64;
    assert!(mean(&far.confidence) > 0.3 && far.doubts.is_empty(), "{:?}", far.doubts);

    let rows = moving.voxels.chunks(640).flat_map(|row| row.iter().rev().copied());
    let mirrored = Volume { voxels: rows.collect(), ..moving.clone() };
    let other = CPU.mesh(&fixed, &mirrored, &from(&DAffine3::IDENTITY), &Silent)?;
    assert!(mean(&other.confidence) < 0.1, "{:?}", other.confidence);
    let mut grave: Vec<Check> = other.doubts.iter().filter(|doubt| doubt.grave).map(|doubt| doubt.check).collect();
    grave.sort_by_key(|check| check.name());
    assert_eq!(grave, [Check::Information, Check::Mirrored, Check::Place]);
    Ok(())
}

/// Returns the start of a mesh, and whether it is the result of a registration of this kind.
fn started([fixed, moving]: [&Volume; 2], kind: Kind) -> Result<(&'static str, bool), Failed> {
    let found = CPU.mesh(fixed, moving, &Options::default(), &Silent)?;
    let options = registration::Options { dof: kind, ..registration::Options::default() };
    let registered = CPU.register(fixed, moving, &options, &Silent)?;
    assert!(registered.trusted() && found.doubts.iter().all(|doubt| !doubt.grave), "{:?}", found.doubts);
    Ok((found.start.from, found.start.transform == registered.transform))
}

fn starts() -> Result<(), Failed> {
    let fundus = Fundus::new([640, 480]);
    let fixed = fundus.picture();
    let moving = fundus.remapped(&truth(&fixed, 160.0)?);
    assert_eq!(started([&fixed, &moving], Kind::Affine)?, ("an affine registration", true));
    Ok(())
}

/// MR and PET of one head: their common structures do not determine shears.
fn slices() -> Result<(), Failed> {
    let folder = data_dir().unwrap_or_default().join("real/retina_multimodal/mr_pet");
    let read = |of| io::read_with(&folder.join(format!("MRI_PET_8_{of}.png")), &ReadOptions::default());
    let (fixed, moving) = (read("fixed")?.volume, read("moving")?.volume);
    assert_eq!(started([&fixed, &moving], Kind::Rigid)?, ("a rigid registration", true));
    Ok(())
}

fn threads() -> Result<(), Failed> {
    let fundus = Fundus::new([160, 120]);
    let fixed = fundus.picture();
    let moving = fundus.remapped(&truth(&fixed, 60.0)?);
    let register = |threads| {
        let options = Options { iterations: 5, ..from(&DAffine3::IDENTITY) };
        engine(BackendKind::Cpu, threads)
            .mesh(&fixed, &moving, &options, &Silent)
            .map(|found| (found.after, found.levels, found.climbed, found.confidence))
    };
    let one = register(1)?;
    assert_eq!(one, register(2)?);
    assert_eq!(one, register(8)?);
    Ok(())
}

fn refused() -> Result<(), Failed> {
    let good = Fundus::new([160, 120]).picture();
    let flat = Volume { voxels: vec![7.0; good.voxels.len()], ..good.clone() };
    let slices = Volume { geometry: mireg::Geometry { size: [160, 60, 2], ..good.geometry }, ..good.clone() };
    let away = DAffine3::from_translation(glam::DVec3::new(500.0, 0.0, 0.0));
    let at = from(&DAffine3::IDENTITY);
    let told = |moving: &Volume, options: &Options| {
        let error = CPU.mesh(&good, moving, options, &Silent).map(|_| ()).unwrap_err();
        (matches!(error, Error::Untrusted(_)), error.to_string())
    };
    assert_eq!(told(&flat, &at).1, "the moving image is constant (every voxel is 7): nothing to register");
    assert!(told(&slices, &at).1.contains("2-D"));
    assert!(told(&good, &from(&away)).0);
    let zero = Options { sigmas: Some([0.3, 0.0]), ..at.clone() };
    assert!(told(&good, &zero).1.contains("sigma above 0"));
    Ok(())
}

/// A colour fundus and an angiogram of one eye; the landmarks were found by a program and are off by some pixels themselves.
fn retina(folder: &std::path::Path) -> Result<(), Failed> {
    let (fixed, moving) = (io::read(&folder.join("f1.jpg"))?, io::read(&folder.join("f2.jpg"))?);
    let landmarks = std::fs::read_to_string(folder.join("silver_landmarks.csv"))?;
    let landmarks = landmarks.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let numbers: Result<Vec<f64>, _> = line.split(',').take(4).map(str::parse).collect();
        numbers.map(|n| [DVec2::new(n[0], n[1]), DVec2::new(n[2], n[3])])
    });
    let landmarks: Vec<[DVec2; 2]> = landmarks.collect::<Result<_, _>>()?;
    let found = CPU.mesh(&fixed, &moving, &Options::default(), &Silent)?;
    let [affine, mesh] = [&found.before, &found.after].map(|mesh| median(&errors(mesh, landmarks.iter().copied())));
    assert!(affine < 2.5 && mesh < 1.0, "half of the landmarks are off by more than {affine} px and {mesh} px");
    Ok(())
}
