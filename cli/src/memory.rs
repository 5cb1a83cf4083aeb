//! The commands for a program that has images in memory, such as a Python program. Arguments, defaults and errors are
//! those of the command line. Results are returned: nothing is printed, and no file is written except the finished
//! steps of a template.

mod template;

pub use template::FinishedTemplate;

use std::ffi::OsString;
use std::mem::take;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Parser;
use mireg::backend::BackendKind;
use mireg::error::Setting;
use mireg::io::transform::Grids;
use mireg::labels::Regions;
use mireg::registration::Registration;
use mireg::{Engine, Error, Observer, Resampling, Result, Volume, deform, mesh, registration};

use crate::arguments::compute::Compute;
use crate::arguments::pair::Pair;
use crate::commands::deform::Deform;
use crate::commands::mesh::Mesh;
use crate::commands::register::Register;
use crate::commands::{Arguments, Command};
use crate::flags;
use crate::in_memory::{InMemory, OnDevice, lending};
use crate::invocation::Invocation;
use crate::loaded::Loaded;
use crate::report::deform::Deformed;
use crate::report::mesh::Meshed;
use crate::report::registration::Registered;
use crate::report::{Kind, Run, Spent, json};

/// The commands for which the command line requires `--out`.
const OUT: [&str; 5] = ["register", "deform", "mesh", "template", "apply"];

/// A command that was parsed.
pub struct ParsedCommand {
    command: Command,
    invocation: Invocation<'static>,
}

/// Returns an error as one line, in the words of the command line.
pub fn line(error: &Error) -> String {
    flags::error(error)
}

impl ParsedCommand {
    /// Parses a command line, the program's name first. Images, transforms and points that are in memory are named by
    /// placeholders; only masks, label maps and initial transforms that are in memory are left out. `--out` is left
    /// out, too.
    ///
    /// # Errors
    /// The line that the command line would print.
    pub fn parse(words: Vec<OsString>) -> std::result::Result<Self, String> {
        let mut typed = words.clone();
        if words.get(1).is_some_and(|command| OUT.iter().any(|&with| command == with)) {
            typed.splice(2..2, ["--out".into(), ".".into()]);
        }
        let arguments = Arguments::try_parse_from(&typed).map_err(|error| crate::one_line(&error.to_string()))?;
        Ok(Self { command: arguments.command, invocation: Invocation::new(Instant::now(), words) })
    }

    /// Returns the backend and the number of threads that the command asks for, 0 for one per core.
    pub fn compute(&self) -> (BackendKind, usize) {
        let Compute { backend, threads } = match &self.command {
            Command::Register(register) => &register.compute,
            Command::Deform(deform) => &deform.compute,
            Command::Mesh(mesh) => &mesh.compute,
            Command::Template(template) => &template.compute,
            Command::Apply(apply) => &apply.compute,
            Command::Metric(metric) => &metric.compute,
            _ => &Compute { backend: BackendKind::Cpu, threads: None },
        };
        (*backend, threads.unwrap_or(0) as usize)
    }

    /// Runs the command.
    ///
    /// # Errors
    /// Those of the command; [`Error::Option`] for a command that takes no images from memory.
    pub fn run(self, in_memory: InMemory, engine: &Engine, observer: &dyn Observer) -> Result<Done> {
        let registered = |finished| Done::Registered(Box::new(finished));
        match &self.command {
            Command::Register(register) => self.register(register, in_memory, engine, observer).map(registered),
            Command::Deform(deform) => self.deform(deform, in_memory, engine, observer).map(registered),
            Command::Mesh(mesh) => self.mesh(mesh, in_memory, engine, observer).map(registered),
            Command::Template(template) => {
                Ok(Done::Averaged(Box::new(self.template(template, in_memory, engine, observer)?)))
            }
            Command::Apply(apply) => {
                let read = apply.read(in_memory, engine)?;
                let (resampled, doubt) = apply.resample(&read, engine)?;
                Ok(Done::Resampled(resampled.volume, read.notes.into_iter().chain(doubt).collect()))
            }
            Command::Metric(metric) => {
                let found = metric.compare(in_memory, engine)?;
                Ok(Done::Measured(found.json(), found.notes))
            }
            Command::Evaluate(evaluate) => {
                let found = engine.install(|| evaluate.measure(in_memory))?;
                Ok(Done::Measured(found.json(), Vec::new()))
            }
            _ => Err(Error::option(Setting::Fixed, "this command takes no images from memory; type it")),
        }
    }

    fn register(
        &self,
        of: &Register,
        in_memory: InMemory,
        engine: &Engine,
        observer: &dyn Observer,
    ) -> Result<Finished> {
        let (origin, loaded, on_device) =
            self.load(&of.pair, in_memory, engine, |grids, in_memory| of.options(grids, in_memory))?;
        let Loaded { fixed, moving, whole, options, .. } = loaded;
        let images = [fixed, moving];
        let register = || engine.register(&images[0], &images[1], &options, observer);
        let mut found = lending(&on_device, images.each_ref(), register)?;
        let moved = match (found.moved.take(), whole) {
            (Some(moved), None) => moved,
            (_, whole) => {
                let grid = whole.map_or(images[0].geometry, |[fixed, _]| fixed);
                let map = found.transform.to_affine().into();
                engine.resample(&images[1], &grid, &map, &Resampling::default())?.volume
            }
        };
        let report = origin.report(&Registered { found: &found, options: &options }, &images, &self.invocation)?;
        Ok(self.finished(Found::Linear(Box::new(found), options), moved, images, origin, report))
    }

    fn deform(&self, of: &Deform, in_memory: InMemory, engine: &Engine, observer: &dyn Observer) -> Result<Finished> {
        let (origin, loaded, on_device) =
            self.load(&of.pair, in_memory, engine, |grids, in_memory| of.request(grids, in_memory))?;
        let Loaded { fixed, moving, options: request, .. } = loaded;
        let images = [fixed, moving];
        let run = || request.run(images.each_ref(), engine, observer);
        let (found, regions) = lending(&on_device, images.each_ref(), run)?;
        let options = request.options;
        let moved = match &found.moved {
            Some(moved) => moved.clone(),
            None => {
                let map = found.field.map();
                let through = |point| map.transform_point3(point);
                engine.resample_through(&images[1], &images[0].geometry, through, &Resampling::default())?.volume
            }
        };
        let start = origin.start.as_deref();
        let report = engine.install(|| {
            origin.report(&Deformed::new(&found, &options, start, regions.as_ref()), &images, &self.invocation)
        })?;
        Ok(self.finished(Found::Deformed(Box::new(found), options, regions), moved, images, origin, report))
    }

    fn mesh(&self, of: &Mesh, in_memory: InMemory, engine: &Engine, observer: &dyn Observer) -> Result<Finished> {
        let (origin, loaded, on_device) =
            self.load(&of.pair, in_memory, engine, |grids, in_memory| of.options(grids, in_memory))?;
        let Loaded { fixed, moving, options, .. } = loaded;
        let images = [fixed, moving];
        let mesh = || engine.mesh(&images[0], &images[1], &options, observer);
        let found = lending(&on_device, images.each_ref(), mesh)?;
        let (moved, report) = engine.install(|| {
            let meshed = Meshed::new(&found, origin.start.as_deref(), images.each_ref())?;
            Ok((meshed.moved.clone(), origin.report(&meshed, &images, &self.invocation)?))
        })?;
        Ok(self.finished(Found::Meshed(Box::new(found)), moved, images, origin, report))
    }

    fn finished(
        &self,
        found: Found,
        moved: Volume,
        images: [Volume; 2],
        origin: Origin,
        (report, spent): (String, Spent),
    ) -> Finished {
        Finished { found, moved, report, images, origin, command: self.invocation.words.clone(), spent }
    }

    /// Returns the file of the initial transform of a deformation or a mesh, if one was given.
    fn start(&self) -> Option<&PathBuf> {
        match &self.command {
            Command::Deform(deform) => deform.start.as_ref(),
            Command::Mesh(mesh) => mesh.start.as_ref(),
            _ => None,
        }
    }

    /// Reads the images that are not in memory, and then the options, for which `options` gets the grids of both images.
    /// Also returns what the report says about the origin of the images, and their voxels that are already on the
    /// device.
    fn load<'e, O: Send>(
        &self,
        pair: &Pair,
        mut in_memory: InMemory<'e>,
        engine: &Engine,
        options: impl FnOnce(&Grids, InMemory) -> Result<O> + Send,
    ) -> Result<(Origin, Loaded<O>, OnDevice<'e>)> {
        let (volumes, on_device) = ([in_memory.fixed.take(), in_memory.moving.take()], take(&mut in_memory.on_device));
        let Pair { fixed, moving, images, .. } = pair;
        let read = || Loaded::read([fixed, moving], images, volumes, |grids| options(grids, in_memory));
        let mut loaded = engine.install(read)?;
        let (fixed, moving, start) = (fixed.clone(), moving.clone(), self.start().cloned());
        let notes = take(&mut loaded.notes);
        let origin = Origin { fixed, moving, start, notes, read: loaded.seconds, open: engine.opening_seconds() };
        Ok((origin, loaded, on_device))
    }
}

/// What a report says about the origin of the images.
struct Origin {
    fixed: PathBuf,
    moving: PathBuf,
    /// The file of the initial transform of a deformation or a mesh, if one was given.
    start: Option<PathBuf>,
    notes: Vec<String>,
    /// Seconds that reading the images took.
    read: f64,
    /// Seconds that opening the device took.
    open: f64,
}

/// What a command returns.
pub enum Done {
    Registered(Box<Finished>),
    Averaged(Box<FinishedTemplate>),
    /// A volume, and notes on how the image was read, one line each.
    Resampled(Volume, Vec<String>),
    /// JSON, and notes on how the images were read, one line each.
    Measured(String, Vec<String>),
}

/// The result of a registration, with its options where the report needs them.
pub enum Found {
    Linear(Box<Registration>, registration::Options),
    Deformed(Box<deform::Deformation>, deform::Options, Option<Regions>),
    Meshed(Box<mesh::Found>),
}

/// A registration with all that its report needs.
pub struct Finished {
    pub found: Found,
    /// The moving image on the grid of the fixed one.
    pub moved: Volume,
    /// The content of report.json.
    pub report: String,
    images: [Volume; 2],
    origin: Origin,
    command: Vec<OsString>,
    spent: Spent,
}

impl Finished {
    /// Takes the voxels of the moved image, which nothing else here needs.
    pub fn take_moved(&mut self) -> Volume {
        let voxels = take(&mut self.moved.voxels);
        Volume { voxels, ..self.moved }
    }

    /// Returns the content of report.html. The pictures are drawn by the thread pool of the caller.
    ///
    /// # Errors
    /// [`Error::File`] where a picture or the page cannot be made.
    pub fn page(&self) -> Result<String> {
        let invocation = Invocation::new(Instant::now(), self.command.clone());
        let run = self.origin.run(&invocation, &self.images);
        let start = self.origin.start.as_deref();
        match &self.found {
            Found::Linear(found, options) => run.page(&Registered { found, options }, &self.spent),
            Found::Deformed(found, options, regions) => {
                run.page(&Deformed::new(found, options, start, regions.as_ref()), &self.spent)
            }
            Found::Meshed(found) => run.page(&Meshed::new(found, start, self.images.each_ref())?, &self.spent),
        }
    }
}

impl Origin {
    /// Returns the content of report.json, and the seconds that are in it.
    fn report<K: Kind>(&self, found: &K, images: &[Volume; 2], invocation: &Invocation) -> Result<(String, Spent)> {
        let run = self.run(invocation, images);
        let spent = run.spent(0.0);
        Ok((json(&run.report(found, &spent))?, spent))
    }

    fn run<'a>(&'a self, invocation: &'a Invocation<'a>, images: &'a [Volume; 2]) -> Run<'a> {
        let Self { fixed, moving, notes, read, open, .. } = self;
        let [fixed, moving]: [&Path; 2] = [fixed, moving];
        Run { invocation, fixed, moving, images: images.each_ref(), notes, read: *read, open: *open }
    }
}
