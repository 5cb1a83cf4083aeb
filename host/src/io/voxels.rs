//! Voxels as bytes: every type that files hold, in either byte order, to and from f32.

use super::check;
use super::source::Source;
use crate::PixelType;

/// Voxels converted at a time, so that bytes and floats both stay in cache.
const PART: usize = 1 << 16;

/// How a file stores voxels.
pub struct Coding {
    /// The type of each.
    pub pixel: PixelType,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
    /// Slope and intercept that turn stored values into intensities.
    pub scale: Option<(f64, f64)>,
}

/// What the numbers of a file stand for.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Voxels along each axis.
    pub size: [usize; 3],
    /// Numbers a voxel.
    pub numbers: usize,
    /// Where there are several.
    pub order: Order,
}

/// In which order a file has the numbers of voxels that have several.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    /// All of a voxel, then all of the next.
    Voxels,
    /// The first of every voxel, then the second of every voxel.
    Planes,
}

impl Shape {
    /// One number per voxel.
    pub fn scalar(size: [usize; 3]) -> Self {
        Self { size, numbers: 1, order: Order::Voxels }
    }

    /// Bytes that all numbers take, at most as many as there can be.
    pub fn bytes(&self, coding: &Coding) -> u64 {
        self.count().saturating_mul(coding.pixel.bytes() as u128).try_into().unwrap_or(u64::MAX)
    }

    fn count(&self) -> u128 {
        self.size.iter().fold(self.numbers as u128, |count, &n| count.saturating_mul(n as u128))
    }

    /// The voxel whose number is the `n`th.
    fn voxel(&self, n: usize) -> [usize; 3] {
        let [width, height, depth] = self.size;
        let voxel = match self.order {
            Order::Voxels => n / self.numbers,
            Order::Planes => n % (width * height * depth),
        };
        [voxel % width, voxel / width % height, voxel / width / height]
    }
}

/// Reads the numbers of a volume to the end of `source`: of an image finite or NaN, of vectors all finite. Nothing is allocated for a volume that the file cannot hold.
pub fn read(mut source: Source, shape: &Shape, coding: &Coding) -> crate::Result<Vec<f32>> {
    let size = shape.size;
    let width = coding.pixel.bytes();
    let needed = shape.count().saturating_mul(width as u128);
    if needed > u128::from(source.remaining()) {
        return Err(source.error(format!(
            "its header claims {} voxels ({needed} bytes), more than the file can hold ({} bytes); \
             it is truncated or damaged: copy or download it again",
            check::by(size),
            source.remaining()
        )));
    }
    let count = (needed / width as u128) as usize;
    let mut voxels = Vec::new();
    if voxels.try_reserve_exact(count).is_err() {
        return Err(source.error(format!("its {count} voxels do not fit in memory; resample it to fewer")));
    }
    let mut bytes = vec![0; PART.min(count) * width];
    let mut bad = NotFinite::default();
    while voxels.len() < count {
        let start = voxels.len();
        let part = &mut bytes[..PART.min(count - start) * width];
        source.read_exact(part)?;
        coding.decode(part, &mut voxels);
        bad.look(start, &voxels[start..], shape);
    }
    bad.check(shape).map_err(|message| source.error(message))?;
    source.finish()?;
    Ok(voxels)
}

/// Reads the numbers of a volume, as [`read`] does, from the text that is left of `source`.
pub fn read_text(mut source: Source, shape: &Shape) -> crate::Result<Vec<f32>> {
    let bytes = source.bytes()?;
    let text = String::from_utf8_lossy(&bytes);
    let numbers: Result<Vec<f32>, _> = text.split_ascii_whitespace().map(str::parse).collect();
    let voxels =
        numbers.map_err(|_| source.error("holds text that is no number among its voxels; correct the file"))?;
    if shape.count() != voxels.len() as u128 {
        return Err(source.error(format!(
            "its header claims {} voxels but {} follow; it is truncated or damaged: copy or download it again",
            check::by(shape.size),
            voxels.len()
        )));
    }
    finite(&voxels, shape).map_err(|message| source.error(message))?;
    Ok(voxels)
}

/// Whether all numbers of a volume are finite, or NaN where they are intensities: no data.
pub fn finite(numbers: &[f32], shape: &Shape) -> Result<(), String> {
    let mut bad = NotFinite::default();
    bad.look(0, numbers, shape);
    bad.check(shape)
}

impl Coding {
    /// The type that holds the intensities: scaled integers are not whole.
    pub fn volume_pixel(&self) -> PixelType {
        match (self.scale, self.pixel) {
            (None, pixel) | (Some(_), pixel @ PixelType::F64) => pixel,
            (Some(_), _) => PixelType::F32,
        }
    }

    /// Appends the voxels in `bytes` to `voxels`.
    fn decode(&self, bytes: &[u8], voxels: &mut Vec<f32>) {
        macro_rules! decode {
            ($type:ty) => {{
                let stored = bytes.as_chunks().0.iter();
                let value = |&b| if self.big_endian { <$type>::from_be_bytes(b) } else { <$type>::from_le_bytes(b) };
                match self.scale {
                    None => voxels.extend(stored.map(|b| value(b) as f32)),
                    Some((slope, intercept)) => {
                        voxels.extend(stored.map(|b| (value(b) as f64 * slope + intercept) as f32));
                    }
                }
            }};
        }
        match self.pixel {
            PixelType::U8 => decode!(u8),
            PixelType::I8 => decode!(i8),
            PixelType::U16 => decode!(u16),
            PixelType::I16 => decode!(i16),
            PixelType::U32 => decode!(u32),
            PixelType::I32 => decode!(i32),
            PixelType::U64 => decode!(u64),
            PixelType::I64 => decode!(i64),
            PixelType::F32 => decode!(f32),
            PixelType::F64 => decode!(f64),
        }
    }
}

/// `voxels` as little-endian `pixel`, integers rounded to the nearest (ties to even) and clamped.
pub fn encode(voxels: &[f32], pixel: PixelType) -> Vec<u8> {
    let mut bytes = vec![0; voxels.len() * pixel.bytes()];
    macro_rules! encode {
        ($type:ty, $convert:expr) => {
            for (stored, &voxel) in bytes.as_chunks_mut().0.iter_mut().zip(voxels) {
                *stored = <$type>::to_le_bytes($convert(voxel));
            }
        };
        // A cast from float to integer clamps.
        ($type:ty) => {
            encode!($type, |voxel: f32| voxel.round_ties_even() as $type)
        };
    }
    match pixel {
        PixelType::U8 => encode!(u8),
        PixelType::I8 => encode!(i8),
        PixelType::U16 => encode!(u16),
        PixelType::I16 => encode!(i16),
        PixelType::U32 => encode!(u32),
        PixelType::I32 => encode!(i32),
        PixelType::U64 => encode!(u64),
        PixelType::I64 => encode!(i64),
        PixelType::F32 => encode!(f32, |voxel| voxel),
        PixelType::F64 => encode!(f64, f64::from),
    }
    bytes
}

/// How many voxels are neither finite nor missing, and which is the first.
#[derive(Default)]
struct NotFinite {
    count: usize,
    first: usize,
}

impl NotFinite {
    fn look(&mut self, start: usize, voxels: &[f32], shape: &Shape) {
        // An intensity that is NaN is no data; a vector must be one.
        let bad = |v: &f32| if shape.numbers == 1 { v.is_infinite() } else { !v.is_finite() };
        let count = voxels.iter().filter(|v| bad(v)).count();
        if count > 0 && self.count == 0 {
            self.first = start + voxels.iter().position(|v| bad(v)).unwrap_or(0);
        }
        self.count += count;
    }

    fn check(&self, shape: &Shape) -> Result<(), String> {
        if self.count == 0 {
            return Ok(());
        }
        let [i, j, k] = shape.voxel(self.first);
        let what = if shape.numbers == 1 { "voxels are" } else { "numbers are NaN," };
        let instead = if shape.numbers == 1 { "numbers, or by NaN for no data" } else { "numbers" };
        Err(format!(
            "{} of its {what} infinite or too large for f32, the first at index ({i}, {j}, {k}); \
             replace them by {instead}",
            self.count
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both_ways(voxels: &[f32], pixel: PixelType) -> Vec<f32> {
        let mut back = Vec::new();
        Coding { pixel, big_endian: false, scale: None }.decode(&encode(voxels, pixel), &mut back);
        back
    }

    #[test]
    fn integers_are_rounded_to_even_and_clamped() {
        let voxels = [0.5, 1.5, 2.5, -0.5, -3.0, 254.6, 300.0, 1e30, -1e30];
        assert_eq!(both_ways(&voxels, PixelType::U8), [0.0, 2.0, 2.0, 0.0, 0.0, 255.0, 255.0, 255.0, 0.0]);
        assert_eq!(both_ways(&voxels, PixelType::I8)[3..], [0.0, -3.0, 127.0, 127.0, 127.0, -128.0]);
        assert_eq!(both_ways(&[1e30, -1e30], PixelType::I64), [i64::MAX as f32, i64::MIN as f32]);
    }

    #[test]
    fn big_endian_and_scale_are_applied() {
        let mut voxels = Vec::new();
        let coding = Coding { pixel: PixelType::I16, big_endian: true, scale: Some((0.5, 10.0)) };
        coding.decode(&[0x01, 0x02, 0xff, 0xfe], &mut voxels);
        assert_eq!(voxels, [258.0 / 2.0 + 10.0, 9.0]);
    }

    #[test]
    fn the_first_bad_voxel_is_named() {
        let mut bad = NotFinite::default();
        let shape = Shape::scalar([2, 3, 4]);
        bad.look(0, &[0.0, f32::NAN, 0.0, 0.0, 0.0, 0.0, 0.0], &shape);
        bad.look(7, &[0.0, f32::NEG_INFINITY, f32::INFINITY, f32::NAN], &shape);
        let message = bad.check(&shape).unwrap_err();
        assert!(message.starts_with("2 of") && message.contains("(0, 1, 1)"), "{message}");
        let vectors = |order| {
            let (mut bad, shape) = (NotFinite::default(), Shape { size: [2, 2, 2], numbers: 3, order });
            bad.look(7, &[0.0, f32::NAN, f32::INFINITY], &shape);
            bad.check(&shape).unwrap_err()
        };
        assert!(vectors(Order::Voxels).contains("(0, 1, 0)") && vectors(Order::Planes).contains("(0, 0, 0)"));
    }
}
