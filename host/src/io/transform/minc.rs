//! MINC's .xfm files, which FreeSurfer writes too. A transform maps points of the source, which is the image that
//! `mincresample` resamples, to points of the target, in RAS mm. Several transforms in one file are applied one after
//! the other, and each can be marked as inverted (`Invert_Flag`). Source: MINC's volume_io/MNI_formats/gen_xf_io.c.

use glam::DAffine3;

use super::super::number::joined;
use super::grids::Grids;
use super::matrix::{flipped, map, rows_of};
use super::text::{numbers, printable_line};
use crate::transform::Linear;

/// The text at the start of a file of this format.
pub const MAGIC: &str = "MNI Transform File";

/// One of the transforms of a file.
#[derive(Default)]
struct Part {
    inverted: bool,
    map: Option<DAffine3>,
}

pub fn read(text: &str, grids: &Grids) -> Result<Linear, String> {
    let text =
        text.strip_prefix(MAGIC).ok_or_else(|| format!("does not start with \"{MAGIC}\"; name another format"))?;
    let text: String =
        text.lines().map(|line| line.split(['%', '#']).next().unwrap_or_default().to_owned() + " ").collect();
    let (statements, rest) = text.rsplit_once(';').unwrap_or(("", &text));
    if !rest.trim().is_empty() || statements.is_empty() {
        return Err("does not end with a semicolon, so it is truncated; copy it again".into());
    }
    let mut parts: Vec<Part> = Vec::new();
    for statement in statements.split(';') {
        let words = statement.split_once('=').map(|(key, value)| (key.trim(), value.trim()));
        let unread =
            || format!("holds \"{}\", which mireg does not read; correct the file", printable_line(statement.trim()));
        match (words.ok_or_else(unread)?, parts.last_mut()) {
            (("Transform_Type", "Linear"), _) => parts.push(Part::default()),
            (("Transform_Type", kind), _) => {
                return Err(format!(
                    "holds a {}, which mireg does not read; of .xfm it reads Linear",
                    printable_line(kind)
                ));
            }
            (("Invert_Flag", flag @ ("True" | "False")), Some(part)) => part.inverted = flag == "True",
            (("Linear_Transform", rows), Some(part)) => part.map = Some(affine(rows)?),
            _ => return Err(unread()),
        }
    }
    let forth = parts.iter().try_fold(DAffine3::IDENTITY, |before, part| {
        let map = part.map.ok_or("has a Transform_Type without its Linear_Transform; correct the file")?;
        Ok::<_, String>(if part.inverted { map.inverse() } else { map } * before)
    })?;
    Ok(grids.about(&flipped(&forth.inverse())))
}

/// Parses the map of three rows of four numbers.
fn affine(rows: &str) -> Result<DAffine3, String> {
    let rows = numbers(rows)?;
    match rows.as_chunks().0 {
        &[a, b, c] if rows.len() == 12 => map([a, b, c, [0.0, 0.0, 0.0, 1.0]]),
        _ => Err(format!("its Linear_Transform has {} numbers, not 12; correct the file", rows.len())),
    }
}

pub fn text(transform: &Linear) -> String {
    let [a, b, c, _] = rows_of(&flipped(&transform.to_affine().inverse())).map(joined);
    format!("{MAGIC}\n\nTransform_Type = Linear;\nLinear_Transform =\n {a}\n {b}\n {c};\n")
}
