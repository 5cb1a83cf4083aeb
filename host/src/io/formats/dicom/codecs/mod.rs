//! Compressed frames (PS3.5 8.2, A.4).

pub mod jpeg;
pub mod jpeg2000;
pub mod rle;

use std::borrow::Cow;

/// What is said of frames of a kind that is not read.
pub const DECOMPRESS: &str = "decompress it, for example with gdcmconv --raw, or convert it to NIfTI with dcm2niix";

/// The numbers of a frame, unpacked.
pub struct Frame<'a> {
    pub bytes: Cow<'a, [u8]>,
    /// Bytes of a number.
    pub width: usize,
    pub big_endian: bool,
    pub order: Order,
    /// Whether colours became red, green and blue.
    pub rgb: bool,
}

impl<'a> Frame<'a> {
    /// Numbers of `width` bytes, the least significant first.
    pub fn of(bytes: impl Into<Cow<'a, [u8]>>, width: usize) -> Self {
        Self { bytes: bytes.into(), width, big_endian: false, order: Order::Pixels, rgb: false }
    }
}

/// In which order the samples of coloured pixels are.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    /// All of a pixel, then all of the next.
    Pixels,
    /// The first of every pixel, then the second of every pixel.
    Planes,
    /// The first of two pixels, then the second and third that both share.
    Pairs,
}

impl Order {
    /// Which numbers of a frame of `count` pixels are the three of pixel `n`.
    pub fn samples(self, n: usize, count: usize) -> [usize; 3] {
        match self {
            Self::Pixels => [3 * n, 3 * n + 1, 3 * n + 2],
            Self::Planes => [n, count + n, 2 * count + n],
            Self::Pairs => [n / 2 * 4 + n % 2, n / 2 * 4 + 2, n / 2 * 4 + 3],
        }
    }
}

/// Whether a frame is as large as the header of its file says.
fn same_size(kind: &str, frame: [usize; 2], header: [usize; 2]) -> Result<(), String> {
    match frame == header {
        true => Ok(()),
        false => Err(format!(
            "its {kind} is of {} x {} pixels but its header says {} x {}; copy or download it again",
            frame[0], frame[1], header[0], header[1]
        )),
    }
}

/// Whether a frame has as many samples per pixel as the header of its file says.
fn same_samples(kind: &str, frame: usize, header: usize) -> Result<(), String> {
    match frame == header {
        true => Ok(()),
        false => Err(format!(
            "its {kind} has {frame} samples per pixel but its header says {header}; save it again as DICOM"
        )),
    }
}
