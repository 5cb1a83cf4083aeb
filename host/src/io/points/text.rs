//! Points in text files: plain rows of numbers, and legacy VTK.

use crate::error::{Message, message};
use std::ops::Range;

use glam::DVec3;

use super::{Document, Frame, Parsed, coordinate, printable_line, shortest};

/// A text, and the positions of the coordinates in it, point by point.
struct Text {
    text: String,
    places: Vec<Range<usize>>,
}

impl Document for Text {
    fn render(&self, points: &[&[f64]]) -> Vec<u8> {
        let mut out = String::new();
        let mut done = 0;
        for (place, &value) in self.places.iter().zip(points.iter().copied().flatten()) {
            out += &self.text[done..place.start];
            out += &shortest(value);
            done = place.end;
        }
        (out + &self.text[done..]).into_bytes()
    }
}

/// Parses rows of two or three numbers, separated by blanks or commas. Empty lines and lines that start with # are kept
/// as they are.
pub fn rows(text: String) -> Result<Parsed, Message> {
    let (mut places, mut points, mut axes, mut start) = (vec![], vec![], 0, 0);
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let words: Vec<_> = words(line).collect();
        if !words.is_empty() && !line.trim_start().starts_with('#') {
            axes = if points.is_empty() { words.len() } else { axes };
            if words.len() != axes || !(2..=3).contains(&axes) {
                let found = words.len();
                let wanted = if (2..=3).contains(&axes) { axes.to_string() } else { "two or three".into() };
                return Err(message!("has {found} words on line {number}, not {wanted} numbers"; "correct it"));
            }
            let mut point = [0.0; 3];
            for (value, word) in point.iter_mut().zip(words) {
                *value = coordinate(&line[word.clone()], number)?;
                places.push(start + word.start..start + word.end);
            }
            points.push(point.into());
        }
        start += line.len();
    }
    Ok(Parsed { points, axes, frame: None, document: Box::new(Text { text, places }) })
}

/// Parses the `POINTS` of a legacy VTK file. In files of 3D Slicer the title says `SPACE=RAS` or `SPACE=LPS`.
pub fn vtk(text: String) -> Result<Parsed, Message> {
    let mut lines = text.lines();
    if !lines.next().is_some_and(|line| line.starts_with("# vtk DataFile")) {
        return Err("is not a legacy VTK file; save the points as one, in ASCII".into());
    }
    let title = lines.next().unwrap_or_default();
    let frame = title.split_once("SPACE=").map(|(_, frame)| Frame::of(frame)).transpose()?;
    if lines.next().map(str::trim) != Some("ASCII") {
        return Err(message!("holds its points as bytes"; "save it in ASCII"));
    }
    let header = lines.find(|line| line.get(..7).is_some_and(|word| word.eq_ignore_ascii_case("points ")));
    let header = header.ok_or_else(|| message!("has no POINTS"; "save the landmarks as points"))?;
    let (count, kind) = header[7..].trim().split_once(char::is_whitespace).unwrap_or_default();
    let Ok(count) = count.parse::<usize>() else {
        let header = printable_line(header);
        return Err(message!("has \"{header}\", not how many POINTS there are and of what type"; "correct it"));
    };
    if !["float", "double"].contains(&kind.trim().to_lowercase().as_str()) {
        let kind = printable_line(kind);
        return Err(message!("has POINTS of type {kind}"; "save them as float or double"));
    }
    let start = offset(&text, header) + header.len();
    let (mut places, mut values) = (vec![], vec![]);
    for word in words(&text[start..]).take(count.saturating_mul(3)) {
        let place = start + word.start..start + word.end;
        let value = text[place.clone()].parse().ok().filter(|value: &f64| value.is_finite());
        let value = value.map_or_else(|| coordinate(&text[place.clone()], line(&text, place.start)), Ok)?;
        values.push(value);
        places.push(place);
    }
    if values.len() != count.saturating_mul(3) {
        let found = values.len();
        return Err(format!(
            "says that it has {count} points, but ends after {found} coordinates; copy it again, or correct the number"
        )
        .into());
    }
    let points = values.as_chunks().0.iter().map(|&point| DVec3::from_array(point)).collect();
    Ok(Parsed { points, axes: 3, frame, document: Box::new(Text { text, places }) })
}

/// The positions of words, which are separated by blanks or commas.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let words = text.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    words.map(move |word| offset(text, word)..offset(text, word) + word.len())
}

/// The position of a part of a text in it.
fn offset(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// The line, counted from 1, of a position in a text.
fn line(text: &str, at: usize) -> u64 {
    1 + text[..at].matches('\n').count() as u64
}
