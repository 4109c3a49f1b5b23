//! The calling thread: its number, its processor time, the processor it runs on.

use results::ThreadUsage;

use crate::RunError;

/// Processor time of the calling thread so far.
pub(crate) fn thread_cpu() -> Option<target::CpuSample> {
    target::CpuSample::of_thread_id(thread_id())
}

/// What the kernel has counted of the calling thread so far.
///
/// Source: proc(5), `/proc/thread-self/status` and the fields 10 and 12 of `stat`.
pub(crate) fn thread_usage() -> Option<ThreadUsage> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let switches = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim_start_matches(':').trim().parse::<u64>().ok()
    };
    let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
    // The name is in parentheses and may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(7);
    let minor_faults = fields.next()?.parse().ok()?;
    let major_faults = fields.nth(1)?.parse().ok()?;
    Some(ThreadUsage {
        voluntary_switches: switches("voluntary_ctxt_switches")?,
        involuntary_switches: switches("nonvoluntary_ctxt_switches")?,
        minor_faults,
        major_faults,
    })
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
