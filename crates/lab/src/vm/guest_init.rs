//! Inside a guest: its first process, and its file system.

use std::convert::Infallible;
use std::ffi::{CStr, CString};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::io::Errno;
use rustix::mount::{MountFlags, mount, mount_bind};
use rustix::process::{Pid, WaitOptions, WaitStatus};
use rustix::system::{RebootCommand, finit_module, reboot};

use super::guest::{HEARTBEAT, MESSAGE_PREFIX};
use super::order::{GuestJob, Image};
use crate::bench::BuiltFileSystem;
use crate::error::LabError;
use crate::labs_dir::sync_directory;
use crate::tools;

/// Block device of the guest with the image.
const DEVICE: &str = "/dev/ubda";
/// Console of the guest.
const CONSOLE: &str = "/dev/console";
/// Work directory. ext3 and ext4 place entries of the root directory by their names, and names of
/// work directories differ from run to run.
///
/// Source: Linux, `fs/ext4/ialloc.c`, `find_group_orlov`.
const WORK_DIRECTORY: &str = "top";
/// Mounts that programs need, each with its type; none is visible on the host.
const SYSTEM_MOUNTS: [(&str, &str); 4] = [
    ("proc", "/proc"),
    ("sysfs", "/sys"),
    ("tmpfs", "/run"),
    ("tmpfs", SHARED_MEMORY),
];
/// Directory for semaphores, for example of `nilfs_cleanerd`; each guest has its own.
const SHARED_MEMORY: &str = "/dev/shm";
/// Mount point in the guest for the host's directory.
const HOST_SHARED_MEMORY: &str = "/run/shm";
/// Prefix that the C library adds to the name of a semaphore's file.
const SEMAPHORE_PREFIX: &str = "sem.";

/// Kernel timers that write. Guests disable them because a guest's clock does not run like a
/// machine's.
///
/// Source: the kernel's `Documentation/admin-guide/sysctl/vm.rst` and
/// `Documentation/admin-guide/xfs.rst`.
const TIMERS: [(&str, &str); 2] = [
    ("/proc/sys/vm/dirty_writeback_centisecs", "0"),
    ("/proc/sys/fs/xfs/xfssyncd_centisecs", "720000"),
];

/// Time between two signs of life. Rare enough not to disturb a measurement.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(10);

/// `true` if this process is the first one of a guest.
#[must_use]
pub fn is_init() -> bool {
    std::process::id() == 1
}

/// Runs a guest as its first process. Starts this program again with the same arguments to do the
/// task, then powers the guest off.
///
/// # Errors
/// If it is not the guest's first process, or the guest cannot be powered off.
pub fn run_as_init(order: &Path) -> Result<Infallible, LabError> {
    if !is_init() {
        let refused = io::Error::from(io::ErrorKind::PermissionDenied);
        return Err(LabError::system(
            "rule as a guest's first process",
            order,
            refused,
        ));
    }
    std::thread::spawn(|| {
        loop {
            println!("{HEARTBEAT}");
            std::thread::sleep(HEARTBEAT_INTERVAL);
        }
    });
    if let Err(error) = serve(order) {
        eprintln!("{error}");
    }
    // Power-off does not write anything back.
    rustix::fs::sync();
    let off = |error: Errno| LabError::system("switch off", Path::new("/"), error);
    reboot(RebootCommand::PowerOff).map_err(off)?;
    // The first process must not end, or the kernel panics.
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn serve(order: &Path) -> Result<(), LabError> {
    for (kind, point) in SYSTEM_MOUNTS {
        let failed = |error: Errno| LabError::system("mount", Path::new(point), error);
        match fs::create_dir(point) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(LabError::system("make", Path::new(point), error));
            }
            _ => {}
        }
        let data: Option<&CStr> = None;
        mount(kind, point, kind, MountFlags::empty(), data).map_err(failed)?;
    }
    expose_shared_memory()?;
    // The order may be below a directory that one of these mounts hides, such as `/run`.
    if !order.exists() {
        let directory = order.parent().unwrap_or(order);
        show(directory, directory)?;
    }
    let order = GuestJob::<serde_json::Value>::read(order)?;
    for module in &order.image.modules {
        load(module)?;
    }
    // Not every kernel has every file system.
    let present = TIMERS.iter().filter(|(path, _)| Path::new(path).exists());
    for (path, value) in present {
        fs::write(path, value)
            .map_err(|error| LabError::system("write", Path::new(path), error))?;
    }
    if !order.directory.exists() {
        show(&order.directory, &order.directory)?;
    }
    // By file, because a mount here may hide its path.
    let own = Path::new("/proc/self/exe");
    let mut command = Command::new(own);
    command
        .args(std::env::args_os().skip(1))
        // The first process has the kernel's environment, not that of the user's program.
        .env_clear()
        .envs(order.environment)
        .current_dir(&order.directory);
    say("up");
    let status = run_with_marked_output(&mut command)
        .map_err(|error| LabError::system("run", own, error))?;
    println!("the program in the guest ended: {status:?}");
    Ok(())
}

/// The work directory; synced if it is new.
fn top(point: &Path) -> Result<PathBuf, LabError> {
    let directory = point.join(WORK_DIRECTORY);
    if !directory.is_dir() {
        fs::create_dir(&directory).map_err(|error| LabError::system("make", &directory, error))?;
        // Otherwise, recovery could lose the directory with all guaranteed files in it.
        sync_directory(point)?;
    }
    Ok(directory)
}

/// Makes the host's `/dev/shm` visible except for semaphores, because workload files may be there.
fn expose_shared_memory() -> Result<(), LabError> {
    let host = Path::new(HOST_SHARED_MEMORY);
    if show(Path::new(SHARED_MEMORY), host).is_err() {
        // A host without it has nothing to show.
        return Ok(());
    }
    let read = |error| LabError::system("read", host, error);
    for entry in fs::read_dir(host).map_err(read)? {
        let entry = entry.map_err(read)?;
        let kind = entry.file_type().map_err(read)?;
        let point = Path::new(SHARED_MEMORY).join(entry.file_name());
        let is_semaphore = entry
            .file_name()
            .as_bytes()
            .starts_with(SEMAPHORE_PREFIX.as_bytes());
        let created = match (kind.is_dir(), kind.is_file() && !is_semaphore) {
            (true, _) => fs::create_dir(&point),
            (false, true) => File::create_new(&point).map(drop),
            (false, false) => continue,
        };
        created.map_err(|error| LabError::system("make", &point, error))?;
        match mount_bind(entry.path(), &point) {
            // The host has removed it meanwhile.
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(LabError::system("mount", &point, error)),
        }
    }
    Ok(())
}

/// Makes a directory of the host visible in the guest, for example one that the guest's mounts
/// hide.
///
/// Source: the kernel's `Documentation/virt/uml/user_mode_linux_howto_v2.rst`, "Host file access".
fn show(directory: &Path, point: &Path) -> Result<(), LabError> {
    fs::create_dir_all(point).map_err(|error| LabError::system("make", point, error))?;
    let failed = |error: io::Error| LabError::system("mount", point, error);
    let source =
        CString::new(directory.as_os_str().as_bytes()).map_err(|error| failed(error.into()))?;
    mount(
        "none",
        point,
        "hostfs",
        MountFlags::empty(),
        source.as_c_str(),
    )
    .map_err(|error| failed(error.into()))
}

/// Runs a program and marks its output as lines for the user.
fn run_with_marked_output(command: &mut Command) -> io::Result<WaitStatus> {
    let (reader, writer) = io::pipe()?;
    command
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer);
    let child = command.spawn()?;
    let own = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    // The command has a copy of the pipe's write end. Other holders are not waited for.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    std::thread::spawn(move || {
        for line in BufReader::new(reader).lines().map_while(Result::ok) {
            say(&line);
        }
    });
    // As the first process, it must reap orphans; some programs wait for that.
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if Some(pid) == own => return Ok(status),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn load(module: &PathBuf) -> Result<(), LabError> {
    let failed = |error: io::Error| LabError::system("load", module, error);
    let file = File::open(module).map_err(failed)?;
    match finit_module(&file, c"", 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(failed(error.into())),
    }
}

/// Mounts the guest's image.
///
/// # Errors
/// If `mount` fails.
pub fn enter(image: &Image) -> Result<BuiltFileSystem, LabError> {
    tools::mount(&image.kind, &image.mount_options, DEVICE, &image.point)?;
    let directory = top(&image.point)?;
    Ok(BuiltFileSystem::in_guest(
        image,
        directory,
        Path::new(DEVICE),
    ))
}

/// Prints a line for the user of the host.
fn say(line: &str) {
    println!("{MESSAGE_PREFIX}{line}");
}

/// A guest's console, for lines that the host must have before the guest continues.
#[derive(Debug)]
pub(crate) struct GuestConsole(File);

impl GuestConsole {
    /// Opens the console.
    pub fn open() -> Result<Self, LabError> {
        let opened = File::options().write(true).open(CONSOLE);
        opened
            .map(Self)
            .map_err(|error| LabError::system("open", Path::new(CONSOLE), error))
    }

    /// Prints a line. The host has it when this returns, even if the guest crashes.
    ///
    /// The kernel writes to the host's pipe before it returns, unless the pipe is full.
    pub fn say(&mut self, line: &str) -> Result<(), LabError> {
        // In one write, so that lines do not mix.
        let line = format!("{MESSAGE_PREFIX}{line}\n");
        let result = self.0.write_all(line.as_bytes());
        result.map_err(|error| LabError::system("write to", Path::new(CONSOLE), error))
    }
}
