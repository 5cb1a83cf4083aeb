//! Loads the kernels of the PTX. The driver compiles each when it is first used: a registration uses a tenth of them,
//! and compiling all would take seconds.

use super::driver::check;
use crate::Result;
use crate::backend::queue::Shape;
use cust::device::Device;
use cust::module::{Module, ModuleJitOption};
use cust::stream::Stream;
use cust::sys;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The PTX for each architecture, lowest first, as `(compute capability, text)`.
const PTX: &[(u32, &str)] = include!(concat!(env!("OUT_DIR"), "/ptx.rs"));

/// The text that an entry point begins with.
const ENTRY: &str = ".visible .entry ";

/// The most registers per thread. With this limit, blocks of 1024 threads run on every GPU.
const REGISTERS: u32 = 64;

/// The entry points of a PTX: all as texts, and those that were used also compiled and loaded.
pub struct Kernels {
    /// The text before the entry points, which all of them need: version, target, static shared memory.
    preamble: &'static str,
    texts: HashMap<&'static str, Text>,
    /// The most bytes of shared memory that a block can have.
    shared: u32,
    loaded: Mutex<HashMap<&'static str, LoadedKernel>>,
}

/// The text of an entry point, and the bytes of its static shared memory once they have been computed.
struct Text {
    ptx: &'static str,
    shared: OnceLock<u32>,
}

/// An entry point and the module that holds it.
struct LoadedKernel {
    entry: Entry,
    _module: Module,
}

impl Kernels {
    /// Selects the PTX of the highest compute capability that a device of capability `capability` (90 for 9.0) can run.
    /// `shared` is the most bytes of shared memory per block.
    pub fn new(capability: u32, shared: u32) -> Self {
        let (_, text) = PTX.iter().rev().find(|(arch, _)| *arch <= capability).unwrap_or(&PTX[0]);
        let (preamble, texts) = split(text);
        let texts = texts.into_iter().map(|(name, ptx)| (name, Text { ptx, shared: OnceLock::new() })).collect();
        Self { preamble, texts, shared, loaded: Mutex::default() }
    }

    /// The most bytes of dynamic shared memory that a block of a kernel can have: what its static shared memory leaves
    /// over.
    pub fn shared_bytes(&self, name: &str) -> u32 {
        let Text { ptx, shared } = &self.texts[name];
        self.shared - shared.get_or_init(|| static_shared(self.preamble, ptx))
    }

    /// The number of entry points that were compiled.
    pub fn compiled(&self) -> usize {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Returns the entry point of this name, after compiling it if it was not used before. The device's context must be
    /// current in this thread.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the driver cannot compile it.
    pub fn get(&self, name: &'static str) -> Result<Entry> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = loaded.get(name) {
            return Ok(kernel.entry);
        }
        let text = format!("{}{}", self.preamble, self.texts[name].ptx);
        let module = Module::from_ptx(text, &[ModuleJitOption::MaxRegisters(REGISTERS)])?;
        let entry = Entry::find(&module, name, self.shared_bytes(name))?;
        loaded.insert(name, LoadedKernel { entry, _module: module });
        Ok(entry)
    }
}

/// Splits a PTX into the text before the first entry point, without the comments at the top, and the entry points by
/// name.
fn split(ptx: &str) -> (&str, HashMap<&str, &str>) {
    let ptx = &ptx[ptx.find(".version").unwrap_or(0)..];
    let starts: Vec<usize> = ptx.match_indices(ENTRY).map(|(start, _)| start).collect();
    let ends = starts.iter().skip(1).copied().chain([ptx.len()]);
    let entries = starts.iter().zip(ends).map(|(&start, end)| {
        let text = &ptx[start..end];
        let name = text[ENTRY.len()..].split('(').next().unwrap_or_default();
        (name, text)
    });
    (&ptx[..starts.first().copied().unwrap_or(ptx.len())], entries.collect())
}

/// The bytes of static shared memory that an entry point uses: the arrays declared in the preamble whose name occurs in
/// the entry point, each rounded up to a multiple of 16.
fn static_shared(preamble: &str, entry: &str) -> u32 {
    let declared = preamble.lines().filter_map(|line| {
        let (name, bytes) = line.strip_prefix(".shared .align 16 .b8 ")?.strip_suffix("];")?.split_once('[')?;
        Some((name, bytes.parse::<u32>().ok()?))
    });
    let named = |name: &str| {
        let mut places = entry.match_indices(name).map(|(start, _)| &entry[start + name.len()..]);
        places.any(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    };
    declared.filter(|(name, _)| named(name)).map(|(_, bytes)| bytes.next_multiple_of(16)).sum()
}

/// An entry point of a module that is kept loaded.
#[derive(Clone, Copy)]
pub struct Entry(sys::CUfunction);

// SAFETY: this is a handle, and the driver can be called from any thread.
unsafe impl Send for Entry {}
// SAFETY: as above.
unsafe impl Sync for Entry {}

impl Entry {
    /// Finds the entry point of this name, and lets its blocks have this many bytes of dynamic shared memory.
    fn find(module: &Module, name: &str, shared_bytes: u32) -> Result<Self> {
        let function = module.get_function(name)?.to_raw();
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function lives as long as its module.
        check(unsafe { sys::cuFuncSetAttribute(function, attribute, shared_bytes as i32) })?;
        Ok(Self(function))
    }

    /// The number of blocks, of `threads` threads and `shared` bytes, that fit on a multiprocessor.
    pub fn blocks_per_multiprocessor(self, threads: u32, shared: u32) -> Result<u32> {
        let mut blocks = 0;
        // SAFETY: as above; the pointer is that of a local.
        let code = unsafe {
            sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, self.0, threads as i32, shared as usize)
        };
        check(code)?;
        Ok(blocks as u32)
    }

    /// Queues a launch.
    ///
    /// # Safety
    /// `params` must be the parameters that the kernel takes. The memory it points to must live until the stream is
    /// done. The kernel must allow the shape.
    pub unsafe fn launch<P>(self, stream: &Stream, shape: Shape, params: &P) -> Result<()> {
        let mut arguments = [std::ptr::from_ref(params).cast_mut().cast::<c_void>()];
        let ([gx, gy, gz], [bx, by, bz]) = (shape.grid, shape.block);
        // SAFETY: as this function's; the driver copies the parameters before it returns.
        check(unsafe {
            sys::cuLaunchKernel(
                self.0,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                shape.shared_bytes,
                stream.as_inner(),
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        })
    }
}

/// The most bytes of shared memory that a block can opt in to.
pub fn shared_memory(device: &Device) -> Result<u32> {
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
    let mut bytes = 0;
    // SAFETY: the pointer is that of a local.
    check(unsafe { sys::cuDeviceGetAttribute(&mut bytes, attribute, device.as_raw()) })?;
    Ok(bytes as u32)
}

/// The names of the entry points in each PTX.
#[cfg(test)]
pub fn entry_points() -> Vec<Vec<&'static str>> {
    PTX.iter().map(|(_, ptx)| split(ptx).1.into_keys().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ptx_is_split_into_whole_entry_points() {
        for (_, ptx) in PTX {
            let (preamble, texts) = split(ptx);
            assert!(preamble.starts_with(".version") && !preamble.contains(ENTRY));
            assert_eq!(texts.len(), ptx.matches(ENTRY).count());
            for (name, text) in texts {
                assert_eq!(text.matches('{').count(), text.matches('}').count(), "{name}");
            }
        }
    }

    #[test]
    fn shared_memory_counts_where_it_is_named() {
        let preamble = ".version 6.3\n.shared .align 16 .b8 s_1[48];\n.shared .align 16 .b8 s_10[5];\n\n.extern .shared .align 16 .b8 d[];\n";
        assert_eq!(static_shared(preamble, "mov.u32 %r1, s_10;"), 16);
        assert_eq!(static_shared(preamble, "mov.u32 %r1, s_1; mov.u32 %r2, d;"), 48);
        assert_eq!(static_shared(preamble, "ret;"), 0);
    }
}
