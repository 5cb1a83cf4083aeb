use glam::DVec3;
use gpu::params::Affine;
use mireg::backend::cuda::Cuda;
use mireg::backend::*;
use mireg::image::StoredImage;
use mireg::*;
fn main() {
    let n = 64usize;
    let g = Geometry::axis_aligned([n, n, n], DVec3::ONE, DVec3::ZERO);
    let mut s = 1u64;
    let mut r = move || {
        s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (s >> 40) as f32 / (1 << 24) as f32
    };
    let v = Volume { geometry: g, voxels: (0..n * n * n).map(|_| r()).collect(), pixel: PixelType::F32 };
    let m = StoredImage::new(&v, (0.0, 1.0), 1024);
    let map = Affine { rows: [[1.0, 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.]] };
    let cuda = Cuda::open().unwrap();
    for ratio in [35.0, 60.0, 6.0] {
        for n in [1000u32, 4000, 10000, 100000] {
            let mut samples: Vec<Sample> = (0..2 * n)
                .map(|_| Sample {
                    voxel: [(r() * 63.0) as u32, (r() * 63.0) as u32, (r() * 63.0) as u32],
                    value: r() * 65535.0,
                })
                .collect();
            for sorted in [true, false] {
                if sorted {
                    let (a, b) = samples.split_at_mut(n as usize);
                    a.sort_by(|x, y| x.value.total_cmp(&y.value));
                    b.sort_by(|x, y| x.value.total_cmp(&y.value));
                } else {
                    for i in (1..2 * n as usize).rev() {
                        let j = (r() * (i as f32)) as usize;
                        samples.swap(i, j);
                    }
                }
                for joint in [None, Some([65535.0 / ratio * 1.3; 2])] {
                    for e in [Exponentials::Exact, Exponentials::Fast] {
                        if !sorted && ratio != 35.0 {
                            continue;
                        }
                        let pair = ViolaPair {
                            samples: &samples,
                            groups: &[Group { a: 0..n, b: n..2 * n }],
                            moving: &m,
                            sigmas: Sigmas { fixed: 65535.0 / ratio, moving: 65535.0 / ratio, joint },
                            exponentials: e,
                        };
                        let mut l = cuda.load_viola(pair).unwrap();
                        l.slopes(&[map]).unwrap();
                        let t = if n > 50000 { 3 } else { 30 };
                        let a = l.seconds(&[map], false, t).unwrap().unwrap();
                        let b = l.seconds(&[map], true, t).unwrap().unwrap();
                        let c = std::time::Instant::now();
                        for _ in 0..t {
                            l.values(&[map]).unwrap();
                        }
                        let w = c.elapsed().as_secs_f64() / t as f64;
                        println!(
                            "range/sigma {ratio:4} n {n:6} sorted {sorted:5} joint {:5} {:?}: value {:9.2} us {:.3}e12 pairs/s, slope {:9.2} us x{:.2}, wall {:.2} us",
                            joint.is_some(),
                            e,
                            a * 1e6,
                            (n as f64).powi(2) / a / 1e12,
                            b * 1e6,
                            b / a,
                            w * 1e6
                        );
                    }
                }
            }
        }
    }
}
