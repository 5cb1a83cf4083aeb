//! Reads the header: lines of `field: value` up to an empty line.

use std::str::FromStr;

use crate::PixelType;
use crate::io::check;
use crate::io::coding::Coding;
use crate::io::source::Source;

/// The most bytes of a line, and the most lines, of a header.
const MOST: u64 = 1 << 16;
/// The most axes that the format allows.
const MOST_AXES: usize = 16;

/// The fields of a header, with names in lower case and without spaces.
pub struct Header {
    fields: Vec<(String, String)>,
}

/// The encoding of the voxels.
#[derive(Clone, Copy, PartialEq)]
pub enum Encoding {
    Raw,
    Gzip,
    Ascii,
}

impl Header {
    /// Reads up to and including the empty line, or to the end of a file that holds only the header.
    pub fn read(source: &mut Source) -> crate::Result<Self> {
        if !source.line(MOST)?.is_some_and(|line| line.starts_with("NRRD000")) {
            return Err(source.error("does not start like NRRD; convert it to .nrrd or .nii.gz"));
        }
        let mut fields = Vec::new();
        for _ in 0..MOST {
            let Some(line) = source.line(MOST)?.filter(|line| !line.is_empty()) else { break };
            let Some((name, value)) = line.split_once(':').filter(|_| !line.starts_with('#')) else { continue };
            // `key:=value` is a comment, not a field.
            if !value.starts_with('=') {
                fields.push((name.to_lowercase().replace(' ', ""), value.trim().to_owned()));
            }
        }
        Ok(Self { fields })
    }

    /// The value of the field `name`, which is given with spaces, as in the format's definition.
    pub fn get(&self, name: &str) -> Option<&str> {
        let plain = name.replace(' ', "");
        self.fields.iter().find(|(key, _)| *key == plain).map(|(_, value)| value.as_str())
    }

    fn needed(&self, name: &str) -> Result<&str, String> {
        self.get(name).ok_or_else(|| format!("has no field \"{name}\"; correct the header"))
    }

    /// The value of the field `name` for each axis; `None` if there is no such field.
    pub fn of_axes<T: FromStr>(&self, name: &str) -> Result<Option<Vec<T>>, String> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let items: Option<Vec<T>> = value.split_whitespace().map(|item| item.parse().ok()).collect();
        let dimension = self.dimension()?;
        match items {
            Some(items) if items.len() == dimension => Ok(Some(items)),
            _ => Err(format!("its field \"{name}: {value}\" should hold {dimension} values; correct the header")),
        }
    }

    /// The integer in the field `name`, or 0 if there is no such field.
    pub fn number(&self, name: &str) -> Result<i64, String> {
        let value = self.get(name).unwrap_or("0");
        value
            .parse()
            .map_err(|_| format!("its field \"{name}: {value}\" should hold a whole number; correct the header"))
    }

    /// The number of all axes, also of those that are not spatial.
    pub fn dimension(&self) -> Result<usize, String> {
        let value = self.needed("dimension")?;
        let known = value.parse().ok().filter(|n| (1..=MOST_AXES).contains(n));
        known.ok_or_else(|| format!("its header claims {value} dimensions; the header is damaged"))
    }

    /// The numbers of voxels along the first three of `axes`, the spatial axes, and the number of volumes along the
    /// others.
    pub fn volumes(&self, axes: &[usize]) -> Result<([usize; 3], usize), String> {
        let sizes = self.sizes()?;
        let along: Vec<i64> = axes.iter().map(|&axis| sizes[axis]).collect();
        let size = check::size(std::array::from_fn(|n| along.get(n).copied().unwrap_or(1)))?;
        Ok((size, check::volumes(along.get(3..).unwrap_or_default())?))
    }

    /// The numbers of voxels along all axes.
    pub fn sizes(&self) -> Result<Vec<i64>, String> {
        self.needed("sizes")?;
        Ok(self.of_axes("sizes")?.unwrap_or_default())
    }

    /// How the voxels are stored, if they are not text.
    pub fn coding(&self) -> Result<Coding, String> {
        let pixel = match self.needed("type")?.to_lowercase().as_str() {
            "uchar" | "unsigned char" | "uint8" | "uint8_t" => PixelType::U8,
            "signed char" | "int8" | "int8_t" => PixelType::I8,
            "ushort" | "unsigned short" | "unsigned short int" | "uint16" | "uint16_t" => PixelType::U16,
            "short" | "short int" | "signed short" | "signed short int" | "int16" | "int16_t" => PixelType::I16,
            "uint" | "unsigned int" | "uint32" | "uint32_t" => PixelType::U32,
            "int" | "signed int" | "int32" | "int32_t" => PixelType::I32,
            "ulonglong" | "unsigned long long" | "unsigned long long int" | "uint64" | "uint64_t" => PixelType::U64,
            "longlong"
            | "long long"
            | "long long int"
            | "signed long long"
            | "signed long long int"
            | "int64"
            | "int64_t" => PixelType::I64,
            "float" => PixelType::F32,
            "double" => PixelType::F64,
            other => return Err(format!("its voxels are of type {other}; convert it to one such as short or float")),
        };
        let big_endian = match self.get("endian").map(str::to_lowercase).as_deref() {
            Some("big") => true,
            Some("little") => false,
            None if pixel.bytes() == 1 || self.encoding()? == Encoding::Ascii => false,
            other => {
                return Err(format!("its field \"endian: {}\" should say little or big", other.unwrap_or_default()));
            }
        };
        Ok(Coding { pixel, big_endian, scale: None })
    }

    pub fn encoding(&self) -> Result<Encoding, String> {
        match self.needed("encoding")?.to_lowercase().as_str() {
            "raw" => Ok(Encoding::Raw),
            "gz" | "gzip" => Ok(Encoding::Gzip),
            "txt" | "text" | "ascii" => Ok(Encoding::Ascii),
            other => Err(format!("its voxels are encoded as {other}; save it with the encoding gzip or raw")),
        }
    }

    /// The name of the file that holds the voxels, next to the header; `None` if they follow the header.
    pub fn data_file(&self) -> Result<Option<&str>, String> {
        let Some(name) = self.get("data file") else { return Ok(None) };
        if name.starts_with("LIST") || name.contains('%') {
            return Err(format!("has its slices in many files (data file: {name}); save it as one .nrrd"));
        }
        Ok((!name.eq_ignore_ascii_case("local")).then_some(name))
    }
}
