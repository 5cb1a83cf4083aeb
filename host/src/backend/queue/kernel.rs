//! Kernels, and the shape of a launch.

/// A kernel: the name of its entry point in the PTX, and the same function for the emulator.
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
    /// Threads per block along x, y and z.
    pub block: [u32; 3],
    /// Bytes of dynamic shared memory per block.
    pub shared_bytes: u32,
}

/// Defines a constant for each kernel, given by the function that the emulator runs and that is compiled to the PTX
/// entry point of the same name. Also defines `NAMES`, the names of all kernels, for tests.
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
