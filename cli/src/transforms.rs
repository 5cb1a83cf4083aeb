//! Transforms named on the command line.

use mireg::error::Setting;
use std::path::{Path, PathBuf};

use glam::{DAffine3, DVec3};
use mireg::io::transform::{self, Format, Grids};
use mireg::transform::{Field, Linear, Transform, TransformMap};
use mireg::{Error, Geometry, Result};

/// The linear transform in a file between images of these grids: fixed point to moving point, LPS mm.
pub fn read(path: &Path, format: Option<Format>, grids: &Grids) -> Result<DAffine3> {
    Ok(read_linear(path, format, grids)?.to_affine())
}

/// The same with its parameters.
pub fn read_linear(path: &Path, format: Option<Format>, grids: &Grids) -> Result<Linear> {
    let linear = transform::read_linear(path, format, grids)?;
    grids.suit(&linear.clone().into()).map_err(|message| Error::file(path, message))?;
    Ok(linear)
}

/// A result that is written, unless something speaks against it.
pub fn verdict(doubt: Option<String>) -> Result<()> {
    doubt.map_or(Ok(()), |text| Err(Error::untrusted(text)))
}

/// The transforms of files, one after the other.
pub struct Chain {
    pub transform: Transform,
    /// Where each of its parts comes from.
    files: Vec<PathBuf>,
}

impl Chain {
    /// Reads them in the order in which they are applied to a point. `grids` are those that the whole lies between: of several
    /// transforms none can be in a format that needs both.
    pub fn read(paths: &[PathBuf], format: Option<Format>, grids: &Grids) -> Result<Self> {
        Self::read_each(paths, format, &if paths.len() == 1 { *grids } else { Grids::default() })?.suits(grids)
    }

    /// The same, with the grids that each of the files is read with.
    pub fn read_each(paths: &[PathBuf], format: Option<Format>, grids: &Grids) -> Result<Self> {
        let mut chain = Self { transform: Transform::Chain(Vec::new()), files: Vec::new() };
        for path in paths {
            let next = transform::read(path, format, grids)?;
            chain.files.resize(chain.files.len() + next.parts().len(), path.clone());
            chain.transform = chain.transform.then(next);
        }
        Ok(chain)
    }

    /// What a caller holds, or else the transforms of files as [`Chain::read`] reads them.
    pub fn held_or_read(
        held: Option<Transform>,
        paths: &[PathBuf],
        format: Option<Format>,
        grids: &Grids,
    ) -> Result<Self> {
        let Some(transform) = held else { return Self::read(paths, format, grids) };
        let files = vec![paths.first().cloned().unwrap_or_default(); transform.parts().len()];
        Self { transform, files }.suits(grids)
    }

    /// Refuses what cannot lead between images of these grids.
    fn suits(self, grids: &Grids) -> Result<Self> {
        let path = || self.files.first().map_or(Path::new("the transform"), PathBuf::as_path);
        grids.suit(&self.transform).map_err(|message| Error::file(path(), message))?;
        Ok(self)
    }

    /// The map of points, or the way back.
    pub fn map(&self, invert: bool) -> TransformMap<'_> {
        if invert { self.transform.inverse_map() } else { self.transform.map() }
    }

    /// Refuses fields into whose grid none of the points came that went through `map`.
    pub fn met(&self, map: &TransformMap) -> Result<()> {
        map.missed().map_or(Ok(()), |part| {
            let message = "no point falls inside its grid; check the headers, the order of the transforms, and whether they lead the other way";
            Err(Error::file(&self.files[part], message))
        })
    }

    /// What speaks against the way back.
    pub fn doubt(&self, invert: bool) -> Option<String> {
        let (part, count) = invert.then(|| self.transform.folds()).flatten()?;
        let text = "so that the way back is not unique; the result should not be used there";
        Some(format!("{}: the field folds at {count} of its voxels, {text}", self.files[part].display()))
    }

    /// The transforms, or the way back, as a field on `grid`, or on that of the first field among them, and what speaks against it.
    pub fn field(&self, invert: bool, grid: Option<&Geometry>) -> Result<(Field, Option<String>)> {
        let Some(grid) = grid.or(self.transform.grid()) else {
            let image = if invert { "--moving" } else { "--fixed" };
            return Err(Error::option(Setting::Fixed, format!("a mesh has no grid of its own; give one with {image}")));
        };
        let map = self.map(invert);
        let field = Field::of(grid, |point: DVec3| map.transform_point3(point));
        self.met(&map)?;
        Ok((field, self.doubt(invert)))
    }
}
