//! What is wrong is said, with where, why and what to do; nothing is written and nothing hangs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use end_to_end::{
    FileSystem, Finished, LoopDevice, Mount, MountedImage, ScratchTarget, finish, need, run_tool,
    skip,
};

/// Usage, or the workload file.
const USAGE: i32 = 2;
/// This system cannot run it.
const UNSUPPORTED: i32 = 3;

fn check(name: &str, content: impl AsRef<[u8]>) -> Finished {
    let bed = need_bed();
    bed.file(name, content);
    bed.run(&["check", name])
}

fn need_bed() -> ScratchTarget {
    ScratchTarget::new().unwrap()
}

const ICF_HEAD: &str = "Version 1.1.0 \n'ACCESS SPECIFICATIONS ====\n\
    'Access specification name,default assignment\n\tMine,ALL\n\
    'size,% of size,% reads,% random,delay,burst,align,reply\n";
const ICF_TAIL: &str = "'End access specifications\nVersion 1.1.0 \n";

#[test]
fn percentages_that_sum_to_99_are_refused_with_the_sum() {
    let lines = "\t4096,50,100,0,0,1,0,0\n\t8192,49,100,0,0,1,0,0\n";
    let output = check("mine.icf", format!("{ICF_HEAD}{lines}{ICF_TAIL}"));
    output.assert_refused(
        USAGE,
        &["`Mine`", "99 %", "100 %", "--> mine.icf:", "help: "],
    );
}

#[test]
fn percentages_in_a_toml_file_must_sum_to_100_too() {
    let output = check(
        "mine.toml",
        "[[access_spec]]\nline = [{ size = \"4k\", of_size = 50 }, { size = 512, of_size = 49 }]\n",
    );
    output.assert_refused(USAGE, &["99 %", "100 %", "--> mine.toml:", "help: "]);
}

#[test]
fn an_unknown_key_is_reported_with_its_line_and_the_nearest_known_key() {
    let output = check("mine.toml", "size = \"1m\"\nio_depth = 4\n");
    output.assert_refused(
        USAGE,
        &["`io_depth`", "--> mine.toml:2:1", "help: ", "`iodepth`"],
    );
}

#[test]
fn a_size_of_0_that_is_used_is_refused() {
    let line = "\t0,100,100,0,0,1,0,0\n";
    let output = check("mine.icf", format!("{ICF_HEAD}{line}{ICF_TAIL}"));
    output.assert_refused(USAGE, &["`Mine`", "0", "--> mine.icf:6", "help: "]);
}

#[test]
fn direct_requests_must_be_multiples_of_the_block() {
    let bed = need_bed();
    bed.file(
        "mine.toml",
        "size = \"1m\"\n[[access_spec]]\nline = [{ size = 1000 }]\n",
    );
    let output = bed.measure(&["mine.toml"]);
    assert!(
        matches!(output.code, USAGE | UNSUPPORTED),
        "{}",
        output.text()
    );
    output.assert_refused(output.code, &["1000", "direct", "help: "]);
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn a_request_larger_than_the_file_is_refused() {
    let bed = need_bed();
    bed.file(
        "mine.toml",
        "size = \"64k\"\n[[access_spec]]\nline = [{ size = \"1m\" }]\n",
    );
    let output = bed.measure(&["mine.toml"]);
    assert!(
        matches!(output.code, USAGE | UNSUPPORTED),
        "{}",
        output.text()
    );
    output.assert_refused(output.code, &["1MiB", "64KiB", "help: "]);
    assert!(bed.left_in_target().is_empty());
}

fn small(bed: &ScratchTarget) -> String {
    let text = "size = \"1m\"\n[[access_spec]]\nline = [{ size = \"4k\", read = 50 }]\n";
    bed.file("small.toml", text).to_string_lossy().into_owned()
}

/// Runs the small workload on a target that must be refused.
fn refused(bed: &ScratchTarget, target: &Path, more: &[&str], phrases: &[&str]) {
    let (file, target) = (small(bed), target.to_string_lossy().into_owned());
    let output = bed.run(
        &[
            &["run", &file, "--target", &target, "--run-time", "1s"],
            more,
        ]
        .concat(),
    );
    assert!(
        matches!(output.code, USAGE | UNSUPPORTED),
        "{}",
        output.text()
    );
    output.assert_refused(output.code, phrases);
    assert!(output.stderr.contains("help: "), "{}", output.text());
}

#[test]
fn a_missing_target_is_refused() {
    let bed = need_bed();
    let target = bed.target().join("no/such/place");
    refused(&bed, &target, &[], &["no/such/place`", "does not exist"]);
}

#[test]
fn a_missing_target_is_refused_without_create() {
    let bed = need_bed();
    let target = bed.target().join("unmounted");
    refused(
        &bed,
        &target,
        &[],
        &["unmounted` does not exist", "`--create`"],
    );
    assert!(bed.left_in_target().is_empty());
    let (file, target) = (small(&bed), target.to_string_lossy().into_owned());
    let line = ["run", &file, "--target", &target, "--run-time", "100ms"];
    let checked = bed.run(&["check", &file, "--target", &target]);
    assert!(
        checked.text().contains("`run` would refuse this"),
        "{}",
        checked.text()
    );
    let checked = bed.run(&["check", &file, "--target", &target, "--create"]);
    assert!(!checked.text().contains("refuse"), "{}", checked.text());
    bed.run(&[&line[..], &["--create", "--ramp-time", "0s"]].concat())
        .assert_says(0, &[]);
    assert!(bed.left_in_target().is_empty());
}

/// Runs a command with `fstab` instead of the system's file.
fn with_fstab(fstab: &Path, command: &Command) -> Command {
    let mut inside = Command::new("unshare");
    inside
        .args(["--mount", "--propagation", "private", "sh", "-c"])
        .arg("mount --bind \"$1\" /etc/fstab && shift && exec \"$@\"")
        .args(["sh".as_ref(), fstab.as_os_str(), command.get_program()])
        .args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        inside.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => inside.env(name, value),
            None => inside.env_remove(name),
        };
    }
    inside
}

#[test]
fn a_target_at_an_unmounted_mount_point_is_a_warning() {
    let bed = need_bed();
    let point = bed.target().to_string_lossy().into_owned();
    let fstab = bed.file("fstab", format!("UUID=none {point} ext4 defaults 0 2\n"));
    let mut probe = Command::new("true");
    probe.current_dir(bed.path());
    match with_fstab(&fstab, &probe).output() {
        Ok(tried) if tried.status.success() => {}
        _ => skip!("no file can be mounted over /etc/fstab here"),
    }
    let file = small(&bed);
    let line = [
        "run",
        &file,
        "--target",
        &point,
        "--run-time",
        "100ms",
        "--ramp-time",
        "0s",
        "--json",
        "-",
        "--quiet",
    ];
    let output = finish(&mut with_fstab(&fstab, &bed.command(&line)));
    let warning = format!("warning: `{point}` is a mount point of /etc/fstab with nothing mounted");
    assert!(output.stderr.contains(&warning), "{}", output.text());
    let record: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let codes = record["warnings"].as_array().unwrap().iter();
    let count = codes.filter(|it| it["code"] == "not-mounted").count();
    assert_eq!(count, 1, "{}", record["warnings"]);
    let line = ["check", &file, "--target", &point];
    let output = finish(&mut with_fstab(&fstab, &bed.command(&line)));
    assert!(
        output.text().contains("with nothing mounted"),
        "{}",
        output.text()
    );
}

#[test]
fn files_that_are_too_large_are_refused_with_the_limit() {
    let bed = need_bed();
    let file = |name: &str, length: u64| {
        let file = std::fs::File::create(bed.path().join(name)).unwrap();
        file.set_len(length).unwrap();
    };
    // A hole takes no space.
    file("huge.json", 2 << 30);
    file("huge.toml", 100 << 20);
    let phrase = "it has 2147483648 bytes, and at most 1073741824 are read";
    bed.run(&["report", "huge.json"])
        .assert_refused(2, &[phrase]);
    bed.run(&["compare", "huge.json", "huge.json"])
        .assert_refused(2, &[phrase]);
    for command in ["check", "show"] {
        bed.run(&[command, "huge.toml"])
            .assert_refused(2, &["104857600 bytes", "at most 67108864"]);
    }
}

#[test]
fn a_read_only_target_is_refused() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
    mounted.mount().remount("ro").unwrap();
    refused(&need_bed(), mounted.path(), &[], &["read-only"]);
}

#[test]
fn a_full_target_is_refused_before_anything_is_written() {
    let bed = need_bed();
    let mount = need!(Mount::tmpfs(bed.target(), 1 << 20));
    refused(&bed, mount.path(), &[], &["free", "1 MiB"]);
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn a_symbolic_link_is_refused_and_what_it_points_to_stays() {
    let bed = need_bed();
    let victim = bed.file("victim", "precious");
    let link = bed.target().join("link");
    symlink(&victim, &link).unwrap();
    refused(&bed, &link, &[], &["symbolic link"]);
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
}

#[test]
fn a_foreign_file_is_refused_and_stays() {
    let bed = need_bed();
    let victim = bed.target().join("database");
    std::fs::write(&victim, "precious").unwrap();
    refused(&bed, &victim, &[], &["`", "was not created by pgmeter"]);
    assert_eq!(std::fs::read(&victim).unwrap(), b"precious");
    assert_eq!(bed.left_in_target(), ["database"]);
}

#[test]
fn a_mounted_device_is_refused_even_with_overwrite_device() {
    let mounted = need!(MountedImage::new(FileSystem::Ext4, 64 << 20));
    let device = mounted.device().path();
    let word = ["--overwrite-device", &device.to_string_lossy()];
    refused(&need_bed(), device, &word, &["in use"]);
    std::fs::write(mounted.path().join("a"), "still writable").unwrap();
}

#[test]
fn a_held_device_is_refused_even_with_overwrite_device() {
    const O_EXCL: i32 = 0o200;
    let device = need!(LoopDevice::new(16 << 20));
    let holder = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(O_EXCL)
        .open(device.path())
        .unwrap();
    let word = ["--overwrite-device", &device.path().to_string_lossy()];
    refused(&need_bed(), device.path(), &word, &["in use"]);
    drop(holder);
}

#[test]
fn a_device_with_a_file_system_is_refused_without_overwrite_device() {
    let device = need!(LoopDevice::new(64 << 20));
    need!(device.format(FileSystem::Ext4));
    let before = std::fs::read(device.image()).unwrap();
    refused(
        &need_bed(),
        device.path(),
        &[],
        &["ext4", "--overwrite-device"],
    );
    assert!(
        before == std::fs::read(device.image()).unwrap(),
        "the device was written"
    );
}

#[test]
fn an_empty_device_is_refused_without_overwrite_device() {
    let device = need!(LoopDevice::new(16 << 20));
    refused(
        &need_bed(),
        device.path(),
        &[],
        &["block device", "--overwrite-device"],
    );
}

#[test]
fn io_uring_without_permission_is_refused_with_an_alternative() {
    let bed = need_bed();
    let (file, target) = (small(&bed), bed.target().to_string_lossy().into_owned());
    let run = bed.command(&["run", &file, "--target", &target, "--engine", "io_uring"]);
    for (errno, phrase) in [("EPERM", "forbidden"), ("ENOSYS", "no io_uring")] {
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=io_uring_setup"]);
        traced.args(["-e", &format!("inject=io_uring_setup:error={errno}")]);
        traced
            .arg(run.get_program())
            .args(run.get_args())
            .current_dir(bed.path());
        if run_tool("strace", &["-e", "trace=none", "true"]).is_err() {
            skip!("strace is not installed or may not trace");
        }
        let output = finish(&mut traced);
        output.assert_refused(UNSUPPORTED, &[phrase, "help: ", "--engine psync"]);
        assert!(bed.left_in_target().is_empty());
    }
}

#[test]
fn too_little_lockable_memory_is_refused_with_the_numbers() {
    if run_tool("id", &["-u"]).is_ok_and(|id| id.trim() != "0") {
        skip!("needs root, to become somebody who may not lock memory");
    }
    let bed = need_bed();
    let text = "size = \"64m\"\n[[access_spec]]\nline = [{ size = \"1m\" }]\n";
    let file = bed.file("large.toml", text).to_string_lossy().into_owned();
    let target = bed.target().to_string_lossy().into_owned();
    let run = bed.command(&["run", &file, "--target", &target, "--iodepth", "32"]);
    for directory in [bed.path(), bed.target()] {
        std::fs::set_permissions(directory, PermissionsExt::from_mode(0o777)).unwrap();
    }
    // The program may lie where an ordinary user may not look.
    let program = bed.path().join("pgmeter");
    std::fs::copy(run.get_program(), &program).unwrap();
    let mut limited = Command::new("prlimit");
    limited.args([
        "--memlock=65536:65536",
        "setpriv",
        "--reuid=65534",
        "--regid=65534",
    ]);
    limited
        .args(["--clear-groups", "--bounding-set=-all"])
        .arg(&program);
    limited
        .args(run.get_args())
        .current_dir(bed.path())
        .env("NO_COLOR", "1");
    let output = finish(&mut limited);
    output.assert_refused(UNSUPPORTED, &["RLIMIT_MEMLOCK", "65536", "help: "]);
}

#[test]
fn too_little_address_space_is_an_error_and_leaves_no_files() {
    let bed = need_bed();
    let target = bed.target().to_string_lossy().into_owned();
    let limited = |workers: &str, limit_kib: u64| {
        let run = bed.command(&[
            "run",
            "--rw",
            "randread",
            "--size",
            "16m",
            "--workers",
            workers,
            "--run-time",
            "200ms",
            "--target",
            &target,
        ]);
        let mut limited = Command::new("prlimit");
        limited.arg(format!("--as={}", limit_kib << 10));
        limited.arg(run.get_program()).args(run.get_args());
        finish(limited.current_dir(bed.path()).env("NO_COLOR", "1"))
    };
    // 256 workers need several times as much.
    let output = limited("256", 150_000);
    output.assert_refused(UNSUPPORTED, &["address space", "150000 KiB", "`ulimit -v"]);
    assert!(bed.left_in_target().is_empty());
    // Between too little and enough it depends on what the C library reserves.
    for limit_kib in [200_000, 300_000, 500_000, 900_000] {
        let output = limited("48", limit_kib);
        match output.code {
            0 => {}
            code => assert!(
                code == UNSUPPORTED && output.stderr.contains("error: "),
                "{}",
                output.text()
            ),
        }
        assert!(bed.left_in_target().is_empty(), "{limit_kib} KiB");
    }
}

#[test]
fn depths_outside_the_range_are_refused() {
    let bed = need_bed();
    for depth in ["0", "100000"] {
        let output = bed.measure(&[&small(&bed), "--iodepth", depth]);
        output.assert_refused(USAGE, &[depth, "32768"]);
        assert!(bed.left_in_target().is_empty());
    }
}

#[test]
fn an_empty_icf_is_refused() {
    check("mine.icf", "").assert_refused(USAGE, &["mine.icf", "empty", "help: "]);
}

#[test]
fn a_binary_icf_is_refused() {
    let bytes: Vec<u8> = (0..100_000_u32)
        .map(|index| ((index * 7919) >> 3) as u8)
        .collect();
    check("mine.icf", bytes).assert_refused(USAGE, &["mine.icf", "help: "]);
}

#[test]
fn an_icf_of_100_mb_is_refused_quickly() {
    let start = std::time::Instant::now();
    let text = "Version 1.1.0 \n".repeat(100_000_000 / 15);
    check("mine.icf", text).assert_refused(USAGE, &["mine.icf", "help: "]);
    assert!(start.elapsed().as_secs() < 60, "took {:?}", start.elapsed());
}

#[test]
fn a_truncated_icf_says_where_it_ends() {
    let output = check("mine.icf", &ICF_HEAD[..ICF_HEAD.len() - 20]);
    output.assert_refused(USAGE, &["mine.icf:", "help: "]);
}

#[test]
fn a_workload_that_does_not_exist_is_refused_with_the_nearest_name() {
    let output = need_bed().run(&["check", "file-sever"]);
    output.assert_refused(USAGE, &["`file-sever`", "file-server"]);
}

#[test]
fn an_unknown_option_is_a_usage_error() {
    let output = need_bed().run(&["run", "--no-such-option"]);
    output.assert_says(USAGE, &["--no-such-option"]);
}

#[test]
fn the_report_of_a_failed_run_names_its_error() {
    let bed = need_bed();
    let target = bed.target().to_string_lossy().into_owned();
    let run = bed.command(&["run", "--rw", "read", "--size", "8m", "--target", &target]);
    let mut limited = Command::new("prlimit");
    // Enough for the results store, but not for the test file.
    limited.arg(format!("--fsize={}", 4 << 20));
    limited.arg(run.get_program()).args(run.get_args());
    for (name, value) in run.get_envs() {
        limited.env(name, value.unwrap_or_default());
    }
    let failed = finish(limited.current_dir(bed.path()));
    assert!(
        failed.code == UNSUPPORTED && failed.stderr.contains("File too large"),
        "{}",
        failed.text()
    );
    let report = bed.run(&["report", "last"]);
    for part in [
        "\ndoubt: writing `",
        "\nnext: remove the cause of the error, and run again",
        "[run-failed]",
    ] {
        assert!(
            report.stdout.contains(part),
            "no `{part}`: {}",
            report.text()
        );
    }
    let record = bed.run(&["report", "last", "--format", "json"]);
    assert!(
        record.stdout.contains("\"run-failed\""),
        "{}",
        record.text()
    );
}
