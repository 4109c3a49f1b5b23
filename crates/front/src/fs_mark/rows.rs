//! Banner of fs_mark 3.3, and a row for each iteration.

use description::classics::fs_mark::{FsMarkPlan, Subdirectories, SyncMethod};
use results::{FreeSpace, RoundFigures};

use super::figures::{CallTimeSummary, Iteration};

/// Time format of C's `ctime`, without the line break.
pub const CTIME: &str = "%a %b %e %H:%M:%S %Y";
/// Version of fs_mark whose output this is.
const VERSION: &str = "3.3";
/// Seconds that the original uses one subdirectory if it is chosen by time.
const SECONDS_PER_DIRECTORY: u32 = 180;

/// The text before the first iteration, with the column heads.
#[derive(Debug, Clone, Copy)]
pub struct Banner<'a> {
    /// The whole command line, including the program's name.
    pub command: &'a [String],
    /// Start of the run in the format of C's `ctime`, without the line break.
    pub started_at: &'a str,
    /// Settings of the workload.
    pub plan: &'a FsMarkPlan,
    /// `true` to print columns for each kind of call.
    pub is_verbose: bool,
}

impl Banner<'_> {
    /// The banner's text.
    pub fn text(&self) -> String {
        let words = self.command.iter().map(|word| format!(" {word} "));
        let mut text = format!("\n# {}{}", words.collect::<String>(), self.settings());
        if self.is_verbose {
            text += "#\tAll system call times are reported in microseconds.\n";
        }
        text + "\n" + &heads(self.is_verbose)
    }

    fn settings(&self) -> String {
        let plan = self.plan;
        let time_length = i64::from(plan.name_length) - i64::from(plan.random_length);
        format!(
            "\n#\tVersion {VERSION}, {} thread(s) starting at {}\n\
             #\tSync method: {}\n\
             #\tDirectories:  {}\n\
             #\tFile names: {} bytes long, ({time_length} initial bytes of time stamp with {} \
             random bytes at end of name)\n\
             #\tFiles info: size {} bytes, written with an IO size of {} bytes per write\n\
             #\tApp overhead is time in microseconds spent in the test not doing file writing \
             related system calls.\n",
            plan.thread_count,
            self.started_at,
            sync_method(plan.sync_method),
            directories(plan.subdirectories),
            plan.name_length,
            plan.random_length,
            plan.size_bytes,
            plan.write_bytes,
        )
    }
}

/// Description of a method; scripts that parse the output look for these words.
const fn sync_method(method: SyncMethod) -> &'static str {
    match method {
        SyncMethod::None => "NO SYNC: Test does not issue sync() or fsync() calls.",
        SyncMethod::Fsync => "INBAND FSYNC: fsync() per file in write loop.",
        SyncMethod::SyncFirst => {
            "SYSTEM SYNC/SINGLE FSYNC: Issue sync() after main write loop and 1 file fsync() per \
             subdirectory."
        }
        SyncMethod::PostReverse => {
            "POST REVERSE: Reopen and fsync() each file in reverse order after main write loop."
        }
        SyncMethod::SyncPostReverse => {
            "SYNC POST REVERSE: Issue sync() and then reopen and fsync() each file in reverse \
             order after main write loop."
        }
        SyncMethod::Post => "POST: Reopen and fsync() each file in order after main write loop.",
        SyncMethod::SyncPost => {
            "SYNC POST: Issue sync() and then reopen and fsync() each file in order after main \
             write loop."
        }
    }
}

fn directories(subdirectories: Subdirectories) -> String {
    let across = |policy: &str, count: u32, each: u32, of: &str| {
        format!("{policy} between directories across {count} subdirectories with {each} {of}.")
    };
    match subdirectories {
        Subdirectories::None => "no subdirectories used".to_owned(),
        Subdirectories::RoundRobin { count, each_count } => {
            across("Round Robin", count, each_count, "files per subdirectory")
        }
        Subdirectories::ByTime { count } => across(
            "Time based hash",
            count,
            SECONDS_PER_DIRECTORY,
            "seconds per subdirectory",
        ),
    }
}

fn heads(is_verbose: bool) -> String {
    let [usage, count, size, rate] = ["FSUse%", "Count", "Size", "Files/sec"];
    let mut line = format!(
        "{usage:>6} {count:>12} {size:>12} {rate:>12} {:>16}",
        "App Overhead"
    );
    if is_verbose {
        for call in ["CREAT", "WRITE", "FSYNC", "SYNC", "CLOSE", "UNLINK"] {
            let head = format!("{call} (Min/Avg/Max)");
            line += &format!(" {head:>26}");
        }
    }
    line + "\n"
}

/// Rows of a run, one per iteration.
#[derive(Debug)]
pub struct Rows {
    plan: FsMarkPlan,
    is_verbose: bool,
    /// Files of all iterations so far, with the 32-bit overflow of the original.
    file_count: u32,
}

impl Rows {
    /// Rows of a run that has no iteration yet.
    pub const fn new(plan: FsMarkPlan, is_verbose: bool) -> Self {
        Self {
            plan,
            is_verbose,
            file_count: 0,
        }
    }

    /// The row of the next iteration, with its line break. The used share is 0 if it is unknown.
    pub fn next(&mut self, round: &RoundFigures) -> String {
        let iteration = Iteration::of(&self.plan, round);
        self.file_count = self.file_count.wrapping_add(iteration.file_count);
        let used = |space: FreeSpace| usage_percent(space.total_bytes, space.free_bytes);
        row(
            &self.plan,
            &iteration,
            round.space.map_or(0, used),
            self.file_count,
            self.is_verbose,
        )
    }
}

/// The row of an iteration, with its line break.
///
/// `usage_percent` is for the first directory's file system, see [`usage_percent`]; `file_count`
/// counts the files of all threads in this and all earlier iterations.
pub fn row(
    plan: &FsMarkPlan,
    iteration: &Iteration,
    usage_percent: u32,
    file_count: u32,
    is_verbose: bool,
) -> String {
    let mut line = format!(
        "{usage_percent:>6} {file_count:>12} {:>12} {:>12.1} {:>16}",
        plan.size_bytes,
        f64::from(iteration.files_per_second),
        iteration.overhead_us,
    );
    if is_verbose {
        for spread in iteration.spreads() {
            let CallTimeSummary {
                min_us,
                average_us,
                max_us,
            } = spread;
            line += &format!(" {min_us:>8} {average_us:>8} {max_us:>8}");
        }
    }
    line + "\n"
}

/// The message on standard output if a thread's next files would not fit.
pub fn no_space_message(directory: &str, file_count: u32) -> String {
    format!("Insufficient free space in {directory} to create {file_count} new files, exiting\n")
}

/// Used share of a file system in percent, from counts of bytes or blocks. As in the original, it
/// is computed in 32-bit floats, truncated, and includes space reserved for root.
pub fn usage_percent(all_count: u64, available_count: u64) -> u32 {
    if all_count == 0 {
        return 0;
    }
    let used = all_count.saturating_sub(available_count) as f32 / all_count as f32;
    (100.0 * used) as u32
}
