//! Plain 4x4 matrices, as four rows of text.

use glam::{DAffine3, DVec3};

use super::super::number::joined;
use super::super::ras::FLIP;
use super::grids::Grids;
use super::text::numbers;
use crate::transform::Linear;

/// Reads a matrix in LPS mm.
pub fn read_lps(text: &str, grids: &Grids) -> Result<Linear, String> {
    Ok(grids.about(&map(rows(text)?)?))
}

/// Reads a matrix in RAS mm.
pub fn read_ras(text: &str, grids: &Grids) -> Result<Linear, String> {
    Ok(grids.about(&flipped(&map(rows(text)?)?)))
}

pub fn lps(transform: &Linear) -> String {
    text(&transform.to_affine())
}

pub fn ras(transform: &Linear) -> String {
    text(&flipped(&transform.to_affine()))
}

/// Converts a map in RAS to LPS, or the other way.
pub fn flipped(map: &DAffine3) -> DAffine3 {
    let flip = DAffine3::from_mat3(FLIP);
    flip * *map * flip
}

/// Reads four lines of four numbers. Empty lines are skipped.
pub fn rows(text: &str) -> Result<[[f64; 4]; 4], String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let rows =
        lines.take(5).map(|line| Ok(numbers(line)?.try_into().ok())).collect::<Result<Option<Vec<_>>, String>>()?;
    let rows = rows.and_then(|rows| rows.try_into().ok());
    rows.ok_or_else(|| "is not a matrix of four lines of four numbers; correct the file, or name another format".into())
}

/// The map of a matrix.
pub fn map([a, b, c, last]: [[f64; 4]; 4]) -> Result<DAffine3, String> {
    if last != [0.0, 0.0, 0.0, 1.0] {
        return Err("the last row of its matrix is not 0 0 0 1; correct the file".into());
    }
    let column = |n: usize| DVec3::new(a[n], b[n], c[n]);
    Ok(DAffine3::from_cols(column(0), column(1), column(2), column(3)))
}

/// The matrix of a map. Adding zero turns -0 into 0.
pub fn rows_of(map: &DAffine3) -> [[f64; 4]; 4] {
    let [x, y, z] = map.matrix3.transpose().to_cols_array_2d();
    let row = |row: [f64; 3], n: usize| [row[0], row[1], row[2], map.translation[n]].map(|x| x + 0.0);
    [row(x, 0), row(y, 1), row(z, 2), [0.0, 0.0, 0.0, 1.0]]
}

/// The matrix of a map, as four lines.
pub fn text(map: &DAffine3) -> String {
    rows_of(map).map(|row| joined(row) + "\n").concat()
}
