//! Transforms written in any format are read back: to the last bit if the format stores parameters, else approximately.

use glam::DVec3;
use libtest_mimic::Trial;
use mireg::io::transform::{Format, Grids, read_linear, write_linear};
use mireg::transform::{Dimension, Kind, Linear};
use proptest::prelude::*;
use strum::VariantArray;

use crate::io::Folder;
use crate::io::round_trip::{check, grid, vector};
use crate::support::trial;

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::transform::round_trip::formats", every_format_keeps_every_map),
        trial("io::transform::round_trip::inverse", fsl_of_the_inverse_is_the_inverse_of_fsl),
    ]
}

/// Generates a map of any kind and dimension, with parameters near to and far from those of the identity.
pub fn linear() -> impl Strategy<Value = Linear> {
    let kind = prop_oneof![Just(Kind::Translation), Just(Kind::Rigid), Just(Kind::Similarity), Just(Kind::Affine)];
    let dimension = prop_oneof![Just(Dimension::Two), Just(Dimension::Three)];
    let part = prop_oneof![4 => -1.0..1.0f64, 1 => -1e-9..1e-9f64];
    let parts = proptest::collection::vec(part, 12);
    (kind, dimension, parts, vector(-300.0..300.0)).prop_map(|(kind, dimension, parts, centre)| {
        let centre = if dimension == Dimension::Two { centre.with_z(0.0) } else { centre };
        let count = kind.parameters(dimension);
        let mut parameters = parts[..count].to_vec();
        let axes = dimension.axes();
        match (kind, dimension) {
            (Kind::Translation, _) => parameters.iter_mut().for_each(|p| *p *= 100.0),
            (Kind::Rigid, _) => parameters.iter_mut().take(count - axes).for_each(|p| *p *= 3.1),
            (Kind::Similarity, Dimension::Two) => parameters[0] += 1.2,
            (Kind::Similarity, Dimension::Three) => {
                parameters[..3].iter_mut().for_each(|p| *p *= 0.57);
                parameters[6] += 1.2;
            }
            (Kind::Affine, _) => {
                parameters[..axes * axes].iter_mut().for_each(|p| *p *= 0.3);
                (0..axes).for_each(|n| parameters[n * (axes + 1)] += 1.0);
            }
        }
        Linear { kind, dimension, parameters, centre }
    })
}

fn every_format_keeps_every_map() {
    let folder = Folder::new();
    check((linear(), grid(), grid()), |(given, fixed, moving)| {
        let grids = Grids::of(&fixed, &moving);
        for &format in Format::VARIANTS {
            let path = folder.path("a");
            write_linear(&path, Some(format), &given, &grids).unwrap();
            let found = read_linear(&path, Some(format), &grids).unwrap();
            match format {
                Format::Itk | Format::ItkHdf5 | Format::Elastix | Format::Json => {
                    let parts = |linear: &Linear| (linear.kind, linear.dimension, linear.parameters.clone());
                    prop_assert_eq!(parts(&found), parts(&given));
                    prop_assert_eq!(found.to_affine(), given.to_affine(), "{:?}", format);
                }
                Format::Ants => prop_assert_eq!(found.to_affine(), given.to_affine()),
                _ => {
                    prop_assert!(found.kind <= given.kind || given.dimension == Dimension::Two, "{:?}", found);
                    for point in fixed.corners().into_iter().chain([DVec3::ZERO]) {
                        let [a, b] = [&found, &given].map(|linear| linear.to_affine().transform_point3(point));
                        prop_assert!(a.abs_diff_eq(b, 1e-6), "{:?}: {} is not {}", format, a, b);
                    }
                }
            }
        }
        Ok(())
    });
}

/// FLIRT's matrix for the inverse transform, with the images exchanged, is the inverse of FLIRT's matrix.
fn fsl_of_the_inverse_is_the_inverse_of_fsl() {
    let folder = Folder::new();
    let [there, back] = ["there.mat", "back.mat"].map(|name| folder.path(name));
    check((linear(), grid(), grid()), |(given, fixed, moving)| {
        let grids = Grids::of(&fixed, &moving);
        write_linear(&there, None, &given, &grids).unwrap();
        write_linear(&back, None, &given.inverse(), &grids.swapped()).unwrap();
        let plain = |path| read_linear(path, Some(Format::MatrixLps), &Grids::default()).unwrap().to_affine();
        let both = plain(&there) * plain(&back);
        // Matrices within 1e-9 of a simpler kind are read as that.
        prop_assert!(both.abs_diff_eq(glam::DAffine3::IDENTITY, 1e-6), "{both}");
        Ok(())
    });
}
