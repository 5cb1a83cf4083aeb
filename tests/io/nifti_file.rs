//! Makes NIfTI files of any kind, byte by byte according to the standard.

/// A header and the voxels after it.
#[derive(Debug, Clone)]
pub struct NiftiFile {
    pub version: u8,
    pub big_endian: bool,
    pub pair: bool,
    pub dim: Vec<i64>,
    pub datatype: i16,
    pub qfac: f32,
    pub pixdim: [f32; 3],
    pub units: u8,
    pub slope: f32,
    pub intercept: f32,
    pub qform_code: i16,
    pub sform_code: i16,
    pub quaternion: [f32; 3],
    pub qoffset: [f32; 3],
    pub sform: [[f32; 4]; 3],
    pub voxels: Vec<u8>,
}

impl Default for NiftiFile {
    /// 4x5x6 voxels of u8 that count up, 1x2x3 mm, neither qform nor sform.
    fn default() -> Self {
        Self {
            version: 1,
            big_endian: false,
            pair: false,
            dim: vec![4, 5, 6],
            datatype: 2,
            qfac: 1.0,
            pixdim: [1.0, 2.0, 3.0],
            units: 2,
            slope: 1.0,
            intercept: 0.0,
            qform_code: 0,
            sform_code: 0,
            quaternion: [0.0; 3],
            qoffset: [5.0, 6.0, 7.0],
            sform: [[1.0, 0.0, 0.0, 50.0], [0.0, 2.0, 0.0, 60.0], [0.0, 0.0, 3.0, 70.0]],
            voxels: (0..120).collect(),
        }
    }
}

impl NiftiFile {
    /// The bytes of the one file.
    pub fn bytes(&self) -> Vec<u8> {
        [self.header(), vec![0; 4], self.voxels.clone()].concat()
    }

    /// The bytes of the header alone.
    pub fn header(&self) -> Vec<u8> {
        let mut dim = [1; 8];
        dim[0] = self.dim.len() as i64;
        dim[1..=self.dim.len()].copy_from_slice(&self.dim);
        self.with_dim(dim)
    }

    /// The bytes of a header with this field `dim`.
    pub fn with_dim(&self, dim: [i64; 8]) -> Vec<u8> {
        let mut pixdim = [1.0; 8];
        pixdim[0] = self.qfac;
        pixdim[1..4].copy_from_slice(&self.pixdim);
        if self.version == 1 { self.version_1(dim, pixdim) } else { self.version_2(dim, pixdim) }
    }

    fn magic(&self) -> [u8; 4] {
        [b'n', if self.pair { b'i' } else { b'+' }, b'0' + self.version, 0]
    }

    fn version_1(&self, dim: [i64; 8], pixdim: [f32; 8]) -> Vec<u8> {
        let mut h = Bytes { bytes: vec![0; 348], big_endian: self.big_endian };
        h.put(0, &348i32.to_le_bytes());
        dim.iter().enumerate().for_each(|(n, &d)| h.put(40 + 2 * n, &(d as i16).to_le_bytes()));
        h.put(70, &self.datatype.to_le_bytes());
        pixdim.iter().enumerate().for_each(|(n, p)| h.put(76 + 4 * n, &p.to_le_bytes()));
        h.put(108, &if self.pair { 0.0f32 } else { 352.0 }.to_le_bytes());
        h.put(112, &self.slope.to_le_bytes());
        h.put(116, &self.intercept.to_le_bytes());
        h.put(123, &[self.units]);
        h.put(252, &self.qform_code.to_le_bytes());
        h.put(254, &self.sform_code.to_le_bytes());
        self.form().enumerate().for_each(|(n, x)| h.put(256 + 4 * n, &x.to_le_bytes()));
        h.bytes[344..348].copy_from_slice(&self.magic());
        h.bytes
    }

    fn version_2(&self, dim: [i64; 8], pixdim: [f32; 8]) -> Vec<u8> {
        let mut h = Bytes { bytes: vec![0; 540], big_endian: self.big_endian };
        h.put(0, &540i32.to_le_bytes());
        h.bytes[4..8].copy_from_slice(&self.magic());
        h.bytes[8..12].copy_from_slice(b"\r\n\x1a\n");
        h.put(12, &self.datatype.to_le_bytes());
        dim.iter().enumerate().for_each(|(n, d)| h.put(16 + 8 * n, &d.to_le_bytes()));
        pixdim.iter().enumerate().for_each(|(n, &p)| h.put(104 + 8 * n, &f64::from(p).to_le_bytes()));
        h.put(168, &if self.pair { 0i64 } else { 544 }.to_le_bytes());
        h.put(176, &f64::from(self.slope).to_le_bytes());
        h.put(184, &f64::from(self.intercept).to_le_bytes());
        h.put(344, &i32::from(self.qform_code).to_le_bytes());
        h.put(348, &i32::from(self.sform_code).to_le_bytes());
        self.form().enumerate().for_each(|(n, x)| h.put(352 + 8 * n, &f64::from(x).to_le_bytes()));
        h.put(500, &i32::from(self.units).to_le_bytes());
        h.bytes
    }

    /// The numbers from the quaternion to the sform, which follow each other in both versions.
    fn form(&self) -> impl Iterator<Item = f32> {
        [&self.quaternion[..], &self.qoffset, self.sform.as_flattened()].concat().into_iter()
    }
}

/// A header that is being filled.
struct Bytes {
    bytes: Vec<u8>,
    big_endian: bool,
}

impl Bytes {
    fn put(&mut self, at: usize, little_endian: &[u8]) {
        let field = &mut self.bytes[at..at + little_endian.len()];
        field.copy_from_slice(little_endian);
        if self.big_endian {
            field.reverse();
        }
    }
}
