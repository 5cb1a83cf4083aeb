//! JPEG: baseline, extended and lossless (PS3.5 A.4.1).

use jpeg_decoder::{ColorTransform, Decoder, Error, PixelFormat, UnsupportedFeature};

use super::{DECOMPRESS, DecodedFrame, same_samples, same_size};
use crate::io::source::MOST_DEFLATED;

/// Decompresses a frame. `rgb` says whether its DICOM file declares the colours as red, green and blue.
pub fn unpack(packed: &[u8], size: [usize; 2], samples: usize, rgb: bool) -> Result<DecodedFrame<'static>, String> {
    let mut decoder = Decoder::new(packed);
    decoder.set_max_decoding_buffer_size(packed.len().saturating_mul(MOST_DEFLATED as usize));
    decoder.read_info().map_err(refused)?;
    let info = decoder.info().ok_or("its JPEG pixels have no header; copy or download it again")?;
    let (width, there) = match info.pixel_format {
        PixelFormat::L8 => (1, 1),
        PixelFormat::L16 => (2, 1),
        PixelFormat::RGB24 => (1, 3),
        PixelFormat::CMYK32 => (1, 4),
    };
    same_size("JPEG", [info.width, info.height].map(usize::from), size)?;
    same_samples("JPEG", there, samples)?;
    if samples == 3 {
        // What the JPEG stream declares takes precedence.
        let rgb = adobe(packed).map_or(rgb, |transform| transform == 0);
        decoder.set_color_transform(if rgb { ColorTransform::RGB } else { ColorTransform::YCbCr });
    }
    let bytes = decoder.decode().map_err(refused)?;
    Ok(DecodedFrame { big_endian: cfg!(target_endian = "big"), rgb: true, ..DecodedFrame::of(bytes, width) })
}

/// The colour transform, which is the last byte of Adobe's segment; 0 for none.
fn adobe(packed: &[u8]) -> Option<u8> {
    let start = packed.windows(9).position(|bytes| bytes.starts_with(&[0xff, 0xee]) && bytes.ends_with(b"Adobe"))?;
    let length = u16::from_be_bytes([packed[start + 2], packed[start + 3]]);
    packed.get(start + 1 + usize::from(length)).copied()
}

fn refused(error: Error) -> String {
    match error {
        Error::Unsupported(UnsupportedFeature::SamplePrecision(bits)) => {
            format!("its pixels are JPEG of {bits} bits with losses, which mireg does not read; {DECOMPRESS}")
        }
        Error::Unsupported(feature) => {
            format!("its pixels are JPEG of a kind that mireg does not read ({feature:?}); {DECOMPRESS}")
        }
        error => format!("its JPEG pixels are damaged ({error}); copy or download it again"),
    }
}
