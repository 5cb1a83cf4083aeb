//! FreeSurfer's linear transform arrays. Their matrix maps points of `src` to points of `dst`, in RAS mm or voxels.
//! FreeSurfer resamples `src` on `dst` (`mri_vol2vol --mov src --targ dst --lta`), so `src` is the moving image and
//! `dst` the fixed one. Source: FreeSurfer's utils/transform.cpp.

use crate::error::{Message, message};
use glam::{DAffine3, DMat3, DVec3};

use super::super::number::joined;
use super::super::ras::FLIP;
use super::grids::Grids;
use super::matrix::{flipped, map, rows_of};
use super::text::{check_last_line, numbers, printable_line};
use crate::Geometry;
use crate::transform::Linear;

/// FreeSurfer's type numbers: a matrix maps voxels to voxels, or RAS to RAS.
const VOXELS: f64 = 0.0;
const RAS: f64 = 1.0;

/// The line above the description of the moving image.
pub const SOURCE: &str = "src volume info";

pub fn read(text: &str, grids: &Grids) -> Result<Linear, String> {
    check_last_line(text)?;
    let lines = text.lines().map(|line| line.split('#').next().unwrap_or_default().trim());
    let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
    if value(&lines, "nxforms")? != [1.0] {
        return Err("holds several transforms or none, where mireg reads one; write one per file".into());
    }
    let start = place(&lines, "1 4 4")? + 1;
    let rows = lines[start..].iter().take(4).map(|row| numbers(row).ok()?.try_into().ok());
    let rows = rows.collect::<Option<Vec<_>>>().and_then(|rows| rows.try_into().ok());
    let matrix = map(rows.ok_or("its matrix is not four lines of four numbers; correct the file")?)?;
    let [src, dst] = [volume(&lines, SOURCE)?, volume(&lines, "dst volume info")?];
    let matrix = match value(&lines, "type")?[..] {
        [RAS] => matrix,
        [VOXELS] => dst.ok_or_else(invalid)? * matrix * src.ok_or_else(invalid)?.inverse(),
        _ => {
            return Err("is neither LINEAR_VOX_TO_VOX nor LINEAR_RAS_TO_RAS, which alone mireg reads; \
                        convert it with FreeSurfer: lta_convert --inlta a.lta --outlta b.lta"
                .into());
        }
    };
    Ok(grids.about(&flipped(&matrix.inverse())))
}

fn invalid() -> String {
    "maps voxels, but says of one of its volumes that its geometry is not valid; write it again from both images".into()
}

/// The index of the line that is exactly `line`.
fn place(lines: &[&str], line: &str) -> Result<usize, String> {
    let place = lines.iter().position(|&l| l == line);
    place.ok_or_else(|| format!("has no line \"{line}\", so it is no FreeSurfer .lta, or truncated; copy it again"))
}

/// The numbers on the first line `key = ...`.
fn value(lines: &[&str], key: &str) -> Result<Vec<f64>, String> {
    let value = lines.iter().filter_map(|line| line.split_once('=')).find(|(k, _)| k.trim() == key);
    let missing = || format!("has no line \"{} = ...\", so it is truncated; copy it again", printable_line(key));
    numbers(value.ok_or_else(missing)?.1)
}

/// The map from voxel indices to RAS mm of the volume that is described below the line `title`; `None` if it is marked
/// as not valid.
fn volume(lines: &[&str], title: &str) -> Result<Option<DAffine3>, String> {
    let lines = &lines[place(lines, title)? + 1..];
    let lines = &lines[..lines.len().min(8)];
    let vector = |key: &str| -> Result<DVec3, String> {
        let three = <[f64; 3]>::try_from(value(lines, key)?);
        Ok(three.map_err(|_| format!("its line \"{key} = ...\" has not three numbers; correct the file"))?.into())
    };
    let [size, spacing, x, y, z, centre] = ["volume", "voxelsize", "xras", "yras", "zras", "cras"].map(vector);
    let matrix = DMat3::from_cols(x?, y?, z?) * DMat3::from_diagonal(spacing?);
    let to_ras = DAffine3::from_mat3_translation(matrix, centre? - matrix * (size? / 2.0));
    Ok((value(lines, "valid")? == [1.0]).then_some(to_ras))
}

pub fn text(transform: &Linear, grids: &Grids) -> Result<String, Message> {
    let (fixed, moving) = grids.both().ok_or_else(
        || message!("FreeSurfer's .lta describes both images"; "give ", Fixed, " and ", Moving, ", or write .tfm"),
    )?;
    let rows = rows_of(&flipped(&transform.to_affine().inverse())).map(|row| joined(row) + "\n").concat();
    Ok(format!(
        "type      = 1 # LINEAR_RAS_TO_RAS\nnxforms   = 1\nmean      = 0 0 0\nsigma     = 1\n1 4 4\n{rows}\
         {SOURCE}\n{}dst volume info\n{}",
        described(moving),
        described(fixed)
    ))
}

/// The eight lines that describe a volume. FreeSurfer's centre is at index size / 2, half a voxel beyond the centre of
/// the grid.
fn described(grid: &Geometry) -> String {
    let [x, y, z] = [grid.direction.x_axis, grid.direction.y_axis, grid.direction.z_axis];
    let middle = DVec3::from_array(grid.size.map(|n| n as f64 / 2.0));
    let centre = grid.index_to_world().transform_point3(middle);
    let [x, y, z, centre] = [x, y, z, centre].map(|v| joined((FLIP * v).to_array()));
    let [width, height, depth] = grid.size;
    let spacing = joined(grid.spacing.to_array());
    format!(
        "valid = 1  # volume info valid\nfilename = unknown\nvolume = {width} {height} {depth}\nvoxelsize = {spacing}\n\
         xras   = {x}\nyras   = {y}\nzras   = {z}\ncras   = {centre}\n"
    )
}
