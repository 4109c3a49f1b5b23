//! A file system whose reads take a known time. A separate process serves it and keeps a log, so
//! the log's clock is independent of the process that measures.
//!
//! It is mounted where no other process can see it, so no mount remains, however this process ends.

mod files;
mod log;
mod mounts;
mod reads;
mod server;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::mount::{MountFlags, mount};
use serde::{Deserialize, Serialize};

pub(crate) use log::{AnsweredRead, ReadLog};
pub use mounts::PrivateMounts;
pub use server::serve;

/// A directory that exists on every system with FUSE and holds no user files.
const MOUNT_POINT: &str = "/sys/fs/fuse/connections";
const DEVICE: &str = "/dev/fuse";
/// Libraries preloaded into this process must not affect the clock of the server.
const PRELOAD_VARIABLE: &str = "LD_PRELOAD";

/// Requests from the measuring process to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum DelayCommand {
    /// Clears the log; from now on, reads take `delay`. If there is a stall, no read is answered
    /// during it.
    Begin {
        delay: Duration,
        stall: Option<Stall>,
    },
    /// Return the log.
    Tell,
}

/// A period during which no read is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stall {
    /// Time from the first read to the start of the stall.
    pub after: Duration,
    pub length: Duration,
}

/// The mounted and served file system; dropping it ends both.
pub(crate) struct DelayTarget {
    server: Child,
    /// `None` only while dropping: the server exits when the socket is closed.
    orders: Option<BufReader<UnixStream>>,
}

impl DelayTarget {
    /// Mounts the file system and starts its server: this program, run with `server_arguments`.
    pub fn start(mounts: &PrivateMounts, server_arguments: &[String]) -> Result<Self, String> {
        mounts.check()?;
        let device = File::options().read(true).write(true).open(DEVICE);
        let device = device.map_err(|error| format!("cannot open `{DEVICE}`: {error}"))?;
        let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
        // The kernel parses `rootmode` as octal digits: the type of a directory.
        let options = format!(
            "fd={},rootmode=40000,user_id={},group_id={}\0",
            device.as_raw_fd(),
            user.as_raw(),
            group.as_raw()
        );
        let options = std::ffi::CStr::from_bytes_with_nul(options.as_bytes()).ok();
        let flags = MountFlags::NODEV | MountFlags::NOSUID | MountFlags::NOATIME;
        mount("pgmeter-selftest", MOUNT_POINT, "fuse", flags, options)
            .map_err(|error| format!("cannot mount a FUSE file system: {error}"))?;
        let started = start_server(device.into(), server_arguments);
        started.map_err(|error| format!("cannot start its server: {error}"))
    }

    /// The mount point, usable like any other target.
    pub fn path() -> PathBuf {
        PathBuf::from(MOUNT_POINT)
    }

    /// Process id of the server.
    pub fn server_id(&self) -> u32 {
        self.server.id()
    }

    /// Clears the log and sets the duration of reads.
    pub fn begin(&mut self, delay: Duration, stall: Option<Stall>) -> Result<(), String> {
        self.ask(DelayCommand::Begin { delay, stall }).map(drop)
    }

    /// The reads answered since the log began.
    pub fn log(&mut self) -> Result<ReadLog, String> {
        let line = self.ask(DelayCommand::Tell)?;
        serde_json::from_str(&line).map_err(|error| format!("the server's log: {error}"))
    }

    fn ask(&mut self, order: DelayCommand) -> Result<String, String> {
        let exited = || "the server of the delayed file has exited".to_owned();
        let orders = self.orders.as_mut().ok_or_else(exited)?;
        let request = units::json_line(&order).map_err(|error| error.to_string())?;
        let mut line = String::new();
        let sent = writeln!(orders.get_mut(), "{request}");
        match sent.and_then(|()| orders.read_line(&mut line)) {
            Ok(1..) => Ok(line),
            _ => Err(exited()),
        }
    }
}

/// The server gets the device as standard input and the request socket as standard output.
fn start_server(device: OwnedFd, arguments: &[String]) -> std::io::Result<DelayTarget> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(arguments)
        .env_remove(PRELOAD_VARIABLE)
        // Ctrl-C is meant for the measuring process only.
        .process_group(0)
        // `command` owns the device, so this process closes it on return. If the server is killed,
        // the kernel then ends the connection; otherwise, reads would wait forever.
        .stdin(Stdio::from(device))
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .stderr(storage::null_device()?);
    Ok(DelayTarget {
        server: command.spawn()?,
        orders: Some(BufReader::new(ours)),
    })
}

impl Drop for DelayTarget {
    fn drop(&mut self) {
        // The server exits when this socket is closed; waiting before would never end.
        drop(self.orders.take());
        let _ = self.server.wait();
        // No other process sees the mount, and it disappears with this process.
        let _ = rustix::mount::unmount(MOUNT_POINT, rustix::mount::UnmountFlags::DETACH);
    }
}
