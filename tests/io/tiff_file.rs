//! Makes little-endian TIFF files byte by byte, with features that the available writers lack: pages, tiles, planes,
//! and colours of JPEG.

/// The tag of channels in addition to colours, which readers accept as SHORT only.
const EXTRA_SAMPLES: u16 = 338;

/// A page: the values of its directory entries.
#[derive(Clone)]
pub struct Page {
    pub size: [usize; 2],
    /// The size of a strip, which is as wide as the page, or of a tile.
    pub unit: [usize; 2],
    pub channels: usize,
    /// Bits of a number: 8 or 16.
    pub bits: usize,
    /// 1 for grey, 2 for red, green and blue, 5 for inks, 6 for luma and chroma.
    pub photometric: u32,
    /// 1 for none, 7 for JPEG, 8 for zlib.
    pub compression: u32,
    /// Whether each channel has its own strips or tiles.
    pub planar: bool,
    /// NewSubfileType.
    pub kind: u32,
}

impl Default for Page {
    /// Grey, 12 x 10 pixels of 8 bits in one strip.
    fn default() -> Self {
        Self {
            size: [12, 10],
            unit: [12, 10],
            channels: 1,
            bits: 8,
            photometric: 1,
            compression: 1,
            planar: false,
            kind: 0,
        }
    }
}

impl Page {
    /// Returns the pixels in strips or tiles. `number` gives the number at x, y and in a channel. Pixels beyond the
    /// picture are 7.
    pub fn units(&self, number: impl Fn([usize; 3]) -> u16) -> Vec<Vec<u8>> {
        let [width, height] = self.size;
        let [across, down] = [0, 1].map(|axis| self.size[axis].div_ceil(self.unit[axis]));
        let of_planes: Vec<Vec<usize>> = if self.planar {
            (0..self.channels).map(|n| vec![n]).collect()
        } else {
            vec![(0..self.channels).collect()]
        };
        let mut units = Vec::new();
        for channels in of_planes {
            for n in 0..across * down {
                let [left, top] = [n % across * self.unit[0], n / across * self.unit[1]];
                // The last strip ends at the edge of the picture; a tile may extend beyond it.
                let rows = if self.unit[0] == width { self.unit[1].min(height - top) } else { self.unit[1] };
                let places = (0..rows * self.unit[0]).map(|n| [left + n % self.unit[0], top + n / self.unit[0]]);
                let at =
                    |[x, y]: [usize; 2], channel| if x < width && y < height { number([x, y, channel]) } else { 7 };
                let numbers = places.flat_map(|place| channels.iter().map(move |&channel| at(place, channel)));
                units.push(numbers.flat_map(|n| n.to_le_bytes().into_iter().take(self.bits / 8)).collect());
            }
        }
        units
    }

    fn entries(&self, units: &[Vec<u8>], first: usize) -> Vec<(u16, Vec<u32>)> {
        let lengths: Vec<u32> = units.iter().map(|unit| unit.len() as u32).collect();
        let offsets = lengths.iter().scan(first as u32, |at, length| {
            *at += length;
            Some(*at - length)
        });
        let tiled = self.unit[0] != self.size[0];
        let mut entries = vec![
            (254, vec![self.kind]),
            (256, vec![self.size[0] as u32]),
            (257, vec![self.size[1] as u32]),
            (258, vec![self.bits as u32; self.channels]),
            (259, vec![self.compression]),
            (262, vec![self.photometric]),
            (if tiled { 324 } else { 273 }, offsets.collect()),
            (277, vec![self.channels as u32]),
            (if tiled { 325 } else { 279 }, lengths),
            (284, vec![if self.planar { 2 } else { 1 }]),
        ];
        match tiled {
            true => entries.extend([(322, vec![self.unit[0] as u32]), (323, vec![self.unit[1] as u32])]),
            false => entries.push((278, vec![self.unit[1] as u32])),
        }
        let colours = match self.photometric {
            1 => 1,
            5 => 4,
            _ => 3,
        };
        if self.channels > colours {
            // A single extra channel is alpha.
            let kind = if self.channels == colours + 1 { 2 } else { 0 };
            entries.push((EXTRA_SAMPLES, vec![kind; self.channels - colours]));
        }
        entries.sort();
        entries
    }
}

/// A file of pages with their strips or tiles.
pub fn bytes(pages: &[(Page, Vec<Vec<u8>>)]) -> Vec<u8> {
    let mut bytes = b"II*\0".to_vec();
    let mut link = bytes.len();
    bytes.extend([0; 4]);
    for (page, units) in pages {
        let entries = page.entries(units, bytes.len());
        bytes.extend(units.concat());
        bytes.resize(bytes.len().next_multiple_of(2), 0);
        let directory = bytes.len();
        bytes[link..link + 4].copy_from_slice(&(directory as u32).to_le_bytes());
        let mut beyond = Vec::new();
        let after = directory + 2 + 12 * entries.len() + 4;
        bytes.extend((entries.len() as u16).to_le_bytes());
        for (tag, values) in &entries {
            // SHORT or LONG.
            let (kind, width) = if *tag == EXTRA_SAMPLES { (3u16, 2) } else { (4, 4) };
            bytes.extend([tag.to_le_bytes(), kind.to_le_bytes()].concat());
            bytes.extend((values.len() as u32).to_le_bytes());
            let mut there: Vec<u8> =
                values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(width)).collect();
            if there.len() <= 4 {
                there.resize(4, 0);
                bytes.extend(there);
            } else {
                bytes.extend(((after + beyond.len()) as u32).to_le_bytes());
                beyond.extend(there);
            }
        }
        link = bytes.len();
        bytes.extend([0; 4]);
        bytes.extend(beyond);
    }
    bytes
}
