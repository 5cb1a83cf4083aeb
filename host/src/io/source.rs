//! Reads and decompresses an input file, with an upper bound on the number of bytes it can give.

use crate::error::Message;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::ZlibDecoder;

use super::inflate;
use crate::{Error, Result};

/// The largest ratio of inflated to compressed bytes of a deflate stream.
pub const MOST_DEFLATED: u64 = 1032;
/// The most bytes after the voxels that are read to reach the end of a stream and its checksum.
const MOST_TRAILING: u64 = 1 << 20;

/// An open input file.
pub struct Source {
    path: PathBuf,
    reader: Box<dyn BufRead>,
    position: u64,
    limit: u64,
    compressed: bool,
}

impl Source {
    /// Opens `path` without decompression.
    pub fn open(path: &Path) -> Result<Self> {
        let (file, limit) = open(path)?;
        let reader = Box::new(BufReader::with_capacity(1 << 16, file));
        Ok(Self { path: path.to_owned(), reader, position: 0, limit, compressed: false })
    }

    /// Opens the file with the voxels, whose name is given in the header at `path`.
    pub fn open_named(path: &Path, name: &str) -> Result<Self> {
        let data = path.with_file_name(name);
        match data.is_file() {
            true => Self::open(&data),
            false => Err(Error::file(
                path,
                format!(
                    "says that its voxels are in \"{name}\", and there is no such file; copy that too, or correct the header"
                ),
            )),
        }
    }

    /// Opens `path`, and decompresses it if it starts as gzip does, whatever its name.
    pub fn open_gzip(path: &Path) -> Result<Self> {
        let mut source = Self::open(path)?;
        let start = source.reader.fill_buf().map_err(|e| Error::file(path, reason(&e)))?;
        Ok(if inflate::is_gzip(start) { source.gzip() } else { source })
    }

    /// Decompresses all bytes from here on as a gzip stream.
    pub fn gzip(self) -> Self {
        let limit = self.remaining();
        Self { reader: inflate::gzip(self.reader), limit, position: 0, ..self }.compressed()
    }

    /// Decompresses all bytes from here on as a zlib stream.
    pub fn zlib(self) -> Self {
        let limit = self.remaining();
        Self { reader: Box::new(BufReader::new(ZlibDecoder::new(self.reader))), limit, position: 0, ..self }
            .compressed()
    }

    fn compressed(self) -> Self {
        Self { limit: self.limit.saturating_mul(MOST_DEFLATED), compressed: true, ..self }
    }

    /// The most bytes that can still be read.
    pub fn remaining(&self) -> u64 {
        self.limit.saturating_sub(self.position)
    }

    /// The number of bytes read so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Fills `bytes`.
    pub fn read_exact(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.reader.read_exact(bytes).map_err(|e| self.error(reason(&e)))?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Reads the rest, up to `most` bytes.
    pub fn rest(mut self, most: u64) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        (&mut self.reader).take(most).read_to_end(&mut bytes).map_err(|e| self.error(reason(&e)))?;
        Ok(bytes)
    }

    /// Reads the next line, without its line ending; `None` at the end of the file. A line of more than `most` bytes is
    /// cut.
    pub fn line(&mut self, most: u64) -> Result<Option<String>> {
        let mut bytes = Vec::new();
        let read = (&mut self.reader).take(most).read_until(b'\n', &mut bytes);
        self.position += read.map_err(|e| self.error(reason(&e)))? as u64;
        Ok((!bytes.is_empty()).then(|| String::from_utf8_lossy(&bytes).trim_end().to_owned()))
    }

    /// Reads the rest as text.
    pub fn text(mut self) -> Result<String> {
        let mut text = String::new();
        self.reader.read_to_string(&mut text).map_err(|e| self.error(reason(&e)))?;
        Ok(text)
    }

    /// Skips `count` lines.
    pub fn skip_lines(&mut self, count: u64) -> Result<()> {
        for _ in 0..count {
            let skipped = self.reader.skip_until(b'\n').map_err(|e| self.error(reason(&e)))?;
            if skipped == 0 {
                return Err(self.error(reason(&ErrorKind::UnexpectedEof.into())));
            }
            self.position += skipped as u64;
        }
        Ok(())
    }

    /// Reads the rest.
    pub fn bytes(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader.read_to_end(&mut bytes).map_err(|e| self.error(reason(&e)))?;
        Ok(bytes)
    }

    /// Skips forward to byte `position`.
    pub fn skip_to(&mut self, position: u64) -> Result<()> {
        let Some(count) = position.checked_sub(self.position) else {
            return Err(self.error("its voxels are said to start inside its header; the header is damaged"));
        };
        let skipped = std::io::copy(&mut (&mut self.reader).take(count), &mut std::io::sink());
        if skipped.map_err(|e| self.error(reason(&e)))? < count {
            return Err(self.error(reason(&ErrorKind::UnexpectedEof.into())));
        }
        self.position = position;
        Ok(())
    }

    /// Reads a compressed stream to its end, where its checksum is checked.
    pub fn finish(mut self) -> Result<()> {
        if self.compressed {
            let rest = std::io::copy(&mut (&mut self.reader).take(MOST_TRAILING), &mut std::io::sink());
            rest.map_err(|e| self.error(reason(&e)))?;
        }
        Ok(())
    }

    /// An error about this file.
    pub fn error(&self, message: impl Into<Message>) -> Error {
        Error::file(&self.path, message)
    }
}

/// Opens a file, and returns it with its length in bytes.
pub fn open(path: &Path) -> Result<(File, u64)> {
    let unreadable = |e: std::io::Error| Error::file(path, reason(&e));
    let file = File::open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    match metadata.is_dir() {
        true => Err(Error::file(path, "is a folder; name a file in it")),
        false => Ok((file, metadata.len())),
    }
}

/// The message for an error of the system or the decompressor: what is wrong and what to do.
pub fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file; check the name".into(),
        ErrorKind::PermissionDenied => "may not be read; check its permissions".into(),
        ErrorKind::UnexpectedEof => "ends too early, so it is truncated; copy or download it again".into(),
        ErrorKind::InvalidInput | ErrorKind::InvalidData => format!("is damaged ({error}); copy or download it again"),
        _ => format!("cannot be read ({error})"),
    }
}
