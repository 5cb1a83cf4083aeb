use glam::*;
use mireg::backend::{self, *};
use mireg::image::*;
use mireg::*;
use gpu::math::interpolate::Interpolator;
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let kind = match std::env::var("BACKEND").as_deref() { Ok("cuda") => BackendKind::Cuda, _ => BackendKind::Cpu };
    let threads = std::env::var("THREADS").map(|b| b.parse().unwrap()).unwrap_or(2);
    let bins: u32 = std::env::var("BINS").map(|b| b.parse().unwrap()).unwrap_or(64);
    if args[0] == "cpu" {
        let oncpu = || std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse::<f64>().unwrap();
        let f = io::read("/work/shared/data/cases/bw_00/fixed.nii.gz".as_ref()).unwrap();
        let m = io::read("/work/shared/data/cases/bw_00/moving.nii.gz".as_ref()).unwrap();
        let (fi, mi) = (StoredImage::new(&f, f.range()).bins(bins), StoredImage::new(&m, m.range()));
        threads::with(1, || {
            let t = transform::Rigid { angles: DVec3::new(0.12, -0.15, 0.2), translation: DVec3::new(3.3, -2.2, 1.1), centre: f.geometry.centre() };
            let a = registration::voxel_map(&f.geometry, &m.geometry, &t.to_affine());
            let mut e = cpu::Cpu.load(Pair { fixed: &fi, moving: &mi, bins: [bins; 2], interpolator: Interpolator::Linear })?;
            for _ in 0..4 { let c = oncpu(); let v = e.evaluate(&[a])?[0]; let d = oncpu() - c; println!("{:.2} ms {:.2} ns/voxel mi {:.12} n {}", d / 1e6, d / fi.bins.len() as f64, v.mi, v.counts); }
            for _ in 0..2 { let c = oncpu(); let v = image::pyramid::coarser(&f, 2.0); let d = oncpu() - c; println!("coarser {:.2} ms {}", d / 1e6, v.voxels.len()); }
            let c = oncpu(); let r = f.range(); println!("range {:.2} ms {r:?}", (oncpu() - c) / 1e6);
            let c = oncpu(); let st = StoredImage::new(&f, f.range()); println!("store {:.2} ms", (oncpu() - c) / 1e6);
            let c = oncpu(); st.bins(64); println!("bins {:.2} ms", (oncpu() - c) / 1e6);
            let c = oncpu(); cpu::Cpu.resample(&m, f.geometry.size, &a, Interpolator::Linear)?; println!("resample {:.2} ms", (oncpu() - c) / 1e6);
            Ok(())
        }).unwrap();
        return;
    }
    if args[0] == "time" {
        let n: usize = args[1].parse().unwrap();
        let mut s = 1u64;
        let mut r = || { s = s.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407); (s >> 40) as f32 / (1 << 24) as f32 };
        let g = Geometry::axis_aligned([n; 3], DVec3::ONE, DVec3::ZERO);
        let mut vol = |a: f32| { let h = n as f32 / 2.0; Volume { geometry: g, pixel: PixelType::F32, voxels: (0..n * n * n).map(|i| { let (x, y, z) = ((i % n) as f32, (i / n % n) as f32, (i / n / n) as f32);
            let d = ((x - h) / h).powi(2) + ((y - h) / h).powi(2) + ((z - h) / h).powi(2);
            if d < 0.75 { 0.5 + a * (x * 0.13).sin() * (y * 0.11).sin() * (z * 0.09).sin() + 0.06 * r() } else { 0.02 * r() } }).collect() } };
        let (f, m) = (vol(0.3), vol(-0.2));
        threads::with(threads, || {
            let b = backend::open(kind, &())?;
            for bins in [64, 100, 200, 256] {
                let (fi, mi) = (StoredImage::new(&f, f.range()).bins(bins), StoredImage::new(&m, m.range()));
                let mut e = b.load(Pair { fixed: &fi, moving: &mi, bins: [bins; 2], interpolator: Interpolator::Linear })?;
                let t = transform::Rigid { angles: DVec3::new(0.12, -0.15, 0.2), translation: DVec3::new(3.3, -2.2, 1.1), centre: g.centre() };
                let a = registration::voxel_map(&g, &g, &t.to_affine());
                for batch in [1, 8] {
                    let ts = vec![a; batch];
                    let mut all = vec![];
                    let mut v = 0.0;
                    for _ in 0..if kind == BackendKind::Cuda { 200 } else { 5 } { let c = std::time::Instant::now(); v = e.evaluate(&ts)?[0].mi; all.push(c.elapsed().as_secs_f64() * 1e6); }
                    all.sort_by(f64::total_cmp);
                    println!("{} n {n} bins {bins} batch {batch}: median {:.1} us min {:.1} per transform {:.1} mi {v:.12}", b.name(), all[all.len() / 2], all[0], all[all.len() / 2] / batch as f64);
                }
            }
            Ok(())
        }).unwrap();
        return;
    }
    let mut all = vec![];
    let root = std::env::var("CASES").unwrap_or("/work/shared/data/cases".into());
    for n in &args {
        let c = std::time::Instant::now();
        let (f, m) = (io::read(format!("{root}/{n}/fixed.nii.gz").as_ref()).unwrap(), io::read(format!("{root}/{n}/moving.nii.gz").as_ref()).unwrap());
        let read = c.elapsed().as_secs_f64();
        let o = Options { metric: metric::MetricKind::Nmi, bins, backend: kind, threads };
        let t0 = std::time::Instant::now();
        let r = register(&f, &m, &o, &()).unwrap();
        let dt = t0.elapsed().as_secs_f64();
        let j: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(format!("{root}/{n}/truth.json")).unwrap()).unwrap();
        let e = |i: usize, k: usize| j["lps"][i][k].as_f64().unwrap();
        let truth = DAffine3::from_cols(DVec3::new(e(0,0),e(1,0),e(2,0)), DVec3::new(e(0,1),e(1,1),e(2,1)), DVec3::new(e(0,2),e(1,2),e(2,2)), DVec3::new(e(0,3),e(1,3),e(2,3)));
        let a = r.transform.to_affine();
        let mask = io::read(format!("{root}/{n}/mask.nii.gz").as_ref()).unwrap();
        let w = f.geometry.index_to_world();
        let s = f.geometry.size;
        let e: Vec<f64> = (0..mask.voxels.len()).step_by(13).filter(|&i| mask.voxels[i] > 0.0).map(|i| { let p = w.transform_point3(DVec3::new((i % s[0]) as f64, (i / s[0] % s[1]) as f64, (i / s[0] / s[1]) as f64)); a.transform_point3(p).distance(truth.transform_point3(p)) }).collect();
        let mean = e.iter().sum::<f64>() / e.len() as f64;
        all.push(mean);
        println!("{n} {} read {read:.2} reg {dt:.3} s TRE {mean:.3} max {:.3} nmi {:.5} -> {:.5} from {} | {:?} | {:?} | {:x?}", r.backend, e.iter().fold(0.0, |a: f64, &b| a.max(b)), r.start.nmi, r.end.nmi, r.started_from,
            r.levels.iter().map(|l| (l.spacing_mm[0].round(), l.evaluations)).collect::<Vec<_>>(), r.seconds, r.transform.angles.x.to_bits() ^ r.transform.translation.z.to_bits());
    }
    all.sort_by(f64::total_cmp);
    println!("median {:.3}", all[all.len() / 2]);
}
