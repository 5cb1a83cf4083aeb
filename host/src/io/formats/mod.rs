//! The formats of images: a row each.

mod dicom;
mod metaimage;
mod nifti;
mod nrrd;
mod picture;

use std::path::Path;

use super::format::{Format, ends};
use crate::{Error, Result};

/// All formats. Messages list them in this order.
const FORMATS: [&dyn Format; 5] = [&nifti::Nifti, &metaimage::MetaImage, &nrrd::Nrrd, &dicom::Dicom, &picture::Picture];

/// The format of a file, by the end of its name.
pub fn of_name(path: &Path) -> Option<&'static dyn Format> {
    FORMATS.into_iter().find(|format| ends(path, format.names().read))
}

/// The format of a file or folder that is to be read, by the end of its name or by what it holds.
pub fn to_read(path: &Path) -> Result<&'static dyn Format> {
    if let Some(format) = of_name(path).filter(|_| !path.is_dir()) {
        return Ok(format);
    }
    for format in FORMATS {
        if format.is(path)? {
            return Ok(format);
        }
    }
    let formats = list(FORMATS.iter().flat_map(|format| format.names().listed[0]));
    Err(Error::file(path, format!("its name does not end like a file that mireg reads; it reads {formats}")))
}

/// The format of an image that is to be written.
pub fn to_write(path: &Path) -> Result<&'static dyn Format> {
    let format = FORMATS.into_iter().find(|format| ends(path, format.names().written));
    format.ok_or_else(|| {
        let written = |pictures: bool| {
            let formats = FORMATS.iter().filter(move |format| format.is_picture() == pictures);
            list(formats.flat_map(|format| format.names().listed[1]))
        };
        let formats = format!("{}, and 2-D images also as {}", written(false), written(true));
        Error::file(path, format!("its name does not end like a file that mireg writes; it writes {formats}"))
    })
}

/// The format of a displacement field that is to be read.
pub fn of_field(path: &Path) -> Option<&'static dyn Format> {
    of_name(path).filter(|format| !format.names().fields.is_empty())
}

/// The format of a displacement field that is to be written.
pub fn to_write_field(path: &Path) -> Option<&'static dyn Format> {
    FORMATS.into_iter().find(|format| ends(path, format.names().fields))
}

/// The ends of names of displacement fields, for messages.
pub fn fields() -> String {
    list(FORMATS.iter().flat_map(|format| format.names().fields))
}

/// `a, b and c`.
fn list<'a>(names: impl Iterator<Item = &'a &'static str>) -> String {
    let names: Vec<&str> = names.copied().collect();
    match &names[..] {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_too() {
        for format in FORMATS {
            let names = format.names();
            let read = |end: &&str| names.read.contains(end);
            assert!(names.written.iter().chain(names.fields).all(read));
            assert!(names.read.iter().all(|end| *end == end.to_lowercase()));
        }
    }
}
