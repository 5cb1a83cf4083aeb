//! The entry points of the library: an [`Engine`], and functions that open one for a single run.

use crate::backend::{self, Auto, Backend, BackendKind, Chosen, Cuda, Gpu, Resident, Tensor, Work, cuda};
use crate::cost;
use crate::deform::{self, Deformation};
use crate::mesh::{self, Found};
use crate::metric::{self, Comparison, Evaluation};
use crate::registration::{self, Options, Registration};
use crate::slices::{self, Slices};
use crate::template::{self, Template};
use crate::threads::{ThreadShare, Threads};
use crate::transform::{Field, TransformMap};
use crate::{Geometry, Observer, Resampled, Resampling, Result, Silent, Volume, resample};
use glam::{DAffine3, DVec3};
use std::path::Path;
use std::time::Instant;

/// A device and CPU threads, for any number of runs, from any number of threads at once.
///
/// With [`BackendKind::Auto`] runs are done on the CPU as long as opening a GPU would not save time. A run uses all CPU
/// threads of the engine. A registration shares them with other runs that are under way. Results do not depend on the
/// device or the number of threads: they have the same bits.
///
/// # Errors
/// Every run ends with [`Error::Stopped`](crate::Error::Stopped) when its observer no longer lets it
/// [proceed](Observer::proceed).
pub struct Engine {
    device: Device,
    threads: Threads,
}

/// The device on which an engine's runs are done.
enum Device {
    /// A backend that is open, its kind, and the seconds that opening it took.
    Opened(Box<dyn Backend>, BackendKind, f64),
    /// A GPU, which may be opened while something else is done.
    Gpu(Box<Gpu>),
    Auto(Box<Auto>),
}

impl Engine {
    /// Opens a backend and starts CPU threads, 0 for one per core. If [`BackendKind::Auto`] finds no GPU, the observer
    /// gets a note.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the backend is not available, or the operating system refuses the
    /// threads.
    pub fn open(kind: BackendKind, threads: usize, observer: &dyn Observer) -> Result<Self> {
        Self::with(kind, Threads::start(threads)?, observer)?.opened()
    }

    /// As [`Engine::open`], but without waiting for a GPU's driver, which takes some tenths of a second to start. The
    /// GPU is opened by the first run that needs it, or by [`Engine::backend`], which can be called in another thread
    /// while files are read.
    ///
    /// # Errors
    /// As [`Engine::open`]. If there is a driver but no GPU, the error is returned by the runs instead.
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

    /// Opens a GPU that was asked for, if it is not open yet.
    fn opened(self) -> Result<Self> {
        if let Device::Gpu(gpu) = &self.device {
            gpu.open()?;
        }
        Ok(self)
    }

    /// Keeps the threads and opens another backend.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the backend is not available.
    pub fn on(self, kind: BackendKind, observer: &dyn Observer) -> Result<Self> {
        Self::with(kind, self.threads, observer)?.opened()
    }

    /// The backend of long runs. With [`BackendKind::Auto`] that is the GPU if there is one, which this opens.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if a GPU was asked for [but not opened](Engine::unopened), and there is
    /// none.
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

    /// Seconds that opening the backend took, if it is open. For a GPU most of it is the start of the driver.
    pub fn opening_seconds(&self) -> f64 {
        match &self.device {
            Device::Opened(.., seconds) => *seconds,
            Device::Gpu(gpu) => gpu.seconds(),
            Device::Auto(auto) => auto.opening_seconds(),
        }
    }

    /// Chooses the backend for a run. `work` estimates its duration with this many threads.
    fn run(&self, work: impl FnOnce(usize) -> Work) -> Chosen<'_> {
        match &self.device {
            Device::Opened(backend, kind, _) => Chosen::One(&**backend, *kind),
            Device::Gpu(gpu) => Chosen::Gpu(gpu),
            Device::Auto(auto) => auto.run(work(self.threads.count())),
        }
    }

    /// Runs the caller's `work` on the engine's threads.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the operating system refuses threads, and the errors of `work`.
    pub fn install<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        self.threads.run(work)
    }

    /// Copies a caller's tensor as intensities, i fastest, to the host and within the memory of the GPU. The latter can
    /// be [lent](Resident::lending) to runs together with a volume made of the former. Returns `None` if the tensor is
    /// not in the memory of the device that runs would use now.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device) if the device's memory does not suffice.
    pub fn gathered(&self, tensor: &Tensor) -> Result<Option<(Vec<f32>, Resident<'_>)>> {
        let backend = match &self.device {
            Device::Auto(auto) => Chosen::Auto { auto, waits: false }.first_ready()?,
            _ => self.backend()?,
        };
        self.install(|| backend.gathered(tensor))
    }

    /// Finds the linear transform that maximises a metric. Two single slices that are parallel to within 2 degrees, but
    /// not to the x-y plane, are registered in their plane. Their transform is three-dimensional.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for options or volumes that cannot be registered,
    /// [`Error::Device`](crate::Error::Device) if the device fails or its memory does not suffice,
    /// [`Error::Untrusted`](crate::Error::Untrusted) if the volumes do not overlap.
    pub fn register(
        &self,
        fixed: &Volume,
        moving: &Volume,
        options: &Options,
        observer: &dyn Observer,
    ) -> Result<Registration> {
        let chosen = self.run(|threads| cost::registration([fixed, moving], options, threads));
        self.threads.run_watched(ThreadShare::Shared, observer, |observer| {
            let backend = chosen.fastest(observer)?;
            let register = |fixed: &Volume, moving: &Volume, options: &Options| {
                registration::register(fixed, moving, options, backend, observer)
            };
            match Slices::of(&fixed.geometry, &moving.geometry)? {
                Some(slices) => slices.register([fixed, moving], options, register),
                None => register(fixed, moving, options),
            }
        })
    }

    /// Finds a deformation from the fixed to the moving image: a linear start, then a diffeomorphic flow.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for options or volumes that cannot be registered,
    /// [`Error::Device`](crate::Error::Device) if the device fails or its memory does not suffice, and the errors of an
    /// initial registration, if there is one.
    pub fn deform(
        &self,
        fixed: &Volume,
        moving: &Volume,
        options: &deform::Options,
        observer: &dyn Observer,
    ) -> Result<Deformation> {
        slices::refuse("a deformation", &fixed.geometry, &moving.geometry)?;
        let chosen = self.run(|threads| cost::deformation([&fixed.geometry, &moving.geometry], threads));
        chosen.while_opening(|| {
            self.threads.run_watched(ThreadShare::All, observer, |observer| {
                deform::deform(fixed, moving, options, chosen, observer)
            })
        })
    }

    /// Finds the piecewise-affine map between two 2-D images: an affine start, then a mesh of triangles.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for images of several slices, a mesh that does not fit and images
    /// without contrast, [`Error::Device`](crate::Error::Device) if the device fails,
    /// [`Error::Untrusted`](crate::Error::Untrusted) if the images do not overlap.
    pub fn mesh(
        &self,
        fixed: &Volume,
        moving: &Volume,
        options: &mesh::Options,
        observer: &dyn Observer,
    ) -> Result<Found> {
        slices::refuse("a mesh", &fixed.geometry, &moving.geometry)?;
        let chosen = self.run(|threads| cost::mesh([&fixed.geometry, &moving.geometry], threads));
        self.threads.run_watched(ThreadShare::All, observer, |observer| {
            mesh::mesh(fixed, moving, options, chosen.fastest(observer)?, observer)
        })
    }

    /// Makes the unbiased mean of two or more images in shape and intensity. Finished steps are kept in `folder`, and a
    /// later run with the same images and options continues from them. The folder can be removed at the end. `each` is
    /// called for every image with its number and the field from the template to the image.
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
        self.threads.run_watched(ThreadShare::All, observer, |observer| {
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
        let backend =
            self.run(|threads| cost::single_pass([&fixed.geometry, &moving.geometry], threads)).first_ready()?;
        self.install(|| metric::evaluate(fixed, moving, transform, comparison, backend))
    }

    /// Resamples an image on another grid, through a transform or back: see [`resample::resample`].
    ///
    /// # Errors
    /// Those of [`resample::resample`].
    pub fn resample(&self, image: &Volume, grid: &Geometry, map: &TransformMap, how: &Resampling) -> Result<Resampled> {
        let backend = self.run(|threads| cost::single_pass([&image.geometry, grid], threads)).first_ready()?;
        self.install(|| resample::resample(image, grid, map, how, backend))
    }

    /// Resamples an image through any map of points, on the CPU: see [`resample::resample_through`].
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

/// Opens an engine with [`BackendKind::Auto`] and one thread per core, and calls [`Engine::register`].
///
/// # Errors
/// Those of [`Engine::open`] and [`Engine::register`].
pub fn register(fixed: &Volume, moving: &Volume, options: &Options) -> Result<Registration> {
    opened()?.register(fixed, moving, options, &Silent)
}

/// Opens an engine with [`BackendKind::Auto`] and one thread per core, and calls [`Engine::deform`].
///
/// # Errors
/// Those of [`Engine::open`] and [`Engine::deform`].
pub fn deform(fixed: &Volume, moving: &Volume, options: &deform::Options) -> Result<Deformation> {
    opened()?.deform(fixed, moving, options, &Silent)
}

/// Opens an engine with [`BackendKind::Auto`] and one thread per core, and calls [`Engine::mesh`].
///
/// # Errors
/// Those of [`Engine::open`] and [`Engine::mesh`].
pub fn mesh(fixed: &Volume, moving: &Volume, options: &mesh::Options) -> Result<Found> {
    opened()?.mesh(fixed, moving, options, &Silent)
}

fn opened() -> Result<Engine> {
    Engine::open(BackendKind::Auto, 0, &Silent)
}
