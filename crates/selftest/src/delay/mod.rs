//! A file system whose reads take a known time: served by a process of its own
//! that keeps a log, so that its clock is another one than that of the process that measures.
//!
//! It is mounted where no other process sees it, so that nothing is left however this one ends.

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

pub(crate) use log::{Log, Served};
pub use mounts::OwnMounts;
pub use server::serve;

/// A directory that is there wherever there is FUSE, and in which nobody keeps files.
const MOUNT_POINT: &str = "/sys/fs/fuse/connections";
const DEVICE: &str = "/dev/fuse";
/// Libraries that are preloaded into this process must not reach the other one's clock.
const PRELOADED: &str = "LD_PRELOAD";

/// What the process that measures asks of the one that serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Order {
    /// From now on reads take `delay`. With a stall none is answered for its length, from a while
    /// after the first read. The log begins anew.
    Begin {
        delay: Duration,
        stall: Option<Stall>,
    },
    /// The log.
    Tell,
}

/// A time in which nothing is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stall {
    /// From the first read to its beginning.
    pub after: Duration,
    pub length: Duration,
}

/// The file system, mounted and served; both end when it is dropped.
pub(crate) struct DelayTarget {
    server: Child,
    /// None when it is being dropped: the server ends when it is closed.
    orders: Option<BufReader<UnixStream>>,
}

impl DelayTarget {
    /// Mounts the file system and starts its server: this program, told so by `server_arguments`.
    pub fn start(mounts: &OwnMounts, server_arguments: &[String]) -> Result<Self, String> {
        mounts.check()?;
        let device = File::options().read(true).write(true).open(DEVICE);
        let device = device.map_err(|error| format!("cannot open `{DEVICE}`: {error}"))?;
        let (user, group) = (rustix::process::getuid(), rustix::process::getgid());
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

    /// Where it is mounted: a target as any other.
    pub fn path() -> PathBuf {
        PathBuf::from(MOUNT_POINT)
    }

    /// The id of the server's process.
    pub fn server_id(&self) -> u32 {
        self.server.id()
    }

    /// Lets reads take that long from now on, and begins the log anew.
    pub fn begin(&mut self, delay: Duration, stall: Option<Stall>) -> Result<(), String> {
        self.ask(Order::Begin { delay, stall }).map(drop)
    }

    /// What was served since.
    pub fn log(&mut self) -> Result<Log, String> {
        let line = self.ask(Order::Tell)?;
        serde_json::from_str(&line).map_err(|error| format!("the server's log: {error}"))
    }

    fn ask(&mut self, order: Order) -> Result<String, String> {
        let gone = || "the server of the delayed file has gone".to_owned();
        let orders = self.orders.as_mut().ok_or_else(gone)?;
        let asked = units::json_line(&order).map_err(|error| error.to_string())?;
        let mut line = String::new();
        let sent = writeln!(orders.get_mut(), "{asked}");
        match sent.and_then(|()| orders.read_line(&mut line)) {
            Ok(1..) => Ok(line),
            _ => Err(gone()),
        }
    }
}

/// The server gets the device as its standard input, and orders on its standard output.
fn start_server(device: OwnedFd, arguments: &[String]) -> std::io::Result<DelayTarget> {
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(arguments)
        .env_remove(PRELOADED)
        // Ctrl-C is for the process that measures.
        .process_group(0)
        .stdin(Stdio::from(device))
        .stdout(Stdio::from(OwnedFd::from(theirs)))
        .stderr(target::null_device()?);
    Ok(DelayTarget {
        server: command.spawn()?,
        orders: Some(BufReader::new(ours)),
    })
}

impl Drop for DelayTarget {
    fn drop(&mut self) {
        drop(self.orders.take());
        let _ = self.server.wait();
        // Nobody else sees the mount, and it goes with this process.
        let _ = rustix::mount::unmount(MOUNT_POINT, rustix::mount::UnmountFlags::DETACH);
    }
}
