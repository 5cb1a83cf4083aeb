//! ITK's text files.

use super::super::field;
use super::super::number::joined;
use super::parameters::{linear, named};
use super::text::{check_last_line, numbers};
use crate::transform::{Linear, Transform};

pub const COMPOSITE: &str = "CompositeTransform_";

/// The text at the start of a file of this format.
pub const MAGIC: &str = "#Insight Transform File";

/// Reads a linear transform, or a composite of several.
pub fn read(text: &str) -> Result<Linear, String> {
    whole_of(parts(text)?)
}

/// Composes the parts of a file, which must all be linear.
pub fn whole_of(parts: Vec<Transform>) -> Result<Linear, String> {
    let linear = |part| match part {
        Transform::Linear(linear) => Ok(linear),
        _ => Err("holds a displacement field, where a linear transform is needed".to_owned()),
    };
    let linears = parts.into_iter().map(linear).collect::<Result<Vec<_>, _>>()?;
    linears.into_iter().reduce(|first, next| first.then(&next)).ok_or_else(empty_composite)
}

/// Reads one transform, linear or a displacement field, or the parts of a composite. Parts are in the order in which
/// they are applied to a point: the last one of the file comes first.
pub fn parts(text: &str) -> Result<Vec<Transform>, String> {
    if !text.starts_with(MAGIC) {
        return Err("is not an ITK transform text file; save the transform as .tfm or .txt with ITK".into());
    }
    check_last_line(text)?;
    let (mut names, mut values) = (Vec::new(), Vec::new());
    for line in text.lines() {
        match line.split_once(':').map(|(key, value)| (key.trim(), value.trim())) {
            Some(("Transform", name)) => {
                names.push(name);
                values.push([None; 2]);
            }
            Some((key @ ("Parameters" | "FixedParameters"), numbers)) => {
                let last = values.last_mut().ok_or("has numbers before the name of a transform; correct the file")?;
                last[usize::from(key == "FixedParameters")] = Some(numbers);
            }
            _ => {}
        }
    }
    let composite = names.first().is_some_and(|name| name.starts_with(COMPOSITE));
    one_or_composite(names.len(), composite)?;
    let read = |(&name, values): (&&str, &[Option<&str>; 2])| match values {
        [Some(parameters), Some(fixed)] => part(name, &numbers(parameters)?, &numbers(fixed)?),
        _ => Err("has no line Parameters or FixedParameters, so it is truncated; copy it again".into()),
    };
    in_turn(names.iter().zip(&values).skip(composite.into()).map(read).collect::<Result<_, _>>()?)
}

/// Checks that a file holds a single transform or a composite. `names` is the number of transforms, the composite
/// itself included.
pub fn one_or_composite(names: usize, composite: bool) -> Result<(), String> {
    match names == 1 || composite {
        true => Ok(()),
        false => Err("holds several transforms or none; save one, or a CompositeTransform of them".into()),
    }
}

/// Puts transforms in the order of a file into the order in which they are applied to a point.
pub fn in_turn(mut parts: Vec<Transform>) -> Result<Vec<Transform>, String> {
    parts.reverse();
    if parts.is_empty() { Err(empty_composite()) } else { Ok(parts) }
}

fn empty_composite() -> String {
    "is a CompositeTransform of nothing; save one with transforms in it".into()
}

/// Makes a transform of the ITK type `name`.
fn part(name: &str, parameters: &[f64], fixed: &[f64]) -> Result<Transform, String> {
    match field::axes_of(name) {
        Some(axes) => {
            field::from_parameters(axes, parameters.len(), parameters.iter().copied(), fixed).map(Transform::Field)
        }
        None => linear(name, parameters, fixed).map(Transform::Linear),
    }
}

/// The text of a file with one transform, of the ITK type for its kind.
pub fn text(transform: &Linear) -> String {
    let (name, fixed) = named(transform);
    let parameters = joined(transform.parameters.iter().copied());
    format!(
        "#Insight Transform File V1.0\n#Transform 0\nTransform: {name}\nParameters: {parameters}\nFixedParameters: {}\n",
        joined(fixed)
    )
}
