//! Reads tensors on a GPU by DLPack. The structs are those of its `dlpack.h`.

use std::ffi::c_void;
use std::slice;

use mireg::backend::{Resident, Tensor};
use mireg::io::memory;
use mireg::{Engine, PixelType, Volume};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyCapsule};

use crate::images::{Grid, Voxels};
use crate::watch;

/// The beginning of what a capsule named `dltensor` holds.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: DlDevice,
    ndim: i32,
    dtype: DlDataType,
    shape: *const i64,
    /// In elements. Null if the last axis is the fastest and there are no gaps.
    strides: *const i64,
    byte_offset: u64,
}

#[repr(C)]
struct DlDevice {
    kind: i32,
    id: i32,
}

#[repr(C)]
struct DlDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `kDLCUDA`
const CUDA: i32 = 2;

/// The stream on which tensors are handed over: the default stream.
const STREAM: i32 = 1;

/// An image whose voxels are on a GPU.
#[derive(FromPyObject)]
pub struct OnGpu<'py> {
    grid: Grid,
    /// Indexed (i, j, k); exports itself by DLPack.
    tensor: Bound<'py, PyAny>,
    /// A function that returns the image with its voxels on the host.
    voxels: Bound<'py, PyAny>,
}

impl OnGpu<'_> {
    /// Converts the image for the library. Also returns its voxels on the engine's device, if they lie there.
    pub fn volume<'e>(&self, py: Python<'_>, engine: &'e Engine) -> PyResult<(Volume, Option<Resident<'e>>)> {
        match self.gathered(py, engine)? {
            Some((volume, there)) => Ok((volume, Some(there))),
            None => Ok((self.voxels.call0()?.extract::<Voxels>()?.volume(py)?, None)),
        }
    }

    fn gathered<'e>(&self, py: Python<'_>, engine: &'e Engine) -> PyResult<Option<(Volume, Resident<'e>)>> {
        let stream = [("stream", STREAM)].into_py_dict(py)?;
        let capsule = match self.tensor.call_method("__dlpack__", (), Some(&stream)) {
            Err(refused) if refused.is_instance_of::<PyException>(py) => return Ok(None),
            capsule => capsule?,
        };
        let Some((tensor, pixel)) = capsule.cast::<PyCapsule>().ok().and_then(|capsule| read(capsule, self.grid.size))
        else {
            return Ok(None);
        };
        let (name, geometry) = (&self.grid.name, self.grid.geometry(py)?);
        let gathered = watch::run(py, None, false, |_| {
            let Some((voxels, there)) = engine.gathered(&tensor)? else { return Ok(None) };
            Ok(Some((engine.install(|| memory::volume(name, geometry, voxels, pixel))?, there)))
        });
        // The capsule owns the tensor and gives it back here.
        drop(capsule);
        gathered
    }
}

/// Returns the tensor of a capsule, which is valid as long as the capsule is. Returns `None` for a tensor of another
/// size, on no GPU, or that kernels cannot read.
fn read(capsule: &Bound<'_, PyCapsule>, size: [usize; 3]) -> Option<(Tensor, PixelType)> {
    let pointer = capsule.pointer_checked(Some(c"dltensor")).ok()?.cast::<DlTensor>();
    // SAFETY: a capsule of this name holds a DLManagedTensor, which begins with a DLTensor, until somebody renames it.
    let tensor = unsafe { pointer.as_ref() };
    let (pixel, axes) = (pixel(&tensor.dtype)?, usize::try_from(tensor.ndim).ok()?);
    if tensor.device.kind != CUDA || axes == 0 {
        return None;
    }
    // SAFETY: as many as there are axes, as the format says.
    let shape = unsafe { slice::from_raw_parts(tensor.shape, axes) };
    let strides = match tensor.strides.is_null() {
        true => (0..axes).map(|axis| shape[axis + 1..].iter().product()).collect(),
        // SAFETY: as above.
        false => unsafe { slice::from_raw_parts(tensor.strides, axes) }.to_vec(),
    };
    let axis = |axis: usize| (shape.get(axis).copied().unwrap_or(1), strides.get(axis).copied().unwrap_or(0));
    let [i, j, k] = [0, 1, 2].map(axis);
    let lies = [i, j, k].iter().zip(size).all(|(&(n, _), expected)| usize::try_from(n) == Ok(expected));
    if !lies || shape.iter().skip(3).any(|&n| n != 1) {
        return None;
    }
    let address = (tensor.data as u64).checked_add(tensor.byte_offset)?;
    let gpu = usize::try_from(tensor.device.id).ok()?;
    // SAFETY: the numbers are where the capsule says.
    let read = unsafe { Tensor::new(address, Some(gpu), size, [i.1, j.1, k.1], pixel) };
    Some((read?, pixel))
}

/// Returns the pixel type of a type of DLPack. The codes of signed, unsigned and floating-point numbers are 0, 1 and 2;
/// that of bool is 6.
fn pixel(dtype: &DlDataType) -> Option<PixelType> {
    Some(match (dtype.code, dtype.bits, dtype.lanes) {
        (0, 8, 1) => PixelType::I8,
        (0, 16, 1) => PixelType::I16,
        (0, 32, 1) => PixelType::I32,
        (0, 64, 1) => PixelType::I64,
        (1 | 6, 8, 1) => PixelType::U8,
        (1, 16, 1) => PixelType::U16,
        (1, 32, 1) => PixelType::U32,
        (1, 64, 1) => PixelType::U64,
        (2, 32, 1) => PixelType::F32,
        (2, 64, 1) => PixelType::F64,
        _ => return None,
    })
}
