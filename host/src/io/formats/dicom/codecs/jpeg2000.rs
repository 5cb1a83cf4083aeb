//! JPEG 2000 (PS3.5 A.4.4).

use hayro_jpeg2000::{DecodeError, DecodeSettings, DecoderContext, Image};

use super::{DecodedFrame, same_samples, same_size};

/// The start of a codestream: its first marker and the marker of the size segment.
const START: [u8; 4] = [0xff, 0x4f, 0xff, 0x51];
/// The offset of the first component's precision in a codestream. The first bit there says whether the component is
/// signed.
const PRECISION: usize = 42;

/// Decompresses a frame.
pub fn unpack(packed: &[u8], size: [usize; 2], samples: usize) -> Result<DecodedFrame<'static>, String> {
    let damaged = |e: DecodeError| format!("its JPEG 2000 pixels are damaged ({e}); copy or download it again");
    // Some writers leave the boxes of a JP2 file around the codestream. The DICOM header has the same information.
    let packed = &packed[packed.windows(START.len()).position(|bytes| bytes == START).unwrap_or(0)..];
    let settings = DecodeSettings { resolve_palette_indices: false, strict: true, target_resolution: None };
    let image = Image::new(packed, &settings).map_err(damaged)?;
    same_size("JPEG 2000", [image.width(), image.height()].map(|n| n as usize), size)?;
    let mut context = DecoderContext::default();
    let decoded = image.decode(&mut context).map_err(damaged)?;
    let components = decoded.components();
    same_samples("JPEG 2000", components.len(), samples)?;
    let mut bytes = vec![0; size[0] * size[1] * samples * 4];
    for (n, component) in components.iter().enumerate() {
        let range = (1i64 << component.bit_depth()) - 1;
        // The decoder adds the same offset to signed numbers as to unsigned ones, so it is subtracted here.
        let shift = if is_signed(packed) { 1i64 << (component.bit_depth() - 1) } else { 0 };
        let numbers = bytes.as_chunks_mut::<4>().0.iter_mut().skip(n).step_by(samples);
        for (number, sample) in numbers.zip(component.samples()) {
            let value = (sample.round_ties_even() as i64).clamp(0, range) - shift;
            *number = (value as i32).to_le_bytes();
        }
    }
    Ok(DecodedFrame { rgb: true, ..DecodedFrame::of(bytes, 4) })
}

/// Whether the numbers of a codestream are signed.
fn is_signed(packed: &[u8]) -> bool {
    packed.get(PRECISION).is_some_and(|precision| precision & 0x80 != 0)
}
