//! The attributes and macros of `cuda_std`: `#[kernel]`, `#[gpu_only]` and the allocation behind `shared_slice!`.

mod gpu_only;
mod kernel;
mod shared;

use proc_macro::TokenStream;

/// Makes a function a kernel: an entry point of the PTX (`.visible .entry`) on nvptx64, a plain `unsafe fn` elsewhere.
///
/// The function must be `unsafe`, return nothing, have neither generics nor a receiver, and take [`Copy`] parameters.
/// Structs are passed by value; give them `#[repr(C)]` so that host and device agree on their layout.
///
/// ```
/// # use cuda_std_macros::kernel;
/// #[kernel]
/// pub unsafe fn fine(numbers: [f32; 2]) {}
/// ```
/// ```compile_fail
/// # use cuda_std_macros::kernel;
/// #[kernel]
/// pub unsafe fn not_copy(numbers: Vec<f32>) {}
/// ```
///
/// The crate of the kernel must say
/// `#![cfg_attr(target_arch = "nvptx64", no_std, feature(abi_ptx, asm_experimental_arch))]`.
#[proc_macro_attribute]
pub fn kernel(arguments: TokenStream, item: TokenStream) -> TokenStream {
    kernel::expand(arguments.into(), item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Makes a function available on the device only. On other targets its body is replaced by a panic that says so.
#[proc_macro_attribute]
pub fn gpu_only(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    gpu_only::expand(item.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// `__shared_allocation![T; N]` allocates shared memory for `[T; N]` and yields its 32-bit address. It is for the
/// device only, and `shared_slice!` expands to it.
#[doc(hidden)]
#[proc_macro]
pub fn __shared_allocation(input: TokenStream) -> TokenStream {
    shared::expand(input.into()).unwrap_or_else(|error| error.to_compile_error()).into()
}
