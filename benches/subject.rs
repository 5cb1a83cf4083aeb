//! The image that is measured: a ball of tissue in air, as two scanners show it; and the numbers of threads.

use glam::DVec3;
use mireg::{Geometry, PixelType, Volume, threads};

/// The size of a head at 1 mm.
pub const HEAD: [usize; 3] = [181, 217, 181];

/// One thread, and one per core.
pub const THREADS: [(&str, usize); 2] = [("1 thread", 1), ("all threads", 0)];

/// Returns a ball in air with waves of this amplitude inside, and noise everywhere, in voxels of 1 mm. Intensities are
/// from 0 to about 1000.
pub fn ball(size: [usize; 3], amplitude: f64) -> Volume {
    let geometry = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
    let half = DVec3::from_array(size.map(|n| n as f64)) / 2.0;
    let mut state = 1_u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(state >> 16) / 65_536.0
    };
    let waves = [0.13, 0.11, 0.09].map(|per_mm| (0..256).map(|n| (f64::from(n) * per_mm).sin()).collect::<Vec<_>>());
    let mut intensity = |[x, y, z]: [usize; 3]| {
        let from_middle = DVec3::new(x as f64, y as f64, z as f64) / half - 1.0;
        let wave = waves[0][x] * waves[1][y] * waves[2][z];
        if from_middle.length() < 0.87 { 500.0 + amplitude * wave + 60.0 * noise() } else { 20.0 * noise() }
    };
    let index = |i: usize| [i % size[0], i / size[0] % size[1], i / size[0] / size[1]];
    let voxels = (0..geometry.voxels()).map(|i| intensity(index(i)).round() as f32).collect();
    Volume { geometry, voxels, pixel: PixelType::I16 }
}

/// Runs `work` on this many threads.
pub fn on(threads: usize, mut work: impl FnMut() + Send) {
    let done = threads::with(threads, || {
        work();
        Ok(())
    });
    done.expect("threads start");
}
