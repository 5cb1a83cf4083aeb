//! One evaluation of the metric: the joint histogram, linear, and the entropies of it.

use crate::subject::{HEAD, THREADS, ball, on};
use criterion::{Bencher, BenchmarkId, Criterion, Throughput};
use glam::DVec3;
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;
use mireg::backend::{Backend, HistogramMethod, Pair, cpu, cuda::Cuda};
use mireg::image::StoredImage;
use mireg::registration::voxel_map;
use mireg::transform::Rigid;
use mireg::{Geometry, Volume};
use std::hint::black_box;

const BINS: [u32; 3] = [64, 100, 256];
const LARGE: [usize; 3] = [256; 3];

/// Evaluations on the CPU and, where there is one, on the GPU.
pub fn evaluations(criterion: &mut Criterion) {
    let cuda = Cuda::open().ok();
    // The largest is for the GPU: the CPU would take its time without saying anything new.
    let sizes = if cuda.is_some() { &[[128; 3], HEAD, LARGE][..] } else { &[[128; 3], HEAD] };
    for &size in sizes {
        // All counts of bins here are stored alike.
        let stored = |volume: Volume| StoredImage::new(&volume, volume.range(), BINS[0]);
        let (fixed, moving) = (stored(ball(size, 300.0)), stored(ball(size, -200.0)));
        let map = oblique(size);
        let [x, y, z] = size;
        let mut group = criterion.benchmark_group(format!("metric {x}x{y}x{z}"));
        group.throughput(Throughput::Elements((x * y * z) as u64));
        for bins in BINS {
            let fixed = fixed.bins(bins);
            let pair = Pair { fixed: &fixed, moving: &moving, bins: [bins; 2], interpolator: Interpolator::Linear };
            for (name, threads) in THREADS.into_iter().filter(|_| size != LARGE) {
                let id = BenchmarkId::new(format!("cpu, {name}"), bins);
                group.bench_function(id, |bencher| on(threads, || evaluate(bencher, &cpu::Cpu, pair, &[map])));
            }
            if let Some(cuda) = &cuda {
                for batch in [1, 8] {
                    let id = BenchmarkId::new(format!("cuda, {batch} at once"), bins);
                    group.bench_function(id, |bencher| evaluate(bencher, cuda, pair, &vec![map; batch]));
                }
            }
        }
    }
}

/// Entropies of counts that are there already, on the CPU.
pub fn entropies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("entropies");
    for bins in BINS {
        let counts: Vec<u32> = (0..bins * bins).map(|n| n * n % 1009).collect();
        group.bench_function(BenchmarkId::new("cpu", bins), |bencher| {
            bencher.iter(|| cpu::entropies(black_box(&counts), [bins; 2]));
        });
    }
}

fn evaluate(bencher: &mut Bencher, backend: &dyn Backend, pair: Pair, maps: &[Affine]) {
    let mut loaded = backend.load(pair, HistogramMethod::Auto).expect("the pair fits");
    bencher.iter(|| loaded.evaluate(maps).expect("the device works"));
}

/// A rotation about all axes and a shift, as in the middle of a registration.
fn oblique(size: [usize; 3]) -> Affine {
    let grid = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
    let (angles, translation) = (DVec3::new(0.12, -0.15, 0.2), DVec3::new(3.3, -2.2, 1.1));
    voxel_map(&grid, &grid, &Rigid { angles, translation, centre: grid.centre() }.to_affine())
}
