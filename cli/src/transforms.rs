//! Transforms named on the command line.

use mireg::error::Setting;
use std::path::{Path, PathBuf};

use glam::{DAffine3, DVec3};
use mireg::io::transform::{self, Format, Grids};
use mireg::transform::{Field, Linear, Transform, TransformMap};
use mireg::{Error, Geometry, Result};

/// Reads a linear transform from points of the fixed image to points of the moving image, LPS mm. `grids` are those of
/// the two images, which some formats need.
pub fn read(path: &Path, format: Option<Format>, grids: &Grids) -> Result<DAffine3> {
    Ok(read_linear(path, format, grids)?.to_affine())
}

/// As [`read`], with the parameters of the transform.
pub fn read_linear(path: &Path, format: Option<Format>, grids: &Grids) -> Result<Linear> {
    let linear = transform::read_linear(path, format, grids)?;
    grids.suit(&linear.clone().into()).map_err(|message| Error::file(path, message))?;
    Ok(linear)
}

/// Returns [`Error::Untrusted`] if there is a doubt about a result that was written.
pub fn verdict(doubt: Option<String>) -> Result<()> {
    doubt.map_or(Ok(()), |text| Err(Error::untrusted(text)))
}

/// Transforms from files, which are applied one after the other.
pub struct Chain {
    pub transform: Transform,
    /// The file of each part of `transform`.
    files: Vec<PathBuf>,
}

impl Chain {
    /// Reads transforms in the order in which they are applied to a point. `grids` are those of the images at the two
    /// ends of the chain. The grids between several transforms are not known, so formats that need grids are refused
    /// there.
    pub fn read(paths: &[PathBuf], format: Option<Format>, grids: &Grids) -> Result<Self> {
        Self::read_each(paths, format, &if paths.len() == 1 { *grids } else { Grids::default() })?
            .checked_against(grids)
    }

    /// As [`Chain::read`], with the same `grids` for each of the files.
    pub fn read_each(paths: &[PathBuf], format: Option<Format>, grids: &Grids) -> Result<Self> {
        let mut chain = Self { transform: Transform::Chain(Vec::new()), files: Vec::new() };
        for path in paths {
            let next = transform::read(path, format, grids)?;
            chain.files.resize(chain.files.len() + next.parts().len(), path.clone());
            chain.transform = chain.transform.then(next);
        }
        Ok(chain)
    }

    /// Returns the transform that a caller holds, or else reads files as [`Chain::read`] does.
    pub fn held_or_read(
        held: Option<Transform>,
        paths: &[PathBuf],
        format: Option<Format>,
        grids: &Grids,
    ) -> Result<Self> {
        let Some(transform) = held else { return Self::read(paths, format, grids) };
        let files = vec![paths.first().cloned().unwrap_or_default(); transform.parts().len()];
        Self { transform, files }.checked_against(grids)
    }

    /// Refuses a chain that cannot map between images on these grids.
    fn checked_against(self, grids: &Grids) -> Result<Self> {
        let path = || self.files.first().map_or(Path::new("the transform"), PathBuf::as_path);
        grids.suit(&self.transform).map_err(|message| Error::file(path(), message))?;
        Ok(self)
    }

    /// Returns the map of points, or its inverse.
    pub fn map(&self, invert: bool) -> TransformMap<'_> {
        if invert { self.transform.inverse_map() } else { self.transform.map() }
    }

    /// Refuses a displacement field if none of the points that `map` mapped fell inside its grid.
    pub fn check_grids_reached(&self, map: &TransformMap) -> Result<()> {
        map.missed().map_or(Ok(()), |part| {
            let message =
                "no point falls inside its grid; check the headers, the order of the transforms, and their direction";
            Err(Error::file(&self.files[part], message))
        })
    }

    /// Returns a warning if the inverse is used and a field of the chain folds.
    pub fn doubt(&self, invert: bool) -> Option<String> {
        let (part, count) = invert.then(|| self.transform.folds()).flatten()?;
        let text = "so that the way back is not unique; the result should not be used there";
        Some(format!("{}: the field folds at {count} of its voxels, {text}", self.files[part].display()))
    }

    /// Returns the chain or its inverse as one displacement field, and the warning of [`Chain::doubt`]. The field is on
    /// `grid`, or else on the grid of the first field of the chain.
    pub fn field(&self, invert: bool, grid: Option<&Geometry>) -> Result<(Field, Option<String>)> {
        let Some(grid) = grid.or(self.transform.grid()) else {
            let image = if invert { "--moving" } else { "--fixed" };
            return Err(Error::option(Setting::Fixed, format!("a mesh has no grid of its own; give one with {image}")));
        };
        let map = self.map(invert);
        let field = Field::of(grid, |point: DVec3| map.transform_point3(point));
        self.check_grids_reached(&map)?;
        Ok((field, self.doubt(invert)))
    }
}
