//! The doors of the library: an [`Engine`], and a function for each of its runs.

use crate::backend::{self, Auto, Backend, BackendKind, Chosen, Cuda, Gpu, Resident, Tensor, Work, cuda};
use crate::cost;
use crate::deform::{self, Deformation};
use crate::mesh::{self, Found};
use crate::metric::{self, Comparison, Evaluation};
use crate::registration::{self, Options, Registration};
use crate::slices::{self, Slices};
use crate::template::{self, Template};
use crate::threads::{Threads, Width};
use crate::transform::{Field, TransformMap};
use crate::{Geometry, Observer, Resampled, Resampling, Result, Silent, Volume, resample};
use glam::{DAffine3, DVec3};
use std::path::Path;
use std::time::Instant;

/// A device with threads beside it, for any number of runs, from any number of threads at once.
///
/// With [`BackendKind::Auto`] runs are done on the CPU as long as that is sooner done than opening a GPU. What is found has the same bits on
/// either. A run has the engine's number of CPU threads. Where others are under way, a registration has its share of them. Results depend
/// neither on the device nor on the threads.
///
/// # Errors
/// Every run ends with [`Error::Stopped`](crate::Error::Stopped) once its observer does not [proceed](Observer::proceed).
pub struct Engine {
    device: Device,
    threads: Threads,
}

/// Where an engine's runs are done.
enum Device {
    /// On this backend, of this kind, which took so many seconds to open.
    Opened(Box<dyn Backend>, BackendKind, f64),
    /// On the GPU, which may be opened while something else is done.
    Gpu(Box<Gpu>),
    Auto(Box<Auto>),
}

impl Engine {
    /// Opens a backend and starts CPU threads, 0 for one per core. Where [`BackendKind::Auto`] finds no GPU, the observer gets a note.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where the backend is not there, or the operating system refuses the threads.
    pub fn open(kind: BackendKind, threads: usize, observer: &dyn Observer) -> Result<Self> {
        Self::with(kind, Threads::start(threads)?, observer)?.opened()
    }

    /// The same without waiting for a GPU's driver, which takes some tenths of a second to start: [`Engine::backend`] opens the GPU, in
    /// another thread while files are read, or else the first run that needs it.
    ///
    /// # Errors
    /// As [`Engine::open`]; where there is a driver, but no GPU, runs end with the error.
    pub fn unopened(kind: BackendKind, threads: usize, observer: &dyn Observer) -> Result<Self> {
        Self::with(kind, Threads::start(threads)?, observer)
    }

    /// Opens the NVIDIA GPU of this number among those that the driver shows, from 0: see [`gpus`](crate::backend::gpus).
    ///
    /// # Errors
    /// As [`Engine::open`].
    pub fn open_gpu(number: usize, threads: usize) -> Result<Self> {
        let clock = Instant::now();
        let cuda = Box::new(Cuda::numbered(number)?);
        let device = Device::Opened(cuda, BackendKind::Cuda, clock.elapsed().as_secs_f64());
        Ok(Self { device, threads: Threads::start(threads)? })
    }

    fn with(kind: BackendKind, threads: Threads, observer: &dyn Observer) -> Result<Self> {
        let clock = Instant::now();
        let device = match kind {
            BackendKind::Auto => Device::Auto(Box::new(Auto::new(observer))),
            BackendKind::Cuda if cuda::has_driver() => Device::Gpu(Box::default()),
            kind => Device::Opened(backend::open(kind)?, kind, clock.elapsed().as_secs_f64()),
        };
        Ok(Self { device, threads })
    }

    /// The same once a GPU that was asked for is open.
    fn opened(self) -> Result<Self> {
        if let Device::Gpu(gpu) = &self.device {
            gpu.open()?;
        }
        Ok(self)
    }

    /// The same threads with another backend.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where the backend is not there.
    pub fn on(self, kind: BackendKind, observer: &dyn Observer) -> Result<Self> {
        Self::with(kind, self.threads, observer)?.opened()
    }

    /// Where long runs are done. With [`BackendKind::Auto`] that is the GPU, which is opened for it, if there is one.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where a GPU was asked for that [was not yet opened](Engine::unopened), and there is none.
    pub fn backend(&self) -> Result<&dyn Backend> {
        Ok(match &self.device {
            Device::Opened(backend, ..) => &**backend,
            Device::Gpu(gpu) => gpu.open()?,
            Device::Auto(auto) => auto.best(),
        })
    }

    /// Whether a GPU is open.
    pub fn has_gpu(&self) -> bool {
        match &self.device {
            Device::Opened(_, kind, _) => *kind == BackendKind::Cuda,
            Device::Gpu(gpu) => gpu.opened().is_some(),
            Device::Auto(auto) => auto.has_gpu(),
        }
    }

    /// Seconds that opening the backend took, if it is open; on a GPU mostly the driver's start.
    pub fn opening_seconds(&self) -> f64 {
        match &self.device {
            Device::Opened(.., seconds) => *seconds,
            Device::Gpu(gpu) => gpu.seconds(),
            Device::Auto(auto) => auto.opening_seconds(),
        }
    }

    /// Where a run is done that takes so long with these threads.
    fn run(&self, work: impl FnOnce(usize) -> Work) -> Chosen<'_> {
        match &self.device {
            Device::Opened(backend, kind, _) => Chosen::One(&**backend, *kind),
            Device::Gpu(gpu) => Chosen::Gpu(gpu),
            Device::Auto(auto) => auto.run(work(self.threads.count())),
        }
    }

    /// Runs `work` of the caller's with the engine's threads for everything parallel in it.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where the operating system refuses threads; else what `work` returns.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        self.threads.run(work)
    }

    /// A caller's numbers on the GPU that runs are done on at once as intensities, i fastest: on the host, and there, to be
    /// [lent](Resident::lending) to runs with the volume that is made of them. `None` where they lie elsewhere.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) where memory is short.
    pub fn gathered(&self, tensor: &Tensor) -> Result<Option<(Vec<f32>, Resident<'_>)>> {
        let backend = match &self.device {
            Device::Auto(auto) => Chosen::Auto { auto, waits: false }.at_once()?,
            _ => self.backend()?,
        };
        self.install(|| backend.gathered(tensor))
    }

    /// Finds the linear transform that maximises a metric. Single slices that lie elsewhere in space than in x and y, parallel to
    /// within 2 degrees, are registered in their plane. Their transform is one of three axes.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for options or volumes that cannot be registered, [`Error::Device`](crate::Error::Device) where
    /// memory is short or the device gives up, [`Error::Untrusted`](crate::Error::Untrusted) where the volumes do not overlap.
    pub fn register(
        &self,
        fixed: &Volume,
        moving: &Volume,
        options: &Options,
        observer: &dyn Observer,
    ) -> Result<Registration> {
        let chosen = self.run(|threads| cost::registration([fixed, moving], options, threads));
        self.threads.run_watched(Width::Shared, observer, |observer| {
            let backend = chosen.soonest(observer)?;
            let register = |fixed: &Volume, moving: &Volume, options: &Options| {
                registration::register(fixed, moving, options, backend, observer)
            };
            match Slices::of(&fixed.geometry, &moving.geometry)? {
                Some(slices) => slices.register([fixed, moving], options, register),
                None => register(fixed, moving, options),
            }
        })
    }

    /// Deforms the moving image onto the fixed one: a linear start, then a flow of diffeomorphisms.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for options or volumes that cannot be registered, [`Error::Device`](crate::Error::Device) where
    /// memory is short or the device gives up; with a registration at the start also its errors.
    pub fn deform(
        &self,
        fixed: &Volume,
        moving: &Volume,
        options: &deform::Options,
        observer: &dyn Observer,
    ) -> Result<Deformation> {
        slices::refuse("a deformation", &fixed.geometry, &moving.geometry)?;
        let chosen = self.run(|threads| cost::deformation([&fixed.geometry, &moving.geometry], threads));
        chosen.beside(|| {
            self.threads.run_watched(Width::Whole, observer, |observer| {
                deform::deform(fixed, moving, options, chosen, observer)
            })
        })
    }

    /// Finds the piecewise-affine map between two 2-D images: an affine start, then a mesh of triangles.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for images of several slices, a mesh that does not fit and images without contrast,
    /// [`Error::Device`](crate::Error::Device) where the device gives up, [`Error::Untrusted`](crate::Error::Untrusted) where the images do
    /// not overlap.
    pub fn mesh(
        &self,
        fixed: &Volume,
        moving: &Volume,
        options: &mesh::Options,
        observer: &dyn Observer,
    ) -> Result<Found> {
        slices::refuse("a mesh", &fixed.geometry, &moving.geometry)?;
        let chosen = self.run(|threads| cost::mesh([&fixed.geometry, &moving.geometry], threads));
        self.threads.run_watched(Width::Whole, observer, |observer| {
            mesh::mesh(fixed, moving, options, chosen.soonest(observer)?, observer)
        })
    }

    /// Makes the mean of two images or more in shape and intensity, in which no image is preferred. What is finished is kept in `folder`,
    /// and a later run with the same images and options goes on from there; the folder can be removed at the end. `each` gets the number
    /// and the field, template to image, of every image.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for options or images that cannot be registered, [`Error::File`](crate::Error::File) for a
    /// `folder` that cannot be used, and those of [`Engine::deform`] and of `each`.
    pub fn template(
        &self,
        images: &[Volume],
        options: &template::Options,
        folder: &Path,
        each: &mut (dyn FnMut(usize, &Field) -> Result<()> + Send),
        observer: &dyn Observer,
    ) -> Result<Template> {
        for image in images {
            slices::refuse("a template", &image.geometry, &options.grid.unwrap_or(image.geometry))?;
        }
        let chosen = self.run(|threads| cost::template(images, options.rounds, threads));
        self.threads.run_watched(Width::Whole, observer, |observer| {
            template::template(images, options, folder, each, chosen, observer)
        })
    }

    /// Compares two images at full resolution: see [`metric::evaluate`].
    ///
    /// # Errors
    /// Those of [`metric::evaluate`].
    pub fn evaluate(
        &self,
        fixed: &Volume,
        moving: &Volume,
        transform: &DAffine3,
        comparison: &Comparison,
    ) -> Result<Evaluation> {
        let backend = self.run(|threads| cost::look([&fixed.geometry, &moving.geometry], threads)).at_once()?;
        self.install(|| metric::evaluate(fixed, moving, transform, comparison, backend))
    }

    /// Resamples an image on another grid, through a transform or back: see [`resample::resample`].
    ///
    /// # Errors
    /// Those of [`resample::resample`].
    pub fn resample(&self, image: &Volume, grid: &Geometry, map: &TransformMap, how: &Resampling) -> Result<Resampled> {
        let backend = self.run(|threads| cost::look([&image.geometry, grid], threads)).at_once()?;
        self.install(|| resample::resample(image, grid, map, how, backend))
    }

    /// The same through any map of points, on the CPU: see [`resample::resample_through`].
    ///
    /// # Errors
    /// Those of [`resample::resample_through`].
    pub fn resample_through(
        &self,
        image: &Volume,
        grid: &Geometry,
        map: impl Fn(DVec3) -> DVec3 + Sync,
        how: &Resampling,
    ) -> Result<Resampled> {
        self.install(|| resample::resample_through(image, grid, &map, how))
    }
}

/// [`Engine::register`] on an engine that is opened for it: the GPU if there is one, one thread per core.
///
/// # Errors
/// Those of [`Engine::open`] and [`Engine::register`].
pub fn register(fixed: &Volume, moving: &Volume, options: &Options) -> Result<Registration> {
    opened()?.register(fixed, moving, options, &Silent)
}

/// [`Engine::deform`] on an engine that is opened for it: the GPU if there is one, one thread per core.
///
/// # Errors
/// Those of [`Engine::open`] and [`Engine::deform`].
pub fn deform(fixed: &Volume, moving: &Volume, options: &deform::Options) -> Result<Deformation> {
    opened()?.deform(fixed, moving, options, &Silent)
}

/// [`Engine::mesh`] on an engine that is opened for it: the GPU if there is one, one thread per core.
///
/// # Errors
/// Those of [`Engine::open`] and [`Engine::mesh`].
pub fn mesh(fixed: &Volume, moving: &Volume, options: &mesh::Options) -> Result<Found> {
    opened()?.mesh(fixed, moving, options, &Silent)
}

fn opened() -> Result<Engine> {
    Engine::open(BackendKind::Auto, 0, &Silent)
}
