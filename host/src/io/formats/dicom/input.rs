//! Reads the bytes of a DICOM file, and inflates them if the file is deflated.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::bufread::DeflateDecoder;

use crate::io::source::reason;

/// An open file. It never allocates more memory than the file has bytes to fill it, whatever lengths the file claims.
pub struct Input {
    reader: Reader,
    position: u64,
}

enum Reader {
    File { file: BufReader<File>, length: u64 },
    Inflated(BufReader<DeflateDecoder<BufReader<File>>>),
}

impl Input {
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { reader: Reader::File { file: BufReader::new(file), length }, position: 0 })
    }

    /// Inflates all bytes from here on. Positions are then counted from here.
    pub fn inflated(self) -> Self {
        let reader = match self.reader {
            Reader::File { file, .. } => Reader::Inflated(BufReader::new(DeflateDecoder::new(file))),
            inflated => inflated,
        };
        Self { reader, position: 0 }
    }

    /// The position of the next byte.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes to byte `position` of a file that is not inflated.
    pub fn seek(&mut self, position: u64) -> Result<(), String> {
        if let Reader::File { file, .. } = &mut self.reader {
            file.seek(SeekFrom::Start(position)).map_err(|e| reason(&e))?;
            self.position = position;
        }
        Ok(())
    }

    /// The next `N` bytes.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        match self.fill(&mut bytes)? {
            true => Ok(bytes),
            false => Err(cut()),
        }
    }

    /// Fills `bytes`. Returns `false` if nothing is left.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<bool, String> {
        let mut filled = 0;
        while filled < bytes.len() {
            let read = match &mut self.reader {
                Reader::File { file, .. } => file.read(&mut bytes[filled..]),
                Reader::Inflated(inflated) => inflated.read(&mut bytes[filled..]),
            };
            match read {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(cut()),
                Ok(count) => filled += count,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(reason(&e)),
            }
        }
        self.position += filled as u64;
        Ok(true)
    }

    /// Skips forward to byte `position`.
    pub fn skip_to(&mut self, position: u64) -> Result<(), String> {
        let count = position.saturating_sub(self.position);
        let there = match &mut self.reader {
            Reader::File { file, length } if position <= *length => {
                file.seek_relative(count as i64).map_err(|e| reason(&e))?;
                count
            }
            Reader::File { .. } => 0,
            Reader::Inflated(inflated) => {
                std::io::copy(&mut inflated.take(count), &mut std::io::sink()).map_err(|e| reason(&e))?
            }
        };
        self.position += there;
        if there == count { Ok(()) } else { Err(cut()) }
    }

    /// Appends the next `count` bytes to `bytes`.
    pub fn append(&mut self, count: u64, bytes: &mut Vec<u8>) -> Result<(), String> {
        let read = match &mut self.reader {
            Reader::File { file, .. } => file.take(count).read_to_end(bytes),
            Reader::Inflated(inflated) => inflated.take(count).read_to_end(bytes),
        };
        let read = read.map_err(|e| reason(&e))? as u64;
        self.position += read;
        if read == count { Ok(()) } else { Err(cut()) }
    }
}

/// The message for a file that is truncated.
pub fn cut() -> String {
    reason(&ErrorKind::UnexpectedEof.into())
}
