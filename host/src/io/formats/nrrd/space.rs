//! The grid of the voxels: the spatial axes, and the conversion to and from LPS.
//!
//! Reading follows ITK 5.4: right- and left-anterior-superior are converted to LPS; coordinates of a scanner and of an
//! unnamed space are taken as they are. Two things that ITK silently ignores are refused, because the result would be
//! wrong: lengths in other units than mm, and positions by `axis mins`.

use glam::{DMat3, DVec3};

use super::header::Header;
use crate::Geometry;
use crate::io::check;
use crate::io::number::joined;
use crate::io::voxels::Order;

/// Units of length other than mm.
const OTHER_UNITS: [&str; 9] =
    ["\"m\"", "\"cm\"", "\"um\"", "\"µm\"", "\"micron\"", "\"microns\"", "\"nm\"", "\"inch\"", "\"in\""];

/// The indices of the spatial axes, slowest last, and the other axes, along which a voxel has several numbers.
pub fn axes(header: &Header) -> Result<(Vec<usize>, Vec<Inner>), String> {
    let kinds = header.of_axes::<String>("kinds")?.unwrap_or_default();
    let directions = directions(header)?;
    let (mut axes, mut inner) = (Vec::new(), Vec::new());
    for (axis, size) in header.sizes()?.into_iter().enumerate() {
        let kind = kinds.get(axis).map(|kind| kind.to_lowercase()).unwrap_or_default();
        let of_space = matches!(kind.as_str(), "" | "domain" | "space" | "none" | "???")
            && directions.as_ref().is_none_or(|directions| directions[axis].is_some());
        match (of_space, size) {
            (true, _) => axes.push(axis),
            (false, 1) => {}
            (false, _) => inner.push(Inner { axis, size, kind }),
        }
    }
    Ok((axes, inner))
}

/// An axis that is not spatial.
pub struct Inner {
    pub axis: usize,
    pub size: i64,
    kind: String,
}

impl Inner {
    /// Whether its numbers are vectors, as far as the header tells.
    pub fn is_vector(&self) -> bool {
        ["", "vector", "covariant-vector", "2-vector", "3-vector"].contains(&self.kind.as_str())
    }

    /// The order of its numbers relative to the voxels along the spatial axes; `None` if it is between these.
    pub fn order(&self, axes: &[usize]) -> Option<Order> {
        match self.axis {
            0 => Some(Order::Voxels),
            axis => axes.iter().all(|&of_space| of_space < axis).then_some(Order::Planes),
        }
    }

    /// Whether its numbers are different volumes.
    pub fn is_list(&self) -> bool {
        ["list", "time"].contains(&self.kind.as_str())
    }

    /// Whether its numbers, if they are bytes, are colour channels.
    pub fn is_colour(&self) -> bool {
        let of_colour = ["rgb-color", "3-color", "rgba-color", "4-color", "4-vector"].contains(&self.kind.as_str());
        [3, 4].contains(&self.size) && (of_colour || self.is_vector())
    }

    /// The error for an image with this axis.
    pub fn refusal(&self) -> String {
        let Self { axis, size, kind } = self;
        let kind = if kind.is_empty() { "not given" } else { kind };
        let field = if self.is_vector() { format!(". {}", check::IF_FIELD) } else { String::new() };
        format!("has {size} numbers per voxel or volumes along axis {axis} (kind {kind}); extract one{field}")
    }
}

/// Refuses a field whose vectors may not be in LPS.
pub fn vectors_in_lps(header: &Header) -> Result<(), String> {
    if to_lps(header)? != DMat3::IDENTITY {
        return Err("is in another space than left-posterior-superior, and programs differ in which its vectors are; \
                    save it in that one, for example with 3D Slicer"
            .into());
    }
    match header.get("measurement frame").map(str::to_owned) {
        Some(frame) if frame.replace(' ', "") != "(1,0,0)(0,1,0)(0,0,1)" => {
            Err(format!("its vectors are in a frame of their own (measurement frame: {frame}); save it without"))
        }
        _ => Ok(()),
    }
}

/// The grid of the spatial axes.
pub fn geometry(header: &Header, axes: &[usize], size: [usize; 3]) -> Result<Geometry, String> {
    for field in ["units", "space units"] {
        if let Some(units) = header.get(field).filter(|units| OTHER_UNITS.iter().any(|unit| units.contains(unit))) {
            return Err(format!("its lengths are not in mm ({field}: {units}); save it in mm"));
        }
    }
    let to_lps = to_lps(header)?;
    let [i, j, k] = steps(header, axes)?.map(|step| to_lps * step);
    let spacing = DVec3::new(i.length(), j.length(), k.length());
    check::spacing(spacing)?;
    let origin = header.get("space origin").map_or(Ok(Some(DVec3::ZERO)), vector)?.unwrap_or(DVec3::ZERO);
    let direction = DMat3::from_cols(i / spacing.x, j / spacing.y, k / spacing.z);
    check::geometry(size, spacing, to_lps * origin, direction)
}

/// The steps from voxel to voxel along i, j and k, in the space of the file.
fn steps(header: &Header, axes: &[usize]) -> Result<[DVec3; 3], String> {
    let unit = |n: usize| DMat3::IDENTITY.col(n);
    let given = |n: usize| axes.get(n).copied();
    if let Some(directions) = directions(header)? {
        let step = |n| given(n).and_then(|axis| directions[axis]);
        let [i, j] = [0, 1].map(|n| step(n).unwrap_or(unit(n)));
        // The third axis of a 2-D image is perpendicular to the others.
        return Ok([i, j, step(2).unwrap_or_else(|| i.cross(j).normalize_or(unit(2)))]);
    }
    for field in ["axis mins", "axis maxs"] {
        if header.of_axes::<f64>(field)?.is_some_and(|values| values.iter().any(|v| !v.is_nan())) {
            return Err(format!("says by \"{field}\" where its voxels lie; save it with space directions"));
        }
    }
    let spacings = header.of_axes::<f64>("spacings")?.unwrap_or_default();
    let spacing = |n| given(n).and_then(|axis| spacings.get(axis).copied()).filter(|s| !s.is_nan());
    Ok([0, 1, 2].map(|n| unit(n) * spacing(n).unwrap_or(1.0)))
}

/// The matrix from the space of the file to LPS.
fn to_lps(header: &Header) -> Result<DMat3, String> {
    let space = header.get("space").map(str::to_lowercase);
    // A fourth axis, of time, is ignored.
    let signs = match space.as_deref().map(|space| space.strip_suffix("-time").unwrap_or(space)) {
        Some("right-anterior-superior" | "ras") => [-1.0, -1.0, 1.0],
        Some("left-anterior-superior" | "las") => [1.0, -1.0, 1.0],
        None | Some("left-posterior-superior" | "lps" | "scanner-xyz" | "3d-right-handed" | "3d-left-handed") => {
            [1.0; 3]
        }
        Some(other) => {
            return Err(format!(
                "its space is {other}; save it in one of three dimensions, such as left-posterior-superior"
            ));
        }
    };
    Ok(DMat3::from_diagonal(signs.into()))
}

/// The direction vector of each axis; `None` for an axis that is not spatial.
fn directions(header: &Header) -> Result<Option<Vec<Option<DVec3>>>, String> {
    let Some(value) = header.get("space directions") else { return Ok(None) };
    let mut directions = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        let end = if rest.starts_with('(') { rest.find(')').map(|at| at + 1) } else { rest.find([' ', '\t']) };
        let (item, after) = rest.split_at(end.unwrap_or(rest.len()));
        directions.push(vector(item)?);
        rest = after.trim_start();
    }
    if directions.len() != header.dimension()? {
        return Err(format!(
            "its field \"space directions: {value}\" should hold {} vectors; correct the header",
            header.dimension()?
        ));
    }
    Ok(Some(directions))
}

/// Parses `(x,y,z)`, `(x,y)`, `(x,y,z,t)` with a fourth axis, or `none`.
fn vector(text: &str) -> Result<Option<DVec3>, String> {
    if text.trim() == "none" {
        return Ok(None);
    }
    let inner = text.trim().strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let numbers: Option<Vec<f64>> = inner.and_then(|text| text.split(',').map(|n| n.trim().parse().ok()).collect());
    match numbers.as_deref() {
        Some(&[x, y]) => Ok(Some(DVec3::new(x, y, 0.0))),
        Some(&[x, y, z] | &[x, y, z, _]) => Ok(Some(DVec3::new(x, y, z))),
        _ => Err(format!("its header says \"{text}\" where a vector such as (1,0,0) should be; correct the header")),
    }
}

/// The fields of a new header that give `geometry`, with steps and origin to the last bit, after `inner` axes that are
/// not spatial.
pub fn fields(geometry: &Geometry, inner: usize) -> String {
    let n = geometry.dimensions();
    let axes = geometry.index_to_world();
    let vector = |v: DVec3| format!("({})", joined(v.to_array().into_iter().take(n)).replace(' ', ","));
    format!(
        "{}\nspace directions: {}{}\nspace origin: {}\n",
        ["space dimension: 2", "space: left-posterior-superior"][n - 2],
        "none ".repeat(inner),
        [0, 1, 2].map(|axis| vector(axes.matrix3.col(axis)))[..n].join(" "),
        vector(geometry.origin),
    )
}
