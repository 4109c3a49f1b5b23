//! Recording of the system calls of programs, by ptrace.
//!
//! Events of tracefs would cost less per call, but they hold the addresses of paths instead of
//! paths, need root, and lose events when the reader is slow. ptrace stops each thread before and
//! after each call, so nothing is lost, but calls take longer.

mod table;
mod text;
mod tracee;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::RecordError;
use crate::recorder::{RecordProgress, process_cpu_ns};

use table::{CallTable, RecordedCall};
use text::TraceLines;
use tracee::{CallStop, Tracee};

/// Longest wait for an event, and time between two looks at the end of the recording.
const WAIT: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 100_000_000,
};
/// Time after a stop during which the next one is likely. Waking up would take longer.
const SPIN: Duration = Duration::from_micros(50);
/// Time after which lines are written to the file.
const FLUSH_PERIOD: Duration = Duration::from_secs(1);
/// Finds the program, and stops the shell, so that it is traced before it becomes the program.
const STOPPED_START: &str = "program=$(command -v -- \"$1\") || exit 127
shift
kill -STOP $$
exec \"$program\" \"$@\"";

/// The programs whose calls are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TracedPrograms {
    /// A command that the recording starts; its first element is the program.
    Command(Vec<OsString>),
    /// Processes that run already, by number.
    Processes(Vec<i32>),
}

/// Calls that a recording could not see as requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HiddenAccess {
    /// Number of calls that submit requests to io_uring or Linux AIO.
    pub submission_count: u64,
    /// Number of shared mappings of files.
    pub mapping_count: u64,
}

/// A recording of calls that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndedCalls {
    /// State at the end: requests are calls, and events are stops.
    pub progress: RecordProgress,
    /// What was not recorded.
    pub hidden: HiddenAccess,
    /// How the command ended; `None` if it still runs, or if there was none.
    pub status: Option<ExitStatus>,
    /// Size of the trace in bytes.
    pub size_bytes: u64,
}

/// A call that did not end yet.
#[derive(Debug)]
struct PendingCall {
    call: &'static RecordedCall,
    time_ns: u64,
    start: Instant,
    /// Name and arguments; empty once they are written.
    text: String,
}

/// Records the calls of programs and of all processes that they start.
pub struct CallRecorder<W: Write> {
    lines: TraceLines<W>,
    table: CallTable,
    /// Threads that are traced, with the recorded call that each is in.
    threads: HashMap<Pid, Option<PendingCall>>,
    root: Option<Pid>,
    status: Option<ExitStatus>,
    hidden: HiddenAccess,
    progress: RecordProgress,
    start: Instant,
    start_cpu_ns: u64,
    signals: SignalFd,
}

impl<W: Write> CallRecorder<W> {
    /// Starts the command or attaches to the processes. Lines for the trace go to `output`.
    ///
    /// The calling thread must be the only one, and also the one that calls [`Self::run`]: the
    /// kernel may give a signal to any thread, and lets a single one control the programs.
    ///
    /// # Errors
    ///
    /// The command cannot be started, a process does not exist, or the kernel does not allow
    /// tracing.
    pub fn start(programs: &TracedPrograms, output: W) -> Result<Self, RecordError> {
        // A blocked signal stays pending for the descriptor.
        let mut mask = SigSet::empty();
        mask.add(Signal::SIGCHLD);
        let signals = mask
            .thread_block()
            .and_then(|()| {
                SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)
            })
            .map_err(|reason| trace_error("programs", reason))?;
        let mut recorder = Self {
            lines: TraceLines::new(output),
            table: CallTable::new(),
            threads: HashMap::new(),
            root: None,
            status: None,
            hidden: HiddenAccess::default(),
            progress: RecordProgress::default(),
            start: Instant::now(),
            start_cpu_ns: process_cpu_ns(),
            signals,
        };
        match programs {
            TracedPrograms::Command(words) => recorder.launch(words)?,
            TracedPrograms::Processes(numbers) => {
                for number in numbers {
                    recorder.attach(*number)?;
                }
            }
        }
        Ok(recorder)
    }

    fn launch(&mut self, words: &[OsString]) -> Result<(), RecordError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", STOPPED_START, "sh"]).args(words);
        let child = command.spawn().map_err(|source| RecordError::Trace {
            what: "`/bin/sh`, which starts the command".to_owned(),
            source,
        })?;
        let pid = Pid::from_raw(child.id().cast_signed());
        let failed = |reason| trace_error("the command", reason);
        let stopped = waitpid(pid, Some(WaitPidFlag::WUNTRACED)).map_err(failed)?;
        if matches!(stopped, WaitStatus::Exited(..)) {
            let name = words.first().map(|it| it.to_string_lossy().into_owned());
            return Err(RecordError::NoProgram {
                name: name.unwrap_or_default(),
            });
        }
        let seized = ptrace::seize(pid, options());
        kill(pid, Signal::SIGCONT).map_err(failed)?;
        if let Err(reason) = seized {
            // It must not run without being recorded.
            let _ = kill(pid, Signal::SIGKILL);
            return Err(failed(reason));
        }
        self.threads.insert(pid, None);
        self.root = Some(pid);
        Ok(())
    }

    /// Attaches to all threads of a process.
    fn attach(&mut self, number: i32) -> Result<(), RecordError> {
        let name = format!("process {number}");
        let tasks = format!("/proc/{number}/task");
        // Threads that start meanwhile may be missing in the list.
        loop {
            let entries = std::fs::read_dir(&tasks).map_err(|source| RecordError::Trace {
                what: name.clone(),
                source,
            })?;
            let found = entries
                .flatten()
                .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
            let new: Vec<Pid> = found
                .map(Pid::from_raw)
                .filter(|thread| !self.threads.contains_key(thread))
                .collect();
            if new.is_empty() {
                return Ok(());
            }
            for thread in new {
                match ptrace::seize(thread, options()).and_then(|()| ptrace::interrupt(thread)) {
                    // It ended, or its parent brought it in.
                    Err(Errno::ESRCH) => {}
                    Err(Errno::EPERM) if is_traced_here(thread) => {}
                    Err(reason) => return Err(trace_error(&name, reason)),
                    Ok(()) => {}
                }
                self.threads.insert(thread, None);
            }
        }
    }

    /// Records until all programs ended or `go_on` returns `false`. It is called ten times a
    /// second or more often.
    ///
    /// # Errors
    ///
    /// The trace cannot be written.
    pub fn run(
        &mut self,
        mut go_on: impl FnMut(&RecordProgress) -> bool,
    ) -> Result<(), RecordError> {
        let mut looked = Instant::now();
        let mut flushed = Instant::now();
        let mut stopped = Instant::now();
        let any_thread = WaitPidFlag::__WALL | WaitPidFlag::WNOHANG;
        loop {
            let is_idle = match waitpid(None, Some(any_thread)) {
                Ok(WaitStatus::StillAlive) if stopped.elapsed() < SPIN => continue,
                Ok(WaitStatus::StillAlive) => {
                    self.wait();
                    true
                }
                Ok(status) => {
                    self.handle(status)?;
                    stopped = Instant::now();
                    false
                }
                // All programs ended.
                Err(Errno::ECHILD) => return Ok(()),
                Err(_) => true,
            };
            if is_idle || looked.elapsed() >= FLUSH_PERIOD / 10 {
                looked = Instant::now();
                self.progress.elapsed_ns = elapsed_ns(self.start);
                self.progress.cpu_ns = process_cpu_ns().saturating_sub(self.start_cpu_ns);
                if !go_on(&self.progress) {
                    return Ok(());
                }
            }
            if flushed.elapsed() >= FLUSH_PERIOD {
                flushed = Instant::now();
                self.lines.flush().map_err(output_error)?;
            }
        }
    }

    fn wait(&self) {
        let mut polled = [PollFd::new(&self.signals, PollFlags::IN)];
        // An interruption is as good as an event.
        let _ = poll(&mut polled, Some(&WAIT));
        while let Ok(Some(_)) = self.signals.read_signal() {}
    }

    fn handle(&mut self, status: WaitStatus) -> Result<(), RecordError> {
        let (pid, signal) = match status {
            WaitStatus::PtraceSyscall(pid) => {
                self.progress.event_count += 1;
                self.threads.entry(pid).or_default();
                self.call_stop(pid)?;
                (pid, None)
            }
            WaitStatus::PtraceEvent(pid, _, event) => {
                if event == libc::PTRACE_EVENT_EXEC {
                    self.follow_exec(pid);
                }
                self.threads.entry(pid).or_default();
                (pid, None)
            }
            WaitStatus::Stopped(pid, signal) => (pid, Some(signal)),
            WaitStatus::Exited(pid, code) => {
                self.end(pid, ExitStatus::from_raw(code << 8));
                return Ok(());
            }
            WaitStatus::Signaled(pid, signal, _) => {
                self.end(pid, ExitStatus::from_raw(signal as i32));
                return Ok(());
            }
            _ => return Ok(()),
        };
        // It fails if the thread was killed meanwhile, whose end is reported next.
        let _ = ptrace::syscall(pid, signal);
        Ok(())
    }

    /// A thread that executes a program gets the number of its process.
    fn follow_exec(&mut self, pid: Pid) {
        let former = ptrace::getevent(pid)
            .ok()
            .and_then(|it| i32::try_from(it).ok());
        if let Some(former) = former.map(Pid::from_raw)
            && former != pid
            && let Some(thread) = self.threads.remove(&former)
        {
            self.threads.insert(pid, thread);
        }
    }

    fn end(&mut self, pid: Pid, status: ExitStatus) {
        self.threads.remove(&pid);
        if self.root == Some(pid) {
            self.status = Some(status);
        }
    }

    fn call_stop(&mut self, pid: Pid) -> Result<(), RecordError> {
        let tracee = Tracee(pid);
        match tracee.stop() {
            Ok(CallStop::Entry { number, values }) => self.enter(&tracee, number, values),
            Ok(CallStop::Exit(result)) => self.leave(&tracee, result)?,
            // Killed meanwhile.
            Ok(CallStop::Other) | Err(_) => {}
        }
        Ok(())
    }

    fn enter(&mut self, tracee: &Tracee, number: i64, values: [u64; 6]) {
        let pending = match self.table.get(number) {
            Some(call) => Some(PendingCall {
                call,
                text: text::start(call, values, tracee),
                time_ns: epoch_ns(),
                start: Instant::now(),
            }),
            None => {
                self.note_hidden(number, values);
                None
            }
        };
        if let Some(thread) = self.threads.get_mut(&tracee.0) {
            *thread = pending;
        }
    }

    fn note_hidden(&mut self, number: i64, values: [u64; 6]) {
        let [_, _, protection, flags, ..] = values;
        if number == libc::SYS_io_uring_enter || number == libc::SYS_io_submit {
            self.hidden.submission_count += 1;
        } else if number == libc::SYS_mmap {
            let is_shared = flags & libc::MAP_SHARED as u64 != 0;
            let is_file = flags & libc::MAP_ANONYMOUS as u64 == 0;
            let is_accessible = protection != 0;
            self.hidden.mapping_count += u64::from(is_shared && is_file && is_accessible);
        }
    }

    fn leave(&mut self, tracee: &Tracee, result: i64) -> Result<(), RecordError> {
        let pending = self.threads.get_mut(&tracee.0).and_then(Option::take);
        let Some(pending) = pending else {
            return Ok(());
        };
        let duration_ns = elapsed_ns(pending.start);
        self.progress.request_count += 1;
        if pending.call.moves_data() {
            self.progress.bytes += u64::try_from(result).unwrap_or(0);
        }
        let end = text::end(pending.call, result, duration_ns, tracee);
        self.write_earlier(pending.time_ns)?;
        let name;
        let (time_ns, start) = match pending.text.is_empty() {
            true => {
                name = format!("<... {} resumed>", pending.call.name);
                (epoch_ns(), name.as_str())
            }
            false => (pending.time_ns, pending.text.as_str()),
        };
        self.lines
            .write(tracee.0.as_raw(), time_ns, [start, &end])
            .map_err(output_error)
    }

    /// Writes the starts of calls that began before a time, so that lines stay in order.
    fn write_earlier(&mut self, time_ns: u64) -> Result<(), RecordError> {
        let threads = self.threads.iter_mut();
        let mut earlier: Vec<(Pid, &mut PendingCall)> = threads
            .filter_map(|(pid, thread)| Some((*pid, thread.as_mut()?)))
            .filter(|(_, call)| !call.text.is_empty() && call.time_ns < time_ns)
            .collect();
        earlier.sort_unstable_by_key(|(pid, call)| (call.time_ns, *pid));
        for (pid, call) in earlier {
            self.lines
                .write(
                    pid.as_raw(),
                    call.time_ns,
                    [&call.text, " <unfinished ...>"],
                )
                .map_err(output_error)?;
            call.text.clear();
        }
        Ok(())
    }

    /// Ends the recording. Programs that still run continue once this process ends: the kernel
    /// lets go of them.
    ///
    /// # Errors
    ///
    /// The trace cannot be written.
    pub fn finish(mut self) -> Result<EndedCalls, RecordError> {
        self.write_earlier(u64::MAX)?;
        self.lines.flush().map_err(output_error)?;
        self.progress.elapsed_ns = elapsed_ns(self.start);
        self.progress.cpu_ns = process_cpu_ns().saturating_sub(self.start_cpu_ns);
        Ok(EndedCalls {
            progress: self.progress,
            hidden: self.hidden,
            status: self.status,
            size_bytes: self.lines.size_bytes,
        })
    }
}

fn options() -> Options {
    Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
}

/// `true` if this process traces the thread already.
fn is_traced_here(thread: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default();
    let tracer = status
        .lines()
        .find_map(|line| line.strip_prefix("TracerPid:"));
    tracer.is_some_and(|it| it.trim() == std::process::id().to_string())
}

fn epoch_ns() -> u64 {
    let since = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
}

fn elapsed_ns(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn output_error(source: io::Error) -> RecordError {
    RecordError::Output { source }
}

fn trace_error(what: &str, reason: Errno) -> RecordError {
    RecordError::Trace {
        what: what.to_owned(),
        source: reason.into(),
    }
}
