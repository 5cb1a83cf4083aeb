//! Splits JPEG and JPEG 2000 streams.

use crate::tree::{Length, Node};

/// Splits a stream into its segments. What follows the segment `last` has no length.
pub fn segments(bytes: &[u8], last: u8) -> Node {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let [0xff, kind, after @ ..] = rest {
        let alone = [0xd8, 0x4f, 0x93].contains(kind);
        if alone {
            parts.push(Node::Bytes(rest[..2].to_vec()));
            rest = after;
        } else if let Some((length, _)) = after.split_first_chunk() {
            let length = usize::from(u16::from_be_bytes(*length));
            let body = Node::Bytes(after[2..length].to_vec());
            parts.push(Node::counted(&rest[..2], Length { plus: 2, ..Length::new(2, true) }, body));
            rest = &after[length..];
        }
        if *kind == last {
            break;
        }
    }
    parts.push(Node::Bytes(rest.to_vec()));
    Node::List(parts)
}
