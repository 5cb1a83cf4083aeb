//! The shape of a launch.

/// The shape of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z; at most 1024 in all.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory of a block.
    pub shared_bytes: u32,
    /// The seed of the random order in which threads run.
    pub seed: u64,
}

impl Default for Launch {
    /// Returns a launch of one block of one thread, without dynamic shared memory.
    fn default() -> Self {
        Self { grid: [1; 3], block: [1; 3], shared_bytes: 0, seed: 0 }
    }
}

/// A count along x, or along x, y and z.
pub trait Dimensions {
    /// The counts along x, y and z.
    fn xyz(self) -> [u32; 3];
}

impl Dimensions for u32 {
    fn xyz(self) -> [u32; 3] {
        [self, 1, 1]
    }
}

impl Dimensions for [u32; 3] {
    fn xyz(self) -> [u32; 3] {
        self
    }
}

impl Launch {
    /// Sets the number of blocks.
    pub fn grid(self, grid: impl Dimensions) -> Self {
        Self { grid: grid.xyz(), ..self }
    }

    /// Sets the number of threads per block.
    pub fn block(self, block: impl Dimensions) -> Self {
        Self { block: block.xyz(), ..self }
    }

    /// Sets the bytes of dynamic shared memory per block.
    pub fn shared_bytes(self, shared_bytes: u32) -> Self {
        Self { shared_bytes, ..self }
    }

    /// Sets the seed of the order of threads.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.grid.iter().map(|count| u64::from(*count)).product()
    }

    /// The index in the grid of block number `block`.
    pub(super) fn block_idx(&self, block: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [block % x, block / x % y, block / x / y].map(|index| index as u32)
    }

    /// Returns why a device would refuse the launch, if it would.
    pub(super) fn refusal(&self) -> Option<String> {
        let threads = self.block.iter().map(|count| u64::from(*count)).product::<u64>();
        let [grid, block] = [self.grid, self.block];
        match () {
            () if self.blocks() == 0 || grid[1] > 65535 || grid[2] > 65535 => {
                Some(format!("cannot launch a grid of {grid:?} blocks"))
            }
            () if threads == 0 || threads > 1024 || block[2] > 64 => {
                Some(format!("cannot launch blocks of {block:?} threads"))
            }
            () if self.shared_bytes > 227 << 10 => {
                Some(format!("cannot launch with {} bytes of dynamic shared memory", self.shared_bytes))
            }
            () => None,
        }
    }
}
