//! Work that is recorded once and then launched as a whole: a short kernel takes less time than its launch.

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
        // Relaxed, because a kernel that is first used here is loaded here.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: a stream that is there, pointers to locals; a graph is destroyed once, after what is made from it.
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

    /// Queues it.
    pub fn launch(&self, stream: &Stream) -> Result<()> {
        // SAFETY: both are there.
        check(unsafe { sys::cuGraphLaunch(self.0, stream.as_inner()) })
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: it is launched no more. What remains to be done of it is done all the same.
        unsafe { sys::cuGraphExecDestroy(self.0) };
    }
}
