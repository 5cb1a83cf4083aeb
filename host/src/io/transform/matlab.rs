//! ITK transforms in MATLAB 4 files, as ANTs writes them: a matrix of parameters with the name of the transform's type,
//! then a matrix with the name `fixed`. Source: MAT-File Format (MathWorks), on level 4.

use super::parameters::{composed, linear, named};
use crate::transform::{Kind, Linear};

/// The longest name of a matrix.
const LONGEST: usize = 256;

/// Reads a linear transform, or the composition of several, of which the last is applied first.
pub fn read(bytes: &[u8]) -> Result<Linear, String> {
    let mut rest = bytes;
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (name, parameters) = matrix(&mut rest)?;
        let fixed = match matrix(&mut rest)? {
            (fixed, numbers) if fixed == "fixed" => numbers,
            _ => return Err(damaged()),
        };
        parts.push(linear(&name, &parameters, &fixed)?);
    }
    composed(&parts).ok_or_else(damaged)
}

/// Takes the next matrix from the front of `bytes`: its name, and its numbers by columns.
fn matrix(bytes: &mut &[u8]) -> Result<(String, Vec<f64>), String> {
    let header: [[u8; 4]; 5] = take(bytes, 20)?.as_chunks().0.try_into().map_err(|_| damaged())?;
    let (big_endian, single) = kind(header[0]).ok_or_else(damaged)?;
    let word = |n: usize| if big_endian { u32::from_be_bytes(header[n]) } else { u32::from_le_bytes(header[n]) };
    let [rows, columns, imaginary, name] = [1, 2, 3, 4].map(word);
    if imaginary != 0 || rows.min(columns) > 1 || name as usize > LONGEST {
        return Err(damaged());
    }
    let name = take(bytes, name as usize)?;
    let name = String::from_utf8_lossy(name.strip_suffix(&[0]).unwrap_or(name)).into_owned();
    let count = rows as usize * columns as usize;
    let numbers = take(bytes, count.checked_mul(if single { 4 } else { 8 }).ok_or_else(damaged)?)?;
    let numbers: Vec<f64> = match (single, big_endian) {
        (false, false) => numbers.as_chunks().0.iter().map(|&b| f64::from_le_bytes(b)).collect(),
        (false, true) => numbers.as_chunks().0.iter().map(|&b| f64::from_be_bytes(b)).collect(),
        (true, false) => numbers.as_chunks().0.iter().map(|&b| f32::from_le_bytes(b).into()).collect(),
        (true, true) => numbers.as_chunks().0.iter().map(|&b| f32::from_be_bytes(b).into()).collect(),
    };
    Ok((name, numbers))
}

/// Whether a file begins as a MATLAB 4 file does.
pub fn is(bytes: &[u8]) -> bool {
    bytes.first_chunk().copied().and_then(kind).is_some()
}

/// Whether a matrix is big-endian, and whether it has single precision, from its first word. The thousands give the
/// byte order, the tens the type of the numbers. 100 is added for storage by rows, which makes no difference for a
/// vector.
fn kind(word: [u8; 4]) -> Option<(bool, bool)> {
    let (little, big) = (u32::from_le_bytes(word), u32::from_be_bytes(word));
    match if little <= 110 { little } else { big.checked_sub(1000)? } {
        0 | 100 => Some((little > 110, false)),
        10 | 110 => Some((little > 110, true)),
        _ => None,
    }
}

fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Result<&'a [u8], String> {
    let (taken, rest) = bytes.split_at_checked(count).ok_or_else(damaged)?;
    *bytes = rest;
    Ok(taken)
}

fn damaged() -> String {
    "is no transform of ANTs in a MATLAB 4 file, or is damaged; copy it again, or save it as .tfm with ITK".into()
}

/// The bytes of a file with one affine transform, the only type that ANTs writes.
pub fn bytes(transform: &Linear) -> Vec<u8> {
    let affine = as_affine(transform);
    let (name, fixed) = named(&affine);
    [("fixed", fixed), (&name, affine.parameters)]
        .iter()
        .rev()
        .flat_map(|(name, numbers)| part(name, numbers))
        .collect()
}

fn part(name: &str, numbers: &[f64]) -> Vec<u8> {
    let header = [0, numbers.len() as u32, 1, 0, name.len() as u32 + 1].map(u32::to_le_bytes).concat();
    let numbers: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    [&header, name.as_bytes(), &[0], &numbers].concat()
}

/// The affine transform with the same matrix, translation and centre, to the last bit.
fn as_affine(transform: &Linear) -> Linear {
    let axes = transform.dimension.axes();
    let rows = transform.matrix().transpose().to_cols_array_2d();
    let mut parameters: Vec<_> = rows[..axes].iter().flat_map(|row| row[..axes].to_vec()).collect();
    parameters.extend(&transform.translation().to_array()[..axes]);
    let centre = if transform.kind == Kind::Translation { glam::DVec3::ZERO } else { transform.centre };
    Linear { kind: Kind::Affine, dimension: transform.dimension, parameters, centre }
}
