//! Threads, CPUs, priorities and order of jobs.

choices! {
    /// How clones share CPUs.
    CpuPolicy {
        /// Every clone may use all of them.
        #[default]
        Shared = "shared",
        /// Each clone gets one, in turn.
        Split = "split",
    }
}

/// Threads, CPUs, priorities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSettings {
    /// Number of clones.
    pub clone_count: u32,
    /// `true` for threads instead of processes.
    pub is_thread: bool,
    /// CPUs the job may use; empty for all.
    pub cpus: Vec<u32>,
    /// How clones share these CPUs.
    pub cpu_policy: CpuPolicy,
    /// NUMA nodes whose CPUs are used; empty for all.
    pub numa_nodes: Vec<u32>,
    /// Nice value of the thread.
    pub nice: i32,
    /// I/O priority, from 0 (highest) to 7.
    pub io_priority: Option<u32>,
    /// I/O priority class: 0 none, 1 real time, 2 best effort, 3 idle.
    pub io_class: Option<u32>,
}

impl Default for ProcessSettings {
    fn default() -> Self {
        Self {
            clone_count: 1,
            is_thread: false,
            cpus: Vec::new(),
            cpu_policy: CpuPolicy::default(),
            numa_nodes: Vec::new(),
            nice: 0,
            io_priority: None,
            io_class: None,
        }
    }
}

choices! {
    /// Jobs that end together with a job.
    WhoEnds {
        /// The jobs of its group.
        #[default]
        Group = "group",
        /// The jobs of its wave.
        Wave = "stonewall",
        /// All jobs.
        All = "all",
    }
}

/// Order of jobs, and which jobs are reported as one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grouping {
    /// `true` if the job starts after all previous jobs have ended.
    pub waits_for_all: bool,
    /// Name of the job that must end before this one starts.
    pub waits_for: Option<String>,
    /// `true` if the job opens a new group.
    pub opens_group: bool,
    /// `true` if the group is reported as one.
    pub is_reported_together: bool,
    /// `true` if other jobs end with this one.
    pub ends_others: bool,
    /// The other jobs that end.
    pub ended_jobs: WhoEnds,
    /// `true` if all jobs end when this one fails.
    pub ends_all_on_error: bool,
    /// Free-form description of the job.
    pub description: Option<String>,
}
