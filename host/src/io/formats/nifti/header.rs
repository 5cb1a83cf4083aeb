//! Reads a header of either version and byte order.

use crate::PixelType;
use crate::io::check;
use crate::io::coding::Coding;
use crate::io::header_bytes::HeaderBytes;
use crate::io::source::Source;

/// The length in bytes of a NIfTI-1 and of a NIfTI-2 header.
pub const LENGTHS: [usize; 2] = [348, 540];
/// The intent codes of vectors, which ITK reads as LPS, and of displacement vectors, which it reads as RAS.
pub const VECTORS: i32 = 1007;
const RAS_DISPLACEMENTS: i32 = 1006;
/// The data type of 8-bit unsigned integers.
const BYTES: i16 = 2;
/// The error for several bytes per voxel, which are not displacements and not certainly colours.
const OF_BYTES: &str = "has several bytes per voxel, which are neither one intensity nor a displacement; save colours as RGB24, or extract \
                        one number per voxel";
/// The data types of colours with a byte per channel.
const RGB: i16 = 128;
const RGBA: i16 = 2304;

/// The fields needed for reading. Floats are f32, to which other readers also round those of a NIfTI-2 header.
pub struct Header {
    length: usize,
    big_endian: bool,
    /// Whether the voxels are in a separate file.
    pub pair: bool,
    dim: [i64; 8],
    intent: i32,
    intent_name: Vec<u8>,
    datatype: i16,
    /// Millimetres per unit of length.
    pub unit_mm: f64,
    /// The sign of the third axis of the qform, then the voxel size.
    pub pixdim: [f32; 4],
    offset: f64,
    slope: f64,
    intercept: f64,
    pub qform_code: i32,
    pub sform_code: i32,
    /// b, c and d of the qform.
    pub quaternion: [f32; 3],
    pub qoffset: [f32; 3],
    /// The rows of the sform.
    pub sform: [[f32; 4]; 3],
}

impl Header {
    /// Reads the header at the start of `source`.
    pub fn read(source: &mut Source) -> crate::Result<Self> {
        let mut bytes = vec![0; 4];
        source.read_exact(&mut bytes)?;
        let lengths = [false, true].map(|big_endian| (HeaderBytes { bytes: &bytes, big_endian }.i32(0), big_endian));
        let known = lengths.into_iter().find(|&(length, _)| LENGTHS.iter().any(|&n| n as i32 == length));
        let Some((length, big_endian)) = known else {
            return Err(source.error("does not start like NIfTI-1 or NIfTI-2; convert it to one of them"));
        };
        bytes.resize(length as usize, 0);
        source.read_exact(&mut bytes[4..])?;
        let fields = HeaderBytes { bytes: &bytes, big_endian };
        let header = if bytes.len() == LENGTHS[0] { Self::version_1(&fields) } else { Self::version_2(&fields) };
        header.map_err(|message| source.error(message))
    }

    fn version_1(fields: &HeaderBytes) -> Result<Self, String> {
        let f = |at| fields.f32(at);
        Ok(Self {
            length: fields.bytes.len(),
            big_endian: fields.big_endian,
            pair: is_pair(&fields.bytes[344..348], b'1')?,
            dim: std::array::from_fn(|n| fields.i16(40 + 2 * n).into()),
            intent: fields.i16(68).into(),
            intent_name: fields.bytes[328..344].to_vec(),
            datatype: fields.i16(70),
            unit_mm: unit(fields.bytes[123]),
            pixdim: std::array::from_fn(|n| f(76 + 4 * n)),
            offset: f(108).into(),
            slope: f(112).into(),
            intercept: f(116).into(),
            qform_code: fields.i16(252).into(),
            sform_code: fields.i16(254).into(),
            quaternion: std::array::from_fn(|n| f(256 + 4 * n)),
            qoffset: std::array::from_fn(|n| f(268 + 4 * n)),
            sform: std::array::from_fn(|row| std::array::from_fn(|n| f(280 + 16 * row + 4 * n))),
        })
    }

    fn version_2(fields: &HeaderBytes) -> Result<Self, String> {
        let f = |at| fields.f64(at) as f32;
        Ok(Self {
            length: fields.bytes.len(),
            big_endian: fields.big_endian,
            pair: is_pair(&fields.bytes[4..8], b'2')?,
            dim: std::array::from_fn(|n| fields.i64(16 + 8 * n)),
            intent: fields.i32(504),
            intent_name: fields.bytes[508..524].to_vec(),
            datatype: fields.i16(12),
            unit_mm: unit(fields.i32(500) as u8),
            pixdim: std::array::from_fn(|n| f(104 + 8 * n)),
            offset: fields.i64(168) as f64,
            slope: fields.f64(176),
            intercept: fields.f64(184),
            qform_code: fields.i32(344),
            sform_code: fields.i32(348),
            quaternion: std::array::from_fn(|n| f(352 + 8 * n)),
            qoffset: std::array::from_fn(|n| f(376 + 8 * n)),
            sform: std::array::from_fn(|row| std::array::from_fn(|n| f(400 + 32 * row + 8 * n))),
        })
    }

    /// The number of voxels along each axis of a volume, and the number of volumes.
    pub fn volumes(&self) -> Result<([usize; 3], usize), String> {
        let (size, beyond) = self.axes()?;
        if numbers(beyond).is_some_and(|n| n > 1) && [VECTORS, RAS_DISPLACEMENTS].contains(&self.intent) {
            return Err(if self.datatype == BYTES { OF_BYTES } else { check::NO_IMAGE }.into());
        }
        Ok((size, check::volumes(beyond)?))
    }

    /// The number of colour channels, if voxels are colours.
    pub fn colours(&self) -> Option<usize> {
        match self.datatype {
            RGB => Some(3),
            RGBA => Some(4),
            _ => None,
        }
    }

    /// The number of voxels along each axis of a displacement field, the numbers per voxel, and whether these are in
    /// RAS, which only the intent 1006 implies.
    pub fn field(&self) -> Result<([usize; 3], usize, bool), String> {
        if self.intent_name.starts_with(b"NREG_TRANS") {
            return Err("is a transform of NiftyReg, whose vectors are in RAS or are no displacements; convert it to a field of ITK".into());
        }
        let (size, beyond) = self.axes()?;
        let numbers = numbers(beyond).ok_or_else(|| {
            format!(
                "its {} dimensions are not those of a displacement field, which has 5, its vectors along the last; \
                 write it with ITK or ANTs",
                self.dim[0]
            )
        })?;
        check::numbers(size, numbers)?;
        match self.intent {
            VECTORS => Ok((size, numbers, false)),
            RAS_DISPLACEMENTS => Ok((size, numbers, true)),
            other => Err(format!(
                "its intent code is {other}, not {VECTORS} as that of the displacement fields of ITK and ANTs; \
                 correct the header if its vectors are displacements in LPS mm"
            )),
        }
    }

    /// The number of voxels along each axis, and the sizes of the dimensions beyond the third.
    fn axes(&self) -> Result<([usize; 3], &[i64]), String> {
        let dimensions = self.dim[0];
        let Some(used) = usize::try_from(dimensions).ok().and_then(|n| self.dim[1..].get(..n)) else {
            return Err(format!(
                "its header claims {dimensions} dimensions, and NIfTI has 1 to 7; the header is damaged"
            ));
        };
        let size = check::size(std::array::from_fn(|axis| used.get(axis).copied().unwrap_or(1)))?;
        Ok((size, used.get(3..).unwrap_or_default()))
    }

    /// How the voxels are stored.
    pub fn coding(&self) -> Result<Coding, String> {
        let pixel = match self.datatype {
            BYTES => PixelType::U8,
            256 => PixelType::I8,
            512 => PixelType::U16,
            4 => PixelType::I16,
            768 => PixelType::U32,
            8 => PixelType::I32,
            1280 => PixelType::U64,
            1024 => PixelType::I64,
            16 => PixelType::F32,
            64 => PixelType::F64,
            // Each channel is a byte, and the scale does not apply to colours.
            RGB | RGBA => return Ok(Coding { pixel: PixelType::U8, big_endian: false, scale: None }),
            other => return Err(unsupported(other)),
        };
        // A slope that is 0 or not finite means that there is no scale.
        let there = self.slope != 0.0 && self.slope.is_finite();
        let intercept = if self.intercept.is_finite() { self.intercept } else { 0.0 };
        let scale = (there && (self.slope, intercept) != (1.0, 0.0)).then_some((self.slope, intercept));
        Ok(Coding { pixel, big_endian: self.big_endian, scale })
    }

    /// The offset of the first voxel in its file.
    pub fn voxel_offset(&self) -> Result<u64, String> {
        if !(0.0..1e15).contains(&self.offset) {
            return Err(format!("its header puts the voxels at byte {}; the header is damaged", self.offset));
        }
        // As in the NIfTI library, an offset inside the header means the end of the header.
        Ok(if self.pair { self.offset as u64 } else { (self.offset as u64).max(self.length as u64) })
    }
}

/// The numbers per voxel, which lie along the fifth dimension, from the dimensions beyond the third; `None` for
/// dimensions of another kind.
fn numbers(beyond: &[i64]) -> Option<usize> {
    let one = |dims: &[i64]| dims.iter().all(|&n| n == 1);
    match beyond {
        [1, numbers, rest @ ..] if one(rest) => usize::try_from(*numbers).ok(),
        _ => one(beyond).then_some(1),
    }
}

/// Whether the magic bytes are those of a pair of files.
fn is_pair(magic: &[u8], version: u8) -> Result<bool, String> {
    match magic {
        [b'n', b'+', v, 0] if *v == version => Ok(false),
        [b'n', b'i', v, 0] if *v == version => Ok(true),
        _ => Err("is not NIfTI: its magic is missing, as in Analyze 7.5 files, which do not say where left is; \
                  convert it to NIfTI, for example with dcm2niix or nibabel, and check its orientation"
            .into()),
    }
}

/// Millimetres per unit of length.
fn unit(xyzt_units: u8) -> f64 {
    match xyzt_units & 7 {
        1 => 1e3,
        3 => 1e-3,
        _ => 1.0,
    }
}

fn unsupported(datatype: i16) -> String {
    let name = match datatype {
        1 => "1-bit",
        32 | 1792 | 2048 => "complex",
        1536 => "128-bit float",
        _ => "of an unknown type",
    };
    format!("its voxels are {name} (datatype {datatype}); convert it to one number per voxel, such as int16 or float32")
}
