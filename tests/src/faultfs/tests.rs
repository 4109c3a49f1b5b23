use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::FileExt;
use std::time::Instant;

use super::*;
use crate::need;

fn file(faultfs: &FaultFs, content: &[u8]) -> File {
    let path = faultfs.path().join("a");
    std::fs::write(&path, content).unwrap();
    OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap()
}

#[test]
fn files_read_back_as_written() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let directory = faultfs.path().join("d");
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("a"), "content").unwrap();
    std::fs::rename(directory.join("a"), directory.join("b")).unwrap();
    assert_eq!(
        std::fs::read_to_string(directory.join("b")).unwrap(),
        "content"
    );
    let names: Vec<_> = std::fs::read_dir(&directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["b"]);
    std::fs::remove_file(directory.join("b")).unwrap();
    std::fs::remove_dir(&directory).unwrap();
    assert!(!directory.exists());
}

#[test]
fn the_nth_write_runs_out_of_space() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let mut file = file(&faultfs, b"");
    faultfs.arm(&[Fault::from(Call::Write, 2, Effect::Errno(ENOSPC))]);
    file.write_all(&[1; 100]).unwrap();
    let error = file.write(&[1; 100]).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(ENOSPC));
    assert_eq!(faultfs.hits_count(), 1);
}

#[test]
fn the_nth_read_fails_and_the_next_does_not() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let file = file(&faultfs, b"content");
    faultfs.arm(&[Fault::once(Call::Read, 1, Effect::Errno(EIO))]);
    let mut buffer = [0; 7];
    assert_eq!(
        file.read_at(&mut buffer, 0).unwrap_err().raw_os_error(),
        Some(EIO)
    );
    assert_eq!(file.read_at(&mut buffer, 0).unwrap(), 7);
}

#[test]
fn metadata_calls_and_syncs_fail_with_the_armed_errno() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let path = faultfs.path();
    let refused = |call, errno| {
        faultfs.arm(&[Fault::from(call, 1, Effect::Errno(errno))]);
    };
    let code = |error: std::io::Error| error.raw_os_error();
    let file = file(&faultfs, b"content");
    refused(Call::Fsync, EIO);
    assert_eq!(file.sync_all().map_err(code), Err(Some(EIO)));
    refused(Call::Open, EMFILE);
    assert_eq!(
        File::open(path.join("a")).map(drop).map_err(code),
        Err(Some(EMFILE))
    );
    refused(Call::Create, ENOSPC);
    assert_eq!(
        std::fs::write(path.join("b"), "").map_err(code),
        Err(Some(ENOSPC))
    );
    assert_eq!(faultfs.calls_count(Call::Create), 1);
    refused(Call::Mkdir, EROFS);
    assert_eq!(
        std::fs::create_dir(path.join("d")).map_err(code),
        Err(Some(EROFS))
    );
    refused(Call::Unlink, EIO);
    assert_eq!(
        std::fs::remove_file(path.join("a")).map_err(code),
        Err(Some(EIO))
    );
    faultfs.arm(&[]);
    std::fs::create_dir(path.join("d")).unwrap();
    refused(Call::Rmdir, EROFS);
    assert_eq!(
        std::fs::remove_dir(path.join("d")).map_err(code),
        Err(Some(EROFS))
    );
    assert_eq!(faultfs.hits_count(), 1);
}

#[test]
fn a_short_transfer_moves_half_of_the_bytes() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let file = file(&faultfs, &[7; 4096]);
    faultfs.arm(&[
        Fault::once(Call::Read, 1, Effect::Short),
        Fault::once(Call::Write, 1, Effect::Short),
    ]);
    assert_eq!(file.read_at(&mut [0; 4096], 0).unwrap(), 2048);
    assert_eq!(file.write_at(&[8; 4096], 0).unwrap(), 2048);
}

#[test]
fn a_flipped_bit_is_seen_once_and_not_stored() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let mut file = file(&faultfs, &[0; 512]);
    faultfs.arm(&[Fault::once(Call::Read, 1, Effect::FlipBit)]);
    let mut buffer = [0; 512];
    assert_eq!(file.read_at(&mut buffer, 0).unwrap(), 512);
    assert_eq!(buffer.iter().map(|byte| byte.count_ones()).sum::<u32>(), 1);
    let mut content = Vec::new();
    file.read_to_end(&mut content).unwrap();
    assert_eq!(content, [0; 512]);
}

#[test]
fn no_request_completes_before_its_delay() {
    let delay = Duration::from_millis(5);
    let settings = Settings {
        read_delay: delay,
        ..Settings::default()
    };
    let faultfs = need!(FaultFs::new(settings));
    let file = file(&faultfs, &[0; 512]);
    // That it is not much later either is measured by `cargo xtask bench accuracy`.
    for _ in 0..20 {
        let start = Instant::now();
        assert_eq!(file.read_at(&mut [0; 512], 0).unwrap(), 512);
        assert!(start.elapsed() >= delay);
    }
}

#[test]
fn a_stalled_request_completes_when_released() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let file = file(&faultfs, &[0; 512]);
    let stall = Effect::Stall(Duration::from_secs(600));
    faultfs.arm(&[Fault::once(Call::Read, 1, stall)]);
    std::thread::scope(|scope| {
        let read = scope.spawn(|| file.read_at(&mut [0; 512], 0).unwrap());
        crate::wait_for("the request", || faultfs.hits_count() == 1);
        assert!(!read.is_finished());
        faultfs.release();
        assert_eq!(read.join().unwrap(), 512);
    });
}

#[test]
fn capacity_is_reported_and_enforced() {
    let settings = Settings {
        capacity_bytes: 64 << 10,
        ..Settings::default()
    };
    let faultfs = need!(FaultFs::new(settings));
    let space = rustix::fs::statvfs(faultfs.path()).unwrap();
    assert_eq!(space.f_bavail * space.f_frsize, 64 << 10);
    let file = file(&faultfs, &[1; 60 << 10]);
    let error = file.write_all_at(&[1; 8 << 10], 60 << 10).unwrap_err();
    assert_eq!(error.raw_os_error(), Some(ENOSPC));
}

#[test]
fn nothing_stays_mounted() {
    let faultfs = need!(FaultFs::new(Settings::default()));
    let path = faultfs.path();
    drop(faultfs);
    assert!(!path.exists());
}
