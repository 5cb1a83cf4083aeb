//! Operations on the bytes and bits of words.

#[inline(always)]
pub fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(a) | u64::from(b) << 32;
    let byte = |digit: u32| {
        let named = selector >> (4 * digit);
        let byte = bytes >> (8 * (named & 7)) & 0xFF;
        if named & 8 == 0 { byte } else { (byte >> 7) * 0xFF }
    };
    (byte(0) | byte(1) << 8 | byte(2) << 16 | byte(3) << 24) as u32
}

#[inline(always)]
pub fn dot4(a: u32, b: u32, sum: u32) -> u32 {
    let product = |shift: u32| (a >> shift & 0xFF) * (b >> shift & 0xFF);
    sum.wrapping_add(product(0) + product(8) + product(16) + product(24))
}

#[inline(always)]
pub fn opaque(value: u32) -> u32 {
    value
}

#[inline(always)]
pub fn select(mask: u32, a: u32, b: u32) -> u32 {
    a & mask | b & !mask
}
