//! The ordered sums of [`crate::math::entropy`], computed by a warp.

use crate::math::entropy::LANES;
use core::ops::Add;
use cuda_std::warp;

/// Numbers that a lane reads together.
const READS_AT_ONCE: usize = 4;

/// Returns this lane's partial sum, one of [`LANES`], over `n` values. `read` reads the value at an index, four at a
/// time so that the reads overlap. `take` is called with each index and its value (0 beyond `n`), and `term` converts a
/// value to the term that is summed.
#[inline(always)]
pub fn lane_sum<T: Copy + Default>(
    n: u32,
    read: impl Fn(u32) -> T,
    mut take: impl FnMut(u32, T),
    term: impl Fn(T) -> f64,
) -> f64 {
    let mut sum = 0.0;
    let mut first = warp::lane_id();
    while first < n {
        let mut values = [T::default(); READS_AT_ONCE];
        for i in 0..READS_AT_ONCE {
            let at = first + (i * LANES) as u32;
            if at < n {
                values[i] = read(at);
            }
        }
        // Values beyond the end are 0 and add 0.
        for i in 0..READS_AT_ONCE {
            take(first + (i * LANES) as u32, values[i]);
        }
        for i in 0..READS_AT_ONCE {
            sum += term(values[i]);
        }
        first += (READS_AT_ONCE * LANES) as u32;
    }
    sum
}

/// [`fold`](crate::math::entropy::fold) over the lanes of a warp. Only lane 0 gets the sum.
///
/// # Safety
/// All lanes of the warp call it.
#[inline(always)]
pub unsafe fn fold<T: warp::Shuffle + Add<Output = T>>(mut sum: T) -> T {
    let mut half = LANES as u32 / 2;
    while half > 0 {
        // SAFETY: the caller says that all lanes come here.
        sum = sum + unsafe { warp::shuffle_down(warp::ALL, sum, half) };
        half /= 2;
    }
    sum
}
