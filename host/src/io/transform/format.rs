//! The formats of transforms, and how to recognise them.

use crate::error::{Message, message};
use std::path::Path;
use strum::{Display, EnumMessage, EnumString, IntoStaticStr, VariantArray};

use super::super::hdf5;
use super::{afni, lta, matlab, matrix, minc};

/// How a transform is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display, EnumMessage, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Format {
    /// ITK text, as SimpleITK, 3D Slicer and ANTs read it: .tfm, .txt
    Itk,
    /// ITK in HDF5, as fMRIPrep, 3D Slicer and ANTs write it, displacement fields and composites too: .h5, .hdf5, .hdf
    ItkHdf5,
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
    /// FreeSurfer: .lta, from MOVING (src) to FIXED (dst); both images are needed to write them
    Lta,
    /// AFNI: .aff12.1D, 3x4, from FIXED to MOVING as if neither were oblique; both images are needed
    Afni,
    /// MINC: .xfm, from MOVING to FIXED, RAS mm
    Minc,
    /// mireg's own: .json, and report.json
    Json,
}

impl Format {
    /// The format of a file to write, by its name.
    pub(super) fn of_name(path: &Path) -> Result<Self, String> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let lower = name.to_lowercase();
        let ends = [
            (".tfm", Self::Itk),
            (".txt", if name.starts_with("TransformParameters") { Self::Elastix } else { Self::Itk }),
            (".json", Self::Json),
            (".mat", Self::Fsl),
            (".standard", Self::Rire),
            (".lta", Self::Lta),
            (".1D", Self::Afni),
            (".xfm", Self::Minc),
            (".h5", Self::ItkHdf5),
            (".hdf5", Self::ItkHdf5),
            (".hdf", Self::ItkHdf5),
        ];
        let known = ends.iter().find(|(end, _)| lower.ends_with(&end.to_lowercase())).map(|&(_, format)| format);
        known.ok_or_else(|| {
            let formats: Vec<_> = Self::VARIANTS.iter().map(ToString::to_string).collect();
            format!(
                "its name does not end like a transform ({}); rename it, or name a format: {}",
                ends.map(|(end, _)| end).join(", "),
                formats.join(", ")
            )
        })
    }

    /// The format of a file with the content `bytes`.
    pub(super) fn sniff(path: &Path, bytes: &[u8]) -> Result<Self, Message> {
        let text = String::from_utf8_lossy(bytes);
        let a_line = |is: &dyn Fn(&str) -> bool| text.lines().map(str::trim).any(is);
        let ends = |end: &str| path.extension().is_some_and(|e| e.eq_ignore_ascii_case(end));
        match () {
            () if bytes.starts_with(hdf5::MAGIC) => Ok(Self::ItkHdf5),
            () if text.starts_with("#Insight Transform File") => Ok(Self::Itk),
            () if matlab::is(bytes) || bytes.contains(&0) && ends("mat") => Ok(Self::Ants),
            () if text.trim_start().starts_with('{') => Ok(Self::Json),
            () if a_line(&|line| line.starts_with("(Transform ")) => Ok(Self::Elastix),
            () if text.starts_with(minc::MAGIC) => Ok(Self::Minc),
            () if a_line(&|line| line == lta::SOURCE) => Ok(Self::Lta),
            () if ends("1D") || a_line(&|line| line.starts_with('#') && line.contains(afni::MATRICES)) => Ok(Self::Afni),
            () if a_line(&|line| line.starts_with("Point") && line.contains("new_x")) => Ok(Self::Rire),
            () if ends("mat") => Ok(Self::Fsl),
            () if matrix::rows(&text).is_ok() => {
                Err(message!(
                    "is a plain matrix, which does not say in which frame it is";
                    "name it: ", TransformFormat, " matrix-lps, matrix-ras, niftyreg or fsl"
                ))
            }
            () => Err("is no transform that mireg reads; it reads those of ITK (.tfm, .txt, .h5), ANTs, elastix, FSL, NiftyReg, RIRE, \
                       FreeSurfer, AFNI and MINC, 4x4 matrices and its own .json"
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
        assert_eq!(of("a.aff12.1D"), Ok(Format::Afni));
        assert_eq!(of("a.XFM"), Ok(Format::Minc));
        assert_eq!(of("a.h5"), Ok(Format::ItkHdf5));
        assert!(of("a.b").unwrap_err().contains("matrix-ras"));
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
        assert_eq!(of("a.txt", b"# 3dvolreg matrices (DICOM-to-DICOM, row-by-row):\n"), Ok(Format::Afni));
        assert_eq!(of("a.1D", b"1 0 0 0 0 1 0 0 0 0 1 0\n"), Ok(Format::Afni));
        assert_eq!(of("a", b"# by hand\ntype = 1\nsrc volume info\n"), Ok(Format::Lta));
        assert_eq!(of("a", b"MNI Transform File\n"), Ok(Format::Minc));
        assert_eq!(of("a", b"\n {\"lps\": []}"), Ok(Format::Json));
        assert_eq!(of("a.tfm", b"\x89HDF\r\n\x1a\n"), Ok(Format::ItkHdf5));
        assert!(of("a.tfm", b"hello\0").unwrap_err().to_string().contains("no transform"));
        assert!(of("a.tfm", b"hello").unwrap_err().to_string().contains("no transform"));
    }
}
