//! Interpolates the moving image at the positions of a chunk.

// Loops over lanes index several arrays at once.
#![allow(clippy::needless_range_loop)]

use super::{CHUNK, Lanes};
use gpu::math::interpolate::{self, Interpolator};
use gpu::math::{cubic, eight_bit};

/// Trilinear values of 8-bit levels at positions inside. `words` are the [words](eight_bit::word) of an image of
/// `size`, with padding.
#[inline(always)]
pub fn linear(words: &[u32], size: [u32; 3], positions: &[Lanes; 3]) -> Lanes {
    let (mut index, mut weights, mut fraction) = ([0; CHUNK], [0; CHUNK], [0.0; CHUNK]);
    for l in 0..CHUNK {
        // SAFETY: the position is inside.
        let place = unsafe { eight_bit::place([positions[0][l], positions[1][l], positions[2][l]], size) };
        index[l] = place.index;
        (weights[l], fraction[l]) = place.fraction;
    }
    let planes = [gather(words, &index, 0), gather(words, &index, size[0] * size[1])];
    let mut values = [0.0; CHUNK];
    for l in 0..CHUNK {
        let place = eight_bit::Place { index: index[l], fraction: (weights[l], fraction[l]) };
        values[l] = eight_bit::value([planes[0][l], planes[1][l]], place);
    }
    values
}

/// The words `offset` voxels from each index.
#[inline(always)]
fn gather(words: &[u32], index: &[u32; CHUNK], offset: u32) -> [u32; CHUNK] {
    let mut gathered = [0; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: within the image and its padding. Vector gathers take signed offsets.
        gathered[l] = unsafe { *words.as_ptr().offset((index[l] + offset) as i32 as isize) };
    }
    gathered
}

/// Trilinear values of 16-bit voxels at positions inside. `moving` is followed by [`interpolate::padding`].
#[inline(always)]
pub fn fine_linear(moving: &[u16], size: [u32; 3], positions: &[Lanes; 3]) -> Lanes {
    let (words, fraction) = neighbours(moving, size, positions);
    let mut values = [0.0; CHUNK];
    for l in 0..CHUNK {
        let words = [words[0][l], words[1][l], words[2][l], words[3][l]];
        values[l] = interpolate::linear(words, [fraction[0][l], fraction[1][l], fraction[2][l]]);
    }
    values
}

/// As [`fine_linear`], with the derivatives along x, y and z.
#[inline(always)]
pub fn linear_slope(moving: &[u16], size: [u32; 3], positions: &[Lanes; 3]) -> (Lanes, [Lanes; 3]) {
    let last = interpolate::last(size);
    let (words, fraction) = neighbours(moving, size, positions);
    let (mut values, mut slopes) = ([0.0; CHUNK], [[0.0; CHUNK]; 3]);
    for l in 0..CHUNK {
        let words = [words[0][l], words[1][l], words[2][l], words[3][l]];
        let (value, slope) = interpolate::linear_slope(words, [fraction[0][l], fraction[1][l], fraction[2][l]]);
        let slope = interpolate::inner(slope, [positions[0][l], positions[1][l], positions[2][l]], last);
        values[l] = value;
        for axis in 0..3 {
            slopes[axis][l] = slope[axis];
        }
    }
    (values, slopes)
}

/// The words and fractions that [`interpolate::linear`] takes.
#[inline(always)]
fn neighbours(moving: &[u16], size: [u32; 3], positions: &[Lanes; 3]) -> ([[u32; CHUNK]; 4], [Lanes; 3]) {
    let mut index = [0; CHUNK];
    let mut fraction = [[0.0; CHUNK]; 3];
    for l in 0..CHUNK {
        // SAFETY: the position is inside.
        let place = unsafe { interpolate::place([positions[0][l], positions[1][l], positions[2][l]], size) };
        index[l] = place.index;
        for axis in 0..3 {
            fraction[axis][l] = place.fraction[axis];
        }
    }
    let [y, z] = [size[0], size[0] * size[1]];
    (
        [
            gather_pairs(moving, &index, 0),
            gather_pairs(moving, &index, y),
            gather_pairs(moving, &index, z),
            gather_pairs(moving, &index, y + z),
        ],
        fraction,
    )
}

/// The words of two neighbours along x, `offset` voxels from each index.
#[inline(always)]
fn gather_pairs(moving: &[u16], index: &[u32; CHUNK], offset: u32) -> [u32; CHUNK] {
    let mut words = [0; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: within the image and its padding.
        let pair =
            unsafe { moving.as_ptr().offset((index[l] + offset) as i32 as isize).cast::<u32>().read_unaligned() };
        words[l] = u32::from_le(pair);
    }
    words
}

/// Cubic values at positions inside, clamped to the range of stored values. `volume` is the padded volume of an image
/// of `size`.
#[inline(always)]
pub fn cubic<const HOW: u32>(volume: &[f32], size: [u32; 3], positions: &[Lanes; 3]) -> Lanes {
    let size = cubic::padded(size);
    let mut index = [0; CHUNK];
    // Indexed by axis, tap and lane.
    let mut weights = [[[0.0; CHUNK]; 3]; 3];
    for l in 0..CHUNK {
        // SAFETY: the position is inside, and so in the padded volume.
        let place = unsafe { interpolate::place([positions[0][l], positions[1][l], positions[2][l]], size) };
        index[l] = place.index;
        let found = cubic::weights(Interpolator::of(HOW), place.fraction);
        for axis in 0..3 {
            for tap in 0..3 {
                weights[axis][tap][l] = found[axis][tap];
            }
        }
    }
    let of_lane = |axis: usize, l: usize| [weights[axis][0][l], weights[axis][1][l], weights[axis][2][l]];
    let mut columns = [[0.0; 4]; CHUNK];
    for l in 0..CHUNK {
        // The volatile read keeps the compiler from vectorising over lanes. The four taps along x lie side by side in
        // memory, and gathers would take longer than reading them.
        // SAFETY: the padding goes as far as the taps.
        columns[l] = unsafe {
            let index = std::ptr::read_volatile(&index[l]);
            cubic::columns(volume, index, size, of_lane(1, l), of_lane(2, l))
        };
    }
    let mut values = [0.0; CHUNK];
    for l in 0..CHUNK {
        values[l] = cubic::clamp(cubic::mix(columns[l], of_lane(0, l)));
    }
    values
}

/// Trilinear values of a volume without padding at positions inside: as [`interpolate::at`].
#[inline(always)]
pub fn volume_linear(voxels: &[f32], size: [u32; 3], positions: &[Lanes; 3]) -> Lanes {
    assert!(voxels.len() == size.iter().map(|&n| n as usize).product::<usize>());
    let (last, stride) = (interpolate::last(size), [1, size[0], size[0] * size[1]]);
    let (mut index, mut steps, mut fraction) = ([0; CHUNK], [[0; CHUNK]; 3], [[0.0; CHUNK]; 3]);
    for l in 0..CHUNK {
        let position = [positions[0][l], positions[1][l], positions[2][l]];
        // SAFETY: the position is inside.
        let place = unsafe { interpolate::place(position, size) };
        index[l] = place.index;
        for axis in 0..3 {
            fraction[axis][l] = place.fraction[axis];
            steps[axis][l] = if position[axis] < last[axis] { stride[axis] } else { 0 };
        }
    }
    let mut corners = [[0.0; CHUNK]; 8];
    for corner in 0..8 {
        for l in 0..CHUNK {
            let step = |axis: usize| if corner >> axis & 1 == 1 { steps[axis][l] } else { 0 };
            // SAFETY: a voxel of the volume. Vector gathers take signed offsets.
            corners[corner][l] =
                unsafe { *voxels.as_ptr().offset((index[l] + step(0) + step(1) + step(2)) as i32 as isize) };
        }
    }
    let mut values = [0.0; CHUNK];
    for l in 0..CHUNK {
        let row = |first: usize| interpolate::lerp(corners[first][l], corners[first + 1][l], fraction[0][l]);
        let plane = |first: usize| interpolate::lerp(row(first), row(first + 2), fraction[1][l]);
        values[l] = interpolate::lerp(plane(0), plane(4), fraction[2][l]);
    }
    values
}

/// The values of the nearest voxels at positions inside.
#[inline(always)]
pub fn nearest(moving: &[u16], size: [u32; 3], positions: &[Lanes; 3]) -> Lanes {
    let mut values = [0.0; CHUNK];
    for l in 0..CHUNK {
        // SAFETY: the position is inside.
        let index = unsafe { interpolate::nearest([positions[0][l], positions[1][l], positions[2][l]], size) };
        values[l] = f32::from(moving[index as usize]);
    }
    values
}
