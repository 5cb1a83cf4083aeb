//! Writes files that HDF5 1.8 and later can read: a superblock of version 2, groups with the links in their headers,
//! and contiguous datasets.

use super::checksum::checksum;
use super::file::MAGIC;

const UNDEFINED: [u8; 8] = [0xff; 8];
/// The smallest size of a heap of strings, in bytes.
const HEAP: usize = 4096;
/// Bytes of the superblock, which is filled in last.
const SUPERBLOCK: usize = 48;

/// A group: its subgroups and datasets, by name.
#[derive(Default)]
pub struct Group {
    pub groups: Vec<(String, Group)>,
    pub datasets: Vec<(&'static str, Dataset)>,
}

/// A one-dimensional dataset.
pub enum Dataset {
    F64(Vec<f64>),
    F32(Vec<f32>),
    /// A single string.
    Text(String),
}

impl Group {
    /// The bytes of a file with this group as its root.
    pub fn file(&self) -> Vec<u8> {
        let mut file = Writer { bytes: vec![0; SUPERBLOCK] };
        let root = file.group(self);
        let end = file.bytes.len() as u64;
        let mut head = [MAGIC, &[2, 8, 8, 0], &[0; 8], &UNDEFINED, &end.to_le_bytes(), &root.to_le_bytes()].concat();
        head.extend(checksum(&head).to_le_bytes());
        file.bytes[..SUPERBLOCK].copy_from_slice(&head);
        file.bytes
    }
}

struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// Appends bytes, and returns their address.
    fn put(&mut self, bytes: impl IntoIterator<Item = u8>) -> u64 {
        self.bytes.resize(self.bytes.len().next_multiple_of(8), 0);
        let address = self.bytes.len() as u64;
        self.bytes.extend(bytes);
        address
    }

    fn group(&mut self, group: &Group) -> u64 {
        let groups = group.groups.iter().map(|(name, group)| link(name, self.group(group)));
        let mut links: Vec<_> = groups.collect();
        links.extend(group.datasets.iter().map(|(name, dataset)| link(name, self.dataset(dataset))));
        // Link info: links are not in a heap. Group info: empty.
        let mut messages = vec![(0x02, [&[0, 0][..], &UNDEFINED, &UNDEFINED].concat()), (0x0a, vec![0, 0])];
        messages.extend(links.into_iter().map(|link| (0x06, link)));
        self.object(&messages)
    }

    fn dataset(&mut self, dataset: &Dataset) -> u64 {
        // The class of each type with its properties, which are those of IEEE 754 for floating-point numbers.
        let (kind, count, length, address) = match dataset {
            Dataset::F64(numbers) => (
                vec![0x11, 0x20, 0x3f, 0, 8, 0, 0, 0, 0, 0, 64, 0, 52, 11, 0, 52, 0xff, 3, 0, 0],
                numbers.len(),
                8 * numbers.len(),
                self.put(numbers.iter().flat_map(|n| n.to_le_bytes())),
            ),
            Dataset::F32(numbers) => (
                vec![0x11, 0x20, 0x1f, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0],
                numbers.len(),
                4 * numbers.len(),
                self.put(numbers.iter().flat_map(|n| n.to_le_bytes())),
            ),
            Dataset::Text(text) => {
                let reference = self.text(text);
                let of_bytes = [0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0];
                ([&[0x19, 1, 0, 0, 16, 0, 0, 0], &of_bytes[..]].concat(), 1, reference.len(), self.put(reference))
            }
        };
        let address = if length == 0 { UNDEFINED } else { address.to_le_bytes() };
        self.object(&[
            (0x01, [&[2, 1, 0, 1], &(count as u64).to_le_bytes()[..]].concat()),
            (0x03, kind),
            // Fill value: none, with late allocation of space.
            (0x05, vec![3, 0x0a]),
            (0x08, [&[3, 1], &address[..], &(length as u64).to_le_bytes()].concat()),
        ])
    }

    /// Appends a string in a heap of its own, and returns the reference to it.
    fn text(&mut self, text: &str) -> Vec<u8> {
        let padded = text.len().next_multiple_of(8);
        let size = HEAP.max(16 + 16 + padded + 16);
        let mut heap = [b"GCOL\x01\0\0\0", &(size as u64).to_le_bytes()[..]].concat();
        heap.extend([1, 0, 1, 0, 0, 0, 0, 0]);
        heap.extend((text.len() as u64).to_le_bytes());
        heap.extend(text.as_bytes());
        heap.resize(32 + padded, 0);
        // The free space is object 0.
        let left = (size - heap.len()) as u64;
        heap.extend([0; 8]);
        heap.extend(left.to_le_bytes());
        heap.resize(size, 0);
        let address = self.put(heap);
        [&(text.len() as u32).to_le_bytes()[..], &address.to_le_bytes(), &1u32.to_le_bytes()].concat()
    }

    /// Appends the header of an object with these messages, given by kind and body. Returns its address.
    fn object(&mut self, messages: &[(u8, Vec<u8>)]) -> u64 {
        let mut all = Vec::new();
        for (kind, body) in messages {
            all.push(*kind);
            all.extend((body.len() as u16).to_le_bytes());
            all.push(0);
            all.extend(body);
        }
        // The flag 2 says that the length has four bytes.
        let mut header = [b"OHDR\x02\x02", &(all.len() as u32).to_le_bytes()[..], &all].concat();
        header.extend(checksum(&header).to_le_bytes());
        self.put(header)
    }
}

/// A link message to the object at `address`.
fn link(name: &str, address: u64) -> Vec<u8> {
    [&[1, 0, name.len() as u8], name.as_bytes(), &address.to_le_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::super::{File, Object};
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let inner = Group {
            groups: Vec::new(),
            datasets: vec![
                ("F64", Dataset::F64(vec![0.1, -2.5e-300])),
                ("None", Dataset::F64(Vec::new())),
                ("F32", Dataset::F32(vec![0.25, 7.0, -1.5])),
                ("Text", Dataset::Text("Größe".into())),
                ("Long", Dataset::Text("x".repeat(2 * HEAP))),
            ],
        };
        let bytes = Group { groups: vec![("Inner".into(), inner)], datasets: Vec::new() }.file();
        let file = File::open(&bytes).unwrap();
        let group = Object::root(&file).unwrap().child(&file, "Inner").unwrap().unwrap();
        let dataset = |name| group.child(&file, name).unwrap().unwrap();
        let numbers = |name| dataset(name).numbers(&file).unwrap().iter().collect::<Vec<_>>();
        assert_eq!(numbers("F64"), [0.1, -2.5e-300]);
        assert!(numbers("None").is_empty());
        assert_eq!(numbers("F32"), [0.25, 7.0, -1.5]);
        assert_eq!(dataset("Text").text(&file).unwrap(), "Größe");
        assert_eq!(dataset("Long").text(&file).unwrap().len(), 2 * HEAP);
        assert!(group.child(&file, "Other").unwrap().is_none());
        assert!(dataset("Text").numbers(&file).is_err() && dataset("F64").text(&file).is_err());
    }

    #[test]
    fn no_truncation_and_no_flipped_bit_of_a_header_passes() {
        let bytes = Group { groups: Vec::new(), datasets: vec![("A", Dataset::F64(vec![1.0; 3]))] }.file();
        let read = |bytes: &[u8]| {
            let file = File::open(bytes)?;
            let dataset = Object::root(&file)?.child(&file, "A")?.ok_or("is not there")?;
            Ok::<_, String>(dataset.numbers(&file)?.iter().collect::<Vec<_>>())
        };
        assert_eq!(read(&bytes).unwrap(), [1.0; 3]);
        assert!((0..bytes.len()).all(|length| read(&bytes[..length]).is_err()));
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let in_numbers = (SUPERBLOCK..SUPERBLOCK + 24).contains(&(bit / 8));
            assert!(read(&damaged).is_err() || in_numbers || bytes[bit / 8] == 0, "bit {bit}");
        }
    }
}
