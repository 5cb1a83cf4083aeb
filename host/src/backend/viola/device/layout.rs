//! Lays out samples in slots: see [`gpu::kernels::viola`].

use crate::backend::viola::{Sample, ViolaPair};
use gpu::kernels::viola::{BLOCK, EMPTY};
use std::ops::Range;

/// Empty slots after the last set.
pub const SLOTS_BEYOND: usize = 2 * BLOCK as usize;

/// The sample sets of all groups: first B of all groups, then A.
pub struct Layout {
    pub slots: Vec<[u32; 4]>,
    /// For each group, the first slot and the number of samples of A, then of B.
    pub groups: Vec<[u32; 4]>,
    /// The first slot and the group of each block.
    pub blocks: Vec<[u32; 2]>,
    /// The number of blocks of B.
    pub b_blocks: u32,
    /// The number of samples in the largest set.
    pub largest: u32,
}

impl Layout {
    pub fn new(pair: &ViolaPair) -> Self {
        let groups = vec![[0; 4]; pair.groups.len()];
        let mut layout = Self { slots: Vec::new(), groups, blocks: Vec::new(), b_blocks: 0, largest: 0 };
        for (number, group) in pair.groups.iter().enumerate() {
            layout.add(number, 2, pair.samples, &group.b);
        }
        layout.b_blocks = layout.blocks.len() as u32;
        for (number, group) in pair.groups.iter().enumerate() {
            layout.add(number, 0, pair.samples, &group.a);
        }
        layout.slots.resize(layout.slots.len() + SLOTS_BEYOND, [0, EMPTY, 0, 0]);
        layout
    }

    /// The larger of the numbers of blocks of A and of B.
    pub fn most_blocks(&self) -> u32 {
        self.b_blocks.max(self.blocks.len() as u32 - self.b_blocks).max(1)
    }

    /// Appends a set, and writes its first slot and length to positions `at` and `at + 1` of its group. An empty set
    /// has a block too, so that its group gets a result.
    fn add(&mut self, group: usize, at: usize, samples: &[Sample], set: &Range<u32>) {
        let start = self.slots.len() as u32;
        let set = &samples[set.start as usize..set.end as usize];
        self.groups[group][at..at + 2].copy_from_slice(&[start, set.len() as u32]);
        self.largest = self.largest.max(set.len() as u32);
        self.slots.extend(set.iter().map(|&Sample { voxel: [x, y, z], value }| [x | y << 16, z, value.to_bits(), 0]));
        let blocks = (set.len() as u32).div_ceil(BLOCK).max(1);
        self.blocks.extend((0..blocks).map(|block| [start + block * BLOCK, group as u32]));
        self.slots.resize((start + blocks * BLOCK) as usize, [0, EMPTY, 0, 0]);
    }
}
