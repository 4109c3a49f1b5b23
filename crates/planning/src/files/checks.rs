//! Checks of the plan of a workload of many files: errors and warnings.

use units::Bytes;

use description::check::REQUEST_BYTES_MAX;
use description::model::{Workload, WorkloadTable};
use plan::program::{FilePool, FilesetSharing, PoolEnd, ProgramPart, ProgramPhase, RoundsEnd};
use plan::{CacheMode, EngineKind, TargetKind};
use plan::{Diagnostic, Severity};

use super::super::memory::MemoryUse;
use super::{ProgramPlanner, bytes};

impl ProgramPlanner<'_, '_> {
    pub fn check(&mut self, workload: &Workload) -> Result<(), Diagnostic> {
        self.check_programs(workload)?;
        self.check_shared_filesets()?;
        self.check_ways()?;
        self.check_buffers()?;
        self.check_steady()?;
        self.check_warm(workload)?;
        self.check_verify()?;
        if let Some(pool) = &self.program.pool {
            check_directories(pool)?;
            self.check_kept_open(pool)?;
            self.check_memory(pool)?;
            self.warn_of_end(pool);
            self.warn_of_count(workload);
        }
        for target_index in self.targets {
            self.check_kind(workload, *target_index)?;
            self.check_direct(workload, *target_index)?;
        }
        Ok(())
    }

    /// Warns about a number of transactions that a time replaces; a time given as an option
    /// replaces a number from the file silently.
    fn warn_of_count(&mut self, workload: &Workload) {
        let count = workload.transaction_count();
        let overrides = self.context.overrides;
        let is_option = overrides.has_in(self.table, "transactions");
        let is_intended = is_option || !overrides.has("run_time");
        let (Some(count), true) = (count, is_intended && self.program.pool_time_ns().is_some())
        else {
            return;
        };
        let message = format!("`run_time` ends the transactions, not their number, {count}");
        let help = "leave one of the two out";
        let warning = Diagnostic::warning("", message).help(help);
        self.context.warnings.push(warning);
    }

    /// Refuses keys that have no effect on started programs.
    fn check_programs(&self, workload: &Workload) -> Result<(), Diagnostic> {
        let program = self.program;
        let options = self.options;
        let other = [
            ("engine", options.engine != EngineKind::Psync),
            ("cache", options.cache != CacheMode::Buffered),
            ("content", workload.content.is_some()),
        ];
        match other.iter().find(|(_, is_set)| *is_set) {
            Some((key, _)) if program.starts_programs() => {
                let message = format!("`{key}` cannot be chosen for programs, `mode = \"exec\"`");
                let help = format!("leave `{key}` out, or write `mode = \"syscall\"`");
                Err(Diagnostic::error("", message).help(help))
            }
            _ => Ok(()),
        }
    }

    /// A fileset that all workers share must be on a single target.
    fn check_shared_filesets(&self) -> Result<(), Diagnostic> {
        let [_, _, ..] = self.targets else {
            return Ok(());
        };
        let mut filesets = self.program.filesets.iter();
        let Some(shared) = filesets.find(|it| it.copies == FilesetSharing::One) else {
            return Ok(());
        };
        let message = format!(
            "all workers share `{}`, but there are {} targets",
            shared.name,
            self.targets.len()
        );
        let help = "name one target, or write `copies = \"per-worker\"` in each `[[fileset]]`";
        Err(Diagnostic::error("", message).help(help))
    }

    /// A ring has no file offset that its requests could share.
    fn check_ways(&self) -> Result<(), Diagnostic> {
        let EngineKind::IoUring = self.options.engine else {
            return Ok(());
        };
        let mut modes = self.program.ways.iter();
        let Some(mode) = modes.find(|way| way.uses_file_offset() || way.mapped.is_some()) else {
            return Ok(());
        };
        let key = match (mode.mapped, mode.seeks) {
            (Some(_), _) => "mapped",
            (None, true) => "seek",
            (None, false) => "unit",
        };
        let message = format!(
            "`{key}` of the way `{}` needs system calls, not `engine = \"io_uring\"`",
            mode.name
        );
        Err(Diagnostic::error("", message).help("write `engine = \"psync\"`"))
    }

    /// Only files that exist before the first phase can be read before.
    fn check_warm(&self, workload: &Workload) -> Result<(), Diagnostic> {
        let mut sets = self.program.filesets.iter();
        if workload.warm != Some(true) || sets.any(|it| it.present_permille > 0) {
            return Ok(());
        }
        let message = format!(
            "`warm` does not apply to `{}`: its files are created as part of the work, so they \
             are in the page cache",
            self.options.name
        );
        Err(Diagnostic::error("", message).help("leave `warm` out"))
    }

    /// The content of files that others wrote is not known.
    fn check_verify(&self) -> Result<(), Diagnostic> {
        if !self.options.verify || !(self.is_in_place || self.program.uses_existing_files()) {
            return Ok(());
        }
        let message = format!(
            "`verify` does not apply to `{}`: it may read files that others wrote",
            self.options.name
        );
        Err(Diagnostic::error("", message).help("leave `verify` out"))
    }

    /// Only phases with a time can be repeated in rounds.
    fn check_steady(&self) -> Result<(), Diagnostic> {
        let is_timed = |phase: &&ProgramPhase| !phase.is_hidden && phase.time_ns.is_some();
        let has_budget = |part: &ProgramPart| {
            let ProgramPart::Rounds { until, .. } = part else {
                return false;
            };
            matches!(until, RoundsEnd::Spent { .. })
        };
        if self.options.method.steady.is_none()
            || self.program.phases().iter().any(is_timed)
            || self.program.parts.iter().any(has_budget)
        {
            return Ok(());
        }
        let message = format!(
            "no phase of `{}` ends by time, so none can run until it is steady",
            self.options.name
        );
        let help = match self.table {
            WorkloadTable::Program => "give a phase a `run_time`, or leave `until` out",
            _ => "write `compat = \"1.6\"`, whose rounds have a time, or leave `until` out",
        };
        Err(Diagnostic::error("", message).help(help))
    }

    /// A stream that stays open would read from its buffer, and a ring opens files in its own
    /// slots.
    fn check_kept_open(&self, pool: &FilePool) -> Result<(), Diagnostic> {
        let (what, help) = match (pool.keep_open, pool.is_buffered) {
            (0, _) => return Ok(()),
            (_, true) => ("`buffering = true`", "write `buffering = false`"),
            _ if self.options.engine == EngineKind::IoUring => {
                ("`engine = \"io_uring\"`", "write `engine = \"psync\"`")
            }
            _ => return Ok(()),
        };
        let message = format!("`keep_open` leaves files open, which {what} cannot");
        Err(Diagnostic::error("", message).help(format!("{help}, or leave `keep_open` out")))
    }

    /// Each worker has a buffer of the largest request size for each request in flight.
    fn check_buffers(&self) -> Result<(), Diagnostic> {
        let depth = self.slot_count;
        let request_bytes = u64::from(self.program.request_bytes_max());
        let (shares, each) = (&self.context.shares, request_bytes * u64::from(depth));
        let buffers = MemoryUse {
            name: "the buffers of all workers",
            help: "use smaller requests, a smaller queue depth or fewer workers",
            workers: (0..self.worker_count as usize).map(|it| (shares.rank_of(it, None), each)),
        };
        buffers.fits(self.context.facts)
    }

    /// Each worker has a table of slots and a text twice as long as the largest file.
    fn check_memory(&self, pool: &FilePool) -> Result<(), Diagnostic> {
        let block_bytes = pool.read_block_bytes.max(pool.write_block_bytes);
        // A block that is larger than any file is never moved as a whole.
        let longest_bytes = u64::from(block_bytes.min(pool.size_high_bytes));
        if longest_bytes > REQUEST_BYTES_MAX {
            let (longest, most) = (Bytes(longest_bytes), Bytes(REQUEST_BYTES_MAX));
            let message = format!("a request of the pool has {longest}, more than {most}");
            let help = "use a smaller `read_block`, `write_block` or `max_size`";
            return Err(Diagnostic::error("", message).help(help));
        }
        let (shares, each) = (&self.context.shares, pool.memory_bytes());
        let pools = MemoryUse {
            name: "the pools of all workers",
            help: "use a smaller `number` or `max_size`, or fewer workers",
            workers: (0..self.worker_count as usize).map(|it| (shares.rank_of(it, None), each)),
        };
        pools.fits(self.context.facts)
    }

    /// Warns if a pool is expected to become empty, or to fill its table.
    fn warn_of_end(&mut self, pool: &FilePool) {
        let is_counted = self.program.pool_time_ns().is_none();
        let end = pool.transactions_until_end().filter(|_| is_counted);
        let Some((count, end)) = end else {
            return;
        };
        let (message, help) = match end {
            PoolEnd::Empty => (
                format!("the pool is empty after about {count} transactions, and the run ends"),
                "use a larger `number`, fewer `transactions` or a larger `create_bias`",
            ),
            PoolEnd::Full => (
                format!(
                    "the pool has {} files after about {count} transactions, and none is added",
                    2 * u64::from(pool.number)
                ),
                "use a larger `number`, fewer `transactions` or a smaller `create_bias`",
            ),
        };
        let warning = Diagnostic::warning("", message).help(help);
        self.context.warnings.push(warning);
    }

    fn check_kind(&mut self, workload: &Workload, target_index: u32) -> Result<(), Diagnostic> {
        let entry = &mut self.context.targets.entries[target_index as usize];
        if !entry.is_known {
            // A target that was not examined must become a directory.
            entry.facts.kind = TargetKind::Directory;
        }
        let description = match entry.facts.kind {
            TargetKind::Directory | TargetKind::Null => return Ok(()),
            TargetKind::Device => "is a block device",
            TargetKind::Endless => "is a character device",
            TargetKind::Network => "is a TCP peer",
            TargetKind::File if entry.facts.exists => "is a file",
            TargetKind::File => "does not exist",
        };
        // A workload without a table comes from the arguments or a file of another program.
        let origin = workload.origin().map(|it| it.name.as_str());
        let name = self.table.title().or(origin).unwrap_or("program");
        let message = format!(
            "`{}` {description}; `{name}` needs a directory",
            entry.facts.path
        );
        Err(Diagnostic::error("", message).help("name a directory with `--target`"))
    }

    fn check_direct(&mut self, workload: &Workload, target_index: u32) -> Result<(), Diagnostic> {
        let entry = &self.context.targets.entries[target_index as usize];
        let is_touched = entry.facts.kind != TargetKind::Null;
        let is_direct = self.options.cache == CacheMode::Direct;
        // A `[[way]]` may be direct although the workload's `cache` is not.
        let may_be_direct = is_direct || self.table == WorkloadTable::Program;
        if !may_be_direct || !is_touched {
            return Ok(());
        }
        let unit = entry.facts.direct_unit();
        let amounts = bytes::moved(workload, self.program, (self.table, is_direct));
        let mut sizes = amounts.into_iter();
        let Some((key, size)) = sizes.find(|(_, size)| !size.is_multiple_of(unit.into())) else {
            return Ok(());
        };
        let message = format!(
            "direct I/O on `{}` needs sizes in multiples of {unit} bytes, but {key} gives {size} \
             bytes",
            entry.facts.path
        );
        let help = match self.program.pool.is_some() && key.ends_with("_size`") {
            // Any range contains other sizes.
            true => {
                let size = unit.max(4096);
                format!("add `--set min_size={size} --set max_size={size}`, or `--cache buffered`")
            }
            false => "add `--cache buffered`".to_owned(),
        };
        let error = Diagnostic::error("", message).help(help);
        if entry.is_known {
            return Err(error);
        }
        let severity = Severity::Warning;
        self.context.warnings.push(Diagnostic { severity, ..error });
        Ok(())
    }
}

/// Directories are numbered consecutively over all locations.
fn check_directories(pool: &FilePool) -> Result<(), Diagnostic> {
    let directories = pool.directories_count();
    if u32::try_from(directories).is_ok() {
        return Ok(());
    }
    let message = format!("{directories} directories are more than 32 bits can number");
    let help = "use fewer `subdirectories` or `locations`";
    Err(Diagnostic::error("", message).help(help))
}
