//! elastix's TransformParameters files: lines of `(Key value ...)`, with the parameters of ITK's transforms.

use crate::error::{Message, message};
use std::path::Path;

use super::super::number::joined;
use super::grids::Grids;
use super::parameters::linear;
use super::text::{content, numbers, printable_line};
use crate::transform::{Dimension, Kind, Linear};
use crate::{Error, Geometry, Result};

type Parsed<T> = std::result::Result<T, String>;

/// The longest chain of files, each naming its initial transform.
const LONGEST_CHAIN: usize = 32;
/// The key of the file with the initial transform, in present and in old versions of elastix.
const INITIAL: [&str; 2] = ["InitialTransformParameterFileName", "InitialTransformParametersFileName"];
const NONE: &str = "NoInitialTransform";

/// Reads the transform in `text`, the content of the file at `path`, composed with the initial transforms that it
/// names. Their files must be in the same folder.
pub fn read(path: &Path, text: &str) -> Result<Linear> {
    let mut path = path.to_owned();
    let (mut whole, mut before) = parse(text).map_err(|message| Error::file(&path, message))?;
    for _ in 0..LONGEST_CHAIN {
        let Some(name) = before else { return Ok(whole) };
        path.set_file_name(name);
        let text = content(&path)?;
        let (earlier, next) = parse(&String::from_utf8_lossy(&text)).map_err(|message| Error::file(&path, message))?;
        (whole, before) = (earlier.then(&whole), next);
    }
    Err(Error::file(&path, "is one of a chain of files that name each other without end; correct them"))
}

/// The transform of one file, and the name of the file with its initial transform.
fn parse(text: &str) -> Parsed<(Linear, Option<String>)> {
    let fields = Entries::new(text)?;
    Ok((fields.linear()?, fields.initial()?))
}

/// The entries of a file, as key and value.
struct Entries(Vec<(String, String)>);

impl Entries {
    fn new(text: &str) -> Parsed<Self> {
        let inside = |line: &str| {
            let (key, value) = line.rsplit_once(')')?.0.split_once(char::is_whitespace)?;
            Some((key.to_owned(), value.trim().to_owned()))
        };
        let lines = text.lines().filter_map(|line| line.trim().strip_prefix('('));
        let fields = lines
            .map(|line| inside(line).ok_or("holds a line that starts with ( and is no (Key value); correct the file"));
        Ok(Self(fields.collect::<std::result::Result<_, _>>()?))
    }

    fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == key).map(|(_, value)| value.trim_matches('"'))
    }

    fn numbers(&self, key: &str) -> Parsed<Vec<f64>> {
        numbers(self.get(key).ok_or_else(|| format!("has no line ({key} ...); correct the file"))?)
    }

    /// The name of the file with the initial transform.
    fn initial(&self) -> Parsed<Option<String>> {
        let name = INITIAL.iter().find_map(|key| self.get(key));
        match name.ok_or_else(|| format!("has no line ({} ...), so it is truncated; copy it again", INITIAL[0]))? {
            NONE => Ok(None),
            _ if self.get("HowToCombineTransforms") == Some("Add") => {
                Err("is added to another transform (HowToCombineTransforms), which mireg does not read; use Compose"
                    .into())
            }
            name if name.contains(char::is_control) => {
                Err(format!("its line ({} ...) names no file; correct it", INITIAL[0]))
            }
            // The path may be from another computer, so only its last component is used.
            name => Ok(name.rsplit(['/', '\\']).next().map(str::to_owned)),
        }
    }

    fn linear(&self) -> Parsed<Linear> {
        let kind =
            self.get("Transform").ok_or("has no line (Transform ...), so it is not elastix's; name another format")?;
        let unread = || {
            let kind = printable_line(kind);
            format!(
                "holds a {kind}, which mireg does not read; it reads Translation, Euler, Similarity and AffineTransform"
            )
        };
        let dimension = match self.numbers("FixedImageDimension").unwrap_or_default()[..] {
            [2.0] => Dimension::Two,
            [3.0] => Dimension::Three,
            _ => return Err("has no line (FixedImageDimension 2) or (FixedImageDimension 3); correct the file".into()),
        };
        let axes = dimension.axes();
        if self.get("UseDirectionCosines") == Some("false") {
            return Err(
                "ignores the directions of its images (UseDirectionCosines); set it to \"true\" if both images lie along the axes of space"
                    .into(),
            );
        }
        let itk = match kind {
            "TranslationTransform" | "AffineTransform" => kind.to_owned(),
            "EulerTransform" => format!("Euler{axes}DTransform"),
            "SimilarityTransform" => format!("Similarity{axes}DTransform"),
            _ => return Err(unread()),
        };
        let mut centre = match kind {
            "TranslationTransform" => Vec::new(),
            _ => self.numbers("CenterOfRotationPoint")?,
        };
        centre.extend((axes == 3 && self.get("ComputeZYX") == Some("true")).then_some(1.0));
        linear(&format!("{itk}_double_{axes}_{axes}"), &self.numbers("TransformParameters")?, &centre)
    }
}

/// The text of a file for elastix, and for transformix, which resamples on the fixed grid.
pub fn text(transform: &Linear, grids: &Grids) -> Result<String, Message> {
    let grid = grids
        .fixed
        .ok_or_else(|| message!("elastix writes the fixed grid into its files"; "give ", Fixed, ", or write .tfm"))?;
    let axes = transform.dimension.axes();
    let kind = match transform.kind {
        Kind::Translation => "Translation",
        Kind::Rigid => "Euler",
        Kind::Similarity => "Similarity",
        Kind::Affine => "Affine",
    };
    let mut fields = vec![
        ("Transform", format!("\"{kind}Transform\"")),
        ("NumberOfParameters", transform.parameters.len().to_string()),
        ("TransformParameters", joined(transform.parameters.iter().copied())),
        ("InitialTransformParameterFileName", format!("\"{NONE}\"")),
    ];
    if transform.kind != Kind::Translation {
        fields.push(("CenterOfRotationPoint", joined(transform.centre.to_array().into_iter().take(axes))));
    }
    if transform.kind == Kind::Rigid && axes == 3 {
        fields.push(("ComputeZYX", "\"false\"".into()));
    }
    fields.extend(placed(grid, axes));
    let fixed = [
        ("HowToCombineTransforms", "\"Compose\""),
        ("FixedInternalImagePixelType", "\"float\""),
        ("MovingInternalImagePixelType", "\"float\""),
        ("UseDirectionCosines", "\"true\""),
        ("ResampleInterpolator", "\"FinalBSplineInterpolator\""),
        ("FinalBSplineInterpolationOrder", "1"),
        ("Resampler", "\"DefaultResampler\""),
        ("DefaultPixelValue", "0"),
        ("ResultImageFormat", "\"nii.gz\""),
        ("ResultImagePixelType", "\"float\""),
        ("CompressResultImage", "\"true\""),
    ];
    fields.extend(fixed.map(|(key, value)| (key, value.into())));
    Ok(fields.iter().map(|(key, value)| format!("({key} {value})\n")).collect())
}

/// The entries that describe the grid on which transformix resamples.
fn placed(grid: &Geometry, axes: usize) -> [(&'static str, String); 7] {
    let [spacing, origin] = [grid.spacing, grid.origin].map(|v| joined(v.to_array().into_iter().take(axes)));
    // In column-major order.
    let direction = grid.direction.to_cols_array_2d();
    let direction = direction.into_iter().take(axes).flat_map(|column| column.into_iter().take(axes));
    [
        ("FixedImageDimension", axes.to_string()),
        ("MovingImageDimension", axes.to_string()),
        ("Size", grid.size[..axes].iter().map(usize::to_string).collect::<Vec<_>>().join(" ")),
        ("Index", vec!["0"; axes].join(" ")),
        ("Spacing", spacing),
        ("Origin", origin),
        ("Direction", joined(direction)),
    ]
}
