//! A kernel, and the shape of a launch.

/// A kernel: the name of its entry point, and the same function for the emulator.
#[derive(Clone, Copy)]
pub struct Kernel<P> {
    pub name: &'static str,
    pub run: unsafe fn(P),
}

/// The shape of a launch.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Blocks along x, y and z.
    pub grid: [u32; 3],
    /// Threads of a block along x, y and z.
    pub block: [u32; 3],
    /// Dynamic shared memory of a block.
    pub shared_bytes: u32,
}

/// Defines kernels, each by its entry point in the PTX, which is the function that the emulator runs, and `NAMES` of them for tests.
macro_rules! kernels {
    ($($constant:ident = $module:ident :: $name:ident($params:ty);)*) => {
        $(pub const $constant: $crate::backend::queue::Kernel<$params> =
            $crate::backend::queue::Kernel { name: stringify!($name), run: $module::$name };)*

        /// The names of all entry points.
        #[cfg(test)]
        pub const NAMES: &[&str] = &[$(stringify!($name)),*];
    };
}

pub(crate) use kernels;
