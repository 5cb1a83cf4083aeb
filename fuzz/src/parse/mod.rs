//! Splits files of known formats into trees. All files are good, so nothing is checked.

mod dicom;
mod segments;

use crate::checksum::checksum;
use crate::tree::{Length, Node, Packing, Sum};
use dicom::dicom;
use segments::segments;

/// The last line of a MetaImage header in front of its voxels.
const LOCAL: &str = "ElementDataFile = LOCAL\n";

/// Splits a file of any format.
pub fn any(bytes: &[u8]) -> Node {
    let holds = |part: &str| bytes.windows(part.len()).any(|bytes| bytes == part.as_bytes());
    let packing = |is: bool, packing| is.then_some(packing);
    match bytes {
        [0x1f, 0x8b, ..] => Node::Packed(Packing::Gzip, any(&Packing::Gzip.unpack(bytes)).into()),
        [0x89, b'P', ..] => png(bytes),
        [0x89, b'H', ..] => hdf5(bytes),
        [0xff, 0xd8, ..] => segments(bytes, 0xda),
        [b'I', b'I', 42, ..] => tiff(bytes),
        [b'N', b'R', b'R', b'D', ..] if holds("\n\n") => {
            text_then(bytes, "\n\n", packing(holds("encoding: gzip"), Packing::Gzip))
        }
        _ if holds(LOCAL) => text_then(bytes, LOCAL, packing(holds("CompressedData = True"), Packing::Zlib)),
        _ if bytes.get(128..132) == Some(b"DICM") => dicom(bytes),
        // NIfTI-1, NIfTI-2 and MGH.
        [92, 1, ..] | [0, 0, 1, 92, ..] => split(bytes, 348),
        [28, 2, ..] => split(bytes, 540),
        [0, 0, 0, 1, ..] => split(bytes, 284),
        _ if bytes.contains(&0) => split(bytes, 32),
        _ => lines(bytes),
    }
}

/// Splits a file into a header of this length and the rest.
fn split(bytes: &[u8], header: usize) -> Node {
    let (header, rest) = bytes.split_at(header.min(bytes.len()));
    Node::List(vec![Node::Bytes(header.to_vec()), Node::Bytes(rest.to_vec())])
}

/// Splits a text into its lines.
fn lines(bytes: &[u8]) -> Node {
    Node::List(bytes.split_inclusive(|&b| b == b'\n').map(|line| Node::Bytes(line.to_vec())).collect())
}

/// Splits a file into the lines of a text, up to this last one, and the bytes after it, which may be packed.
fn text_then(bytes: &[u8], last: &str, packing: Option<Packing>) -> Node {
    let found = bytes.windows(last.len()).position(|part| part == last.as_bytes()).expect("the header ends");
    let (header, rest) = bytes.split_at(found + last.len());
    let rest = match packing {
        Some(packing) => packed(rest, packing),
        None => Node::Bytes(rest.to_vec()),
    };
    Node::List(vec![lines(header), rest])
}

/// Unpacks bytes.
fn packed(bytes: &[u8], packing: Packing) -> Node {
    Node::Packed(packing, Node::Bytes(packing.unpack(bytes)).into())
}

/// Splits a PNG file into its chunks.
fn png(bytes: &[u8]) -> Node {
    let mut parts = vec![Node::Bytes(bytes[..8].to_vec())];
    let mut rest = &bytes[8..];
    while let Some((length, after)) = rest.split_first_chunk() {
        let length = u32::from_be_bytes(*length) as usize;
        let (kind, data) = after[..4 + length].split_at(4);
        let data = if kind == b"IDAT" { packed(data, Packing::Zlib) } else { Node::Bytes(data.to_vec()) };
        let summed = Node::Summed(Sum::Crc32, Node::List(vec![Node::Bytes(kind.to_vec()), data]).into());
        // The length counts neither the kind nor the checksum.
        parts.push(Node::counted(&[], Length { plus: -8, ..Length::new(4, true) }, summed));
        rest = &after[8 + length..];
    }
    Node::List(parts)
}

/// Splits a TIFF file of one directory into the directory's entries.
fn tiff(bytes: &[u8]) -> Node {
    let at = u32::from_le_bytes(bytes[4..8].try_into().expect("four bytes")) as usize;
    let count = usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let (before, rest) = bytes.split_at(at + 2);
    let (entries, after) = rest.split_at(12 * count);
    let entries = entries.chunks(12).map(|entry| Node::Bytes(entry.to_vec())).collect();
    Node::List(vec![split(before, 8), Node::List(entries), Node::Bytes(after.to_vec())])
}

/// Splits an HDF5 file into parts with checksums, found where a checksum is right.
fn hdf5(bytes: &[u8]) -> Node {
    const SIGNATURES: [&[u8]; 8] = [b"\x89HDF", b"OHDR", b"OCHK", b"FRHP", b"FHDB", b"FHIB", b"BTHD", b"BTLF"];
    const LONGEST: usize = 1024;
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at + 4 < bytes.len() {
        let is_sum = |end: &usize| bytes[*end..*end + 4] == checksum(&bytes[at..*end]).to_le_bytes();
        let signed = SIGNATURES.contains(&&bytes[at..at + 4]);
        let end = (at + 4..=(at + LONGEST).min(bytes.len() - 4)).find(|end| signed && is_sum(end));
        let Some(end) = end else {
            at += 1;
            continue;
        };
        parts.push(Node::Bytes(bytes[start..at].to_vec()));
        parts.push(Node::Summed(Sum::Lookup3, Node::Bytes(bytes[at..end].to_vec()).into()));
        (start, at) = (end + 4, end + 4);
    }
    parts.push(Node::Bytes(bytes[start..].to_vec()));
    Node::List(parts)
}
