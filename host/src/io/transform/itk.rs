//! ITK's text files.

use super::super::joined;
use super::parameters::{composed, linear, named};
use super::text::{numbers, whole};
use crate::transform::Linear;

const COMPOSITE: &str = "CompositeTransform_";

/// One linear transform, or a composite of some.
pub fn read(text: &str) -> Result<Linear, String> {
    if !text.starts_with("#Insight Transform File") {
        return Err("is not an ITK transform text file; save the transform as .tfm or .txt with ITK".into());
    }
    whole(text)?;
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
    if names.len() != 1 && !composite {
        return Err("holds several transforms or none; save one, or a CompositeTransform of them".into());
    }
    let read = |(name, values): (&&str, &[Option<&str>; 2])| match values {
        [Some(parameters), Some(fixed)] => linear(name, &numbers(parameters)?, &numbers(fixed)?),
        _ => Err("has no line Parameters or FixedParameters, so it is truncated; copy it again".into()),
    };
    let parts = names.iter().zip(&values).skip(composite.into()).map(read).collect::<Result<Vec<_>, _>>()?;
    composed(&parts).ok_or_else(|| "is a CompositeTransform of nothing; save one with transforms in it".into())
}

/// A file of one transform of the type that fits its kind.
pub fn text(transform: &Linear) -> String {
    let (name, fixed) = named(transform);
    let parameters = joined(transform.parameters.iter().copied());
    format!(
        "#Insight Transform File V1.0\n#Transform 0\nTransform: {name}\nParameters: {parameters}\nFixedParameters: {}\n",
        joined(fixed)
    )
}
