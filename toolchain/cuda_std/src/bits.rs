//! Bytes of words.

use crate::arch::bits as arch;

/// Four bytes out of eight: those of `a` are numbered 0 to 3 from the lowest, those of `b` 4 to 7, and the lowest hexadecimal digit
/// of `selector` names the lowest byte of the result. Each digit is at most 7.
/// PTX: `prmt.b32`. Any thread.
#[inline(always)]
pub fn permute(a: u32, b: u32, selector: u32) -> u32 {
    arch::permute(a, b, selector)
}

#[cfg(test)]
mod tests {
    use super::permute;

    #[test]
    fn picks_bytes_by_number() {
        let (a, b) = (0x3322_1100, 0x7766_5544);
        assert_eq!(permute(a, b, 0x3210), a);
        assert_eq!(permute(a, b, 0x7654), b);
        assert_eq!(permute(a, b, 0x7632), 0x7766_3322);
        assert_eq!(permute(a, b, 0x0000), 0);
    }
}
