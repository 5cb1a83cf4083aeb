//! Gaussian smoothing on a device.

use super::{Pass, SmoothingSeconds, passes};
use crate::Result;
use crate::backend::queue::{Memory, Queue, Shape, kernels};
use cuda_std::global::DeviceSliceMut;
use gpu::kernels::gaussian::{self, LINES, bytes_across, bytes_along};
use gpu::params::{self, Recursive};

kernels! {
    RECURSIVE_ALONG = gaussian::recursive_along(params::Recursive);
    RECURSIVE_ALONG_LONG = gaussian::recursive_along_long(params::Recursive);
    RECURSIVE_ACROSS = gaussian::recursive_across(params::Recursive);
    RECURSIVE_ACROSS_LONG = gaussian::recursive_across_long(params::Recursive);
}

/// A Gaussian for volumes of one size. Computes its coefficients once and can be used many times.
pub struct Smoother {
    size: [usize; 3],
    passes: Vec<Pass>,
}

impl Smoother {
    /// A Gaussian with standard deviations of `sigmas` voxels along x, y and z. An axis with 0 is not smoothed.
    pub fn new(size: [usize; 3], sigmas: [f64; 3]) -> Self {
        Self { size, passes: passes(size, sigmas) }
    }

    /// Queues smoothing the first `volumes` volumes of `planes`, in place. Gives the bits of
    /// [`cpu::smooth`](crate::backend::cpu::smooth), and takes no other memory.
    ///
    /// # Errors
    /// [`crate::Error::Device`] if the device fails.
    ///
    /// # Panics
    /// If there are fewer volumes.
    pub fn smooth<Q: Queue>(&self, queue: &Q, planes: &mut Q::Memory<f32>, volumes: usize) -> Result<()> {
        let planes = planes.view_mut();
        self.passes.iter().try_for_each(|pass| self.queue(queue, [(planes, volumes), (planes, 0)], pass))
    }

    /// Does what [`Smoother::smooth`] does for volumes in two memories, by as many launches as for one.
    ///
    /// # Errors
    /// As for [`Smoother::smooth`].
    ///
    /// # Panics
    /// As for [`Smoother::smooth`].
    pub fn smooth_both<Q: Queue>(&self, queue: &Q, memories: [(&mut Q::Memory<f32>, usize); 2]) -> Result<()> {
        let views = memories.map(|(planes, volumes)| (planes.view_mut(), volumes));
        self.passes.iter().try_for_each(|pass| self.queue(queue, views, pass))
    }

    /// Queues one pass over the first volumes of two memories.
    fn queue<Q: Queue>(&self, queue: &Q, memories: [(DeviceSliceMut<f32>, usize); 2], pass: &Pass) -> Result<()> {
        let voxels = self.size.iter().product::<usize>();
        for (planes, volumes) in memories {
            assert!(planes.len() >= volumes * voxels, "there are fewer than {volumes} volumes");
        }
        let slabs = memories.map(|(_, volumes)| (volumes * voxels / (pass.len * pass.stride)) as u32);
        let [planes, second_planes] = memories.map(|(planes, _)| planes);
        let (len, stride) = (pass.len as u32, pass.stride as u32);
        let [slabs, second_slabs] = slabs;
        let params =
            Recursive { planes, second_planes, coefficients: pass.coefficients, len, stride, slabs, second_slabs };
        let (blocks, [kept, long], [bytes, least]) = match stride {
            1 => (
                slabs.div_ceil(LINES) + second_slabs.div_ceil(LINES),
                [RECURSIVE_ALONG, RECURSIVE_ALONG_LONG],
                [bytes_along(len), bytes_along(1)],
            ),
            _ => (
                (slabs + second_slabs) * stride.div_ceil(LINES),
                [RECURSIVE_ACROSS, RECURSIVE_ACROSS_LONG],
                [bytes_across(len), 0],
            ),
        };
        let fits = bytes <= queue.shared_bytes(&kept);
        let (kernel, shared_bytes) = if fits { (kept, bytes) } else { (long, least) };
        let shape = Shape { grid: [blocks, 1, 1], block: [LINES, 1, 1], shared_bytes };
        // SAFETY: the memory is as long as the numbers say, and lives until the queue is done.
        unsafe { queue.launch(&kernel, shape, params) }
    }
}

/// Smooths volumes in host memory on a device.
pub fn smooth<Q: Queue>(queue: &Q, planes: &mut [f32], size: [usize; 3], sigmas: [f64; 3]) -> Result<()> {
    let mut memory = queue.upload(planes)?;
    let volumes = planes.len() / size.iter().product::<usize>();
    Smoother::new(size, sigmas).smooth(queue, &mut memory, volumes)?;
    planes.copy_from_slice(&queue.download(&memory, planes.len())?);
    Ok(())
}

/// The seconds that a device spends on each pass over `volumes` volumes, and on a plain copy of them: means of `times`
/// runs. `None` if the device has no clock.
pub fn seconds<Q: Queue>(
    queue: &Q,
    (size, volumes): ([usize; 3], usize),
    sigmas: [f64; 3],
    times: u32,
) -> Result<Option<SmoothingSeconds>> {
    let smoother = Smoother::new(size, sigmas);
    let samples = volumes * size.iter().product::<usize>();
    let (mut planes, mut copy) = (queue.zeros::<f32>(samples)?, queue.zeros::<f32>(samples)?);
    let mut mean = |work: &mut dyn FnMut(&mut Q::Memory<f32>) -> Result<()>| {
        work(&mut planes)?;
        let all = queue.seconds(|| (0..times).try_for_each(|_| work(&mut planes)))?;
        Ok::<_, crate::Error>(all.map(|all| all / f64::from(times)))
    };
    let of_pass = |planes: &mut Q::Memory<f32>, pass: &Pass| {
        let planes = planes.view_mut();
        smoother.queue(queue, [(planes, volumes), (planes, 0)], pass)
    };
    let passes = smoother.passes.iter().map(|pass| mean(&mut |planes| of_pass(planes, pass)));
    let passes: Option<Vec<f64>> = passes.collect::<Result<_>>()?;
    let copied = mean(&mut |planes| queue.copy(planes, &mut copy))?;
    Ok(passes.zip(copied).map(|(passes, copy)| SmoothingSeconds { passes, copy }))
}
