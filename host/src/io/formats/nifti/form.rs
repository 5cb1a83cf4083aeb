//! Sform and qform, by which a NIfTI header places its voxels in RAS, and their conversion to and from [`Geometry`].
//!
//! Reading follows ITK 5.4, except that three things are refused: an sform without an inverse, even if there is a qform
//! to fall back on; a voxel size that is not positive; and one that contradicts the sform. A geometry that was read is
//! written unchanged to the last bit: the matrix has f32 elements, and spacing and direction are the lengths and
//! directions of its columns, so that their product rounds to the same matrix.

use glam::{DMat3, DQuat, DVec3};

use super::header::Header;
use crate::Geometry;
use crate::error::Message;
use crate::io::check;
use crate::io::ras::FLIP;

/// The largest permitted deviation of the scalar products of an sform's axes from the identity, as in ITK.
const ORTHONORMAL: f64 = 1e-4;
/// The largest difference in any direction component, voxel size or origin coordinate (mm) with which sform and qform
/// count as the same.
const SAME: f64 = 1e-4;
/// The relative error of a length that was rounded to f32, or whose three components were.
const ROUNDING: f64 = 1e-6;
/// The relative difference between the voxel size and the length of the sform's columns beyond which one of them must
/// be wrong.
const CONTRADICTION: f64 = 1e-2;

/// Maps voxel indices to RAS mm.
#[derive(Clone, Copy)]
pub struct Form {
    /// As columns, the steps from voxel to voxel along i, j and k.
    axes: DMat3,
    /// The centre of the first voxel.
    pub origin: DVec3,
}

/// The grid of the voxels, in LPS mm.
pub fn geometry(header: &Header, size: [usize; 3]) -> Result<Geometry, String> {
    let to_mm = |x: f32| f64::from((f64::from(x) * header.unit_mm) as f32);
    let mut spacing = DVec3::from_slice(&[1, 2, 3].map(|axis| to_mm(header.pixdim[axis])));
    let flat = size[2] == 1;
    if flat && spacing.z == 0.0 {
        spacing.z = 1.0;
    }
    check::spacing(spacing)?;
    let Some(form) = choose(header, spacing, to_mm)? else {
        return check::geometry(size, spacing, DVec3::ZERO, DMat3::IDENTITY);
    };
    if flat {
        // The spacing along the third axis has no meaning, so it cannot contradict the form.
        spacing.z = lengths(form.axes).z;
    }
    let axes = FLIP * form.with_lengths(spacing)?.axes;
    let spacing = lengths(axes);
    let direction = DMat3::from_cols(axes.x_axis / spacing.x, axes.y_axis / spacing.y, axes.z_axis / spacing.z);
    check::geometry(size, spacing, FLIP * form.origin, direction)
}

/// Returns a note for the user if the header has both forms, and they mirror each other. Of a single slice, the third
/// axis says nothing about sides.
pub fn sides_note(header: &Header, geometry: &Geometry) -> Option<Message> {
    let determinants =
        forms(header, DVec3::ONE, f64::from).map(|form| form.map_or(0.0, |form| form.axes.determinant()));
    let text = "its sform and its qform disagree about which side is left: check which of them is right, and correct the other";
    (determinants[0] * determinants[1] < 0.0 && !geometry.is_flat()).then(|| text.into())
}

/// Chooses the form that ITK uses: the sform if it has no shear, and if there is no qform, or the sform's code is 1
/// (scanner), or both are the same; otherwise the qform. `None` if the header has neither.
fn choose(header: &Header, spacing: DVec3, to_mm: impl Fn(f32) -> f64) -> Result<Option<Form>, String> {
    let [sform, qform] = forms(header, spacing, to_mm);
    for (name, form) in [("sform", sform), ("qform", qform)] {
        if form.is_some_and(|form| !form.invertible()) {
            return Err(format!("its {name} has no inverse; correct it, or set {name}_code to 0"));
        }
    }
    match (sform, qform) {
        (Some(s), q) if s.orthogonal() && q.is_none_or(|q| header.sform_code == 1 || s.same(&q)) => Ok(Some(s)),
        (Some(_), None) => Err("its sform is sheared and it has no qform; resample it on an orthogonal grid".into()),
        (_, q) => Ok(q),
    }
}

/// The sform and the qform, where there are any.
fn forms(header: &Header, spacing: DVec3, to_mm: impl Fn(f32) -> f64) -> [Option<Form>; 2] {
    let sform = (header.sform_code > 0).then(|| Form::sform(header, &to_mm));
    let qform = (header.qform_code > 0).then(|| Form::qform(header, spacing, &to_mm));
    [sform, qform]
}

impl Form {
    fn sform(header: &Header, to_mm: impl Fn(f32) -> f64) -> Self {
        let [x, y, z] = header.sform.map(|row| row.map(&to_mm));
        let column = |n: usize| DVec3::new(x[n], y[n], z[n]);
        Self { axes: DMat3::from_cols(column(0), column(1), column(2)), origin: column(3) }
    }

    fn qform(header: &Header, spacing: DVec3, to_mm: impl Fn(f32) -> f64) -> Self {
        let [b, c, d] = header.quaternion.map(f64::from);
        let squares = b * b + c * c + d * d;
        // As in the NIfTI library, a real part that may be due to rounding is set to 0.
        let a = if 1.0 - squares < 1e-7 { 0.0 } else { (1.0 - squares).sqrt() };
        let rotation = DMat3::from_quat(DQuat::from_xyzw(b, c, d, a).normalize());
        let qfac = if header.pixdim[0] < 0.0 { -1.0 } else { 1.0 };
        let scale = DMat3::from_diagonal(spacing * DVec3::new(1.0, 1.0, qfac));
        Self { axes: (rotation * scale).as_mat3().as_dmat3(), origin: DVec3::from_array(header.qoffset.map(to_mm)) }
    }

    /// The form of a grid in LPS.
    pub fn of(geometry: &Geometry) -> Self {
        let axes = FLIP * geometry.direction * DMat3::from_diagonal(geometry.spacing);
        Self { axes, origin: FLIP * geometry.origin }
    }

    /// The three rows of the sform.
    pub fn rows(&self) -> [[f32; 4]; 3] {
        let (axes, origin) = (self.axes.transpose().as_mat3(), self.origin.as_vec3());
        std::array::from_fn(|row| {
            let axis = axes.col(row);
            [axis.x, axis.y, axis.z, origin[row]]
        })
    }

    /// b, c and d of the qform, and the sign of its third axis. Near rotations of 180 degrees, f32 represents angles
    /// only to 1e-3. Readers therefore prefer the same sform with code 1.
    pub fn quaternion(&self) -> ([f32; 3], f32) {
        let directions = self.directions();
        let qfac = directions.determinant().signum();
        let rotation = directions * DMat3::from_diagonal(DVec3::new(1.0, 1.0, qfac));
        let q = DQuat::from_mat3(&rotation).normalize();
        let sign = if q.w < 0.0 { -1.0 } else { 1.0 };
        ((q.xyz() * sign).as_vec3().to_array(), qfac as f32)
    }

    /// The columns as unit vectors.
    fn directions(&self) -> DMat3 {
        self.axes * DMat3::from_diagonal(lengths(self.axes).recip())
    }

    fn invertible(&self) -> bool {
        let determinant = self.directions().determinant();
        self.origin.is_finite() && determinant.is_finite() && determinant.abs() > ORTHONORMAL
    }

    fn orthogonal(&self) -> bool {
        check::orthonormal(self.directions(), ORTHONORMAL)
    }

    fn same(&self, other: &Self) -> bool {
        let axes = (self.directions() - other.directions()).to_cols_array();
        let lengths = lengths(self.axes) - lengths(other.axes);
        let origin = self.origin - other.origin;
        let largest = |v: DVec3| v.abs().max_element();
        axes.iter().all(|x| x.abs() <= SAME) && largest(lengths) <= SAME && largest(origin) <= SAME
    }

    /// The form with its columns scaled to the lengths `spacing` and rounded to f32.
    fn with_lengths(&self, spacing: DVec3) -> Result<Self, String> {
        let own = lengths(self.axes);
        let off = ((own - spacing) / spacing).abs();
        if off.max_element() > CONTRADICTION {
            return Err(format!(
                "its voxel size (pixdim) is {} mm but its sform steps by {} mm, and programs differ in which they believe; \
                 correct the header",
                check::listed(spacing),
                check::listed(own)
            ));
        }
        // A column that already has its length, except for rounding, is kept, so that what was written is read back
        // unchanged.
        let factors = DVec3::from_array([0, 1, 2].map(|n| if off[n] > ROUNDING { spacing[n] / own[n] } else { 1.0 }));
        Ok(Self { axes: (self.axes * DMat3::from_diagonal(factors)).as_mat3().as_dmat3(), ..*self })
    }
}

/// The lengths of the columns.
fn lengths(axes: DMat3) -> DVec3 {
    DVec3::new(axes.x_axis.length(), axes.y_axis.length(), axes.z_axis.length())
}
