//! What others have put in the way: files, locks, journals, devices that look like pgmeter's own,
//! and typos that would destroy something.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use end_to_end::{FileSystem, MountedImage, ScratchTarget, names_in, need, run_tool, skip};

/// A user other than the user who runs the tests.
const NOBODY: u32 = 65534;
const SMALL: [&str; 4] = ["--size", "1m", "--run-time", "100ms"];

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// A test file kept by a run, with its manifest next to it.
fn kept(bed: &ScratchTarget, name: &str) -> PathBuf {
    let path = bed.target().join(name);
    let line = ["run", "oltp", "-t", text(&path), "--create", "--keep"];
    let done = bed.run(&[&line[..], &SMALL[..]].concat());
    done.assert_says(0, &[]);
    assert!(path.exists());
    path
}

/// A directory of labs with one that looks like a killed lab.
fn forged_lab(bed: &ScratchTarget, name: &str) -> PathBuf {
    let labs = bed.path().join("labs");
    let lab = labs.join(name);
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700).recursive(true).create(&lab).unwrap();
    let journal = "{\"step\":\"begin\",\"pid\":4194304,\"start_ticks\":1}\n";
    for (name, content) in [("journal", journal), ("lock", "")] {
        fs::write(lab.join(name), content).unwrap();
        fs::set_permissions(lab.join(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    lab
}

/// A process that holds a lock on a file, ended when dropped.
struct LockHolder(Child);

impl LockHolder {
    fn of(lock: &Path) -> Self {
        let file = fs::File::open(lock).unwrap();
        file.lock().unwrap();
        // The lock goes on with the open file that it is handed.
        let mut command = Command::new("sleep");
        command.arg("300").stdin(file).stdout(Stdio::null());
        Self(command.stderr(Stdio::null()).spawn().unwrap())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for LockHolder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_process_that_holds_the_lock_of_a_lab_is_not_killed() {
    let bed = ScratchTarget::new().unwrap();
    let lab = forged_lab(&bed, "lab-20260102-030405-6-400000");
    let mut stranger = LockHolder::of(&lab.join("lock"));
    let clean = ["lab", "clean", "--dir", text(lab.parent().unwrap())];
    let output = bed.run(&clean);
    assert_eq!(output.code, 1, "{}", output.text());
    assert!(output.stdout.contains("(sleep)"), "{}", output.text());
    assert!(stranger.is_alive());
    assert_eq!(names_in(&lab), ["journal", "lock"]);
    drop(stranger);
    bed.run(&clean).assert_says(0, &[]);
    assert!(!lab.exists());
}

#[test]
fn a_directory_that_is_not_a_lab_is_not_removed() {
    let bed = ScratchTarget::new().unwrap();
    let diary = forged_lab(&bed, "lab-diary");
    // Named after another process than the process that created it.
    let forged = forged_lab(&bed, "lab-20260102-030405-6-7");
    let mut stranger = LockHolder::of(&diary.join("lock"));
    let output = bed.run(&["lab", "clean", "--dir", text(diary.parent().unwrap())]);
    assert_eq!(output.code, 1, "{}", output.text());
    assert!(
        output.stdout.contains("was not touched"),
        "{}",
        output.text()
    );
    assert!(stranger.is_alive());
    for lab in [&diary, &forged] {
        assert_eq!(names_in(lab), ["journal", "lock"], "{}", output.text());
    }
}

#[test]
fn a_manifest_of_another_user_removes_nothing() {
    if !is_root() {
        skip!("giving files away needs root");
    }
    let bed = ScratchTarget::new().unwrap();
    let path = kept(&bed, "mail.db");
    let manifest = bed.target().join("mail.db.pgmeter");
    chown(&manifest, Some(NOBODY), None).unwrap();
    let output = bed.run(&["clean", text(bed.target())]);
    assert_eq!(output.code, 1, "{}", output.text());
    assert!(
        output.stdout.contains("belongs to another user (65534)"),
        "{}",
        output.text()
    );
    let again = bed.run(&[&["run", "oltp", "-t", text(&path)], &SMALL[..]].concat());
    again.assert_refused(3, &["belongs to another user (65534)"]);
    assert_eq!(bed.left_in_target(), ["mail.db", "mail.db.pgmeter"]);
}

#[test]
fn a_file_named_as_the_next_manifest_is_not_removed() {
    let bed = ScratchTarget::new().unwrap();
    let path = bed.target().join("disk.img");
    let precious = bed.target().join("disk.img.pgmeter.new");
    fs::write(&precious, "precious").unwrap();
    let output = bed.run(&[&["run", "oltp", "-t", text(&path), "--create"], &SMALL[..]].concat());
    output.assert_refused(3, &["exists and was not created by pgmeter"]);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
}

#[test]
fn a_copy_of_a_target_is_cleaned_when_it_is_adopted() {
    let bed = ScratchTarget::new().unwrap();
    let done = bed.measure(&["oltp", "--size", "1m", "--keep"]);
    done.assert_says(0, &[]);
    let copy = bed.path().join("copy");
    run_tool("cp", &["-r", text(bed.target()), text(&copy)]).unwrap();
    let work = copy.join("pgmeter.work");
    for _ in 0..2 {
        let output = bed.run(&["clean", text(&copy)]);
        output.assert_says(1, &["pgmeter clean --adopt"]);
        assert_eq!(
            names_in(&work),
            ["manifest.json", "test-0.dat"],
            "{}",
            output.text()
        );
    }
    // There is no terminal for a question.
    let output = bed.run(&["clean", "--adopt", text(&copy)]);
    output.assert_refused(2, &["asks before removing anything", "`--yes`"]);
    assert_eq!(names_in(&work).len(), 2);
    let output = bed.run(&["clean", "--adopt", "--yes", text(&copy)]);
    output.assert_says(0, &["test-0.dat`, 1MiB"]);
    assert!(names_in(&copy).is_empty(), "{}", output.text());
    bed.run(&["clean", text(bed.target())]).assert_says(0, &[]);
    assert!(bed.left_in_target().is_empty());
}

/// A second loop device on an image, detached when dropped.
struct SecondLoop(String);

impl SecondLoop {
    fn on(image: &Path) -> Self {
        let path = run_tool("losetup", &["--find", "--show", text(image)]).unwrap();
        Self(path.trim().to_owned())
    }
}

impl Drop for SecondLoop {
    fn drop(&mut self) {
        let _ = run_tool("losetup", &["--detach", &self.0]);
    }
}

#[test]
fn a_second_loop_device_on_a_mounted_image_is_not_written() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
    let bed = ScratchTarget::new().unwrap();
    let second = SecondLoop::on(mounted.device().image());
    let path = second.0.as_str();
    let line = ["run", "oltp", "-t", path, "--overwrite-device", path];
    let output = bed.run(&[&line[..], &SMALL[..]].concat());
    output.assert_refused(3, &["is on the same image", "and mounted on"]);
}

#[test]
fn a_typo_in_a_device_name_creates_no_file() {
    let bed = ScratchTarget::new().unwrap();
    let typo = "/dev/pgmeter-sdzz";
    let line = ["run", "oltp", "-t", typo, "--overwrite-device", typo];
    let output = bed.run(&[&line[..], &SMALL[..]].concat());
    let exists = Path::new(typo).exists();
    let _ = fs::remove_file(typo);
    assert!(!exists, "{}", output.text());
    output.assert_refused(3, &["`/dev/pgmeter-sdzz` does not exist"]);
}

#[test]
fn the_destructive_option_is_never_suggested_for_a_typo() {
    let bed = ScratchTarget::new().unwrap();
    for line in [
        &["run", "--row=randread"][..],
        &["run", "--overwrite", "/dev/x"],
        &["compare", "--row=randread"],
        &["run", "oltp", "--set", "overwrite_devices=/dev/x"],
        &["run", "oltp", "--set", "overwrite=/dev/x"],
    ] {
        let output = bed.run(line);
        output.assert_refused(2, &[]);
        assert!(
            !output.stderr.contains("--overwrite-device"),
            "{}",
            output.text()
        );
    }
}
