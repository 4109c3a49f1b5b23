//! Labs killed at every step: after a step was noted and before it was done, and after it was.

use std::sync::{MutexGuard, PoisonError};

use std::fs;

use super::*;
use crate::clean::clean;

const SIZE_BYTES: u64 = 64 << 20;

fn medium(kind: MediumKind) -> LabMedium {
    LabMedium {
        kind,
        size_bytes: SIZE_BYTES,
        overwrite_devices: Vec::new(),
    }
}

fn choice(text: &str) -> FileSystemChoice {
    FileSystemChoice::read_all(&[text.to_owned()])
        .unwrap()
        .remove(0)
}

fn can_run(medium: &MediumKind) -> bool {
    let has_device = match medium {
        MediumKind::Zram => device::has_zram(),
        _ => device::has_loop(),
    };
    if !crate::availability::is_root() {
        println!("skipped: needs root");
    } else if !has_device {
        println!("skipped: no {medium} devices");
    }
    crate::availability::is_root() && has_device
}

/// A directory for labs, and how it was.
struct LabDir {
    directory: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl LabDir {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            _turn: crate::TEST_LOCK
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        }
    }

    fn lab(&self) -> Lab {
        Lab::begin(self.directory.path()).unwrap()
    }

    /// Leaves a lab as a process does that is killed, then cleans; nothing may be left.
    #[track_caller]
    fn kill(&self, lab: Lab) -> Vec<String> {
        let image = lab.directory.join(IMAGE);
        let mut lab = std::mem::ManuallyDrop::new(lab);
        // The lock goes with the process.
        let lock = std::mem::replace(&mut lab.lock, File::open("/dev/null").unwrap().into());
        drop(lock);
        let cleaned = clean(self.directory.path()).unwrap();
        assert!(cleaned.left.is_empty(), "{:?}", cleaned.left);
        assert_eq!(device::loops_on(&image), [""; 0]);
        let mounts = storage::mounts();
        let inside = |mount: &storage::MountLine| mount.point.starts_with(self.directory.path());
        assert!(!mounts.iter().any(inside));
        let entries = fs::read_dir(self.directory.path()).unwrap();
        assert_eq!(entries.count(), 0, "{:?}", cleaned.removed);
        cleaned.removed
    }
}

#[test]
fn a_lab_killed_at_its_start_leaves_nothing() {
    let lab_dir = LabDir::new();
    lab_dir.kill(lab_dir.lab());
    lab_dir.lab().end().unwrap();
    assert_eq!(fs::read_dir(lab_dir.directory.path()).unwrap().count(), 0);
}

#[test]
fn a_running_lab_is_not_cleaned() {
    let lab_dir = LabDir::new();
    let lab = lab_dir.lab();
    let cleaned = clean(lab_dir.directory.path()).unwrap();
    assert_eq!((cleaned.running.len(), cleaned.removed.len()), (1, 0));
    lab.end().unwrap();
}

#[test]
fn a_step_that_was_noted_and_not_done_does_no_harm() {
    let lab_dir = LabDir::new();
    let steps = [
        JournalStep::Image { size_bytes: 5 },
        JournalStep::Loop,
        JournalStep::ZramWanted {
            existing: device::zrams(),
            at: SystemTime::now(),
        },
        JournalStep::Zram {
            number: 99_999,
            made_at: None,
        },
        JournalStep::Mkfs {
            command: "mkfs".to_owned(),
        },
        JournalStep::Mount {
            point: "/no/such/point".into(),
        },
    ];
    for count in 1..=steps.len() {
        let mut lab = lab_dir.lab();
        for step in &steps[..count] {
            lab.journal.note(step.clone()).unwrap();
        }
        lab_dir.kill(lab);
    }
}

#[test]
fn an_image_and_its_loop_device_go() {
    if !can_run(&MediumKind::Loop) {
        return;
    }
    let lab_dir = LabDir::new();
    let mut lab = lab_dir.lab();
    lab.journal
        .note(JournalStep::Image { size_bytes: 5 })
        .unwrap();
    File::create_new(lab.directory.join(IMAGE)).unwrap();
    lab_dir.kill(lab);
    let mut lab = lab_dir.lab();
    lab.attach_loop_device(SIZE_BYTES, &mut existing(Path::new("/")))
        .unwrap();
    let removed = lab_dir.kill(lab);
    assert!(
        removed.iter().any(|it| it.starts_with("loop device")),
        "{removed:?}"
    );
}

#[test]
fn a_zram_device_is_removed_with_or_without_its_number_noted() {
    if !can_run(&MediumKind::Zram) {
        return;
    }
    let lab_dir = LabDir::new();
    let before = device::zrams();
    let mut lab = lab_dir.lab();
    lab.journal
        .note(JournalStep::ZramWanted {
            existing: before.clone(),
            at: SystemTime::now(),
        })
        .unwrap();
    let nameless = device::create_zram().unwrap();
    lab_dir.kill(lab);
    assert_eq!(device::zram_size_bytes(nameless), None);
    let mut lab = lab_dir.lab();
    let path = lab.zram(SIZE_BYTES).unwrap();
    assert!(Path::new(&path).exists());
    lab_dir.kill(lab);
    assert!(!Path::new(&path).exists());
}

#[test]
fn another_programs_zram_device_with_the_same_number_stays() {
    if !can_run(&MediumKind::Zram) {
        return;
    }
    let lab_dir = LabDir::new();
    let number = device::create_zram().unwrap();
    let mut lab = lab_dir.lab();
    lab.journal
        .note(JournalStep::Zram {
            number,
            made_at: Some(SystemTime::UNIX_EPOCH),
        })
        .unwrap();
    lab_dir.kill(lab);
    assert_eq!(device::zram_size_bytes(number), Some(0));
    device::remove_zram(number).unwrap();
}

#[test]
fn a_mounted_file_system_is_removed_by_its_lab_and_by_cleaning() {
    if !can_run(&MediumKind::Loop) {
        return;
    }
    let lab_dir = LabDir::new();
    for name in ["ext4:-O ^has_journal,mount=noatime", "tmpfs", "overlay"] {
        let mut lab = lab_dir.lab();
        let built = match lab.build(&choice(name), &medium(MediumKind::Loop)) {
            Err(LabError::MissingProgram { program, .. }) => {
                println!("skipped: no `{program}`");
                return;
            }
            built => built.unwrap(),
        };
        fs::write(built.directory.join("file"), [1; 5000]).unwrap();
        let mount = built.mount().unwrap();
        assert_eq!(mount.point, built.directory, "{name}");
        assert!(!mount.is_read_only());
        built.sync().unwrap();
        lab.tear_down(built).unwrap();
        lab.build(&choice(name), &medium(MediumKind::Loop)).unwrap();
        lab_dir.kill(lab);
    }
}

#[test]
fn an_error_quotes_the_failed_program_and_nothing_is_left() {
    if !can_run(&MediumKind::Loop) {
        return;
    }
    let lab_dir = LabDir::new();
    let mut lab = lab_dir.lab();
    let error = lab
        .build(&choice("ext4:--no-such-option"), &medium(MediumKind::Loop))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("unrecognized option") || error.contains("invalid"),
        "{error}"
    );
    let error = lab
        .build(
            &choice("ext4,mount=no_such_option"),
            &medium(MediumKind::Loop),
        )
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with("`mount -t ext4 -o no_such_option"),
        "{error}"
    );
    assert_eq!(lab.journal.steps().len(), 1);
    lab.end().unwrap();
}

#[test]
fn a_busy_mount_is_explained_and_cleaned_once_it_is_free() {
    if !can_run(&MediumKind::Loop) {
        return;
    }
    let lab_dir = LabDir::new();
    let mut lab = lab_dir.lab();
    let built = lab
        .build(&choice("tmpfs"), &medium(MediumKind::Loop))
        .unwrap();
    let open = File::create(built.directory.join("open")).unwrap();
    let error = lab.tear_down(built).unwrap_err().to_string();
    assert!(error.contains("it is used by process"), "{error}");
    drop(open);
    lab_dir.kill(lab);
}

/// Makes a lab look like one of another process of this number, which is dead.
fn orphan(lab: &Lab) {
    let begin = JournalStep::Begin {
        pid: std::process::id(),
        start_ticks: 1,
        has_made_place: false,
    };
    let line = serde_json::to_string(&begin).unwrap() + "\n";
    let mut journal = line.into_bytes();
    for step in &lab.journal.steps()[1..] {
        journal.extend(serde_json::to_vec(step).unwrap());
        journal.push(b'\n');
    }
    fs::write(lab.directory.join(crate::journal::JOURNAL), journal).unwrap();
}

/// A program that shares the lab's lock, as all do that it starts.
fn sleeper() -> std::process::Child {
    let mut command = std::process::Command::new("sleep");
    command.arg("60").spawn().unwrap()
}

#[test]
fn a_program_that_outlives_its_lab_is_killed() {
    let lab_dir = LabDir::new();
    let mut lab = lab_dir.lab();
    let mut sleeper = sleeper();
    lab.journal_background_programs().unwrap();
    orphan(&lab);
    let removed = lab_dir.kill(lab);
    assert!(!sleeper.wait().unwrap().success());
    assert!(removed.iter().any(|it| it == "1 process"), "{removed:?}");
}

#[test]
fn an_unlisted_process_that_holds_a_lock_keeps_its_lab() {
    let lab_dir = LabDir::new();
    let lab = lab_dir.lab();
    let directory = lab.directory.clone();
    let mut stranger = sleeper();
    orphan(&lab);
    let mut lab = std::mem::ManuallyDrop::new(lab);
    drop(std::mem::replace(
        &mut lab.lock,
        File::open("/dev/null").unwrap().into(),
    ));
    let cleaned = clean(lab_dir.directory.path()).unwrap();
    assert!(stranger.try_wait().unwrap().is_none());
    assert!(cleaned.removed.is_empty() && directory.exists());
    let message = cleaned.left[0].to_string();
    let named = format!("process {} (sleep)", stranger.id());
    assert!(message.contains(&named), "{message}");
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    let cleaned = clean(lab_dir.directory.path()).unwrap();
    assert!(cleaned.left.is_empty() && !directory.exists());
}

#[test]
fn directories_that_only_look_like_labs_are_not_touched() {
    let lab_dir = LabDir::new();
    let top = lab_dir.directory.path();
    let pid = std::process::id();
    let begin = format!("{{\"step\":\"begin\",\"pid\":{pid},\"start_ticks\":1}}\n");
    let other = format!(
        "{{\"step\":\"begin\",\"pid\":{},\"start_ticks\":1}}\n",
        pid + 1
    );
    let make = |name: &str, journal: &str| {
        let lab = top.join(name);
        fs::create_dir(&lab).unwrap();
        fs::write(lab.join("journal"), journal).unwrap();
        fs::write(lab.join("lock"), "").unwrap();
        lab
    };
    let diary = make("lab-diary", &begin);
    let named = |number: u32| format!("lab-20260102-030405-{number}-{pid:x}");
    let forged = make(&named(1), "dear diary\n");
    let anothers = make(&named(2), &other);
    let open = make(&named(3), &begin);
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&open, fs::Permissions::from_mode(0o777)).unwrap();
    let unlocked = make(&named(4), &begin);
    fs::remove_file(unlocked.join("lock")).unwrap();
    let mut all = vec![&diary, &forged, &anothers, &open, &unlocked];
    let given = make(&named(5), &begin);
    if crate::availability::is_root() {
        std::os::unix::fs::chown(given.join("journal"), Some(65534), None).unwrap();
        all.push(&given);
    }
    let cleaned = clean(top).unwrap();
    assert_eq!(cleaned.left.len(), all.len() - 1, "{:?}", cleaned.left);
    for lab in all {
        assert!(lab.join("journal").exists(), "{}", lab.display());
    }
}

#[test]
fn a_forged_journal_unmounts_nothing_outside_of_its_lab() {
    if !crate::availability::is_root() {
        println!("skipped: needs root");
        return;
    }
    let lab_dir = LabDir::new();
    let outside = tempfile::tempdir().unwrap();
    // As a lab names its points, but another's.
    let point = outside.path().join(MOUNT_POINT);
    fs::create_dir(&point).unwrap();
    if tools::mount("tmpfs", "", "none", &point).is_err() {
        println!("skipped: tmpfs cannot be mounted");
        return;
    }
    let mut lab = lab_dir.lab();
    lab.journal
        .note(JournalStep::Mount {
            point: point.clone(),
        })
        .unwrap();
    lab_dir.kill(lab);
    let is_mounted = storage::mounts().iter().any(|it| it.point == point);
    tools::run("umount", &[point.display().to_string()]).unwrap();
    assert!(is_mounted);
}

#[test]
fn a_zram_device_that_the_lab_did_not_ask_for_stays() {
    if !can_run(&MediumKind::Zram) {
        return;
    }
    let lab_dir = LabDir::new();
    let number = device::create_zram().unwrap();
    let mut lab = lab_dir.lab();
    lab.journal
        .note(JournalStep::Zram {
            number,
            made_at: device::zram_created_at(number),
        })
        .unwrap();
    lab_dir.kill(lab);
    assert_eq!(device::zram_size_bytes(number), Some(0));
    device::remove_zram(number).unwrap();
}
