//! Implements [`Queue`] by a CUDA stream.

use super::Cuda;
use super::driver::check;
use super::graph::Graph;
use super::memory::{DeviceMemory, PinnedMemory};
use super::transfer::Pieces;
use crate::Result;
use crate::backend::queue::{Element, Kernel, Limits, Queue, Shape};
use cuda_std::global::DeviceSlice;
use cust::context::CurrentContext;
use cust::event::{Event, EventFlags};
use cust::stream::{Stream, StreamFlags};
use cust::sys;
use std::sync::Arc;

/// How often the host polls for the device's results before it asks the driver whether the device is still busy.
const SPINS: u32 = 1 << 12;

/// The driver's `CU_STREAM_LEGACY`: the default stream, which is stream 1 in DLPack.
const LEGACY: usize = 1;

/// A queue with a stream of its own. It does not synchronise with the default stream.
pub struct CudaQueue<'a> {
    cuda: &'a Cuda,
    /// Shared with the queue's memory, which waits for the stream when it is dropped and can outlive the queue.
    stream: Arc<Stream>,
}

impl<'a> CudaQueue<'a> {
    pub fn new(cuda: &'a Cuda) -> Result<Self> {
        CurrentContext::set_current(&cuda.context)?;
        Ok(Self { cuda, stream: Arc::new(Stream::new(StreamFlags::NON_BLOCKING, None)?) })
    }

    /// Takes device memory with undefined contents.
    fn allocate<T: Element>(&self, len: usize) -> Result<DeviceMemory<'a, T>> {
        self.enter()?;
        DeviceMemory::new(&self.cuda.memory, &self.stream, len)
    }

    /// Makes the device's context current in this thread.
    fn enter(&self) -> Result<()> {
        Ok(CurrentContext::set_current(&self.cuda.context)?)
    }
}

impl<'a> Queue for CudaQueue<'a> {
    type Memory<T: Element> = DeviceMemory<'a, T>;
    type Pinned<T: Element> = PinnedMemory<'a, T>;
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

    fn upload<T: Element>(&self, host: &[T]) -> Result<DeviceMemory<'a, T>> {
        let memory = self.allocate(host.len())?;
        let bytes = size_of_val(host);
        if Pieces::is_worthwhile(bytes) {
            // SAFETY: elements are plain bytes, and the memory has room for all of them.
            let host = unsafe { std::slice::from_raw_parts(host.as_ptr().cast(), bytes) };
            // SAFETY: as above.
            unsafe { Pieces::new(&self.cuda.pinned, &self.stream)?.upload(host, memory.address())? };
        } else if bytes > 0 {
            // SAFETY: both ends have that length, and live until the copy is done.
            check(unsafe {
                sys::cuMemcpyHtoDAsync_v2(memory.address(), host.as_ptr().cast(), bytes, self.stream.as_inner())
            })?;
            self.wait()?;
        }
        Ok(memory)
    }

    fn lent(&self, voxels: &[f32]) -> Option<DeviceSlice<f32>> {
        self.cuda.loans.of(voxels)
    }

    fn after_default(&self) -> Result<()> {
        self.enter()?;
        // SAFETY: this number denotes the default stream of the current context.
        check(unsafe { sys::cuStreamSynchronize(LEGACY as sys::CUstream) })
    }

    fn zeros<T: Element>(&self, len: usize) -> Result<DeviceMemory<'a, T>> {
        let mut memory = self.allocate(len)?;
        self.clear(&mut memory)?;
        Ok(memory)
    }

    fn pinned<T: Element>(&self, len: usize) -> Result<PinnedMemory<'a, T>> {
        PinnedMemory::new(&self.cuda.pinned, &self.stream, len)
    }

    fn clear<T: Element>(&self, memory: &mut DeviceMemory<'a, T>) -> Result<()> {
        self.enter()?;
        let bytes = memory.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: within an allocation.
        check(unsafe { sys::cuMemsetD8Async(memory.address(), 0, bytes, self.stream.as_inner()) })
    }

    fn copy<T: Element>(&self, from: &DeviceMemory<'a, T>, to: &mut DeviceMemory<'a, T>) -> Result<()> {
        self.enter()?;
        assert!(from.len() == to.len(), "{} elements are not {}", from.len(), to.len());
        let bytes = from.len() * size_of::<T>();
        if bytes == 0 {
            return Ok(());
        }
        // SAFETY: both ends have that length, and live until the queue is done, as for launches.
        check(unsafe { sys::cuMemcpyDtoDAsync_v2(to.address(), from.address(), bytes, self.stream.as_inner()) })
    }

    fn download<T: Element>(&self, memory: &DeviceMemory<'a, T>, len: usize) -> Result<Vec<T>> {
        self.enter()?;
        assert!(len <= memory.len(), "{len} elements are more than {}", memory.len());
        // The memory is not cleared. Clearing it in one thread would take as long as copying takes in all threads.
        let mut host = Vec::<T>::with_capacity(len);
        let bytes = len * size_of::<T>();
        if Pieces::is_worthwhile(bytes) {
            // SAFETY: the vector has room for this many bytes.
            let host = unsafe { std::slice::from_raw_parts_mut(host.as_mut_ptr().cast(), bytes) };
            // SAFETY: the memory has this many bytes.
            unsafe { Pieces::new(&self.cuda.pinned, &self.stream)?.download(memory.address(), host)? };
        } else if bytes > 0 {
            // SAFETY: both ends have that length, and live until the copy is done.
            check(unsafe {
                sys::cuMemcpyDtoHAsync_v2(host.as_mut_ptr().cast(), memory.address(), bytes, self.stream.as_inner())
            })?;
        }
        self.wait()?;
        // SAFETY: all elements were copied. They are plain bytes, so any bytes from the device are valid.
        unsafe { host.set_len(len) };
        Ok(host)
    }

    unsafe fn launch<P: Copy + Sync>(&self, kernel: &Kernel<P>, shape: Shape, params: P) -> Result<()> {
        self.enter()?;
        // SAFETY: as this function's.
        unsafe { self.cuda.kernels.get(kernel.name)?.launch(&self.stream, shape, &params) }
    }

    fn record_or_replay(&self, graph: &mut Option<Graph>, work: impl FnOnce() -> Result<()>) -> Result<()> {
        self.enter()?;
        if graph.is_none() {
            *graph = Some(Graph::record(&self.stream, work)?);
        }
        graph.as_ref().map_or(Ok(()), |graph| graph.launch(&self.stream))
    }

    fn wait_until(&self, seen: &dyn Fn() -> bool) -> Result<()> {
        self.enter()?;
        loop {
            for _ in 0..SPINS {
                if seen() {
                    return Ok(());
                }
                std::hint::spin_loop();
            }
            // SAFETY: the stream is valid.
            match unsafe { sys::cuStreamQuery(self.stream.as_inner()) } {
                sys::CUresult::CUDA_ERROR_NOT_READY => std::thread::yield_now(),
                ended => return check(ended),
            }
        }
    }

    fn wait(&self) -> Result<()> {
        self.enter()?;
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
