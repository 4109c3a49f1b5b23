//! Labs killed at every step: after a step was noted and before it was done, and after it was.

use std::sync::{MutexGuard, PoisonError};

use std::fs;

use super::*;
use crate::clean::clean;

const SIZE_BYTES: u64 = 64 << 20;

fn ground(medium: Medium) -> Ground {
    Ground {
        medium,
        size_bytes: SIZE_BYTES,
        overwrite_devices: Vec::new(),
    }
}

fn choice(text: &str) -> Choice {
    Choice::read_all(&[text.to_owned()]).unwrap().remove(0)
}

fn can_run(medium: &Medium) -> bool {
    let is_there = match medium {
        Medium::Zram => device::has_zram(),
        _ => device::has_loop(),
    };
    if !crate::availability::is_root() {
        println!("skipped: needs root");
    } else if !is_there {
        println!("skipped: no {medium} devices");
    }
    crate::availability::is_root() && is_there
}

/// A directory for labs, and how it was.
struct Place {
    directory: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Place {
    fn new() -> Self {
        Self {
            directory: tempfile::tempdir().unwrap(),
            _turn: crate::TURN.lock().unwrap_or_else(PoisonError::into_inner),
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
        let held = std::mem::replace(&mut lab.lock, File::open("/dev/null").unwrap().into());
        drop(held);
        let cleaned = clean(self.directory.path()).unwrap();
        assert!(cleaned.left.is_empty(), "{:?}", cleaned.left);
        assert_eq!(device::loops_on(&image), [""; 0]);
        let mounts = target::mounts();
        let inside = |mount: &target::Mount| mount.point.starts_with(self.directory.path());
        assert!(!mounts.iter().any(inside));
        let entries = fs::read_dir(self.directory.path()).unwrap();
        assert_eq!(entries.count(), 0, "{:?}", cleaned.removed);
        cleaned.removed
    }
}

#[test]
fn a_lab_that_has_just_begun_leaves_nothing() {
    let place = Place::new();
    place.kill(place.lab());
    place.lab().end().unwrap();
    assert_eq!(fs::read_dir(place.directory.path()).unwrap().count(), 0);
}

#[test]
fn a_lab_at_work_is_left_alone() {
    let place = Place::new();
    let lab = place.lab();
    let cleaned = clean(place.directory.path()).unwrap();
    assert_eq!((cleaned.running.len(), cleaned.removed.len()), (1, 0));
    lab.end().unwrap();
}

#[test]
fn a_step_that_was_noted_and_not_done_does_no_harm() {
    let place = Place::new();
    let steps = [
        Step::Image { size_bytes: 5 },
        Step::Loop,
        Step::ZramWanted {
            existing: device::zrams(),
            at: SystemTime::now(),
        },
        Step::Zram {
            number: 99_999,
            made_at: None,
        },
        Step::Mkfs {
            command: "mkfs".to_owned(),
        },
        Step::Mount {
            point: "/no/such/point".into(),
        },
    ];
    for count in 1..=steps.len() {
        let mut lab = place.lab();
        for step in &steps[..count] {
            lab.journal.note(step.clone()).unwrap();
        }
        place.kill(lab);
    }
}

#[test]
fn an_image_and_its_loop_device_go() {
    if !can_run(&Medium::Loop) {
        return;
    }
    let place = Place::new();
    let mut lab = place.lab();
    lab.journal.note(Step::Image { size_bytes: 5 }).unwrap();
    File::create_new(lab.directory.join(IMAGE)).unwrap();
    place.kill(lab);
    let mut lab = place.lab();
    lab.looped(SIZE_BYTES, &mut existing(Path::new("/")))
        .unwrap();
    let removed = place.kill(lab);
    assert!(
        removed.iter().any(|it| it.starts_with("loop device")),
        "{removed:?}"
    );
}

#[test]
fn a_zram_device_goes_whether_its_number_was_noted_or_not() {
    if !can_run(&Medium::Zram) {
        return;
    }
    let place = Place::new();
    let before = device::zrams();
    let mut lab = place.lab();
    lab.journal
        .note(Step::ZramWanted {
            existing: before.clone(),
            at: SystemTime::now(),
        })
        .unwrap();
    let nameless = device::new_zram().unwrap();
    place.kill(lab);
    assert_eq!(device::zram_size_bytes(nameless), None);
    let mut lab = place.lab();
    let path = lab.zram(SIZE_BYTES).unwrap();
    assert!(Path::new(&path).exists());
    place.kill(lab);
    assert!(!Path::new(&path).exists());
}

#[test]
fn somebody_elses_zram_device_of_that_number_stays() {
    if !can_run(&Medium::Zram) {
        return;
    }
    let place = Place::new();
    let number = device::new_zram().unwrap();
    let mut lab = place.lab();
    lab.journal
        .note(Step::Zram {
            number,
            made_at: Some(SystemTime::UNIX_EPOCH),
        })
        .unwrap();
    place.kill(lab);
    assert_eq!(device::zram_size_bytes(number), Some(0));
    device::remove_zram(number).unwrap();
}

#[test]
fn a_mounted_file_system_is_taken_down_by_itself_and_by_cleaning() {
    if !can_run(&Medium::Loop) {
        return;
    }
    let place = Place::new();
    for name in ["ext4:-O ^has_journal,mount=noatime", "tmpfs", "overlay"] {
        let mut lab = place.lab();
        let built = match lab.build(&choice(name), &ground(Medium::Loop)) {
            Err(LabError::NoProgram { program, .. }) => {
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
        lab.take_down(built).unwrap();
        lab.build(&choice(name), &ground(Medium::Loop)).unwrap();
        place.kill(lab);
    }
}

#[test]
fn what_a_program_says_is_told_and_nothing_stays() {
    if !can_run(&Medium::Loop) {
        return;
    }
    let place = Place::new();
    let mut lab = place.lab();
    let error = lab
        .build(&choice("ext4:--no-such-option"), &ground(Medium::Loop))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("unrecognized option") || error.contains("invalid"),
        "{error}"
    );
    let error = lab
        .build(&choice("ext4,mount=no_such_option"), &ground(Medium::Loop))
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
    if !can_run(&Medium::Loop) {
        return;
    }
    let place = Place::new();
    let mut lab = place.lab();
    let built = lab.build(&choice("tmpfs"), &ground(Medium::Loop)).unwrap();
    let open = File::create(built.directory.join("open")).unwrap();
    let error = lab.take_down(built).unwrap_err().to_string();
    assert!(error.contains("it is used by process"), "{error}");
    drop(open);
    place.kill(lab);
}

#[test]
fn a_program_that_outlives_its_lab_is_ended() {
    let place = Place::new();
    let lab = place.lab();
    let mut sleeper = std::process::Command::new("sleep")
        .arg("60")
        .spawn()
        .unwrap();
    // As if the lab had been another process, and that one dead.
    let begin = Step::Begin {
        pid: u32::MAX,
        start_ticks: 1,
    };
    let line = serde_json::to_string(&begin).unwrap() + "\n";
    fs::write(lab.directory.join(crate::journal::JOURNAL), line).unwrap();
    let removed = place.kill(lab);
    assert!(!sleeper.wait().unwrap().success());
    assert!(removed.iter().any(|it| it == "1 process"), "{removed:?}");
}
