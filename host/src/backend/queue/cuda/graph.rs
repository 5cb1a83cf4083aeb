//! Work that is recorded once and then launched as a whole. Launching a short kernel takes longer than running it.

use super::driver::check;
use crate::Result;
use cust::stream::Stream;
use cust::sys;
use std::ptr;

/// Recorded work.
pub struct Graph(sys::CUgraphExec);

impl Graph {
    /// Records what `work` queues on `stream`, without doing it.
    pub fn record(stream: &Stream, work: impl FnOnce() -> Result<()>) -> Result<Self> {
        let (mut graph, mut exec) = (ptr::null_mut(), ptr::null_mut());
        // The mode is relaxed, because a kernel that is first used during the recording is loaded during it.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is valid and pointers are those of locals. The graph is destroyed once, after it was
        // instantiated.
        unsafe {
            check(sys::cuStreamBeginCapture_v2(stream.as_inner(), mode))?;
            let worked = work();
            check(sys::cuStreamEndCapture(stream.as_inner(), &mut graph))?;
            let made = worked.and_then(|()| check(sys::cuGraphInstantiateWithFlags(&mut exec, graph, 0)));
            check(sys::cuGraphDestroy(graph))?;
            made?;
        }
        Ok(Self(exec))
    }

    /// Queues the recorded work.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        // SAFETY: both handles are valid.
        check(unsafe { sys::cuGraphLaunch(self.0, stream.as_inner()) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: it is never launched again. The driver still completes launches that are under way.
        unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}
