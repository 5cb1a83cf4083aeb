//! Opens a DICOM file: reads its meta information (PS3.10 7) and its elements, and finds its pixels.

use std::path::{Path, PathBuf};

use super::elements::{Elements, Encoding, Pixels};
use super::input::{Input, cut};
use super::tags::{self, Tag};
use crate::Error;
use crate::error::Message;
use crate::io::source::reason;

const IMPLICIT: &str = "1.2.840.10008.1.2";
const BIG_ENDIAN: &str = "1.2.840.10008.1.2.2";
const DEFLATED: &str = "1.2.840.10008.1.2.1.99";
/// Bytes before the meta information.
const PREAMBLE: u64 = 132;
/// The group of the meta information.
const META: [u8; 2] = [2, 0];

/// An open DICOM file, of which all but the pixels is read.
pub struct DicomFile {
    pub path: PathBuf,
    pub elements: Elements,
    /// UID of the transfer syntax; empty if the file does not give it.
    pub syntax: String,
    pub encoding: Encoding,
    /// Bytes of the file.
    pub length: u64,
    pixels: Option<Pixels>,
    /// The offset of the data set.
    start: u64,
}

/// What a file was found to be.
pub enum Content {
    Dicom(DicomFile),
    /// Not DICOM at all.
    Other,
    /// DICOM that cannot be read, with the reason.
    Damaged(String),
}

impl DicomFile {
    /// Reads all but the pixels of the file at `path`.
    ///
    /// # Errors
    /// [`Error::File`] if the file cannot be opened.
    pub fn open(path: &Path) -> crate::Result<Content> {
        let unreadable = |e: std::io::Error| Error::file(path, reason(&e));
        let length = std::fs::metadata(path).map_err(unreadable)?.len();
        let mut input = Input::open(path).map_err(unreadable)?;
        let start = match start(&mut input) {
            Ok(Some(start)) => start,
            Ok(None) => return Ok(Content::Other),
            Err(message) => return Ok(Content::Damaged(message)),
        };
        Ok(match Self::read(path, input, start, length) {
            Ok(file) => Content::Dicom(file),
            Err(message) => Content::Damaged(message),
        })
    }

    /// Reads the file from its first element on.
    fn read(path: &Path, mut input: Input, start: u64, length: u64) -> Result<Self, String> {
        input.seek(start)?;
        let (syntax, start) = syntax(&mut input)?;
        let encoding = match &syntax[..] {
            IMPLICIT => Encoding { implicit: true, big_endian: false },
            BIG_ENDIAN => Encoding { implicit: false, big_endian: true },
            "" => guessed(&mut input, start)?,
            _ => Encoding::default(),
        };
        let mut input = if syntax == DEFLATED { input.inflated() } else { input };
        let (elements, pixels) = Elements::read(&mut input, encoding)?;
        Ok(Self { path: path.to_owned(), elements, syntax, encoding, length, pixels, start })
    }

    /// The position of its pixels; `None` if it has none.
    pub fn pixels(&self) -> Option<&Pixels> {
        self.pixels.as_ref()
    }

    /// Whether the data set is deflated.
    pub fn deflated(&self) -> bool {
        self.syntax == DEFLATED
    }

    /// Opens the file such that its positions are those of [`Pixels`].
    pub fn input(&self) -> Result<Input, String> {
        let mut input = Input::open(&self.path).map_err(|e| reason(&e))?;
        if self.deflated() {
            input.seek(self.start)?;
            return Ok(input.inflated());
        }
        Ok(input)
    }

    /// The name of the file, for messages.
    pub fn name(&self) -> String {
        name(&self.path)
    }

    /// An error about this file.
    pub fn error(&self, message: impl Into<Message>) -> Error {
        Error::file(&self.path, message)
    }
}

/// The name of a file without its folder.
pub fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Whether a file starts with a DICOM preamble.
pub fn is(path: &Path) -> std::io::Result<bool> {
    Ok(start(&mut Input::open(path)?).is_ok_and(|start| start == Some(PREAMBLE)))
}

/// The offset of the first element; `None` if the file is not DICOM.
fn start(input: &mut Input) -> Result<Option<u64>, String> {
    let mut bytes = [0; PREAMBLE as usize];
    // The file may be shorter than this.
    let whole = input.fill(&mut bytes);
    if whole.is_ok_and(|there| there) && bytes.ends_with(b"DICM") {
        return Ok(Some(PREAMBLE));
    }
    // Old files begin with an element of group 2 or 8, whose value is short.
    let (big_endian, known) = match bytes[..4] {
        [2, 0, _, 0] | [8, 0, _, 0] => (false, true),
        [0, 8, 0, _] => (true, true),
        _ => (false, false),
    };
    let length = match &bytes[4..6] {
        b"OB" => [bytes[8], bytes[9], bytes[10], bytes[11]],
        [b'A'..=b'Z', b'A'..=b'Z'] if big_endian => [bytes[7], bytes[6], 0, 0],
        [b'A'..=b'Z', b'A'..=b'Z'] => [bytes[6], bytes[7], 0, 0],
        _ => [bytes[4], bytes[5], bytes[6], bytes[7]],
    };
    let short = (1..=64).contains(&u32::from_le_bytes(length));
    Ok((known && short).then_some(0))
}

/// The transfer syntax from the meta information, empty if there is none, and the offset of the data set.
fn syntax(input: &mut Input) -> Result<(String, u64), String> {
    let mut syntax = String::new();
    loop {
        let start = input.position();
        let mut tag = [0; 4];
        let there = input.fill(&mut tag)?;
        if !there || tag[..2] != META {
            input.seek(start)?;
            return Ok((syntax, start));
        }
        let [a, b, c, d] = input.array()?;
        let length = match &[a, b] {
            b"OB" | b"UN" => u32::from_le_bytes(input.array()?),
            [b'A'..=b'Z', b'A'..=b'Z'] => u16::from_le_bytes([c, d]).into(),
            _ => u32::from_le_bytes([a, b, c, d]),
        };
        let end = input.position() + u64::from(length);
        if tag == meta(tags::TRANSFER_SYNTAX) && length <= 64 {
            let mut value = Vec::new();
            input.append(length.into(), &mut value)?;
            syntax = String::from_utf8_lossy(&value).trim_matches(['\0', ' ']).to_owned();
        }
        input.skip_to(end)?;
    }
}

fn meta((group, element): Tag) -> [u8; 4] {
    let [a, b] = group.to_le_bytes();
    let [c, d] = element.to_le_bytes();
    [a, b, c, d]
}

/// Guesses the encoding of the elements from `start` on by the first element.
fn guessed(input: &mut Input, start: u64) -> Result<Encoding, String> {
    let mut head = [0; 6];
    if !input.fill(&mut head)? {
        return Err(cut());
    }
    input.seek(start)?;
    // The groups of all elements but the pixels are below 256, so the high byte of the first group is 0.
    let big_endian = head[0] == 0 && head[1] != 0;
    Ok(Encoding { implicit: !head[4..].iter().all(u8::is_ascii_uppercase), big_endian })
}
