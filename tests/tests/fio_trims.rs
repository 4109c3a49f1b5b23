//! Trims of jobs, calls on the space of files, and flags of requests: on files, on a device, and as
//! fio's options.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use end_to_end::{Finished, LoopDevice, ScratchTarget, finish, installed, need};
use serde_json::Value;

const MIB: u64 = 1 << 20;

fn as_fio(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    let directory = format!("--directory={}", bed.target().display());
    bed.run(&[&["as", "fio", &directory], arguments].concat())
}

fn json(bed: &ScratchTarget, arguments: &[&str]) -> Value {
    let output = as_fio(bed, &[arguments, &["--output-format=json"]].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    serde_json::from_str(&output.stdout).unwrap()
}

/// Requests and bytes of reads, writes and trims.
fn counts(document: &Value) -> [(u64, u64); 3] {
    ["read", "write", "trim"].map(|name| {
        let figures = &document["jobs"][0][name];
        let number = |key: &str| figures[key].as_u64().unwrap();
        (number("total_ios"), number("io_bytes"))
    })
}

#[test]
fn trims_of_files_have_their_own_results_with_every_engine() {
    let bed = need!(ScratchTarget::in_memory());
    for engine in ["psync", "io_uring", "mmap", "null"] {
        let engine = format!("--ioengine={engine}");
        let line = ["--name=a", "--size=1m", "--bs=4k", "--iodepth=4", &engine];
        let trims = json(&bed, &[&line[..], &["--rw=randtrim"]].concat());
        assert_eq!(counts(&trims), [(0, 0), (0, 0), (256, MIB)], "{engine}");
        let trim = &trims["jobs"][0]["trim"];
        assert_eq!(trim["clat_ns"]["N"].as_u64(), Some(256), "{engine}");
        assert!(trim["clat_ns"]["percentile"]["50.000000"].is_u64());
        let pairs = json(&bed, &[&line[..], &["--rw=trimwrite"]].concat());
        assert_eq!(counts(&pairs), [(0, 0), (256, MIB), (256, MIB)], "{engine}");
    }
    let text = as_fio(&bed, &["--name=a", "--rw=trim", "--size=1m"]).stdout;
    assert!(text.contains("  trim: IOPS="), "{text}");
    assert!(text.contains("issued rwts: total=0,0,256,0"), "{text}");
    assert!(text.contains("\n   TRIM: bw="), "{text}");
}

#[test]
fn a_write_follows_the_trim_of_the_same_block_in_logs() {
    let bed = need!(ScratchTarget::in_memory());
    for more in [
        &["--rw=trimwrite", "--bs=4k,4k,8k"][..],
        &["--rw=randtrimwrite", "--bsrange=512-4k"],
        &[
            "--rw=randtrimwrite",
            "--bssplit=512/25:1k/:2k/:4k/",
            "--norandommap=1",
        ],
    ] {
        let log = bed.path().join("log");
        let written = format!("--write_bw_log={}", log.display());
        let line = [
            "--name=a",
            "--size=256k",
            "--log_offset=1",
            "--per_job_logs=0",
        ];
        let line = [&line[..], &[&written, "--ioengine=null"], more].concat();
        let output = as_fio(&bed, &line);
        assert_eq!(output.code, 0, "{}", output.text());
        let text = fs::read_to_string(bed.path().join("log_bw.log")).unwrap();
        let rows: Vec<Vec<u64>> = text
            .lines()
            .map(|row| {
                row.split(", ")
                    .take(5)
                    .map(|it| it.parse().unwrap())
                    .collect()
            })
            .collect();
        assert!(rows.len() >= 64 && rows.len().is_multiple_of(2), "{text}");
        for pair in rows.chunks(2) {
            assert_eq!((pair[0][2], pair[1][2]), (2, 1), "{more:?}");
            assert_eq!(pair[0][3..], pair[1][3..], "{more:?}");
        }
    }
}

/// The only regular file of at least this size below a directory.
fn file_below(directory: &Path, size_bytes: u64) -> Option<PathBuf> {
    fs::read_dir(directory).unwrap().find_map(|entry| {
        let path = entry.unwrap().path();
        let found = fs::symlink_metadata(&path).unwrap();
        if found.is_dir() {
            return file_below(&path, size_bytes);
        }
        (found.is_file() && found.len() >= size_bytes).then_some(path)
    })
}

#[test]
fn a_job_of_a_workload_file_frees_the_space_of_its_file() {
    let bed = need!(ScratchTarget::in_memory());
    for (trim, block_count) in [("only", 0), ("before-writes", 2048)] {
        let text = format!(
            "keep = true\n[[job]]\nname = \"t\"\ntrim = \"{trim}\"\nsize = \"1m\"\nloops = 1\n\
             random = 100\ncache = \"buffered\"\niodepth = 8\n"
        );
        bed.file("trim.toml", text);
        let (output, record) = bed.record(&["trim.toml"]);
        assert_eq!(output.code, 0, "{}", output.text());
        let operations = &record["cells"][0]["operations"];
        assert_eq!(operations["trim"]["count"].as_u64(), Some(256));
        assert_eq!(operations["trim"]["bytes"].as_u64(), Some(MIB));
        let writes = operations["write"]["count"].as_u64();
        assert_eq!(writes.unwrap_or(0), block_count / 8);
        assert!(output.stdout.contains("trim"), "{}", output.text());
        let file = file_below(bed.target(), MIB).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().blocks(), block_count, "{trim}");
        assert_eq!(
            bed.run(&["clean", "--yes", bed.target().to_str().unwrap()])
                .code,
            0
        );
    }
    let check = bed.run(&[
        "check",
        "trim.toml",
        "--target",
        bed.target().to_str().unwrap(),
    ]);
    let phrase = "random writes of 4 KiB, each after a trim";
    assert!(check.stdout.contains(phrase), "{}", check.text());
}

#[test]
fn a_device_is_trimmed_only_if_it_may_be_overwritten() {
    let device = need!(LoopDevice::in_memory(16 * MIB));
    let path = device.path().display().to_string();
    fs::write(device.path(), vec![7; 4 << 20]).unwrap();
    let blocks = || {
        let file = fs::File::open(device.path()).unwrap();
        file.sync_all().unwrap();
        fs::metadata(device.image()).unwrap().blocks()
    };
    let full = blocks();
    assert!(full >= 8192, "{full}");
    let bed = need!(ScratchTarget::new());
    for engine in ["psync", "io_uring"] {
        fs::write(device.path(), vec![7; 4 << 20]).unwrap();
        let text =
            format!("[t]\nfilename={path}\nrw=randtrim\nsize=4m\nbs=64k\nioengine={engine}\n");
        bed.file("trim.fio", text);
        let refused = bed.run(&["run", "trim.fio"]);
        assert_eq!(refused.code, 3, "{}", refused.text());
        assert!(
            refused.stderr.contains("--overwrite-device"),
            "{}",
            refused.text()
        );
        assert_eq!(blocks(), full);
        let output = bed.run(&["run", "trim.fio", "--overwrite-device", &path]);
        assert_eq!(output.code, 0, "{}", output.text());
        assert_eq!(blocks(), full - 8192, "{engine}");
    }
}

#[test]
fn readonly_refuses_trims_wherever_it_stands() {
    let bed = need!(ScratchTarget::in_memory());
    let job = ["--name=a", "--ioengine=null", "--size=1m", "--rw=randtrim"];
    for line in [
        [&["--readonly"], &job[..]].concat(),
        [&job[..], &["--readonly"]].concat(),
    ] {
        as_fio(&bed, &line).assert_refused(1, &["trims, which `--readonly` forbids"]);
    }
    assert_eq!(as_fio(&bed, &job).code, 0);
}

#[test]
fn a_file_that_was_there_is_never_trimmed() {
    let bed = need!(ScratchTarget::in_memory());
    let path = bed.file("mine", vec![7; 1 << 20]);
    let name = format!("--filename={}", path.display());
    let output = bed.run(&["as", "fio", "--name=a", "--rw=trim", "--size=1m", &name]);
    assert_eq!(output.code, 0, "{}", output.text());
    let target = path.display().to_string();
    bed.file(
        "own.toml",
        "[[job]]\ntrim = \"only\"\nfiles = 0\nloops = 1\n",
    );
    let refused = bed.run(&["run", "own.toml", "--target", &target]);
    assert_ne!(refused.code, 0, "{}", refused.text());
    assert!(fs::read(&path).unwrap() == vec![7; 1 << 20]);
}

#[test]
fn trims_of_a_log_are_replayed_and_logged() {
    let bed = need!(ScratchTarget::in_memory());
    let text = "fio version 3 iolog\n1 d add\n1 d open\n2 d trim 0 2147483648\n3 d write 0 4096\n\
        4 d trim 4096 8192\n5 d close\n";
    let log = bed.file("trims.log", text).display().to_string();
    let again = bed.path().join("again.log");
    let read = format!("--read_iolog={log}");
    let document = json(&bed, &["--name=a", "--ioengine=null", &read]);
    assert_eq!(
        counts(&document),
        [(0, 0), (1, 4096), (2, (2 << 30) + 8192)]
    );
    let write = format!("--write_iolog={}", again.display());
    let line = ["--name=a", "--rw=trimwrite", "--size=8k", &write];
    assert_eq!(as_fio(&bed, &line).code, 0);
    let written = fs::read_to_string(&again).unwrap();
    let actions: Vec<&str> = written
        .lines()
        .filter_map(|line| {
            line.split(' ')
                .nth(2)
                .filter(|_| line.split(' ').count() == 5)
        })
        .collect();
    assert_eq!(actions, ["trim", "write", "trim", "write"], "{written}");
}

#[test]
fn requests_on_kernel_threads_do_the_same() {
    let bed = need!(ScratchTarget::new());
    for each in ["1", "4"] {
        let forced = format!("--force_async={each}");
        let line = [
            "--name=a",
            "--rw=randrw",
            "--size=1m",
            "--ioengine=io_uring",
            "--iodepth=8",
        ];
        let [read, write, trim] = counts(&json(&bed, &[&line[..], &[&forced]].concat()));
        assert_eq!((read.0 + write.0, trim.0), (256, 0));
    }
}

#[test]
fn nowait_reaches_the_kernel_or_is_refused_with_a_reason() {
    let bed = need!(ScratchTarget::new());
    need!(installed("strace"));
    let directory = format!("--directory={}", bed.target().display());
    let line = [
        "as",
        "fio",
        &directory,
        "--name=a",
        "--rw=read",
        "--size=64k",
        "--pre_read=1",
    ];
    let line = [
        &line[..],
        &["--ioengine=pvsync2", "--nowait=1", "--ignore_error=EAGAIN"],
    ]
    .concat();
    let output = bed.run(&line);
    if output.stderr.contains("RWF_NOWAIT") {
        assert!(
            output.stderr.contains("leave `nowait` out"),
            "{}",
            output.text()
        );
        return;
    }
    assert_eq!(output.code, 0, "{}", output.text());
    let trace = bed.path().join("trace");
    let mut strace = std::process::Command::new("strace");
    strace
        .args(["-f", "-qq", "-s", "0", "-e", "trace=preadv2", "-o"])
        .arg(&trace);
    let command = bed.command(&line);
    strace.arg(command.get_program()).args(command.get_args());
    let variables = command
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)));
    strace.envs(variables).current_dir(bed.path());
    finish(&mut strace).assert_traced();
    let calls = fs::read_to_string(trace).unwrap();
    // Other calls try the flag.
    assert_eq!(calls.matches("RWF_NOWAIT) = 4096").count(), 16, "{calls}");
}

/// fio's engine `falloc` allocates what others would write, and frees what they would trim.
#[test]
fn requests_allocate_and_free_the_space_of_files() {
    let bed = need!(ScratchTarget::in_memory());
    let line = ["--name=a", "--ioengine=falloc", "--size=1m", "--bs=64k"];
    for (rw, index) in [("write", 1), ("randwrite", 1), ("randread", 0), ("trim", 2)] {
        let direction = format!("--rw={rw}");
        let counted = counts(&json(&bed, &[&line[..], &[&direction]].concat()));
        let mut expected = [(0, 0); 3];
        expected[index] = (16, MIB);
        assert_eq!(counted, expected, "{rw}");
    }
    let sync = json(&bed, &[&line[..], &["--rw=write", "--fsync=4"]].concat());
    assert_eq!(sync["jobs"][0]["sync"]["total_ios"].as_u64(), Some(3));
}

#[test]
fn requests_truncate_files_and_only_writes_can() {
    let bed = need!(ScratchTarget::in_memory());
    let line = ["--name=a", "--ioengine=ftruncate", "--size=1m", "--bs=4k"];
    let writes = json(&bed, &[&line[..], &["--rw=randwrite"]].concat());
    assert_eq!(counts(&writes), [(0, 0), (256, MIB), (0, 0)]);
    for rw in ["--rw=read", "--rw=randrw", "--rw=trim"] {
        let refused = as_fio(&bed, &[&line[..], &[rw]].concat());
        assert_eq!(refused.code, 1, "{rw}: {}", refused.text());
        assert!(
            refused.stderr.contains("use `rw=write`"),
            "{}",
            refused.text()
        );
    }
}

#[test]
fn a_job_of_a_workload_file_allocates_the_space_of_its_file() {
    let bed = need!(ScratchTarget::in_memory());
    for (space, layout, bytes) in [
        ("allocate", "empty", MIB),
        ("truncate", "sparse", MIB - 4096),
    ] {
        let text = format!(
            "keep = true\n[[job]]\nname = \"s\"\nspace = \"{space}\"\nread = 0\nsize = \"1m\"\n\
             loops = 1\nlayout = \"{layout}\"\n"
        );
        bed.file("space.toml", text);
        let (output, record) = bed.record(&["space.toml"]);
        assert_eq!(output.code, 0, "{}", output.text());
        let writes = &record["cells"][0]["operations"]["write"];
        assert_eq!(writes["count"].as_u64(), Some(256), "{space}");
        let file = file_below(bed.target(), bytes).unwrap();
        let found = fs::metadata(&file).unwrap();
        let blocks = if space == "allocate" { 2048 } else { 0 };
        assert_eq!((found.len(), found.blocks()), (bytes, blocks), "{space}");
        let target = bed.target().to_str().unwrap();
        assert_eq!(bed.run(&["clean", "--yes", target]).code, 0);
    }
    let target = bed.target().to_str().unwrap();
    let check = bed.run(&["check", "space.toml", "--target", target]);
    let phrase = "sequential writes of 4 KiB, as `ftruncate` to their offsets";
    assert!(check.stdout.contains(phrase), "{}", check.text());
}
