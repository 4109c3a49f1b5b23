//! A file system in memory that delays, fails and corrupts requests on demand. Needs root.
//!
//! It only serves the requests a benchmark makes: files and directories, no links, no attributes
//! but size and permission bits. Times are not kept.

mod fault;
mod filesystem;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

pub use fault::{Call, EIO, EMFILE, ENFILE, ENOSPC, EROFS, Effect, Fault};
use filesystem::{FuseFaultFs, Shared};

use crate::{FixtureError, Scratch};

/// Settings that do not change while mounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Settings {
    /// Minimum time of each read.
    pub read_delay: Duration,
    /// Minimum time of each write.
    pub write_delay: Duration,
    /// Capacity for content, in bytes; all of it may be in memory.
    pub capacity_bytes: u64,
    /// Number of requests served at the same time.
    pub thread_count: usize,
    /// Whether the end of a delay is spent polling the clock, which costs a CPU: sleeps alone
    /// answer later than requested.
    pub polls_clock: bool,
    /// Whether a program need not wait for its direct requests (`FUSE_ASYNC_DIO`), which is
    /// libfuse's default.
    pub async_direct: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            read_delay: Duration::ZERO,
            write_delay: Duration::ZERO,
            capacity_bytes: 1 << 30,
            thread_count: 4,
            polls_clock: true,
            async_direct: false,
        }
    }
}

/// A mounted file system with faults; unmounted when dropped.
#[derive(Debug)]
pub struct FaultFs {
    shared: Arc<Shared>,
    session: Option<fuser::BackgroundSession>,
    scratch: Scratch,
}

impl FaultFs {
    /// Mounts an empty file system in a scratch directory, without faults.
    ///
    /// # Errors
    /// `Unavailable` without root or FUSE.
    pub fn new(settings: Settings) -> Result<FaultFs, FixtureError> {
        let scratch = Scratch::new()?;
        let shared = Arc::new(Shared::new(settings));
        let at = scratch.directory("mount")?;
        let session = mount(&shared, settings, &at)?;
        Ok(FaultFs {
            shared,
            session: Some(session),
            scratch,
        })
    }

    /// Where it is mounted.
    pub fn path(&self) -> std::path::PathBuf {
        self.scratch.join("mount")
    }

    /// Replaces all faults; requests are counted from now on.
    pub fn arm(&self, faults: &[Fault]) {
        self.shared.armed().arm(faults);
    }

    /// Lets requests that stall go on.
    pub fn release(&self) {
        self.shared.release();
    }

    /// How many requests went wrong since [`FaultFs::arm`].
    pub fn hits_count(&self) -> u64 {
        self.shared.armed().hits_count()
    }

    /// Reads and writes since [`FaultFs::arm`].
    pub fn requests_count(&self) -> (u64, u64) {
        (self.calls_count(Call::Read), self.calls_count(Call::Write))
    }

    /// Requests of a kind since [`FaultFs::arm`].
    pub fn calls_count(&self, call: Call) -> u64 {
        self.shared.armed().calls_count(call)
    }
}

impl Drop for FaultFs {
    fn drop(&mut self) {
        // A lasting stall would hold up the unmount.
        self.arm(&[]);
        self.release();
        let _ = crate::unmount(&self.path());
        drop(self.session.take());
    }
}

/// Serves an empty file system at `mountpoint` until it is unmounted.
///
/// # Errors
/// `Unavailable` without root or FUSE.
pub fn serve(settings: Settings, faults: &[Fault], mountpoint: &Path) -> Result<(), FixtureError> {
    let shared = Arc::new(Shared::new(settings));
    shared.armed().arm(faults);
    mount(&shared, settings, mountpoint)?
        .join()
        .map_err(FixtureError::file(mountpoint))
}

fn mount(
    shared: &Arc<Shared>,
    settings: Settings,
    at: &Path,
) -> Result<fuser::BackgroundSession, FixtureError> {
    if !Path::new("/dev/fuse").exists() {
        return Err(FixtureError::Unavailable(
            "there is no `/dev/fuse`".to_owned(),
        ));
    }
    if !rustix::process::geteuid().is_root() {
        return Err(FixtureError::Unavailable("needs root".to_owned()));
    }
    let mut config = fuser::Config::default();
    config.mount_options = vec![fuser::MountOption::FSName("faultfs".to_owned())];
    config.acl = fuser::SessionACL::All;
    config.n_threads = Some(settings.thread_count);
    config.clone_fd = settings.thread_count > 1;
    fuser::spawn_mount(FuseFaultFs(Arc::clone(shared)), at, &config).map_err(FixtureError::file(at))
}

#[cfg(test)]
mod tests;
