//! Converts the numbers of numpy's arrays to intensities.

use mireg::threads::made_by_piece;
use ndarray::{ArrayView3, ArrayViewMut3, Axis, ShapeBuilder, Slice, Zip};
use numpy::{PyArray3, PyArrayMethods, PyUntypedArray};
use pyo3::prelude::*;

use crate::engine::with_threads;

/// Planes that a thread converts at once. If k is the fastest axis of the array, whole cache lines are then read, and
/// still written.
const PLANES: usize = 16;

/// Converts the numbers of an array indexed (i, j, k), of any strides, to intensities with i fastest, with all threads.
/// Returns `None` for a type that files cannot hold.
pub fn intensities(py: Python<'_>, array: &Bound<'_, PyUntypedArray>) -> PyResult<Option<Vec<f32>>> {
    macro_rules! of_type {
        ($($type:ty)*) => {
            $(if let Ok(array) = array.cast::<PyArray3<$type>>() {
                let array = array.try_readonly()?;
                let numbers = array.as_array();
                return with_threads(py, || Ok(Some(gather(numbers, |number| number as f32))));
            })*
        };
    }
    of_type!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64);
    Ok(None)
}

fn gather<T: Copy + Sync>(numbers: ArrayView3<'_, T>, intensity: impl Fn(T) -> f32 + Sync) -> Vec<f32> {
    let (width, height, depth) = numbers.dim();
    let [i, _, k] = [0, 1, 2].map(|axis| numbers.stride_of(Axis(axis)).abs());
    made_by_piece(numbers.len(), width * height * PLANES, |piece, voxels| {
        let planes = Slice::from(piece * PLANES..depth.min((piece + 1) * PLANES));
        let mut numbers = numbers.slice_axis(Axis(2), planes);
        let Ok(mut slab) = ArrayViewMut3::from_shape(numbers.raw_dim().f(), voxels) else { return };
        if i > k {
            // If k is faster than i, i and j change places in the loop, so that what is written stays in few cache
            // lines.
            slab.swap_axes(0, 1);
            numbers.swap_axes(0, 1);
        }
        Zip::from(slab).and(numbers).for_each(|voxel, &number| *voxel = intensity(number));
    })
}
