//! ITK transforms in HDF5, as fMRIPrep, antsRegistration and 3D Slicer write them. The group /TransformGroup has a
//! group for each transform, called 0, 1 and so on, with its type, its parameters and its fixed parameters. Source:
//! ITK's Modules/IO/TransformHDF5.

use super::super::field;
use super::super::hdf5::{Dataset, File, Group, Object};
use super::itk;
use super::parameters::{linear, named};
use crate::transform::{Dimension, Linear, Transform};

const ALL: &str = "TransformGroup";
const TYPE: &str = "TransformType";
/// The names in ITK, and as ITK misspelt them up to version 4.13.
const PARAMETERS: [&str; 2] = ["TransformParameters", "TranformParameters"];
const FIXED: [&str; 2] = ["TransformFixedParameters", "TranformFixedParameters"];

/// Reads a linear transform, or a composite of several.
pub fn read(bytes: &[u8]) -> Result<Linear, String> {
    itk::whole_of(parts(bytes)?)
}

/// Reads the transforms of a file, in the order in which they are applied to a point: the last one of the file comes
/// first.
pub fn parts(bytes: &[u8]) -> Result<Vec<Transform>, String> {
    let file = File::open(bytes)?;
    let all = Object::root(&file)?.child(&file, ALL)?;
    let all = all.ok_or("is HDF5 without a TransformGroup, so it is no ITK transform; give a transform")?;
    let mut numbered: Vec<(usize, u64)> =
        all.children(&file)?.into_iter().filter_map(|(name, at)| Some((name.parse().ok()?, at))).collect();
    numbered.sort_unstable();
    let mut parts = Vec::new();
    for (number, &(name, address)) in numbered.iter().enumerate() {
        if number != name {
            return Err("lacks one of its transforms; write it again".into());
        }
        let group = Object::read(&file, address)?;
        let need = |names: &[&str]| {
            let found = names.iter().find_map(|name| group.child(&file, name).transpose()).transpose()?;
            found.ok_or_else(|| format!("has a transform without its {}; write it again", names[0]))
        };
        let kind = need(&[TYPE])?.text(&file)?;
        if number == 0 {
            let composite = kind.starts_with(itk::COMPOSITE);
            itk::one_or_composite(numbered.len(), composite)?;
            if composite {
                continue;
            }
        }
        let (parameters, fixed) = (need(&PARAMETERS)?.numbers(&file)?, need(&FIXED)?.numbers(&file)?);
        let fixed: Vec<_> = fixed.iter().collect();
        parts.push(match field::axes_of(&kind) {
            Some(axes) => field::from_parameters(axes, parameters.len(), parameters.iter(), &fixed)?.into(),
            None => linear(&kind, &parameters.iter().collect::<Vec<_>>(), &fixed)?.into(),
        });
    }
    itk::in_turn(parts)
}

/// The bytes of a file with one transform, or with a composite of several.
pub fn bytes(parts: &[&Transform]) -> Result<Vec<u8>, String> {
    let axes = parts.iter().map(|part| axes(part)).max().unwrap_or(3);
    let mut groups = Vec::new();
    if parts.len() != 1 {
        let name = Dataset::Text(format!("{}double_{axes}_{axes}", itk::COMPOSITE));
        groups.push(Group { groups: Vec::new(), datasets: vec![(TYPE, name)] });
    }
    for part in parts.iter().rev() {
        groups.push(group(part, axes)?);
    }
    let groups = groups.into_iter().enumerate().map(|(number, group)| (number.to_string(), group)).collect();
    let all = Group { groups, datasets: Vec::new() };
    Ok(Group { groups: vec![(ALL.into(), all)], datasets: Vec::new() }.file())
}

fn axes(part: &Transform) -> usize {
    match part {
        Transform::Linear(linear) => linear.dimension.axes(),
        Transform::Field(field) if field.geometry.is_flat() => 2,
        _ => 3,
    }
}

/// The group of one transform in a file whose transforms have `all_axes` dimensions.
fn group(part: &Transform, all_axes: usize) -> Result<Group, String> {
    let (kind, parameters, fixed) = match part {
        Transform::Linear(linear) => {
            // A 2-D linear transform is written as a 3-D one.
            let solid = || Linear::new(linear.kind, Dimension::Three, linear.centre, &linear.to_affine());
            let linear = if axes(part) < all_axes { solid() } else { linear.clone() };
            let (kind, fixed) = named(&linear);
            (kind, Dataset::F64(linear.parameters), fixed)
        }
        Transform::Field(field) if axes(part) == all_axes => {
            let (kind, numbers, fixed) = field::to_parameters(field);
            (kind, Dataset::F32(numbers), fixed)
        }
        _ => {
            return Err(
                "would hold a mesh, or a field of the plane among transforms of space; make one field of all".into()
            );
        }
    };
    let datasets = vec![(TYPE, Dataset::Text(kind)), (FIXED[0], Dataset::F64(fixed)), (PARAMETERS[0], parameters)];
    Ok(Group { groups: Vec::new(), datasets })
}
