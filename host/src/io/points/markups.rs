//! Points in 3D Slicer's JSON markups (`.mrk.json`): the positions of the control points of all markups.

use crate::error::Message;
use glam::DVec3;
use serde_json::Value;

use super::{Document, Frame, Parsed};

/// A file, and for each position the indices of its markup and control point.
struct Markups {
    file: Value,
    places: Vec<[usize; 2]>,
}

impl Document for Markups {
    fn render(&self, points: &[&[f64]]) -> Vec<u8> {
        let mut file = self.file.clone();
        for (&[markup, point], &position) in self.places.iter().zip(points) {
            file["markups"][markup]["controlPoints"][point]["position"] = position.into();
        }
        format!("{file:#}\n").into_bytes()
    }
}

/// Parses a file. Control points without a position, which were not placed yet, are skipped.
pub fn parse(text: &str) -> Result<Parsed, Message> {
    let file: Value = serde_json::from_str(text).map_err(|error| format!("is no JSON ({error}); correct it"))?;
    let markups = file["markups"].as_array().ok_or("has no list \"markups\"; save it as .mrk.json with 3D Slicer")?;
    let (mut points, mut places, mut frame) = (vec![], vec![], None);
    for (m, markup) in markups.iter().enumerate() {
        let own = markup["coordinateSystem"].as_str().map_or(Ok(Frame::Lps), Frame::of)?;
        if *frame.get_or_insert(own) != own {
            return Err("has markups in LPS and in RAS; save them in one of them".into());
        }
        for (p, point) in markup["controlPoints"].as_array().into_iter().flatten().enumerate() {
            if point["positionStatus"] == "undefined" || point["position"].is_null() {
                continue;
            }
            let (m1, p1) = (m + 1, p + 1);
            let wrong = || format!("has no position of three numbers at point {p1} of markup {m1}; correct it");
            points.push(position(&point["position"]).ok_or_else(wrong)?);
            places.push([m, p]);
        }
    }
    Ok(Parsed { points, axes: 3, frame, document: Box::new(Markups { file, places }) })
}

fn position(value: &Value) -> Option<DVec3> {
    let numbers: Option<Vec<f64>> = value.as_array()?.iter().map(Value::as_f64).collect();
    numbers?.try_into().ok().map(DVec3::from_array)
}
