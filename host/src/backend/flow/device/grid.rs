//! A displacement field in a device's memory, and its steps.

use super::kernels::{FLOW_COMPOSE, FLOW_REFINE, FLOW_SUBTRACT, FLOW_UPDATE};
use super::launch;
use crate::backend::flow::{FlowReference, FlowStep, padded, sigmas};
use crate::backend::gaussian::device::Smoother;
use crate::backend::queue::{Memory, Queue};
use crate::error::Setting;
use crate::{Error, Result};
use gpu::math::interpolate;
use gpu::params::{self, ForceOutput};

/// A field in a device's memory.
pub struct FieldOnDevice<Q: Queue> {
    pub size: [u32; 3],
    pub spacing_mm: [f64; 3],
    pub field: Q::Memory<f32>,
    /// A second memory of the size of the field. It holds the forces, then the update field, then the field after the
    /// step.
    pub scratch: Q::Memory<f32>,
    /// One precision per voxel: see [`gpu::math::flow::VoxelForce`].
    pub precision: Q::Memory<f32>,
    /// The bits of the square of the update field's largest displacement. Steps use the two in turn, selected by
    /// `exchanged`; a step sets the one of the next step to 0.
    largest: [Q::Memory<u32>; 2],
    gaussians: Gaussians,
    /// Whether `field` and `scratch` have been exchanged an odd number of times.
    pub exchanged: bool,
    /// By how much the smoothing of the field changes the reference field, if there is one: see [`FlowReference`].
    smoothed_away: Option<Q::Memory<f32>>,
}

/// A field on the grid of the level before, and how that grid lies on the next: see
/// [`crate::backend::FlowLevel::from`].
pub struct PreviousField<Q: Queue> {
    size: [u32; 3],
    field: Q::Memory<f32>,
    from: [[f32; 3]; 2],
}

impl<Q: Queue> PreviousField<Q> {
    fn upload(queue: &Q, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<Self> {
        Ok(Self { size: size.map(|n| n as u32), field: queue.upload(&padded(planes, size))?, from })
    }

    /// Resamples it on a grid of `size`.
    fn refine(&self, queue: &Q, size: [u32; 3], field: &mut Q::Memory<f32>) -> Result<()> {
        let params = params::FlowRefine {
            field: self.field.view(),
            refined: field.view_mut(),
            size: self.size,
            refined_size: size,
            from: self.from,
        };
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe { launch::each(queue, &FLOW_REFINE, size, params)? };
        queue.wait()
    }
}

/// Queues subtracting the second field from the first.
fn subtract<Q: Queue>(queue: &Q, size: [u32; 3], [field, other]: [&mut Q::Memory<f32>; 2]) -> Result<()> {
    let params = params::FlowSubtract { field: field.view_mut(), other: other.view(), size, unused: 0 };
    // SAFETY: the memory is as long as the size says and lives until the queue is done.
    unsafe { launch::each(queue, &FLOW_SUBTRACT, size, params) }
}

/// Allocates a field of 0, with padding.
pub fn allocate_field<Q: Queue>(queue: &Q, size: [u32; 3]) -> Result<Q::Memory<f32>> {
    let numbers = 3 * size.iter().map(|&n| u64::from(n)).product::<u64>() + interpolate::padding(size) as u64;
    // Kernels index the numbers by 32 bits.
    if numbers > u64::from(u32::MAX) {
        let [x, y, z] = size;
        return Err(Error::option(
            Setting::Fixed,
            format!("{x} x {y} x {z} voxels are too many for a displacement field"),
        ));
    }
    queue.zeros(numbers as usize)
}

impl<Q: Queue> FieldOnDevice<Q> {
    /// A field of 0, or resampled from the previous one.
    pub fn new(queue: &Q, size: [usize; 3], spacing_mm: [f64; 3], previous: Option<PreviousField<Q>>) -> Result<Self> {
        let gaussians = Gaussians { size, spacing_mm, found: Vec::new() };
        let size = size.map(|n| n as u32);
        let mut field = allocate_field(queue, size)?;
        if let Some(previous) = previous {
            previous.refine(queue, size, &mut field)?;
        }
        let voxels = size.iter().map(|&n| n as usize).product();
        Ok(Self {
            size,
            spacing_mm,
            field,
            scratch: allocate_field(queue, size)?,
            precision: queue.zeros(voxels)?,
            largest: [queue.zeros(1)?, queue.zeros(1)?],
            gaussians,
            exchanged: false,
            smoothed_away: None,
        })
    }

    /// Keeps the field alone, to resample it on another grid.
    pub fn into_previous(self, from: [[f32; 3]; 2]) -> PreviousField<Q> {
        PreviousField { size: self.size, field: self.field, from }
    }

    /// See [`crate::backend::Flow::take`].
    pub fn take(&mut self, queue: &Q, planes: &[f32], size: [usize; 3], from: [[f32; 3]; 2]) -> Result<()> {
        PreviousField::upload(queue, planes, size, from)?.refine(queue, self.size, &mut self.field)
    }

    /// See [`crate::backend::Flow::refer_to`].
    pub fn refer_to(&mut self, queue: &Q, reference: Option<&FlowReference>) -> Result<()> {
        queue.wait()?;
        self.smoothed_away = None;
        let Some(&FlowReference { planes, size, from, smooth_mm }) = reference else { return Ok(()) };
        let field = PreviousField::upload(queue, planes, size, from)?;
        let mut smoothed = allocate_field(queue, self.size)?;
        for refined in [&mut smoothed, &mut self.scratch] {
            field.refine(queue, self.size, refined)?;
        }
        self.smooth(queue, smooth_mm, Some(&mut smoothed), 3)?;
        subtract(queue, self.size, [&mut smoothed, &mut self.scratch])?;
        self.smoothed_away = Some(smoothed);
        queue.wait()
    }

    pub fn voxels(&self) -> usize {
        self.size.iter().map(|&n| n as usize).product()
    }

    /// Kernel parameters that write forces into the field's second memory, and their precisions, all times `weight`.
    /// With `adds` they are added to those already there.
    pub fn force_output(&mut self, weight: f64, adds: bool) -> ForceOutput {
        ForceOutput {
            force: self.scratch.view_mut(),
            precision: self.precision.view_mut(),
            per_square: self.spacing_mm.map(|mm| (1.0 / (mm * mm)) as f32),
            weight: weight as f32,
            adds: u32::from(adds),
            unused: 0,
        }
    }

    /// Smooths the field.
    pub fn smooth_field(&mut self, queue: &Q, mm: f64) -> Result<()> {
        self.gaussians.of(mm).smooth(queue, &mut self.field, 3)
    }

    /// Smooths the first planes of `memory`, or of the field's second memory.
    pub fn smooth(&mut self, queue: &Q, mm: f64, memory: Option<&mut Q::Memory<f32>>, planes: usize) -> Result<()> {
        self.gaussians.of(mm).smooth(queue, memory.unwrap_or(&mut self.scratch), planes)
    }

    /// Exchanges the field and its second memory.
    pub fn exchange(&mut self) {
        std::mem::swap(&mut self.field, &mut self.scratch);
        self.exchanged = !self.exchanged;
    }

    /// Queues a step of the field, by the forces in its second memory and their precisions. The field after the step is
    /// left in the second memory.
    pub fn step(&mut self, queue: &Q, step: &FlowStep) -> Result<()> {
        let [of_step, of_field] = step.smooth_mm;
        self.gaussians.of(of_step).smooth_both(queue, [(&mut self.scratch, 3), (&mut self.precision, 1)])?;
        let [largest, next] = &mut self.largest;
        let [largest, next] = if self.exchanged { [next, largest] } else { [largest, next] };
        let params = params::FlowStep {
            field: self.field.view(),
            step: self.scratch.view_mut(),
            precision: self.precision.view(),
            largest: largest.view_mut(),
            next_largest: next.view_mut(),
            size: self.size,
            limit: step.limit,
            prior: step.prior(),
            share: step.share,
        };
        // SAFETY: the memory is as long as the sizes say and lives until the queue is done.
        unsafe {
            launch::sum(queue, &FLOW_UPDATE, self.size, params)?;
            launch::each(queue, &FLOW_COMPOSE, self.size, params)?;
        }
        self.smooth(queue, of_field, None, 3)?;
        match &mut self.smoothed_away {
            Some(smoothed_away) => subtract(queue, self.size, [&mut self.scratch, smoothed_away]),
            None => Ok(()),
        }
    }

    /// Queues clearing what is left of a step whose result is not used.
    pub fn forget_step(&mut self, queue: &Q) -> Result<()> {
        queue.clear(&mut self.largest[usize::from(self.exchanged)])
    }
}

/// Cache of the Gaussians used on a grid, by standard deviation in mm. Computing their coefficients takes longer than
/// smoothing.
struct Gaussians {
    size: [usize; 3],
    spacing_mm: [f64; 3],
    found: Vec<(f64, Smoother)>,
}

impl Gaussians {
    fn of(&mut self, mm: f64) -> &Smoother {
        let known = self.found.iter().position(|(of, _)| *of == mm).unwrap_or_else(|| {
            let smoother = Smoother::new(self.size, sigmas(mm, self.size, self.spacing_mm));
            self.found.push((mm, smoother));
            self.found.len() - 1
        });
        &self.found[known].1
    }
}
