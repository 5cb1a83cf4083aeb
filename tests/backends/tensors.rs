//! Tensors that a caller has on a device: emulator and GPU convert them to the same intensities as the host, and use
//! the caller's memory without a copy through the host.

use super::volumes;
use crate::support::{PIXELS, gpu, gpu_is_absent};
use cust::memory::DeviceBuffer;
use libtest_mimic::{Failed, Trial};
use mireg::backend::emulated::Emulated;
use mireg::backend::{Backend, Tensor, cpu::Cpu};
use mireg::image::pyramid;
use mireg::{PixelType, Volume};
use std::any::Any;

/// The size, the strides, and the index of the first voxel's number: i fastest, k fastest, reversed, with gaps,
/// permuted, one row repeated.
const LAYOUTS: [([usize; 3], [i64; 3], usize); 6] = [
    ([37, 11, 9], [1, 37, 407], 0),
    ([37, 11, 9], [99, 9, 1], 0),
    ([37, 11, 9], [-1, 37, -407], 3292),
    ([37, 11, 9], [3, 120, 1400], 5),
    ([37, 11, 9], [11, 1, 407], 0),
    ([37, 11, 1], [1, 0, 5], 0),
];

/// Numbers in the memory of a device: where they are, on which GPU, and what holds them.
type Placed = (u64, Option<usize>, Box<dyn Any>);

pub fn tests() -> Vec<Trial> {
    let absent = gpu_is_absent();
    vec![
        Trial::test("backends::emulator_gathers_as_the_host", || gathered_agree(&Emulated::default(), on_host)),
        Trial::test("backends::gpu_gathers_as_the_host", || gathered_agree(&*gpu()?, on_gpu)).with_ignored_flag(absent),
        Trial::test("backends::emulator_uses_what_is_lent", || lent_is_used(&Emulated::default(), on_host)),
        Trial::test("backends::gpu_uses_what_is_lent", || lent_is_used(&*gpu()?, on_gpu)).with_ignored_flag(absent),
        Trial::test("backends::tensors_of_others_are_left_to_the_host", left_to_the_host),
    ]
}

fn on_host(numbers: &[u64]) -> Result<Placed, Failed> {
    let numbers = numbers.to_vec();
    Ok((numbers.as_ptr() as u64, None, Box::new(numbers)))
}

fn on_gpu(numbers: &[u64]) -> Result<Placed, Failed> {
    let numbers = DeviceBuffer::from_slice(numbers)?;
    Ok((numbers.as_device_ptr().as_raw(), Some(0), Box::new(numbers)))
}

/// Returns bits that are small and large numbers in every type and, as floats, also infinities and NaNs with several
/// payloads.
fn bits(count: usize) -> Vec<u64> {
    let bits = |n: usize| {
        let any = (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (n as u64) << 7;
        match n % 8 {
            0 => (any as f64 / 1e12).to_bits(),
            1 => f64::NAN.to_bits() | any >> 13 | any << 63,
            2 => u64::from((any as f32).to_bits()) << 32 | 0xFFC0_0000 | any & 0xFFFF,
            3 => f64::NEG_INFINITY.to_bits(),
            4 => (f64::from(any as u16) - 3e4).to_bits(),
            _ => any,
        }
    };
    (0..count).map(bits).collect()
}

/// Returns the intensity to which the host converts a number.
fn intensity(bytes: &[u8], pixel: PixelType, number: usize) -> f32 {
    let bytes = &bytes[number * pixel.bytes()..][..pixel.bytes()];
    macro_rules! of {
        ($type:ty) => {
            <$type>::from_ne_bytes(bytes.try_into().expect("as many")) as f32
        };
    }
    match pixel {
        PixelType::U8 => of!(u8),
        PixelType::I8 => of!(i8),
        PixelType::U16 => of!(u16),
        PixelType::I16 => of!(i16),
        PixelType::U32 => of!(u32),
        PixelType::I32 => of!(i32),
        PixelType::U64 => of!(u64),
        PixelType::I64 => of!(i64),
        PixelType::F32 => of!(f32),
        PixelType::F64 => of!(f64),
    }
}

fn gathered_agree(backend: &dyn Backend, place: impl Fn(&[u64]) -> Result<Placed, Failed>) -> Result<(), Failed> {
    let numbers = bits(16_000);
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_ne_bytes()).collect();
    let (address, gpu, _memory) = place(&numbers)?;
    for pixel in PIXELS {
        for (size, strides, first) in LAYOUTS {
            let start = address + (first * pixel.bytes()) as u64;
            // SAFETY: no layout reaches beyond the numbers, which stay.
            let tensor = unsafe { Tensor::new(start, gpu, size, strides, pixel) }.ok_or("no tensor")?;
            let (found, _there) = backend.gathered(&tensor)?.ok_or("the device has it not")?;
            let number = |n: usize| {
                let place = [n % size[0], n / size[0] % size[1], n / size[0] / size[1]];
                let offset: i64 = place.iter().zip(strides).map(|(&at, stride)| at as i64 * stride).sum();
                intensity(&bytes, pixel, (first as i64 + offset) as usize).to_bits()
            };
            let expected = (0..size.iter().product()).map(number);
            if !found.iter().map(|found| found.to_bits()).eq(expected) {
                return Err(format!("{pixel:?} of strides {strides:?} differ").into());
            }
        }
    }
    Ok(())
}

/// Lends a tensor whose voxels differ from those of the host, to check which of them are used. A real caller must not
/// do this.
fn lent_is_used(backend: &dyn Backend, place: impl Fn(&[u64]) -> Result<Placed, Failed>) -> Result<(), Failed> {
    let [volume, other] = [3, 4].map(|seed| volumes([23, 17, 11], seed).swap_remove(0));
    let doubles: Vec<u64> = other.voxels.iter().map(|&voxel| f64::from(voxel).to_bits()).collect();
    let (address, gpu, _memory) = place(&doubles)?;
    // SAFETY: i fastest, as the volume has them, which stay.
    let tensor = unsafe { Tensor::new(address, gpu, [23, 17, 11], [1, 23, 23 * 17], PixelType::F64) };
    let (voxels, there) = backend.gathered(&tensor.ok_or("no tensor")?)?.ok_or("the device has it not")?;
    assert_eq!(voxels, other.voxels);
    let filters = pyramid::smoothing([23, 17, 11], [0.8, 0.0, 2.3]);
    let made = |volume: &Volume| Ok::<_, Failed>(backend.keeping(&[volume]).filtered(volume, &filters)?.voxels);
    let expected = [&volume, &other].map(|volume| Cpu.filtered(volume, &filters).map(|made| made.voxels));
    let [of_host, of_device] = expected;
    let (of_host, of_device) = (of_host?, of_device?);
    there.lending(&volume, || {
        assert_eq!(made(&volume)?, of_device);
        assert_eq!(made(&volume.clone())?, of_host);
        Ok::<_, Failed>(())
    })?;
    assert_eq!(made(&volume)?, of_host);
    Ok(())
}

fn left_to_the_host() -> Result<(), Failed> {
    // SAFETY: nobody reads its numbers.
    let tensor = |gpu| unsafe { Tensor::new(4096, gpu, [2, 2, 2], [1, 2, 4], PixelType::U8) }.ok_or("no tensor");
    assert!(Cpu.gathered(&tensor(None)?)?.is_none());
    assert!(Emulated::default().gathered(&tensor(Some(0))?)?.is_none());
    Ok(())
}
