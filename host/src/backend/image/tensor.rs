//! Voxels that a caller already has in a device's memory.

use crate::PixelType;
use cuda_std::global::DeviceSlice;

/// Numbers in the memory of a GPU, such as a PyTorch tensor, that are the intensities of voxels (i, j, k).
#[derive(Debug, Clone, Copy)]
pub struct Tensor {
    /// The number of the GPU, or `None` for host memory, which the emulator uses.
    pub(in crate::backend) gpu: Option<usize>,
    /// All memory from the first byte to the last.
    pub(in crate::backend) numbers: DeviceSlice<u8>,
    /// The index of voxel (0, 0, 0) among the numbers.
    pub(in crate::backend) first: i64,
    pub(in crate::backend) size: [usize; 3],
    pub(in crate::backend) strides: [i64; 3],
    pub(in crate::backend) pixel: PixelType,
}

impl Tensor {
    /// Describes numbers of type `pixel`. Voxel (0, 0, 0) is at `address`, and `strides` are the distances between
    /// neighbouring voxels along i, j and k, in numbers. `gpu` is the number of the GPU among those that the driver
    /// shows, or `None` for host memory, which the emulator takes. Returns `None` if kernels cannot read them: if there
    /// are no voxels, 2^31 or more, or if the address is not aligned.
    ///
    /// # Safety
    /// All numbers must be readable, and nothing may write them, for as long as the tensor is used.
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
        // SAFETY: the caller guarantees that they are there.
        let numbers = unsafe { DeviceSlice::new(start as *const u8, len as u64) };
        Some(Self { gpu, numbers, first: -before, size, strides, pixel })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tensor whose numbers are never read.
    fn tensor(address: u64, size: [usize; 3], strides: [i64; 3]) -> Option<Tensor> {
        // SAFETY: its numbers are never read.
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
