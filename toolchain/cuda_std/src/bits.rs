//! Operations on the bytes and bits of words.

use crate::arch::bits as arch;

/// Selects four of eight bytes. The bytes of `a` are numbered 0 to 3 from the lowest, and those of `b` 4 to 7. Each
/// hexadecimal digit of `selector` names a byte of the result, the lowest digit the lowest byte. A digit plus 8 stands
/// for the highest bit of that byte, repeated eight times. PTX: `prmt.b32`. Any thread.
#[inline(always)]
pub fn permute(a: u32, b: u32, selector: u32) -> u32 {
    arch::permute(a, b, selector)
}

/// Returns `sum` plus the products of the four bytes of `a` with those of `b`, all unsigned. PTX: `dp4a.u32.u32`. Any
/// thread.
#[inline(always)]
pub fn dot4(a: u32, b: u32, sum: u32) -> u32 {
    arch::dot4(a, b, sum)
}

/// Returns the bits of `a` where those of `mask` are 1, and the bits of `b` where they are 0. PTX: `lop3.b32`. Any
/// thread.
#[inline(always)]
pub fn select(mask: u32, a: u32, b: u32) -> u32 {
    arch::select(mask, a, b)
}

/// Returns the value, but hides it from the optimiser, so that a sum with it is not rearranged. PTX: `mov.u32`. Any
/// thread.
#[inline(always)]
pub fn opaque(value: u32) -> u32 {
    arch::opaque(value)
}

#[cfg(test)]
mod tests {
    use super::{dot4, permute, select};

    #[test]
    fn bytes_are_unsigned() {
        assert_eq!(dot4(0xFF00_0201, 0xFF11_0403, 5), 255 * 255 + 2 * 4 + 3 + 5);
    }

    #[test]
    fn selects_bit_by_bit() {
        assert_eq!(select(0x00FF_00F0, 0x1234_5678, 0x9ABC_DEF0), 0x9A34_DE70);
    }

    #[test]
    fn picks_bytes_by_number() {
        let (a, b) = (0x3322_1100, 0x7766_5544);
        assert_eq!(permute(a, b, 0x3210), a);
        assert_eq!(permute(a, b, 0x7654), b);
        assert_eq!(permute(a, b, 0x7632), 0x7766_3322);
        assert_eq!(permute(a, b, 0x0000), 0);
        assert_eq!(permute(0x7F80, 0, 0x9980), 0x0000_FF80, "a byte; its sign; that of the one above, twice");
    }
}
