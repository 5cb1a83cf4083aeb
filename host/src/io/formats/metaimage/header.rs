//! Reads and writes the header: lines of `Key = value`, the last of which says where the voxels are.

use std::str::FromStr;

use glam::{DMat3, DVec3};

use crate::io::check;
use crate::io::coding::Coding;
use crate::io::number::joined;
use crate::io::source::Source;
use crate::io::voxels::Shape;
use crate::{Geometry, PixelType};

/// The most bytes of a line, and the most lines, of a header.
const MOST: u64 = 1 << 16;

/// Where the voxels are.
pub enum Data {
    /// After the header.
    Local,
    /// In the file of this name, next to the header.
    File(String),
}

/// The lines of a header, in order.
pub struct Header {
    fields: Vec<(String, String)>,
}

impl Header {
    /// Reads up to and including the line `ElementDataFile`.
    pub fn read(source: &mut Source) -> crate::Result<Self> {
        let mut fields = Vec::new();
        for _ in 0..MOST {
            let Some(line) = source.line(MOST)? else { break };
            let Some((key, value)) = line.split_once(['=', ':']) else { break };
            let last = key.trim() == "ElementDataFile";
            fields.push((key.trim().to_owned(), value.trim().to_owned()));
            if last {
                return Ok(Self { fields });
            }
        }
        Err(source.error("is not MetaImage: it has no line ElementDataFile; convert it to .mha or .nii.gz"))
    }

    /// The value of the first of `keys` that the header has.
    fn get(&self, keys: &[&str]) -> Option<&str> {
        keys.iter().find_map(|key| self.fields.iter().find(|(k, _)| k == key)).map(|(_, value)| value.as_str())
    }

    /// The `count` numbers of the first of `keys` that the header has.
    fn numbers<T: FromStr>(&self, keys: &[&str], count: usize) -> Result<Option<Vec<T>>, String> {
        let Some(value) = self.get(keys) else { return Ok(None) };
        let numbers: Option<Vec<T>> = value.split_whitespace().map(|n| n.parse().ok()).collect();
        match numbers {
            Some(numbers) if numbers.len() == count => Ok(Some(numbers)),
            _ => Err(format!("its line {} = {value} should hold {count} numbers; correct the header", keys[0])),
        }
    }

    fn number<T: FromStr>(&self, key: &str) -> Result<Option<T>, String> {
        Ok(self.numbers(&[key], 1)?.map(|mut numbers| numbers.remove(0)))
    }

    fn flag(&self, keys: &[&str]) -> Result<Option<bool>, String> {
        match self.get(keys).map(|value| value.to_lowercase()).as_deref() {
            None => Ok(None),
            Some("true" | "1") => Ok(Some(true)),
            Some("false" | "0") => Ok(Some(false)),
            Some(other) => Err(format!("its line {} = {other} should say True or False; correct the header", keys[0])),
        }
    }

    fn dimensions(&self) -> Result<usize, String> {
        let dimensions = self.number("NDims")?.ok_or("has no line NDims, so it is not MetaImage; convert it")?;
        match dimensions {
            0 | 11.. => Err(format!("its header claims {dimensions} dimensions; the header is damaged")),
            _ => Ok(dimensions),
        }
    }

    /// The number of voxels along each axis of a volume, and the number of volumes.
    pub fn volumes(&self) -> Result<([usize; 3], usize), String> {
        let dims = self.numbers(&["DimSize"], self.dimensions()?)?.ok_or("has no line DimSize; correct the header")?;
        let size = check::size(std::array::from_fn(|axis| dims.get(axis).copied().unwrap_or(1)))?;
        Ok((size, check::volumes(dims.get(3..).unwrap_or_default())?))
    }

    /// The grid of the voxels. As in ITK, `AnatomicalOrientation` and `DistanceUnits` are ignored.
    pub fn geometry(&self, size: [usize; 3]) -> Result<Geometry, String> {
        let n = self.dimensions()?;
        let vector = |keys: &[&str], missing: DVec3| {
            Ok::<_, String>(self.numbers(keys, n)?.map_or(missing, |v| first_three(&v, missing)))
        };
        let spacing = vector(&["ElementSpacing", "ElementSize"], DVec3::ONE)?;
        let origin = vector(&["Offset", "Position", "Origin"], DVec3::ZERO)?;
        let axes = self.numbers(&["TransformMatrix", "Rotation", "Orientation"], n * n)?;
        let direction = axes.map_or(DMat3::IDENTITY, |axes: Vec<f64>| {
            let axis = |a: usize| axes.chunks(n).nth(a).map_or(DMat3::IDENTITY.col(a), |v| first_three(v, DVec3::ZERO));
            DMat3::from_cols(axis(0), axis(1), axis(2))
        });
        check::geometry(size, spacing, origin, direction)
    }

    /// The numbers per voxel.
    pub fn channels(&self) -> Result<usize, String> {
        Ok(self.number("ElementNumberOfChannels")?.unwrap_or(1))
    }

    /// How the voxels are stored.
    pub fn coding(&self) -> Result<Coding, String> {
        if self.get(&["ObjectType"]).is_some_and(|kind| kind != "Image") {
            return Err("is a MetaIO file but not an image (ObjectType); give an image".into());
        }
        if self.flag(&["BinaryData"])? == Some(false) {
            return Err("holds its voxels as text (BinaryData = False); save it as binary".into());
        }
        // With several channels, the type may be called an array.
        let kind = self.get(&["ElementType"]).unwrap_or("missing");
        let pixel = match kind.strip_suffix("_ARRAY").unwrap_or(kind) {
            "MET_UCHAR" => PixelType::U8,
            "MET_CHAR" | "MET_ASCII_CHAR" => PixelType::I8,
            "MET_USHORT" => PixelType::U16,
            "MET_SHORT" => PixelType::I16,
            "MET_UINT" | "MET_ULONG" => PixelType::U32,
            "MET_INT" | "MET_LONG" => PixelType::I32,
            "MET_ULONG_LONG" => PixelType::U64,
            "MET_LONG_LONG" => PixelType::I64,
            "MET_FLOAT" => PixelType::F32,
            "MET_DOUBLE" => PixelType::F64,
            other => {
                return Err(format!(
                    "its ElementType is {other}; convert it to one number per voxel, such as MET_FLOAT"
                ));
            }
        };
        let big_endian = self.flag(&["BinaryDataByteOrderMSB", "ElementByteOrderMSB"])?.unwrap_or(false);
        Ok(Coding { pixel, big_endian, scale: None })
    }

    /// The file that holds the voxels.
    pub fn data(&self) -> Result<Data, String> {
        let name = self.get(&["ElementDataFile"]).unwrap_or_default();
        if name.eq_ignore_ascii_case("local") {
            return Ok(Data::Local);
        }
        if name.starts_with("LIST") || name.contains('%') {
            return Err(format!("has its slices in many files (ElementDataFile = {name}); save it as one .mha"));
        }
        Ok(Data::File(name.to_owned()))
    }

    /// Whether the voxels are a zlib stream.
    pub fn compressed(&self) -> Result<bool, String> {
        Ok(self.flag(&["CompressedData"])?.unwrap_or(false))
    }

    /// The bytes of the voxels in their file, or 0 if the header does not tell.
    pub fn data_bytes(&self, shape: &Shape, coding: &Coding) -> Result<u64, String> {
        if self.compressed()? {
            return Ok(self.number("CompressedDataSize")?.unwrap_or(0));
        }
        Ok(shape.bytes(coding))
    }

    /// The position in `source` at which the voxels, `bytes` long, start; `None` for the next byte.
    pub fn start(&self, source: &Source, bytes: u64) -> Result<Option<u64>, String> {
        match self.number::<i64>("HeaderSize")?.unwrap_or(0) {
            0 => Ok(None),
            // The voxels are at the end of the file.
            -1 => Ok(Some(source.position() + source.remaining().saturating_sub(bytes))),
            skip => match u64::try_from(skip) {
                Ok(skip) => Ok(Some(skip)),
                Err(_) => Err(format!("its line HeaderSize = {skip} should be -1 or more; correct the header")),
            },
        }
    }
}

fn first_three(numbers: &[f64], missing: DVec3) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|n| numbers.get(n).copied().unwrap_or(missing[n])))
}

/// The type of a voxel.
pub struct Element {
    pub pixel: PixelType,
    /// The numbers per voxel.
    pub channels: usize,
}

/// The text of a header. The voxels are in `data`, as a zlib stream of `compressed` bytes, or uncompressed.
pub fn text(geometry: &Geometry, element: &Element, data: &str, compressed: Option<usize>) -> String {
    let channels = match element.channels {
        1 => String::new(),
        channels => format!("ElementNumberOfChannels = {channels}\n"),
    };
    let element = match element.pixel {
        PixelType::U8 => "MET_UCHAR",
        PixelType::I8 => "MET_CHAR",
        PixelType::U16 => "MET_USHORT",
        PixelType::I16 => "MET_SHORT",
        PixelType::U32 => "MET_UINT",
        PixelType::I32 => "MET_INT",
        PixelType::U64 => "MET_ULONG_LONG",
        PixelType::I64 => "MET_LONG_LONG",
        PixelType::F32 => "MET_FLOAT",
        PixelType::F64 => "MET_DOUBLE",
    };
    let compression = match compressed {
        Some(bytes) => format!("CompressedData = True\nCompressedDataSize = {bytes}"),
        None => "CompressedData = False".into(),
    };
    let n = geometry.dimensions();
    let axes = [geometry.direction.x_axis, geometry.direction.y_axis, geometry.direction.z_axis];
    format!(
        "ObjectType = Image\nNDims = {n}\nBinaryData = True\nBinaryDataByteOrderMSB = False\n{compression}\n\
         TransformMatrix = {}\nOffset = {}\nCenterOfRotation = {}\nAnatomicalOrientation = {}\n\
         ElementSpacing = {}\nDimSize = {}\n{channels}ElementType = {element}\nElementDataFile = {data}\n",
        joined(axes[..n].iter().flat_map(|axis| axis.to_array().into_iter().take(n))),
        joined(geometry.origin.to_array().into_iter().take(n)),
        ["0"; 3][..n].join(" "),
        ["??", "RAI"][n - 2],
        joined(geometry.spacing.to_array().into_iter().take(n)),
        geometry.size.map(|n| n.to_string())[..n].join(" "),
    )
}
