//! Reads numbers at given offsets of a binary header.

/// The bytes of a header, in the byte order of its file.
pub struct HeaderBytes<'a> {
    pub bytes: &'a [u8],
    pub big_endian: bool,
}

impl HeaderBytes<'_> {
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut field: [u8; N] = self.bytes[at..at + N].try_into().expect("the slice has N bytes");
        if self.big_endian {
            field.reverse();
        }
        field
    }

    pub fn i16(&self, at: usize) -> i16 {
        i16::from_le_bytes(self.array(at))
    }

    pub fn i32(&self, at: usize) -> i32 {
        i32::from_le_bytes(self.array(at))
    }

    pub fn i64(&self, at: usize) -> i64 {
        i64::from_le_bytes(self.array(at))
    }

    pub fn f32(&self, at: usize) -> f32 {
        f32::from_le_bytes(self.array(at))
    }

    pub fn f64(&self, at: usize) -> f64 {
        f64::from_le_bytes(self.array(at))
    }
}
