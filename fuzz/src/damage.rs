//! The ways in which a file is damaged.

use crate::random::Random;
use crate::tree::Node;

/// The most bytes to which damage may make a part grow.
const MOST: usize = 1 << 15;
/// Numbers at which the behaviour of code may change, such as limits of types.
const NUMBERS: [u64; 22] = [
    0,
    1,
    2,
    3,
    5,
    16,
    17,
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    1 << 61,
    u64::MAX >> 1,
    1 << 63,
    u64::MAX,
];
const FLOATS: [f64; 10] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, 1e-30, 1e30, f64::MAX, -1.0, 4_294_967_296.0];
const WORDS: [&str; 28] = [
    "",
    "0",
    "-1",
    "1",
    "2",
    "-0",
    "3.5",
    "1e308",
    "-1e308",
    "1e-320",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "127",
    "255",
    "32767",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "0x10",
    "\u{e9}\u{2028}\u{0}",
];
/// Texts that are repeated to make deep nesting.
const BRACKETS: [&str; 6] = ["[", "{\"a\":", "(", "((", "\"", "\\"];

/// Damages parts of a file, and sometimes bytes of the whole file. Returns the bytes.
pub fn damaged(node: &Node, random: &mut Random) -> Vec<u8> {
    let mut node = node.clone();
    let parts = random.of(&[0, 1, 1, 1, 2, 3]);
    for _ in 0..parts {
        part(&mut node, random);
    }
    let mut bytes = node.bytes();
    for _ in 0..if parts == 0 { 1 + random.below(4) } else { usize::from(random.once_in(6)) } {
        binary(&mut bytes, random);
    }
    bytes
}

fn part(root: &mut Node, random: &mut Random) {
    let count = root.count();
    let other = random.below(count);
    let other = if random.once_in(4) { root.nth(other).map(|node| node.clone()) } else { None };
    let Some(node) = root.nth(random.below(count)) else { return };
    if let Some(other) = other {
        return graft(node, other, random);
    }
    match node {
        Node::Bytes(bytes) => leaf(bytes, random),
        Node::List(parts) => list(parts, random),
        Node::Counted { head, length, body } => match random.below(4) {
            0 => binary(head, random),
            1 => nest(node, random),
            _ => {
                let near = body.bytes().len() as u64;
                let near = [near + 1, near.saturating_sub(1), near * 2, near / 2, near + 8];
                length.lie = Some(if random.once_in(2) { random.of(&near) } else { random.of(&NUMBERS) });
            }
        },
        Node::Packed(_, body) | Node::Summed(_, body) => {
            let mut bytes = body.bytes();
            binary(&mut bytes, random);
            **body = Node::Bytes(bytes);
        }
    }
}

/// Puts a copy of another part into this one, or replaces this one by it.
fn graft(node: &mut Node, other: Node, random: &mut Random) {
    if other.bytes().len() > MOST {
        return;
    }
    match node {
        Node::List(parts) => parts.insert(random.below(parts.len() + 1), other),
        node => *node = other,
    }
}

/// Nests a part in itself, repeatedly.
fn nest(node: &mut Node, random: &mut Random) {
    let mut shell = node.clone();
    let lists: Vec<usize> = (0..shell.count()).filter(|&n| matches!(shell.nth(n), Some(Node::List(_)))).collect();
    let depth = random.of(&[1, 2, 31, 32, 33, 70]);
    if lists.is_empty() || shell.bytes().len() * depth > MOST {
        return;
    }
    let at = random.of(&lists);
    for _ in 0..depth {
        let inner = std::mem::replace(node, shell.clone());
        if let Some(Node::List(parts)) = node.nth(at) {
            parts.push(inner);
        }
    }
}

fn list(parts: &mut Vec<Node>, random: &mut Random) {
    if parts.is_empty() {
        return;
    }
    let [a, b] = [(); 2].map(|()| random.below(parts.len()));
    match random.below(5) {
        0 => parts.swap(a, b),
        1 => {
            parts.remove(a);
        }
        2 => parts.truncate(a),
        3 => {
            let moved = parts.remove(a);
            parts.insert(b.min(parts.len()), moved);
        }
        _ => {
            let again = parts[a].clone();
            let most = (MOST / again.bytes().len().max(1)).min(300);
            let times = random.of(&[1, 1, 2, 10, 300]).min(most);
            parts.splice(b..b, std::iter::repeat_n(again, times));
        }
    }
}

fn leaf(bytes: &mut Vec<u8>, random: &mut Random) {
    let is_text = |b: &u8| (b' '..0x7f).contains(b) || b"\t\r\n\0".contains(b);
    if bytes.iter().all(is_text) && bytes.iter().any(|b| *b > b' ') && !random.once_in(5) {
        text(bytes, random);
    } else {
        binary(bytes, random);
    }
}

/// Replaces, repeats or moves a word of a text.
fn text(bytes: &mut Vec<u8>, random: &mut Random) {
    let words = words(bytes);
    if words.is_empty() {
        return;
    }
    let (word, other) = (random.of(&words), random.of(&words));
    let new = match random.below(8) {
        0 => bytes[other.0..other.1].to_vec(),
        1 => [&bytes[word.0..word.1], b" "].concat().repeat(random.of(&[2, 3, 400])),
        2 => [random.of(&BRACKETS).repeat(random.of(&[1, 2, 127, 128, 3000])).into_bytes()].concat(),
        3 => random.of(&[b" ".as_slice(), b"\n", b"\r", b"\0", b"\xff", b"=", b"\\", b",", b";", b"/"]).to_vec(),
        4 => b"9".repeat(random.of(&[1, 20, 400])),
        _ => random.of(&WORDS).as_bytes().to_vec(),
    };
    if new.len() < MOST {
        bytes.splice(word.0..word.1, new);
    }
}

/// Returns the start and the end of each word of letters or digits.
fn words(bytes: &[u8]) -> Vec<(usize, usize)> {
    let of_word = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
    let mut words = Vec::new();
    let mut start = 0;
    for part in bytes.chunk_by(|a, b| of_word(a) == of_word(b)) {
        let end = start + part.len();
        if of_word(&part[0]) {
            words.push((start, end));
        }
        start = end;
    }
    words
}

fn binary(bytes: &mut Vec<u8>, random: &mut Random) {
    if bytes.is_empty() {
        return bytes.push(random.bits() as u8);
    }
    // In most parts, what matters is at the start.
    let near = if random.once_in(2) { bytes.len().min(64) } else { bytes.len() };
    let at = random.below(near);
    match random.below(16) {
        0..4 => bytes[at] ^= 1 << random.below(8),
        4 => bytes[at] = random.bits() as u8,
        5..11 => number(bytes, at, random),
        11 => bytes.truncate(at),
        12 => drop(bytes.drain(at..(at + 1 + random.below(8)).min(bytes.len()))),
        13 => {
            let again = bytes[at..(at + 1 + random.below(64)).min(bytes.len())].to_vec();
            bytes.splice(at..at, again.repeat(random.of(&[1, 1, 4, 50])));
        }
        14 => {
            let from = random.below(bytes.len());
            let count = (1 + random.below(16)).min(bytes.len() - from.max(at));
            bytes.copy_within(from..from + count, at);
        }
        _ => {
            let end = (at + 1 + random.below(32)).min(bytes.len());
            bytes[at..end].fill(random.of(&[0, 0xff, b' ', 1]));
        }
    }
}

/// Replaces a number by an extreme one, or by one near it.
fn number(bytes: &mut [u8], at: usize, random: &mut Random) {
    let width = random.of(&[1, 2, 4, 8]).min(bytes.len());
    let at = if random.once_in(4) { at } else { at / width * width }.min(bytes.len() - width);
    let big_endian = random.once_in(2);
    let mut new: Vec<u8> = match random.below(4) {
        0 if width == 8 => random.of(&FLOATS).to_le_bytes().to_vec(),
        0 if width == 4 => (random.of(&FLOATS) as f32).to_le_bytes().to_vec(),
        1 => {
            let mut old: Vec<u8> = bytes[at..at + width].to_vec();
            if big_endian {
                old.reverse();
            }
            let old = old.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
            let near = [old.wrapping_add(1), old.wrapping_sub(1), old.wrapping_mul(2), old / 2, !old];
            random.of(&near).to_le_bytes()[..width].to_vec()
        }
        _ => random.of(&NUMBERS).to_le_bytes()[..width].to_vec(),
    };
    if big_endian {
        new.reverse();
    }
    bytes[at..at + width].copy_from_slice(&new);
}
