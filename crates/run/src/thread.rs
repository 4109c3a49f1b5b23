//! The calling thread: its number, its processor time, the processor it runs on.

use crate::RunError;

/// Processor time of the calling thread so far.
pub(crate) fn thread_cpu() -> Option<target::CpuSample> {
    target::CpuSample::of_thread_id(thread_id())
}

/// The number of the calling thread.
pub(crate) fn thread_id() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Lets the calling thread run on this processor alone.
pub(crate) fn pin(cpu: Option<u32>) -> Result<(), RunError> {
    let Some(cpu) = cpu else { return Ok(()) };
    let mut set = rustix::thread::CpuSet::new();
    let limit = rustix::thread::CpuSet::MAX_CPU as u32;
    if cpu < limit {
        set.set(cpu as usize);
    }
    rustix::thread::sched_setaffinity(None, &set).map_err(|errno| RunError::System {
        what: format!("run a worker on CPU {cpu}"),
        source: errno.into(),
    })
}
