//! Numbers that a caller has on a device.

use crate::PixelType;
use cuda_std::global::DeviceSlice;

/// Numbers in the memory of a GPU, such as a tensor of torch, which stand for voxels (i, j, k).
#[derive(Debug, Clone, Copy)]
pub struct Tensor {
    /// None for the host's memory, in which the emulator works.
    pub(in crate::backend) gpu: Option<usize>,
    /// From the first byte to the last.
    pub(in crate::backend) numbers: DeviceSlice<u8>,
    /// Which of the numbers is that of voxel (0, 0, 0).
    pub(in crate::backend) first: i64,
    pub(in crate::backend) size: [usize; 3],
    pub(in crate::backend) strides: [i64; 3],
    pub(in crate::backend) pixel: PixelType,
}

impl Tensor {
    /// Numbers of type `pixel`, that of voxel (0, 0, 0) at `address`, and `strides` of them from one voxel to the next along i, j and k.
    /// `gpu` is the number of the GPU among those that the driver shows; none for the host's memory, which the emulator takes. None
    /// where kernels cannot read them: without voxels, with 2^31 or more, and where numbers are not aligned.
    ///
    /// # Safety
    /// All of the numbers are there, and nothing writes them, for as long as the tensor is used.
    pub unsafe fn new(
        address: u64,
        gpu: Option<usize>,
        size: [usize; 3],
        strides: [i64; 3],
        pixel: PixelType,
    ) -> Option<Self> {
        let voxels = size.iter().try_fold(1_usize, |all, &n| all.checked_mul(n))?;
        let (mut before, mut after) = (0_i64, 0_i64);
        for (&n, stride) in size.iter().zip(strides) {
            let last = i64::try_from(n).ok()?.checked_sub(1)?.checked_mul(stride)?;
            let side = if last < 0 { &mut before } else { &mut after };
            *side = side.checked_add(last)?;
        }
        let bytes = pixel.bytes() as i64;
        let start = address.checked_add_signed(before.checked_mul(bytes)?)?;
        let len = after.checked_sub(before)?.checked_add(1)?.checked_mul(bytes)?;
        if voxels == 0 || voxels >= 1 << 31 || !address.is_multiple_of(bytes as u64) {
            return None;
        }
        // SAFETY: the caller says that they are there.
        let numbers = unsafe { DeviceSlice::new(start as *const u8, len as u64) };
        Some(Self { gpu, numbers, first: -before, size, strides, pixel })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nothing reads it.
    fn tensor(address: u64, size: [usize; 3], strides: [i64; 3]) -> Option<Tensor> {
        // SAFETY: its numbers are not used.
        unsafe { Tensor::new(address, None, size, strides, PixelType::I16) }
    }

    #[test]
    fn memory_is_that_from_the_first_number_to_the_last() {
        let turned = tensor(4096, [2, 3, 4], [-12, 4, -1]).unwrap();
        assert_eq!((turned.first, turned.numbers.len()), (15, 48));
        assert_eq!(tensor(4096, [5, 1, 1], [0; 3]).unwrap().numbers.len(), 2);
    }

    #[test]
    fn what_kernels_cannot_read_is_none() {
        assert!(tensor(4096, [2, 0, 4], [1; 3]).is_none());
        assert!(tensor(4097, [2, 2, 4], [1; 3]).is_none());
        assert!(tensor(4096, [1 << 11, 1 << 10, 1 << 10], [0; 3]).is_none());
        assert!(tensor(4096, [usize::MAX; 3], [1; 3]).is_none());
        assert!(tensor(4096, [3, 2, 2], [i64::MAX, 1, 1]).is_none());
        assert!(tensor(16, [100, 2, 2], [-1, 1, 1]).is_none());
    }
}
