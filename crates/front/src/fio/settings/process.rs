//! Threads, CPUs, priorities; beside and after whom.

choices! {
    /// How clones share CPUs.
    CpuPolicy {
        /// All of them have all.
        #[default]
        Shared = "shared",
        /// Each has one, in turn.
        Split = "split",
    }
}

/// Threads, CPUs, priorities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSettings {
    /// Clones.
    pub clone_count: u32,
    /// Threads instead of processes.
    pub is_thread: bool,
    /// CPUs; empty for all.
    pub cpus: Vec<u32>,
    /// How clones share them.
    pub cpu_policy: CpuPolicy,
    /// NUMA nodes whose CPUs are used; empty for all.
    pub numa_nodes: Vec<u32>,
    /// Priority of the thread.
    pub nice: i32,
    /// Priority of requests, from 0, the highest, to 7.
    pub io_priority: Option<u32>,
    /// Its class, from 0 to 3.
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
    /// Who ends with a job.
    WhoEnds {
        /// Its group of results.
        #[default]
        Group = "group",
        /// What runs beside it.
        Wave = "stonewall",
        /// All that is there.
        All = "all",
    }
}

/// Beside and after whom, and with whom in one result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Grouping {
    /// Begins when all before have ended.
    pub waits_for_all: bool,
    /// Begins when the job of that name has ended.
    pub waits_for: Option<String>,
    /// Opens a group of results.
    pub opens_group: bool,
    /// One result for the group.
    pub is_reported_together: bool,
    /// Others end with it.
    pub ends_others: bool,
    /// Which ones.
    pub who_ends: WhoEnds,
    /// All end when it fails.
    pub ends_all_on_error: bool,
    /// A text about the job.
    pub description: Option<String>,
}
