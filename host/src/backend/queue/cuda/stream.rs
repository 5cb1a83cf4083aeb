//! A stream of the device as a [`Queue`].

use super::Cuda;
use super::graph::Graph;
use super::kernel::check;
use crate::Result;
use crate::backend::queue::{Element, Kernel, Limits, Queue, Shape};
use cust::context::CurrentContext;
use cust::event::{Event, EventFlags};
use cust::memory::{AsyncCopyDestination, DeviceBuffer, LockedBuffer};
use cust::stream::{Stream, StreamFlags};
use cust::sys;
use rayon::prelude::*;

/// Bytes that are many to copy to the host.
const LARGE: usize = 1 << 24;

/// A stream of its own, which waits for no other.
pub struct CudaQueue<'a> {
    cuda: &'a Cuda,
    stream: Stream,
}

impl<'a> CudaQueue<'a> {
    pub fn new(cuda: &'a Cuda) -> Result<Self> {
        CurrentContext::set_current(&cuda.context)?;
        Ok(Self { cuda, stream: Stream::new(StreamFlags::NON_BLOCKING, None)? })
    }

    /// Makes the device this thread's.
    fn enter(&self) -> Result<()> {
        Ok(CurrentContext::set_current(&self.cuda.context)?)
    }
}

impl Queue for CudaQueue<'_> {
    type Memory<T: Element> = DeviceBuffer<T>;
    type Pinned<T: Element> = LockedBuffer<T>;
    type Graph = Graph;

    fn limits(&self) -> Limits {
        self.cuda.limits
    }

    fn shared_bytes<P>(&self, kernel: &Kernel<P>) -> u32 {
        self.cuda.kernels.shared_bytes(kernel.name)
    }

    fn resident<P>(&self, kernel: &Kernel<P>, threads: u32, shared_bytes: u32) -> Result<u32> {
        self.enter()?;
        let each = self.cuda.kernels.get(kernel.name)?.blocks_per_multiprocessor(threads, shared_bytes)?;
        Ok(each.max(1) * self.cuda.limits.multiprocessors)
    }

    fn upload<T: Element>(&self, host: &[T]) -> Result<DeviceBuffer<T>> {
        self.enter()?;
        // SAFETY: filled before anything reads it; both ends are there until the copy is done.
        unsafe {
            let mut buffer = DeviceBuffer::uninitialized(host.len())?;
            buffer.async_copy_from(host, &self.stream)?;
            self.stream.synchronize()?;
            Ok(buffer)
        }
    }

    fn zeros<T: Element>(&self, len: usize) -> Result<DeviceBuffer<T>> {
        self.enter()?;
        // SAFETY: cleared before anything reads it.
        let mut buffer = unsafe { DeviceBuffer::uninitialized(len)? };
        self.clear(&mut buffer)?;
        Ok(buffer)
    }

    fn pinned<T: Element>(&self, len: usize) -> Result<LockedBuffer<T>> {
        self.enter()?;
        Ok(LockedBuffer::new(&T::default(), len)?)
    }

    fn clear<T: Element>(&self, memory: &mut DeviceBuffer<T>) -> Result<()> {
        self.enter()?;
        let (address, bytes) = (memory.as_device_ptr().as_raw(), memory.len() * size_of::<T>());
        // SAFETY: the address and the size of an allocation.
        check(unsafe { sys::cuMemsetD8Async(address, 0, bytes, self.stream.as_inner()) })
    }

    fn copy<T: Element>(&self, from: &DeviceBuffer<T>, to: &mut DeviceBuffer<T>) -> Result<()> {
        self.enter()?;
        // SAFETY: both ends are there until the queue is done, as for launches.
        unsafe { to.async_copy_from(from, &self.stream)? };
        Ok(())
    }

    fn download<T: Element>(&self, memory: &DeviceBuffer<T>, len: usize) -> Result<Vec<T>> {
        self.enter()?;
        let mut host = vec![T::default(); len];
        if len * size_of::<T>() > LARGE {
            // New pages are made ready by all threads: one alone takes longer for that than the copy.
            host.par_chunks_mut(LARGE / 64).for_each(|chunk| chunk.fill(T::default()));
        }
        // SAFETY: both ends are there until the copy is done.
        unsafe { memory.index(..len).async_copy_to(&mut host[..], &self.stream)? };
        self.wait()?;
        Ok(host)
    }

    unsafe fn launch<P: Copy + Sync>(&self, kernel: &Kernel<P>, shape: Shape, params: P) -> Result<()> {
        self.enter()?;
        // SAFETY: as this function's.
        unsafe { self.cuda.kernels.get(kernel.name)?.launch(&self.stream, shape, &params) }
    }

    fn again(&self, graph: &mut Option<Graph>, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.enter()?;
        if graph.is_none() {
            *graph = Some(Graph::record(&self.stream, work)?);
        }
        graph.as_ref().map_or(Ok(()), |graph| graph.launch(&self.stream))
    }

    fn wait(&self) -> Result<()> {
        Ok(self.stream.synchronize()?)
    }

    fn seconds(&self, work: impl FnOnce() -> Result<()>) -> Result<Option<f64>> {
        self.enter()?;
        let (start, end) = (Event::new(EventFlags::DEFAULT)?, Event::new(EventFlags::DEFAULT)?);
        start.record(&self.stream)?;
        work()?;
        end.record(&self.stream)?;
        end.synchronize()?;
        Ok(Some(f64::from(end.elapsed_time_f32(&start)?) / 1000.0))
    }
}
