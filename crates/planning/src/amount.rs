//! Amounts of data given in total, in bytes or as a multiple of memory: derives the size of a test
//! file, or the number of files.

use units::{Bytes, format};

use description::model::{TimesMemory, Workload, WorkloadTable};
use plan::program::{POOL_FILES_MAX, Program};
use plan::{Diagnostic, DiagnosticCode};
use plan::{Setting, Source};

use super::files::{FileWork, bytes};
use super::space::SIZE_UNIT;
use super::{Context, files, jobs};

/// Number of quarters of the usable space of a target that may be used; the rest is for others.
const USABLE_QUARTERS: u64 = 3;
/// Minimum number of files per worker, unless their amount was given; fewer mean little.
const FILES_MIN: u64 = 100;
/// The space of files grows with their number, but not in proportion, so it is approached in steps.
const ATTEMPTS_MAX: usize = 8;

/// The workload with its size, or the number of its files, derived from its total amount of data;
/// `None` if it has no such amount.
///
/// # Errors
/// If a target has no room for any data.
pub(super) fn sized(
    workload: &Workload,
    workload_index: usize,
    context: &mut Context,
) -> Result<Option<Workload>, Diagnostic> {
    let (times, bytes) = match (workload.times_memory, workload.total_size) {
        (None, None) => return Ok(None),
        (Some(times), _) => {
            note(workload, "times_memory", &times.to_string(), context);
            let memory_bytes = context.facts.memory_bytes;
            if memory_bytes == 0 {
                warn_of_unknown(context);
                return Ok(None);
            }
            (Some(times), (memory_bytes as f64 * times.0) as u64)
        }
        (None, Some(total)) => {
            note(workload, "total_size", &total.to_string(), context);
            (None, total.0)
        }
    };
    let data = RequestedAmount {
        times,
        bytes,
        targets: context.targets.of_worker(workload_index, None).to_vec(),
    };
    if workload.has_jobs() {
        return data.resize_job_files(workload, context).map(Some);
    }
    match workload.table() {
        // Its filesets are scaled when the program is made.
        Some(WorkloadTable::Program) => Ok(None),
        Some(_) => data.resize_filesets(workload, context).map(Some),
        None => data.resize_single_file(workload, context).map(Some),
    }
}

fn warn_of_unknown(context: &mut Context) {
    let message = "the size of the memory is unknown, so the default amount of data is used \
                   instead of `times_memory`";
    let help = "leave `times_memory` out and write a size";
    context
        .warnings
        .push(Diagnostic::warning("", message).help(help));
}

fn note(workload: &Workload, key: &str, value: &str, context: &mut Context) {
    let source = match context.overrides.has(key) {
        true => Source::Option,
        false => Source::Written,
    };
    context.settings.push(Setting {
        workload: workload.name_or_default().to_owned(),
        key: key.to_owned(),
        value: value.to_owned(),
        source,
    });
}

/// The requested amount of data.
struct RequestedAmount {
    /// Multiple of the memory, if given in that form.
    times: Option<TimesMemory>,
    bytes: u64,
    /// Targets over which the data is spread.
    targets: Vec<u32>,
}

impl RequestedAmount {
    fn bytes_per_target(&self) -> u64 {
        self.bytes / self.targets.len().max(1) as u64
    }

    /// Bytes that the data may take on each target, and the path of the tightest target; `None` if
    /// unknown.
    fn room(&self, context: &Context) -> Option<(u64, String)> {
        let rooms = self.targets.iter().filter_map(|index| {
            let entry = &context.targets.entries[*index as usize];
            let sharers = context.targets.entries.iter();
            let sharers = sharers.filter(|other| other.shares_space_with(entry));
            // The data of all targets on one file system must fit together.
            let usable = entry.usable_bytes()? / sharers.count().max(1) as u64;
            // Divided first, so that the product cannot overflow.
            Some((usable / 4 * USABLE_QUARTERS, entry.facts.path.clone()))
        });
        rooms.min()
    }

    /// Formats a number of bytes for messages.
    fn requested_amount(&self, bytes: u64) -> String {
        match self.times {
            Some(times) => format!("{} ({times} of the memory)", format::size(bytes)),
            None => format::size(bytes),
        }
    }

    /// All files of the jobs get the same size; a file that several jobs share counts once.
    fn resize_job_files(
        &self,
        workload: &Workload,
        context: &mut Context,
    ) -> Result<Workload, Diagnostic> {
        let built = jobs::of(workload)?.unwrap_or_default();
        let count = built.files.files.len().max(1) as u64;
        // The checks of room are the same as if all data were in one file.
        let single_file = self.resize_single_file(workload, context)?;
        let per_target = single_file.size.map_or(0, |size| size.0);
        let all = per_target.saturating_mul(self.targets.len().max(1) as u64);
        let size = round_down(all / count).max(SIZE_UNIT);
        Ok(Workload {
            size: Some(Bytes(size)),
            ..single_file
        })
    }

    fn resize_single_file(
        &self,
        workload: &Workload,
        context: &mut Context,
    ) -> Result<Workload, Diagnostic> {
        let requested = round_down(self.bytes_per_target()).max(SIZE_UNIT);
        let mut size = requested;
        if let Some((room, path)) = self.room(context).filter(|(room, _)| *room < requested) {
            size = round_down(room);
            if size == 0 {
                return Err(no_room(&path));
            }
            self.warn_of_reduced_size(&path, size, context);
        }
        Ok(Workload {
            size: Some(Bytes(size)),
            ..workload.clone()
        })
    }

    fn resize_filesets(
        &self,
        workload: &Workload,
        context: &mut Context,
    ) -> Result<Workload, Diagnostic> {
        let mut sized = workload.clone();
        let target_count = self.targets.len();
        let (each_bytes, most) = UnsizedWork::of(workload, target_count)?.bytes_per_file();
        // A total that the user wrote is obeyed, even if a single file is enough for it.
        let least = if self.times.is_some() { FILES_MIN } else { 1 };
        let requested = (self.bytes / each_bytes.max(1)).clamp(least, most);
        let mut count = requested;
        set_count(&mut sized, count);
        let room = self.room(context);
        for _ in 0..ATTEMPTS_MAX {
            let Some((room, path)) = &room else { break };
            let needed = UnsizedWork::of(&sized, target_count)?.needed_bytes();
            if needed <= *room {
                break;
            }
            count = (count as f64 * *room as f64 / needed as f64) as u64;
            if count < least {
                return Err(no_room(path));
            }
            set_count(&mut sized, count);
        }
        let bytes = count.saturating_mul(each_bytes);
        match room {
            Some((_, path)) if count < requested => {
                self.warn_of_reduced_size(&path, bytes, context)
            }
            _ if count == most => {
                let name = workload.name_or_default();
                let message = format!(
                    "the files of `{name}` are {}, not {}, as there can be no more than {most}",
                    format::size(bytes),
                    self.requested_amount(self.bytes)
                );
                warn(message, "use larger files", context);
            }
            _ => {}
        }
        Ok(sized)
    }

    fn warn_of_reduced_size(&self, path: &str, bytes: u64, context: &mut Context) {
        let message = format!(
            "`{path}` holds {} of data, not {}, because more would fill over three quarters of \
             the free space",
            format::size(bytes),
            self.requested_amount(self.bytes_per_target())
        );
        let help = match self.times {
            Some(_) => "use a target with more room, or a smaller `--set times_memory`",
            None => "use a target with more room, or a smaller `--total-size`",
        };
        warn(message, help, context);
    }
}

fn warn(message: String, help: &str, context: &mut Context) {
    let warning = Diagnostic::warning("", message).code(DiagnosticCode::SizeReduced);
    context.warnings.push(warning.help(help));
}

fn no_room(path: &str) -> Diagnostic {
    let message = format!("`{path}` has no room for the requested data");
    Diagnostic::error("", message).help("name another target with `--target`")
}

/// Rounds down to full units of a test file's size.
const fn round_down(bytes: u64) -> u64 {
    bytes / SIZE_UNIT * SIZE_UNIT
}

/// Work on many files before its number of files is known.
struct UnsizedWork {
    program: Box<Program>,
    worker_count: u32,
    target_count: usize,
    file_count_max: u32,
}

impl UnsizedWork {
    fn of(workload: &Workload, target_count: usize) -> Result<Self, Diagnostic> {
        let FileWork {
            program,
            worker_count,
        } = files::files_of(workload, target_count)?;
        Ok(Self {
            program,
            worker_count,
            target_count,
            file_count_max: workload.file_count_max(),
        })
    }

    /// Bytes of data per additional file, for all workers together if each has its own, and the
    /// maximum number of files.
    fn bytes_per_file(&self) -> (u64, u64) {
        let workers = u64::from(self.worker_count);
        match &self.program.pool {
            Some(pool) => (pool.mean_bytes() * workers, u64::from(POOL_FILES_MAX)),
            None => {
                let count = self
                    .program
                    .filesets
                    .iter()
                    .map(|it| u64::from(it.count))
                    .sum();
                let all = self.program.space_needed().bytes;
                (
                    all.div_ceil(u64::max(count, 1)),
                    u64::from(self.file_count_max),
                )
            }
        }
    }

    /// Estimated maximum of the bytes that the files take at the same time on each target.
    fn needed_bytes(&self) -> u64 {
        let per_worker = bytes::peak_bytes(&self.program, self.worker_count);
        let all = per_worker.saturating_mul(self.worker_count.into());
        all.div_ceil(self.target_count.max(1) as u64)
    }
}

/// Sets the number of files in the table.
fn set_count(workload: &mut Workload, count: u64) {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    if let Some(pool) = workload.pool_counts_mut() {
        *pool.files = Some(count);
    } else if let Some((files, _)) = workload.file_count_mut() {
        *files = Some(count);
    }
}
