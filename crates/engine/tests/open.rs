//! Nothing outside the target's directory is ever opened, and nothing silently cached.

#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]

use std::fs::{self, File};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::symlink;
use std::path::Path;

use engine::{EngineError, OpenPlan, open_device, open_target};
use plan::CacheMode;
use rustix::fs::OFlags;
use tempfile::TempDir;

const READ: OpenPlan = OpenPlan {
    cache: CacheMode::Buffered,
    read: true,
    write: false,
    create: false,
};
const CREATE: OpenPlan = OpenPlan {
    cache: CacheMode::Buffered,
    read: true,
    write: true,
    create: true,
};

fn place() -> TempDir {
    let dir = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::create_dir(dir.path().join("inner")).unwrap();
    fs::write(dir.path().join("outside"), b"precious").unwrap();
    fs::write(dir.path().join("inner/file"), b"ours").unwrap();
    dir
}

fn open(dir: &TempDir, name: &str, plan: OpenPlan) -> Result<OwnedFd, EngineError> {
    let inner = File::open(dir.path().join("inner")).unwrap();
    open_target(inner.as_fd(), Path::new(name), plan)
}

#[test]
fn names_that_lead_out_of_the_directory_are_refused() {
    let dir = place();
    let absolute = dir.path().join("outside");
    for name in ["../outside", "../inner/file", absolute.to_str().unwrap()] {
        let error = open(&dir, name, READ).unwrap_err();
        assert!(
            matches!(error, EngineError::NotBeneath { .. }),
            "{name}: {error}"
        );
        let error = open(&dir, name, CREATE).unwrap_err();
        assert!(
            matches!(error, EngineError::NotBeneath { .. }),
            "{name}: {error}"
        );
    }
    assert_eq!(fs::read(absolute).unwrap(), b"precious");
}

#[test]
fn symbolic_links_are_refused_wherever_they_lead() {
    let dir = place();
    let inner = dir.path().join("inner");
    symlink("../outside", inner.join("out")).unwrap();
    symlink("file", inner.join("in")).unwrap();
    symlink(".", inner.join("here")).unwrap();
    for name in ["out", "in", "here/file"] {
        let error = open(&dir, name, READ).unwrap_err();
        assert!(
            matches!(error, EngineError::NotBeneath { .. }),
            "{name}: {error}"
        );
        assert!(error.help().is_some());
    }
}

#[test]
fn creating_a_file_never_overwrites_another() {
    let dir = place();
    open(&dir, "new", CREATE).unwrap();
    assert!(dir.path().join("inner/new").exists());
    let error = open(&dir, "file", CREATE).unwrap_err();
    assert!(matches!(error, EngineError::Open { .. }), "{error}");
    assert_eq!(fs::read(dir.path().join("inner/file")).unwrap(), b"ours");
}

#[test]
fn files_that_are_not_regular_are_refused_without_waiting() {
    let dir = place();
    let pipe = dir.path().join("inner/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    let error = open(&dir, "pipe", READ).unwrap_err();
    assert!(matches!(error, EngineError::NotRegular { .. }), "{error}");
    let error = open(&dir, ".", READ).unwrap_err();
    assert!(matches!(error, EngineError::NotRegular { .. }), "{error}");
}

#[test]
fn a_missing_name_and_one_with_a_zero_byte_are_errors() {
    let dir = place();
    for name in ["missing", "with\0zero", ""] {
        let error = open(&dir, name, READ).unwrap_err();
        assert!(matches!(error, EngineError::Open { .. }), "{error}");
    }
}

#[test]
fn direct_io_is_set_or_refused_by_name_and_open_time_flags_are_cleared() {
    let dir = place();
    let file = open(&dir, "file", READ).unwrap();
    let flags = rustix::fs::fcntl_getfl(&file).unwrap();
    assert!(!flags.intersects(OFlags::DIRECT | OFlags::NONBLOCK));
    let direct = OpenPlan {
        cache: CacheMode::Direct,
        ..READ
    };
    match open(&dir, "file", direct) {
        Ok(file) => assert!(
            rustix::fs::fcntl_getfl(&file)
                .unwrap()
                .contains(OFlags::DIRECT)
        ),
        Err(EngineError::DirectRefused { name }) => assert_eq!(name, "file"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn only_block_devices_are_opened_as_devices() {
    for path in ["/dev/null", env!("CARGO_MANIFEST_DIR")] {
        let error = open_device(Path::new(path), READ).unwrap_err();
        assert!(
            matches!(error, EngineError::NotDevice { .. }),
            "{path}: {error}"
        );
    }
    let error = open_device(Path::new("/dev/pgmeter-is-not-there"), READ).unwrap_err();
    assert!(matches!(error, EngineError::Open { .. }), "{error}");
}

#[test]
fn the_device_of_a_mounted_file_system_is_busy() {
    let mounts = fs::read_to_string("/proc/mounts").unwrap_or_default();
    let device = mounts.lines().find_map(|line| {
        let name = line.split(' ').next()?;
        (name.starts_with("/dev/") && fs::canonicalize(name).is_ok_and(|it| it == Path::new(name)))
            .then(|| name.to_owned())
    });
    let Some(device) = device else {
        return println!("skipped: no mounted block device");
    };
    match open_device(Path::new(&device), READ) {
        Err(EngineError::DeviceBusy { name }) => assert_eq!(name, device),
        Err(EngineError::Open { source, .. }) => {
            println!("skipped: `{device}` cannot be opened here: {source}")
        }
        other => panic!("{other:?}"),
    }
}
