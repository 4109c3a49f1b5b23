//! The calling thread: its ID, its CPU time and the CPUs it runs on.

use plan::job::{IoPriority, JobThread};
use results::ThreadUsage;
use rustix::thread::CpuSet;

use crate::RunError;

/// CPU time of the calling thread so far.
pub(crate) fn thread_cpu() -> Option<storage::CpuSample> {
    storage::CpuSample::of_thread_id(thread_id())
}

/// Kernel counters of the calling thread so far.
///
/// Source: proc(5), `/proc/thread-self/status` and the fields 10 and 12 of `stat`.
pub(crate) fn thread_usage() -> Option<ThreadUsage> {
    let status = std::fs::read_to_string("/proc/thread-self/status").ok()?;
    let switches = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim_start_matches(':').trim().parse::<u64>().ok()
    };
    let stat = std::fs::read_to_string("/proc/thread-self/stat").ok()?;
    // The name is in parentheses and may contain any character.
    // The text after the name begins with field 3, so this skips to field 10.
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

/// ID of the calling thread.
pub(crate) fn thread_id() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Binds the calling thread to this CPU.
pub(crate) fn pin(cpu: Option<u32>) -> Result<(), RunError> {
    match cpu {
        Some(cpu) => run_on(&[cpu]),
        None => Ok(()),
    }
}

/// Binds the calling thread to these CPUs.
fn run_on(cpus: &[u32]) -> Result<(), RunError> {
    let mut set = CpuSet::new();
    // `CpuSet` has no place for higher numbers. Without any CPU left, the kernel returns EINVAL.
    for cpu in cpus.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU as u32) {
        set.set(*cpu as usize);
    }
    let texts: Vec<String> = cpus.iter().map(u32::to_string).collect();
    rustix::thread::sched_setaffinity(None, &set).map_err(|errno| RunError::Cpus {
        cpus: texts.join(", "),
        source: errno.into(),
    })
}

/// Applies the scheduling settings of a job's thread.
pub(crate) fn arrange(thread: &JobThread) -> Result<(), RunError> {
    if !thread.cpus.is_empty() {
        run_on(&thread.cpus)?;
    }
    if thread.nice != 0 {
        // On Linux, each thread has its own nice value (setpriority(2), notes).
        let own = Some(rustix::thread::gettid());
        let set = rustix::process::setpriority_process(own, thread.nice);
        set.map_err(|errno| RunError::System {
            what: format!("run a job with a nice value of {}", thread.nice),
            source: errno.into(),
        })?;
    }
    if let Some(IoPriority { class, level }) = thread.io_priority {
        engine::set_io_priority(class, level).map_err(|source| RunError::System {
            what: format!("give requests of a job priority {level} of class {class}"),
            source,
        })?;
    }
    Ok(())
}
