//! The formats, and how to tell one from another.

use crate::error::{Message, message};
use std::path::Path;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

use super::matrix;

/// How a transform is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// ITK text, as SimpleITK, 3D Slicer and ANTs read it: .tfm, .txt
    Itk,
    /// ITK in a MATLAB 4 file, as ANTs writes its 0GenericAffine.mat
    Ants,
    /// elastix parameters, for transformix too: TransformParameters.0.txt; the fixed image is needed to write them
    Elastix,
    /// FLIRT: .mat, text, from MOVING to FIXED in voxels times mm; both images are needed
    Fsl,
    /// NiftyReg: 4x4, from FIXED to MOVING, RAS mm
    Niftyreg,
    /// 4x4 from FIXED to MOVING, LPS mm
    MatrixLps,
    /// 4x4 from FIXED to MOVING, RAS mm, as in greedy
    MatrixRas,
    /// Eight corners of FIXED and their positions in MOVING: .standard; both images are needed
    Rire,
    /// mireg's own: .json, and report.json
    Json,
}

impl Format {
    /// The format of a file that is to be written.
    pub(super) fn of_name(path: &Path) -> Result<Self, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let lower = name.to_lowercase();
        let ends = [
            (".tfm", Self::Itk),
            (".txt", if name.starts_with("TransformParameters") { Self::Elastix } else { Self::Itk }),
            (".json", Self::Json),
            (".mat", Self::Fsl),
            (".standard", Self::Rire),
        ];
        let known = ends.iter().find(|(end, _)| lower.ends_with(end)).map(|&(_, format)| format);
        known.ok_or_else(|| {
            let formats: Vec<_> = Self::VARIANTS.iter().map(ToString::to_string).collect();
            format!(
                "its name does not end like a transform (.tfm, .txt, .json, .mat, .standard); rename it, or name a format: {}",
                formats.join(", ")
            )
        })
    }

    /// The format of a file that holds `bytes`.
    pub(super) fn sniff(path: &Path, bytes: &[u8]) -> Result<Self, Message> {
        let text = String::from_utf8_lossy(bytes);
        let a_line = |is: &dyn Fn(&str) -> bool| text.lines().map(str::trim).any(is);
        let is_mat = path.extension().is_some_and(|end| end.eq_ignore_ascii_case("mat"));
        match () {
            () if bytes.starts_with(b"\x89HDF") => {
                Err("is HDF5, which mireg does not read; save it as .tfm, for example with SimpleITK: \
                     WriteTransform(ReadTransform('a.h5'), 'a.tfm')"
                    .into())
            }
            () if text.starts_with("#Insight Transform File") => Ok(Self::Itk),
            () if bytes.contains(&0) => Ok(Self::Ants),
            () if text.trim_start().starts_with('{') => Ok(Self::Json),
            () if a_line(&|line| line.starts_with("(Transform ")) => Ok(Self::Elastix),
            () if a_line(&|line| line.starts_with("Point") && line.contains("new_x")) => Ok(Self::Rire),
            () if is_mat => Ok(Self::Fsl),
            () if matrix::rows(&text).is_ok() => {
                Err(message!(
                    "is a plain matrix, which does not say in which frame it is";
                    "name it: ", TransformFormat, " matrix-lps, matrix-ras, niftyreg or fsl"
                ))
            }
            () => Err("is no transform that mireg reads; it reads those of ITK (.tfm, .txt), ANTs, elastix, FSL, NiftyReg and RIRE, \
                       4x4 matrices and its own .json"
                .into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_format_where_it_can() {
        let of = |name: &str| Format::of_name(Path::new(name));
        assert_eq!(of("a/b.TFM"), Ok(Format::Itk));
        assert_eq!(of("TransformParameters.1.txt"), Ok(Format::Elastix));
        assert_eq!(of("parameters.txt"), Ok(Format::Itk));
        assert_eq!(of("a.mat"), Ok(Format::Fsl));
        assert!(of("a.h5").unwrap_err().contains("matrix-ras"));
    }

    #[test]
    fn content_says_more_than_the_name() {
        let of = |name: &str, bytes: &[u8]| Format::sniff(Path::new(name), bytes);
        let matrix = b"1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n";
        assert_eq!(of("a.mat", matrix), Ok(Format::Fsl));
        assert!(of("a.txt", matrix).unwrap_err().to_string().contains("`format` matrix-lps"));
        assert_eq!(of("a.mat", b"#Insight Transform File V1.0\n"), Ok(Format::Itk));
        assert_eq!(of("a.mat", &[0; 30]), Ok(Format::Ants));
        assert_eq!(of("a.txt", b"// elastix\n(Transform \"EulerTransform\")\n"), Ok(Format::Elastix));
        assert_eq!(of("a", b"\n {\"lps\": []}"), Ok(Format::Json));
        assert!(of("a.tfm", b"\x89HDF\r\n\x1a\n").unwrap_err().to_string().contains("HDF5"));
        assert!(of("a.tfm", b"hello").unwrap_err().to_string().contains("no transform"));
    }
}
