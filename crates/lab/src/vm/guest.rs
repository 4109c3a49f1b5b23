//! A guest as a process of the host.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use super::kernel::Kernel;
use super::kernel_messages::KernelMessages;
use super::preloaded::preload_into;
use crate::error::LabError;
use crate::journal::Journal;
use crate::labs_dir::{GUEST, GUEST_NAME, IMAGE, TASK};
use crate::tools;

/// Prefix of the guest program's lines for the user.
pub(super) const MESSAGE_PREFIX: &str = "pgmeter: ";
/// Line that a guest prints regularly while its kernel works.
pub(super) const HEARTBEAT: &str = "pgmeter is alive";

/// Settings to run guests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Kernel of the guests.
    pub kernel: Kernel,
    /// Memory of a guest, in bytes.
    pub memory_bytes: u64,
}

/// A running guest; dropping it kills it.
#[derive(Debug)]
pub struct Guest {
    child: Child,
    lines: Receiver<String>,
    messages: KernelMessages,
    exit_status: Option<ExitStatus>,
}

/// Output of a guest within a timeout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuestOutput {
    /// A line that the guest printed.
    Line(String),
    /// The guest's kernel works, but the guest has nothing to say.
    Heartbeat,
    /// No output within the timeout.
    None,
    /// The guest has ended.
    Ended,
}

impl Guest {
    /// Starts a guest on the image in a lab's directory, with the task stored there.
    pub(crate) fn start(journal: &mut Journal, lab: &Path, host: &Host) -> Result<Self, LabError> {
        let own = std::env::current_exe()
            .map_err(|error| LabError::system("find", Path::new("/proc/self/exe"), error))?;
        for path in [lab, own.as_path()] {
            check_guest_path(path)?;
        }
        let program = &host.kernel.program;
        let failed = |error| LabError::system("run", program, error);
        let (reader, writer) = std::io::pipe().map_err(failed)?;
        let mut command = tools::gated_command(program);
        command
            .args(arguments(lab, &own, host.memory_bytes))
            .current_dir(lab)
            .stdout(writer.try_clone().map_err(failed)?)
            .stderr(writer)
            // Signals from the terminal are only for the host's program.
            .process_group(0);
        let mut words = KernelMessages::default();
        let library = preload_into(&mut command);
        if let Err(error) = &library {
            // Most CPUs do not need it.
            words.add_line(&format!("nothing could be preloaded: {error}"));
        }
        let mut child = command.spawn().map_err(failed)?;
        tools::release(&mut child, &program.display().to_string(), journal)?;
        // The command has a copy of the pipe's write end.
        drop((command, library));
        let (sender, lines) = channel();
        std::thread::Builder::new()
            // A thread, because reading a pipe has no timeout and a stop must be noticed.
            .name("guest console".to_owned())
            .spawn(move || {
                let mut reader = BufReader::new(reader);
                let mut bytes = Vec::new();
                while reader
                    .read_until(b'\n', &mut bytes)
                    .is_ok_and(|read| read > 0)
                {
                    let line = String::from_utf8_lossy(&bytes).trim_end().to_owned();
                    bytes.clear();
                    if sender.send(line).is_err() {
                        return;
                    }
                }
            })
            .map_err(failed)?;
        Ok(Self {
            child,
            lines,
            messages: words,
            exit_status: None,
        })
    }

    /// Waits for the next line of the guest, or for its end.
    pub fn next_line(&mut self, longest: Duration) -> GuestOutput {
        match self.lines.recv_timeout(longest) {
            Ok(line) => self.line_received(line),
            // A silent guest may have died without closing the pipe, which its other processes
            // hold.
            Err(RecvTimeoutError::Timeout) if self.is_running() => GuestOutput::None,
            Err(_) => {
                // Kills remaining processes of the guest, which are useless without its kernel.
                self.kill();
                GuestOutput::Ended
            }
        }
    }

    fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    fn line_received(&mut self, line: String) -> GuestOutput {
        if let Some(spoken) = line.strip_prefix(MESSAGE_PREFIX) {
            return GuestOutput::Line(spoken.to_owned());
        }
        if line == HEARTBEAT {
            return GuestOutput::Heartbeat;
        }
        self.messages.add_line(&line);
        GuestOutput::None
    }

    /// Kills the guest like a power failure: data that its kernel had not written is lost.
    pub fn kill(&mut self) {
        if self.exit_status.is_some() {
            return;
        }
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // Fails if it has already ended, which is fine.
            let _ = kill_process_group(group, Signal::KILL);
        }
        self.exit_status = self.child.wait().ok();
    }

    /// The last kernel messages that explain its end, one per line.
    #[must_use]
    pub fn last_kernel_messages(&self) -> String {
        self.messages.text()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The kernel's command line cannot contain spaces, and image names no commas or colons.
pub(super) fn check_guest_path(path: &Path) -> Result<(), LabError> {
    let is_odd = |letter: char| letter.is_whitespace() || "\"',:".contains(letter);
    match path.to_str() {
        Some(text) if !text.contains(is_odd) => Ok(()),
        _ => Err(LabError::UnsupportedPath {
            path: path.to_owned(),
        }),
    }
}

/// Source: the kernel's `Documentation/virt/uml/user_mode_linux_howto_v2.rst`, and what
/// `linux.uml --help` prints.
fn arguments(lab: &Path, own: &Path, memory_bytes: u64) -> Vec<OsString> {
    let with = |key: &str, path: &Path| {
        let mut argument = OsString::from(key);
        argument.push(path);
        argument
    };
    let mut guest = with("uml_dir=", &lab.join(GUEST));
    guest.push("/");
    let words = [
        &format!("mem={}M", memory_bytes >> 20),
        &format!("umid={GUEST_NAME}"),
        "root=/dev/root",
        "rootfstype=hostfs",
        "rw",
        "quiet",
        "panic=-1",
        // Without checking the image for a copy-on-write header.
        &format!("ubd0d={IMAGE}"),
        // Otherwise the kernel adds it after the arguments for the program.
        "console=tty0",
        "con0=fd:0,fd:1",
        "con=null",
        "ssl=null",
    ];
    let mut arguments: Vec<OsString> = words.map(OsString::from).to_vec();
    arguments.extend([
        guest,
        with("init=", own),
        "--".into(),
        "lab".into(),
        "guest".into(),
    ]);
    arguments.push(lab.join(TASK).into());
    arguments
}

#[cfg(test)]
impl Guest {
    /// A process instead of a guest, which prints the lines that are sent to it.
    pub fn of_lines(child: Child, lines: Receiver<String>) -> Self {
        Self {
            child,
            lines,
            messages: KernelMessages::default(),
            exit_status: None,
        }
    }
}
