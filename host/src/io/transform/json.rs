//! Transforms in JSON: mireg's own format, also inside a report.json, and 4x4 matrices under the key `lps` or `ras`.

use glam::DVec3;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::grids::Grids;
use super::matrix;
use super::text::printable_line;
use crate::transform::{Dimension, Kind, Linear};

/// The largest permitted difference between the matrix and that of the parameters, in any number.
const SAME: f64 = 1e-6;

/// A linear transform from points of the fixed image to points of the moving image.
#[derive(Debug, Serialize, Deserialize)]
pub struct Motion {
    /// The kind of transform.
    pub kind: Kind,
    /// The parameters of ITK's transform of this kind, in radians and mm.
    pub parameters: Vec<f64>,
    /// The centre of rotations and scales, LPS mm.
    pub centre_mm: [f64; 3],
    /// The same transform as a matrix, by rows, LPS mm.
    pub matrix: [[f64; 4]; 4],
}

impl From<&Linear> for Motion {
    fn from(transform: &Linear) -> Self {
        Self {
            kind: transform.kind,
            parameters: transform.parameters.clone(),
            centre_mm: transform.centre.to_array(),
            matrix: matrix::rows_of(&transform.to_affine()),
        }
    }
}

impl Motion {
    /// Makes a transform of the parameters, after checking that the matrix agrees.
    fn linear(&self) -> Result<Linear, String> {
        let count = self.parameters.len();
        let fits = |dimension: &Dimension| self.kind.parameters(*dimension) == count;
        let Some(dimension) = [Dimension::Two, Dimension::Three].into_iter().find(fits) else {
            return Err(format!(
                "a transform of kind {} cannot have {count} parameters; correct the file",
                self.kind.name()
            ));
        };
        let (parameters, centre) = (self.parameters.clone(), DVec3::from_array(self.centre_mm));
        let linear = Linear { kind: self.kind, dimension, parameters, centre };
        let own = matrix::rows_of(&linear.to_affine());
        match own.as_flattened().iter().zip(self.matrix.as_flattened()).all(|(a, b)| (a - b).abs() <= SAME) {
            true => Ok(linear),
            false => Err("its parameters and its matrix say different things; correct the file".into()),
        }
    }
}

pub fn read(text: &str, grids: &Grids) -> Result<Linear, String> {
    let value: Value = serde_json::from_str(text)
        .map_err(|e| format!("is not JSON ({}); correct the file", printable_line(&e.to_string())))?;
    if value.get("triangles").is_some() {
        return Err(
            "is a mesh, which is no linear transform; apply it to points or images, or use a linear transform".into()
        );
    }
    let value = value.get("transform").unwrap_or(&value);
    let wrong =
        |e: serde_json::Error| format!("is not a transform ({}); correct the file", printable_line(&e.to_string()));
    let rows = |key: &str| value.get(key).map(|rows| <[[f64; 4]; 4]>::deserialize(rows).map_err(wrong)).transpose();
    if let Some(rows) = rows("lps")? {
        return Ok(grids.about(&matrix::map(rows)?));
    }
    if let Some(rows) = rows("ras")? {
        return Ok(grids.about(&matrix::flipped(&matrix::map(rows)?)));
    }
    Motion::deserialize(value).map_err(wrong)?.linear()
}

pub fn text(transform: &Linear) -> String {
    format!("{:#}\n", serde_json::json!(Motion::from(transform)))
}
