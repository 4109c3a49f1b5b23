//! Replays of system calls on files.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use end_to_end::ScratchTarget;
use serde_json::Value;

/// Calls of two threads within a second, in strace's form.
const CALLS: &str = r#"
100 1000000000.000 openat(AT_FDCWD</u>, "old", O_RDWR) = 3</u/old> <0.00001>
100 1000000000.100 pread64(3</u/old>, ""..., 4096, 1048576) = 4096 <0.00001>
100 1000000000.150 mkdir("/u/d", 0755) = 0 <0.00001>
100 1000000000.200 openat(AT_FDCWD</u>, "d/new", O_WRONLY|O_CREAT|O_TRUNC) = 4</u/d/new> <0.00001>
101 1000000000.250 write(4</u/d/new>, ""..., 10000) = 10000 <0.00001>
100 1000000000.300 fdatasync(4</u/d/new>) = 0 <0.00001>
100 1000000000.350 ftruncate(4</u/d/new>, 5000) = 0 <0.00001>
100 1000000000.400 close(4</u/d/new>) = 0 <0.00001>
100 1000000000.450 rename("/u/d/new", "/u/d/../e") = 0 <0.00001>
100 1000000000.500 newfstatat(AT_FDCWD</u>, "missing", 0x7ff, 0) = -1 ENOENT <0.00001>
100 1000000000.550 unlink("e") = 0 <0.00001>
100 1000000000.600 rmdir("/u/d") = 0 <0.00001>
100 1000000000.700 unlink("/../../../etc/outside") = 0 <0.00001>
100 1000000000.800 lseek(3</u/old>, 0, SEEK_SET) = 0 <0.00001>
"#;

fn replay(bed: &ScratchTarget, more: &[&str]) -> Value {
    let target = bed.target().to_string_lossy().into_owned();
    let fixed = [
        "run",
        "calls.txt",
        "--target",
        &target,
        "--no-html",
        "--quiet",
    ];
    let output = bed.run(&[&fixed[..], more, &["--json", "-"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
    serde_json::from_str(&output.stdout).unwrap()
}

#[test]
fn calls_of_all_threads_are_replayed_in_order_below_the_work_directory() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("calls.txt", CALLS);
    for (more, least_ns) in [(&[][..], 690_000_000), (&["--pace", "as-fast"][..], 0)] {
        let record = replay(&bed, more);
        let cell = &record["cells"][0];
        assert_eq!(cell["errors"].as_array().unwrap().len(), 0, "{cell}");
        let count = |name: &str| cell["operations"][name]["count"].as_u64().unwrap_or(0);
        for (name, wanted) in [
            ("open", 2),
            ("read", 1),
            ("write", 1),
            ("fdatasync", 1),
            ("truncate", 1),
            ("close", 1),
            ("rename", 1),
            ("stat", 1),
            ("unlink", 2),
            ("rmdir", 1),
            ("mkdir", 1),
        ] {
            assert_eq!(count(name), wanted, "{name}");
        }
        assert!(cell["run_time_ns"].as_u64().unwrap() >= least_ns);
        let warnings = record["warnings"].to_string();
        assert!(warnings.contains("1 calls are left out"), "{warnings}");
    }
}

#[test]
fn options_for_requests_and_damaged_calls_are_refused() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("calls.txt", CALLS);
    for option in [
        &["--map", "compact"][..],
        &["--only", "reads"],
        &["--sample", "10%"],
    ] {
        let output = bed.run(&[&["run", "calls.txt"], option].concat());
        output.assert_refused(2, &[option[0], "selects requests"]);
    }
    let far = CALLS.replace("4096, 1048576", "4096, 4611686018427387904");
    bed.file("far.txt", far);
    let output = bed.run(&["run", "far.txt", "--target", "."]);
    output.assert_refused(2, &["calls"]);
    bed.file(
        "none.txt",
        "100 1000000000.0 close(3</dev/null>) = 0 <0.00001>\n",
    );
    let output = bed.run(&["run", "none.txt"]);
    output.assert_refused(2, &["none of the 1 calls"]);
}
