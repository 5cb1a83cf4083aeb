//! Splits DICOM files into elements, sequences and items.

use super::segments::segments;
use crate::tree::{Length, Node, Packing};

const PREAMBLE: usize = 132;
/// Representations with a length of four bytes behind two unused ones.
const LONG: [&[u8; 2]; 5] = [b"OB", b"OW", b"SQ", b"UN", b"UT"];

#[derive(Clone, Copy)]
struct Encoding {
    implicit: bool,
    big_endian: bool,
}

/// Splits a file with meta information.
pub fn dicom(bytes: &[u8]) -> Node {
    let syntax = bytes.windows(6).position(|bytes| bytes == b"\x02\0\x10\0UI").expect("there is a transfer syntax");
    let length = usize::from(bytes[syntax + 6]);
    let syntax = String::from_utf8_lossy(&bytes[syntax + 8..syntax + 8 + length]);
    let syntax = syntax.trim_end_matches(['\0', ' ']);
    let explicit = Encoding { implicit: false, big_endian: false };
    let encoding = Encoding { implicit: syntax == "1.2.840.10008.1.2", big_endian: syntax == "1.2.840.10008.1.2.2" };
    // The first element says how long the others of its group are.
    let length = u32::from_le_bytes(bytes[140..144].try_into().expect("four bytes")) as usize;
    let (meta, rest) = bytes[PREAMBLE..].split_at(12 + length);
    let set = match syntax {
        "1.2.840.10008.1.2.1.99" => {
            Node::Packed(Packing::Deflate, elements(&mut &Packing::Deflate.unpack(rest)[..], encoding).into())
        }
        _ => elements(&mut &rest[..], encoding),
    };
    Node::List(vec![Node::Bytes(bytes[..PREAMBLE].to_vec()), elements(&mut &meta[..], explicit), set])
}

/// Splits elements up to the end of the bytes, or up to the end of an item or a sequence.
fn elements(rest: &mut &[u8], encoding: Encoding) -> Node {
    let mut parts = Vec::new();
    while rest.len() >= 8 {
        let start = *rest;
        let group = number(&rest[..2], encoding);
        let item = group == 0xfffe;
        let vr = [rest[4], rest[5]];
        let (before, width) = match () {
            () if item || encoding.implicit => (4, 4),
            () if LONG.contains(&&vr) => (8, 4),
            () => (6, 2),
        };
        let length = number(&rest[before..before + width], encoding);
        let head = &start[..before];
        *rest = &rest[before + width..];
        if item && [0xe00d, 0xe0dd].contains(&number(&start[2..4], encoding)) {
            parts.push(Node::Bytes(start[..8].to_vec()));
            break;
        }
        let inside = item || &vr == b"SQ" && !encoding.implicit;
        if length == 0xffff_ffff {
            let head = Node::Bytes(start[..before + width].to_vec());
            parts.push(Node::List(vec![head, elements(rest, encoding)]));
            continue;
        }
        let body;
        (body, *rest) = rest.split_at(length.min(rest.len()));
        let body = match () {
            () if body.starts_with(&[0xff, 0xd8]) => segments(body, 0xda),
            () if body.starts_with(&[0xff, 0x4f]) => segments(body, 0x93),
            () if inside && is_set(body, encoding) => elements(&mut &body[..], encoding),
            () => Node::Bytes(body.to_vec()),
        };
        parts.push(Node::counted(head, Length::new(width, encoding.big_endian), body));
    }
    Node::List(parts)
}

/// Returns whether the bytes of an item look like elements, and not like a frame.
fn is_set(bytes: &[u8], encoding: Encoding) -> bool {
    bytes.len() >= 8 && [8, 0x20, 0x28, 0xfffe].contains(&number(&bytes[..2], encoding))
}

fn number(bytes: &[u8], encoding: Encoding) -> usize {
    let push = |number: usize, &byte: &u8| number << 8 | usize::from(byte);
    if encoding.big_endian { bytes.iter().fold(0, push) } else { bytes.iter().rev().fold(0, push) }
}
