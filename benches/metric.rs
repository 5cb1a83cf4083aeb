//! Measures one evaluation of the metric: the joint histogram and its entropies. `mireg bench` compares the methods of
//! the GPU.

use crate::subject::{HEAD, THREADS, ball, on};
use criterion::measurement::WallTime;
use criterion::{Bencher, BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use glam::DVec3;
use gpu::math::interpolate::Interpolator;
use gpu::params::Affine;
use mireg::backend::{Backend, HistogramMethod, Pair, Wanted, cpu, cuda::Cuda};
use mireg::image::StoredImage;
use mireg::image::voxel_map;
use mireg::transform::Rigid;
use mireg::{Geometry, Volume};
use std::hint::black_box;

const BINS: [u32; 3] = [64, 100, 256];
const LARGE: [usize; 3] = [256; 3];

const SMALL: [usize; 3] = [128; 3];
const INTERPOLATORS: [(&str, Interpolator); 4] = [
    ("linear", Interpolator::Linear),
    ("nearest", Interpolator::Nearest),
    ("catmull-rom", Interpolator::CatmullRom),
    ("b-spline", Interpolator::BSpline),
];

/// Measures evaluations on the CPU: of a small pair with every interpolator, and of a head, also on one thread. If
/// there is a GPU, also evaluations of a large pair on it.
pub fn evaluations(criterion: &mut Criterion) {
    let small = Images::new(SMALL);
    for (name, interpolator) in INTERPOLATORS {
        let mut group = small.group(criterion, name);
        for bins in BINS {
            small.on_cpu(&mut group, THREADS[1], bins, interpolator);
        }
    }
    let head = Images::new(HEAD);
    let mut group = head.group(criterion, "linear");
    for bins in BINS {
        THREADS.into_iter().for_each(|threads| head.on_cpu(&mut group, threads, bins, Interpolator::Linear));
    }
    drop(group);
    if let Ok(cuda) = Cuda::open() {
        let large = Images::new(LARGE);
        let mut group = large.group(criterion, "linear");
        for bins in BINS {
            [1, 8].into_iter().for_each(|batch| large.on_gpu(&mut group, &cuda, batch, bins));
        }
    }
}

/// A pair of one size.
struct Images {
    fixed: StoredImage,
    moving: StoredImage,
    map: Affine,
}

type Group<'a> = BenchmarkGroup<'a, WallTime>;

impl Images {
    fn new(size: [usize; 3]) -> Self {
        // Images are stored in the same way for all numbers of bins that are measured.
        let stored = |volume: Volume| StoredImage::new(&volume, volume.range(), BINS[0]);
        Self { fixed: stored(ball(size, 300.0)), moving: stored(ball(size, -200.0)), map: oblique(size) }
    }

    fn group<'a>(&self, criterion: &'a mut Criterion, interpolation: &str) -> Group<'a> {
        let [x, y, z] = self.fixed.size;
        let mut group = criterion.benchmark_group(format!("metric {x}x{y}x{z}, {interpolation}"));
        group.throughput(Throughput::Elements((x * y * z) as u64)).sampling_mode(SamplingMode::Flat);
        group
    }

    fn on_cpu(&self, group: &mut Group, (name, threads): (&str, usize), bins: u32, interpolator: Interpolator) {
        let fixed = self.fixed.bins(bins);
        let pair = Pair { fixed: (&fixed).into(), moving: (&self.moving).into(), bins: [bins; 2], interpolator };
        let id = BenchmarkId::new(format!("cpu, {name}"), bins);
        group.bench_function(id, |bencher| on(threads, || evaluate(bencher, &cpu::Cpu, pair, &[self.map])));
    }

    fn on_gpu(&self, group: &mut Group, cuda: &Cuda, batch: usize, bins: u32) {
        let fixed = self.fixed.bins(bins);
        let pair = Pair {
            fixed: (&fixed).into(),
            moving: (&self.moving).into(),
            bins: [bins; 2],
            interpolator: Interpolator::Linear,
        };
        let id = BenchmarkId::new(format!("cuda, {batch} at once"), bins);
        group.bench_function(id, |bencher| evaluate(bencher, cuda, pair, &vec![self.map; batch]));
    }
}

/// Measures the entropies of given counts, on the CPU.
pub fn entropies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("entropies");
    for bins in BINS {
        let counts: Vec<u32> = (0..bins * bins).map(|n| n * n % 1009).collect();
        for (name, wanted) in [("cpu", Wanted::Entropies), ("cpu, with ratios", Wanted::Ratios)] {
            group.bench_function(BenchmarkId::new(name, bins), |bencher| {
                bencher.iter(|| cpu::entropies(black_box(&counts), [bins; 2], wanted));
            });
        }
    }
}

fn evaluate(bencher: &mut Bencher, backend: &dyn Backend, pair: Pair, maps: &[Affine]) {
    let mut loaded = backend.load(pair, HistogramMethod::Auto).expect("the pair fits");
    bencher.iter(|| loaded.evaluate(maps, Wanted::Entropies).expect("the device works"));
}

/// Returns a rotation about all axes with a translation, as in the middle of a registration.
fn oblique(size: [usize; 3]) -> Affine {
    let grid = Geometry::axis_aligned(size, DVec3::ONE, DVec3::ZERO);
    let (angles, translation) = (DVec3::new(0.12, -0.15, 0.2), DVec3::new(3.3, -2.2, 1.1));
    voxel_map(&grid, &grid, &Rigid { angles, translation, centre: grid.centre() }.to_affine())
}
