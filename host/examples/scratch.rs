use glam::*;
use mireg::*;
fn volume(n: &str) -> Volume {
    let t: Vec<f64> =
        std::fs::read_to_string(format!("/tmp/raw/{n}.txt")).unwrap().split(' ').map(|v| v.parse().unwrap()).collect();
    let voxels = std::fs::read(format!("/tmp/raw/{n}.f32"))
        .unwrap()
        .chunks_exact(4)
        .map(|c| f32::from_le_bytes(c.try_into().unwrap()))
        .collect();
    let geometry = Geometry {
        size: [t[0] as usize, t[1] as usize, t[2] as usize],
        spacing: DVec3::new(t[3], t[4], t[5]),
        origin: DVec3::new(t[6], t[7], t[8]),
        direction: DMat3::from_cols_slice(&t[9..]).transpose(),
    };
    Volume { geometry, voxels, pixel: PixelType::U8 }
}
fn doubles(n: &str) -> Vec<f64> {
    std::fs::read(n).unwrap().chunks_exact(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect()
}
fn main() {
    let mut all = vec![];
    let bins = std::env::var("BINS").map(|b| b.parse().unwrap()).unwrap_or(64);
    for n in std::env::args().skip(1) {
        let (f, m) = (volume(&format!("{n}_fixed")), volume(&format!("{n}_moving")));
        let o = Options { metric: metric::MetricKind::Nmi, bins, backend: backend::BackendKind::Cpu, threads: 2 };
        let t0 = std::time::Instant::now();
        let r = register(&f, &m, &o, &()).unwrap();
        let dt = t0.elapsed().as_secs_f64();
        let t = doubles(&format!("/tmp/raw/{n}_truth.f64"));
        let truth =
            DAffine3::from_cols_array(&[t[0], t[4], t[8], t[1], t[5], t[9], t[2], t[6], t[10], t[3], t[7], t[11]]);
        let a = r.transform.to_affine();
        let p = doubles(&format!("/tmp/raw/{n}_pts.f64"));
        let e: Vec<f64> = p
            .chunks_exact(3)
            .map(|p| {
                let p = DVec3::from_slice(p);
                a.transform_point3(p).distance(truth.transform_point3(p))
            })
            .collect();
        let mean = e.iter().sum::<f64>() / e.len() as f64;
        all.push(mean);
        println!(
            "{n} {dt:.2} s TRE {mean:.3} max {:.3} nmi {:.5} -> {:.5} from {} | {:?} | {:?}",
            e.iter().fold(0.0, |a: f64, &b| a.max(b)),
            r.start.nmi,
            r.end.nmi,
            r.started_from,
            r.levels.iter().map(|l| (l.spacing_mm[0].round(), l.evaluations)).collect::<Vec<_>>(),
            r.seconds
        );
    }
    all.sort_by(f64::total_cmp);
    println!("median {:.3}", all[all.len() / 2]);
}
