//! Helpers that several topics share.

pub mod allocator;
pub mod landmarks;

use glam::DVec3;
use libtest_mimic::{Failed, Trial};
use mireg::backend::BackendKind;
use mireg::backend::cuda::{self, Cuda};
use mireg::image::StoredImage;
use mireg::{Engine, Geometry, PixelType, Silent, Volume, random};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

/// All types of voxels.
pub const PIXELS: [PixelType; 10] = [
    PixelType::U8,
    PixelType::I8,
    PixelType::U16,
    PixelType::I16,
    PixelType::U32,
    PixelType::I32,
    PixelType::U64,
    PixelType::I64,
    PixelType::F32,
    PixelType::F64,
];

/// Returns the means of blocks of `factors` voxels along each axis, as thicker voxels show them.
pub fn block_means(volume: &Volume, factors: [usize; 3]) -> Volume {
    let old = &volume.geometry;
    let scale = DVec3::from(factors.map(|n| n as f64));
    let geometry = Geometry {
        size: [0, 1, 2].map(|axis| old.size[axis] / factors[axis]),
        spacing: scale * old.spacing,
        origin: old.index_to_world().transform_point3((scale - 1.0) / 2.0),
        ..*old
    };
    let [width, height, _] = old.size;
    let mean = |n: usize| {
        let index = geometry.index_of(n);
        let [i, j, k] = [0, 1, 2].map(|axis| factors[axis] * index[axis]..factors[axis] * (index[axis] + 1));
        let voxel = |k, j, i| f64::from(volume.voxels[i + width * (j + height * k)]);
        let sum: f64 = k
            .flat_map(|k| j.clone().map(move |j| (k, j)))
            .map(|(k, j)| i.clone().map(|i| voxel(k, j, i)).sum::<f64>())
            .sum();
        (sum / scale.element_product()) as f32
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(mean).collect(), pixel: volume.pixel }
}

/// Returns an ellipsoid of specks of four voxels, asymmetric within a symmetric outline, on a grid of 48 voxels along
/// each axis.
pub fn specked_ellipsoid(geometry: Geometry) -> Volume {
    let voxel = |n: usize| {
        let [x, y, z] = geometry.index_of(n);
        let off = (DVec3::new(x as f64, y as f64, z as f64) - 23.5) / DVec3::new(18.0, 21.0, 20.0);
        let speck = random::uniform(3, ((x / 4) * 10_000 + (y / 4) * 100 + z / 4) as u64);
        if off.length() > 1.0 { 0.0 } else { 100.0 + 60.0 * speck as f32 }
    };
    Volume { geometry, voxels: (0..geometry.voxels()).map(voxel).collect(), pixel: PixelType::F32 }
}

/// Returns a volume with its rows reversed, as from a header that lost a sign.
pub fn mirrored(volume: &Volume) -> Volume {
    let rows = volume.voxels.chunks(volume.geometry.size[0]).flat_map(|row| row.iter().rev().copied());
    Volume { voxels: rows.collect(), ..volume.clone() }
}

/// Returns whether tests on a GPU are reported as ignored: if there is no GPU, unless `MIREG_REQUIRE_GPU` is set.
pub fn gpu_is_absent() -> bool {
    std::env::var_os("MIREG_REQUIRE_GPU").is_none() && cuda::available().is_err()
}

/// The first GPU, locked for one test at a time, because compute-sanitizer's racecheck hangs if threads share it.
pub struct Gpu {
    cuda: Cuda,
    _turn: MutexGuard<'static, ()>,
}

impl Deref for Gpu {
    type Target = Cuda;

    fn deref(&self) -> &Cuda {
        &self.cuda
    }
}

/// Returns an engine of this backend with this many threads.
pub fn engine(backend: BackendKind, threads: usize) -> Engine {
    Engine::open(backend, threads, &Silent).expect("it opens")
}

/// The CPU, for all tests.
pub static CPU: LazyLock<Engine> = LazyLock::new(|| engine(BackendKind::Cpu, 0));

/// Waits for its turn and opens the GPU.
pub fn gpu() -> Result<Gpu, Failed> {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    Ok(Gpu { cuda: Cuda::open()?, _turn: turn })
}

/// A test that fails by panicking.
pub fn trial(name: impl Into<String>, test: impl FnOnce() + Send + 'static) -> Trial {
    Trial::test(name, || {
        test();
        Ok(())
    })
}

/// The folder of real volumes: `MIREG_DATA`, or `../shared/data` beside the repository.
pub fn data_dir() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data");
    let folder = std::env::var_os("MIREG_DATA").map_or(beside, PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// Returns the Python in `MIREG_PYTHON`, which must have SimpleITK, nibabel, nitransforms and h5py. If the variable is
/// unset or empty, returns `None`. If it names a file that does not exist, the tests fail.
pub fn python() -> Option<PathBuf> {
    std::env::var_os("MIREG_PYTHON").filter(|name| !name.is_empty()).map(PathBuf::from)
}

/// Returns a generator of numbers from 0 to 1, the same for the same seed.
pub fn random(seed: u64) -> impl FnMut() -> f32 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32
    }
}

/// Returns the same image with other intensities. `intensity` is called with the voxel's number, its position in LPS
/// mm, and its former intensity.
pub fn by_place(volume: &Volume, intensity: impl Fn(usize, DVec3, f32) -> f32) -> Volume {
    let [width, height, _] = volume.geometry.size;
    let to_mm = volume.geometry.index_to_world();
    let index = |n: usize| DVec3::new((n % width) as f64, (n / width % height) as f64, (n / width / height) as f64);
    let voxels = volume.voxels.iter().enumerate();
    let voxels = voxels.map(|(n, &v)| intensity(n, to_mm.transform_point3(index(n)), v)).collect();
    Volume { voxels, ..*volume }
}

/// Returns a volume as stored values in its own intensity range, or in an arbitrary range if it is constant.
pub fn stored(volume: &Volume, bins: u32) -> StoredImage {
    let (low, high) = volume.range();
    StoredImage::new(volume, if low < high { (low, high) } else { (low - 1.0, high + 1.0) }, bins)
}
