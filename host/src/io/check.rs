//! Checks that apply to the headers of all formats. Errors are messages without the file's name.

use glam::{DMat3, DVec3};

use crate::Geometry;

/// The largest permitted deviation of the scalar products of axis directions from the identity. Directions printed with
/// four digits pass.
const ORTHONORMAL: f64 = 1e-3;

/// The most f32 voxels that can be addressed in memory.
const MOST_VOXELS: usize = isize::MAX as usize / 4;

/// The message if a displacement field is given as an image.
pub const NO_IMAGE: &str = "is a displacement field, not an image; give it as a transform";
/// The hint if a file may be a displacement field.
pub const IF_FIELD: &str = "If it is a displacement field, give it as a transform";

/// Checks the numbers per voxel of a displacement field of `size`: 3, or also 2 for a 2-D image.
pub fn numbers(size: [usize; 3], numbers: usize) -> Result<(), String> {
    match (size[2], numbers) {
        (_, 3) | (1, 2) => Ok(()),
        (_, 1) => Err("is an image of one number per voxel, and no displacement field; give it as an image".into()),
        (slices, _) => {
            let right = if slices == 1 { 2 } else { 3 };
            Err(format!("has {numbers} numbers per voxel, and a displacement field of {} voxels has {right}", by(size)))
        }
    }
}

/// Checks the numbers of voxels along the three axes: at least 2 along i and j; an image with 1 along k is 2-D.
pub fn size(dims: [i64; 3]) -> Result<[usize; 3], String> {
    let shown = by(dims);
    if dims.iter().any(|&n| n < 1) {
        return Err(format!(
            "its header claims {shown} voxels; each number must be positive, so the header is damaged"
        ));
    }
    if let Some(axis) = dims[..2].iter().position(|&n| n == 1) {
        let axis = ["i", "j"][axis];
        return Err(format!(
            "is a single slice along axis {axis} ({shown} voxels), and a 2-D image is one along axis k; \
             reorder its axes, or take more slices"
        ));
    }
    let sized = dims.map(usize::try_from);
    let addressed = |[i, j, k]: [usize; 3]| i.checked_mul(j)?.checked_mul(k).filter(|&n| n <= MOST_VOXELS);
    match sized {
        [Ok(i), Ok(j), Ok(k)] if addressed([i, j, k]).is_some() => Ok([i, j, k]),
        _ => Err(format!(
            "its header claims {shown} voxels, more than the file can hold; it is damaged: copy or download it again"
        )),
    }
}

/// The number of volumes of a file, from its sizes beyond the third dimension. At most one of these may exceed 1.
pub fn volumes(beyond: &[i64]) -> Result<usize, String> {
    let several: Vec<i64> = beyond.iter().copied().filter(|&n| n != 1).collect();
    match several[..] {
        [] => Ok(1),
        [count] => usize::try_from(count).ok().filter(|&count| count > 0).ok_or_else(|| {
            format!("its header claims {count} volumes; the number must be positive, so the header is damaged")
        }),
        _ => Err(format!(
            "has {} dimensions, several of them beyond the third; extract one volume, for example with nibabel: \
             nibabel.save(image.slicer[..., 0, 0], 'one.nii.gz')",
            3 + beyond.len()
        )),
    }
}

/// Refuses a displacement field of several volumes.
pub fn one_field(volumes: usize) -> Result<(), String> {
    match volumes {
        1 => Ok(()),
        _ => Err(format!("has {volumes} volumes, and a displacement field has one; extract it")),
    }
}

/// Checks that a spacing (mm) is finite and positive.
pub fn spacing(spacing: DVec3) -> Result<(), String> {
    if spacing.is_finite() && spacing.min_element() > 0.0 {
        return Ok(());
    }
    Err(format!("its voxel size is {} mm; each must be positive: correct the header", listed(spacing)))
}

/// Makes a grid from a header's numbers (mm, LPS), after checking that it is invertible and its axes are orthonormal.
/// The grid of a single slice parallel to the x-y plane becomes that of a 2-D image.
pub fn geometry(size: [usize; 3], spacing: DVec3, origin: DVec3, direction: DMat3) -> Result<Geometry, String> {
    self::spacing(spacing)?;
    if !origin.is_finite() {
        return Err(format!("its origin is ({}); it must be finite: correct the header", listed(origin)));
    }
    if !orthonormal(direction, ORTHONORMAL) {
        return Err(
            "its axes are not at right angles and of unit length, so its matrix is sheared or has no inverse; \
                    correct the header, or resample the image on an orthogonal grid"
                .into(),
        );
    }
    // Adding zero turns -0 into 0, so that equal grids have equal bits.
    let grid = Geometry { size, spacing, origin: origin + DVec3::ZERO, direction: direction + DMat3::ZERO };
    if !grid.world_to_index().is_finite() || !grid.corners().iter().all(|corner| corner.is_finite()) {
        return Err(format!(
            "its voxel size of {} mm is too small or too large to be computed with; correct the header",
            listed(spacing)
        ));
    }
    Ok(if grid.is_flat() { plane(grid) } else { grid })
}

/// The grid of a single slice. If it is parallel to the x-y plane, it becomes that of a 2-D image: at z = 0, with z as
/// its third axis and a spacing of 1 mm along it. Any other slice keeps its position in space.
fn plane(slice: Geometry) -> Geometry {
    let [i, j] = [slice.direction.x_axis, slice.direction.y_axis];
    if i.z.abs().max(j.z.abs()) > ORTHONORMAL {
        return slice;
    }
    let direction = DMat3::from_cols(i.with_z(0.0), j.with_z(0.0), DVec3::Z);
    Geometry { spacing: slice.spacing.with_z(1.0), origin: slice.origin.with_z(0.0), direction, ..slice }
}

/// Whether the columns are unit vectors at right angles, each scalar product to within `tolerance`.
pub fn orthonormal(axes: DMat3, tolerance: f64) -> bool {
    let off = axes.transpose() * axes - DMat3::IDENTITY;
    off.to_cols_array().iter().all(|x| x.abs() <= tolerance)
}

/// Formats three numbers as `AxBxC`.
pub fn by<T: ToString>(dims: [T; 3]) -> String {
    dims.map(|n| n.to_string()).join("x")
}

/// Formats a vector as `x, y, z`.
pub fn listed(v: DVec3) -> String {
    v.to_array().map(|x| x.to_string()).join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_needs_two_voxels_along_i_and_j() {
        assert_eq!(size([2, 3, 4]).unwrap(), [2, 3, 4]);
        assert_eq!(size([2, 3, 1]).unwrap(), [2, 3, 1]);
        assert!(size([4, 1, 4]).unwrap_err().contains("axis j"));
        assert!(size([4, 4, -1]).unwrap_err().contains("4x4x-1"));
        assert!(size([0, 4, 4]).unwrap_err().contains("positive"));
        assert!(size([1 << 31, 1 << 31, 2]).unwrap_err().contains("more than the file can hold"));
    }

    #[test]
    fn a_single_slice_is_a_2d_image_where_it_lies_in_x_and_y() {
        let slice = |direction| geometry([2, 2, 1], DVec3::new(0.5, 2.0, 5.0), DVec3::new(1.0, 2.0, 3.0), direction);
        let turned = slice(DMat3::from_cols(DVec3::NEG_Y, DVec3::X, DVec3::NEG_Z)).unwrap();
        assert_eq!(turned.direction, DMat3::from_cols(DVec3::NEG_Y, DVec3::X, DVec3::Z));
        assert_eq!((turned.spacing, turned.origin), (DVec3::new(0.5, 2.0, 1.0), DVec3::new(1.0, 2.0, 0.0)));
        let tilted = slice(DMat3::from_rotation_x(5e-4)).unwrap();
        assert_eq!(tilted.direction.y_axis.z, 0.0);
        for direction in [DMat3::from_rotation_x(2e-3), DMat3::from_cols(DVec3::X, DVec3::Z, DVec3::NEG_Y)] {
            let placed = slice(direction).unwrap();
            assert_eq!((placed.direction, placed.spacing), (direction, DVec3::new(0.5, 2.0, 5.0)));
            assert!(placed.is_slice_in_space() && placed.dimensions() == 3 && !tilted.is_slice_in_space());
        }
    }

    #[test]
    fn volumes_lie_along_one_axis() {
        assert_eq!([volumes(&[]), volumes(&[1, 1]), volumes(&[1, 3]), volumes(&[7])], [1, 1, 3, 7].map(Ok));
        assert!(volumes(&[2, 3]).unwrap_err().contains("5 dimensions, several of them"));
        assert!(volumes(&[-2]).unwrap_err().contains("claims -2 volumes") && volumes(&[0]).is_err());
    }

    #[test]
    fn a_grid_needs_an_inverse() {
        let grid = |spacing, direction| geometry([2; 3], spacing, DVec3::ZERO, direction);
        assert!(grid(DVec3::ONE, DMat3::IDENTITY).is_ok());
        assert!(grid(DVec3::new(1.0, 0.0, 1.0), DMat3::IDENTITY).unwrap_err().contains("1, 0, 1"));
        assert!(grid(DVec3::new(1.0, f64::NAN, 1.0), DMat3::IDENTITY).is_err());
        for size in [1e-320, 1e308] {
            let message = grid(DVec3::splat(size), DMat3::IDENTITY).unwrap_err();
            assert!(message.contains("too small or too large"), "{message}");
        }
        assert!(grid(DVec3::ONE, DMat3::from_cols(DVec3::X, DVec3::X, DVec3::Z)).is_err());
        let shear = DMat3::from_cols(DVec3::X, DVec3::new(0.1, 1.0, 0.0).normalize(), DVec3::Z);
        assert!(grid(DVec3::ONE, shear).unwrap_err().contains("sheared"));
        let negated = -DMat3::IDENTITY;
        let clean = grid(DVec3::ONE, negated).unwrap();
        assert!(clean.direction.to_cols_array().iter().all(|x| x.to_bits() != (-0.0f64).to_bits()));
    }
}
