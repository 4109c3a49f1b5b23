//! Output about fio's jobs for programs: keys, types and units compared with fio's own, and
//! evaluation by fio-plot.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use end_to_end::{
    Finished, FixtureError, ScratchTarget, finish, installed, need, pgmeter, run_within,
};
use serde_json::Value;

/// Keys of a document with the names of their types; the items of a list are merged.
type Keys = BTreeMap<String, String>;

/// Keys below these are numbers from the measurement, or names that the user chose.
const OPEN_KEYS: [&str; 1] = ["bins"];

/// Keys that 3.42 has in addition to Debian's 3.33.
const LATER_KEYS: [&str; 5] = [
    "/jobs/[]/job_start",
    "/jobs/[]/latency_target_ns",
    "/jobs/[]/latency_window_us",
    "/disk_util/[]/read_sectors",
    "/disk_util/[]/write_sectors",
];

fn keys_of(value: &Value, path: &str, keys: &mut Keys) {
    let kind = match value {
        Value::Object(map) => {
            for (key, value) in map
                .iter()
                .filter(|(key, _)| !OPEN_KEYS.contains(&key.as_str()))
            {
                keys_of(value, &format!("{path}/{key}"), keys);
            }
            "map"
        }
        Value::Array(values) => {
            for value in values {
                keys_of(value, &format!("{path}/[]"), keys);
            }
            "list"
        }
        Value::String(_) => "text",
        Value::Number(number) if number.is_f64() => "real",
        Value::Number(_) => "integer",
        _ => "other",
    };
    keys.insert(path.to_owned(), kind.to_owned());
}

fn keys(document: &Value) -> Keys {
    let mut keys = Keys::new();
    keys_of(document, "", &mut keys);
    keys
}

/// A run of fio or of pgmeter in a directory of its own; `@` is the job file.
fn run(
    bed: &ScratchTarget,
    is_fio: bool,
    (arguments, file): (&str, &str),
    format: &str,
) -> Finished {
    let directory = bed.target().join(if is_fio { "fio" } else { "ours" });
    fs::create_dir_all(&directory).unwrap();
    let file = bed.file("jobs.fio", file).to_string_lossy().into_owned();
    let words = arguments.split_ascii_whitespace();
    let words = words.map(|word| if word == "@" { &file } else { word });
    let mut command = if is_fio {
        Command::new("fio")
    } else {
        let mut command = pgmeter(bed.path());
        command.args(["as", "fio"]);
        command
    };
    command.args(words).arg(format!("--output-format={format}"));
    let output = finish(command.current_dir(directory));
    assert_eq!(output.code, 0, "{arguments}: {}", output.text());
    output
}

/// Output of pgmeter: one document and nothing else, despite any warnings.
fn ours(bed: &ScratchTarget, job: (&str, &str), format: &str) -> Value {
    let output = run(bed, false, job, format);
    let read = serde_json::from_str(&output.stdout);
    read.unwrap_or_else(|error| panic!("{error}: {}", output.text()))
}

/// Document that fio printed after its notes.
fn theirs(bed: &ScratchTarget, job: (&str, &str), format: &str) -> Value {
    let output = run(bed, true, job, format);
    let begin = output.stdout.find("{\n").unwrap();
    serde_json::from_str(&output.stdout[begin..]).unwrap()
}

const FILE: &str = "[global]\nsize=128k\nbs=8k\ngroup_reporting=0\n[a]\nrw=read\niodepth=2\n[b]\n\
                    stonewall\nrw=write\nnumjobs=2\nfsync=3\ndescription=several words\n";

/// Jobs of many kinds, and their files.
const JOBS: [(&str, &str); 24] = [
    ("--name=a --size=256k --rw=read", ""),
    ("--name=a --size=256k --rw=write --end_fsync=1", ""),
    ("--name=a --size=256k --rw=randrw --fsync=4", ""),
    ("--name=a --size=256k --rw=write --fdatasync=4", ""),
    ("--name=a --size=256k --rw=randwrite --verify=crc32c", ""),
    (
        "--name=a --size=256k --rw=read --ioengine=null --iodepth=8",
        "",
    ),
    (
        "--name=a --size=256k --rw=randread --ioengine=io_uring --iodepth=16",
        "",
    ),
    (
        "--name=a --size=256k --rw=randrw --numjobs=3 --group_reporting",
        "",
    ),
    ("--name=a --size=256k --rw=randrw --numjobs=2 --thread", ""),
    (
        "--name=a --size=256k --rw=randrw --lat_percentiles=1 --clat_percentiles=1 \
         --slat_percentiles=1",
        "",
    ),
    (
        "--name=a --size=256k --rw=read --clat_percentiles=0 --lat_percentiles=1",
        "",
    ),
    ("--name=a --size=256k --rw=read --clat_percentiles=0", ""),
    (
        "--name=a --size=256k --rw=read --percentile_list=50:99.9:99.999999",
        "",
    ),
    ("--name=a --size=256k --rw=read --disable_clat=1", ""),
    (
        "--name=a --size=256k --rw=read --disable_lat=1 --disable_slat=1",
        "",
    ),
    ("--name=a --size=256k --rw=read --disable_bw=1", ""),
    ("--name=a --size=256k --rw=read --gtod_reduce=1", ""),
    ("--name=a --size=256k --rw=read --continue_on_error=all", ""),
    (
        "--name=a --size=256k --rw=randrw --unified_rw_reporting=1",
        "",
    ),
    (
        "--name=a --size=256k --rw=randrw --unified_rw_reporting=both",
        "",
    ),
    ("--name=a --size=256k --rw=read --disk_util=0", ""),
    ("--name=a --size=256k --rw=read --loops=2", ""),
    (
        "--bs=16k --size=256k --name=a --rw=read --iodepth=4 --name=b --rw=write",
        "",
    ),
    ("@ --direct=0", FILE),
];

fn assert_same_keys_as_fio(jobs: &[(&str, &str)], format: &str) {
    for job in jobs {
        // On the disk, because there must be a device to report.
        let bed = ScratchTarget::new().unwrap();
        let (ours, theirs) = (ours(&bed, *job, format), theirs(&bed, *job, format));
        let (own, wanted) = (keys(&ours), keys(&theirs));
        for (key, kind) in &wanted {
            assert_eq!(own.get(key), Some(kind), "{job:?} {format}: {key}");
        }
        let is_known =
            |key: &&String| wanted.contains_key(*key) || LATER_KEYS.contains(&key.as_str());
        let further: Vec<_> = own.keys().filter(|key| !is_known(key)).collect();
        assert!(further.is_empty(), "{job:?} {format}: {further:?}");
        // Options are reported identically.
        assert_eq!(ours["global options"], theirs["global options"], "{job:?}");
        let jobs = |of: &Value| of["jobs"].as_array().unwrap().clone();
        for (one, other) in jobs(&ours).iter().zip(jobs(&theirs)) {
            assert_eq!(one["job options"], other["job options"], "{job:?}");
            assert_eq!(one["jobname"], other["jobname"], "{job:?}");
        }
    }
}

#[test]
fn keys_and_types_match_fio() {
    need!(installed("fio"));
    assert_same_keys_as_fio(&JOBS[..12], "json+");
}

#[test]
fn keys_and_types_match_fio_with_any_figures_left_out() {
    need!(installed("fio"));
    assert_same_keys_as_fio(&JOBS[12..], "json+");
}

#[test]
fn keys_and_types_match_fio_without_buckets() {
    need!(installed("fio"));
    assert_same_keys_as_fio(&[JOBS[2], JOBS[7], JOBS[23]], "json");
}

fn number(of: &Value, key: &str) -> f64 {
    let found = of[key].as_f64();
    found.unwrap_or_else(|| panic!("no number {key} in {of}"))
}

fn assert_percentiles_rise(latency: &Value, program: &str) {
    let percentiles = latency["percentile"].as_object().unwrap();
    let mut values: Vec<(f64, f64)> = percentiles
        .iter()
        .map(|(percent, it)| (percent.parse().unwrap(), it.as_f64().unwrap()))
        .collect();
    values.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut last = 0.0;
    for (_, value) in values {
        assert!(value >= last, "{program} percentiles fall");
        // Buckets are known by their ends.
        assert!(value <= number(latency, "max") * 1.05, "{program}");
        last = value;
    }
}

/// Checks that the values agree as in fio: bytes, KiB, nanoseconds, milliseconds, percentages.
fn assert_units_are_right(document: &Value, program: &str) {
    for job in document["jobs"].as_array().unwrap() {
        let is_about = |one: f64, other: f64, what: &str| {
            let is_near = (one - other).abs() <= other.abs() * 0.02 + 2.0;
            assert!(is_near, "{program} {what}: {one} {other}");
        };
        for side in ["read", "write"] {
            let figures = &job[side];
            let bytes = number(figures, "io_bytes");
            if bytes == 0.0 {
                continue;
            }
            is_about(number(figures, "io_kbytes"), bytes / 1024.0, "KiB");
            is_about(
                number(figures, "bw") * 1024.0,
                number(figures, "bw_bytes"),
                "KiB/s",
            );
            let seconds = number(figures, "runtime") / 1000.0;
            let ratio = number(figures, "bw_bytes") / (bytes / seconds);
            assert!(
                (0.9..1.1).contains(&ratio),
                "{program} bytes a second: {ratio}"
            );
            let ratio = number(figures, "iops") / (number(figures, "total_ios") / seconds);
            assert!(
                (0.9..1.1).contains(&ratio),
                "{program} requests a second: {ratio}"
            );
            for key in ["clat_ns", "lat_ns"] {
                let latency = &figures[key];
                let [least, mean, most] = ["min", "mean", "max"].map(|it| number(latency, it));
                assert!(least <= mean && mean <= most, "{program} {latency}");
                assert_eq!(
                    number(latency, "N"),
                    number(figures, "total_ios"),
                    "{program}"
                );
                // All of it took no longer than the run.
                let all_seconds = mean * number(latency, "N") / 1e9;
                assert!(
                    all_seconds <= 1.1 * seconds + 0.01,
                    "{program} {all_seconds} {seconds}"
                );
            }
            assert_percentiles_rise(&figures["clat_ns"], program);
            let bins = figures["clat_ns"]["bins"].as_object().unwrap();
            let counted: u64 = bins.values().map(|it| it.as_u64().unwrap()).sum();
            assert_eq!(
                counted as f64,
                number(figures, "total_ios"),
                "{program} bins"
            );
            assert!(bins.keys().all(|it| it.parse::<u64>().is_ok()), "{program}");
        }
        let shares = ["latency_ns", "latency_us", "latency_ms"].map(|key| {
            let shares = job[key].as_object().unwrap().values();
            shares.map(|it| it.as_f64().unwrap()).sum::<f64>()
        });
        is_about(shares.iter().sum(), 100.0, "classes of latency");
        for key in ["usr_cpu", "sys_cpu"] {
            assert!((0.0..=101.0).contains(&number(job, key)), "{program} {key}");
        }
        assert!(
            number(job, "job_runtime") >= 490.0,
            "{program} milliseconds"
        );
    }
}

#[test]
fn units_match_fio() {
    need!(installed("fio"));
    let job = (
        "--name=a --rw=randrw --size=1m --time_based --runtime=500ms --rate_iops=1000",
        "",
    );
    let bed = ScratchTarget::in_memory().unwrap();
    assert_units_are_right(&theirs(&bed, job, "json+"), "fio");
    assert_units_are_right(&ours(&bed, job, "json+"), "pgmeter");
}

/// Warnings are not among what other programs read.
#[test]
fn warnings_never_break_the_json_document() {
    let bed = ScratchTarget::in_memory().unwrap();
    for arguments in [
        "--name=a --rw=read --size=64k --iodepth=32",
        "--name=a --rw=randwrite --size=256k --bssplit=4k/50:8k/50 --time_based",
        "--name=a --rw=read --size=64k --runtime=0.5 --filesize=16k --thread",
        "--name=\"ä\u{1}\" --rw=read --size=64k --description=\"\\",
    ] {
        let output = run(&bed, false, (arguments, ""), "json");
        assert_eq!(output.stderr, "", "{arguments}");
        let document: Value = serde_json::from_str(&output.stdout).unwrap();
        assert_eq!(document["jobs"].as_array().unwrap().len(), 1);
        // The output file does not contain them either.
        let file = format!("{arguments} --output=out.json");
        let output = run(&bed, false, (&file, ""), "json");
        assert_eq!(output.stdout, "", "{arguments}");
        let written = fs::read(bed.target().join("ours/out.json")).unwrap();
        serde_json::from_slice::<Value>(&written).unwrap();
    }
    // With several formats, the document is a part of the output, as in fio.
    let output = run(
        &bed,
        false,
        ("--name=a --rw=read --size=64k", ""),
        "json,terse",
    );
    let document = &output.stdout[output.stdout.find("{\n").unwrap()..];
    let mut documents = serde_json::Deserializer::from_str(document).into_iter::<Value>();
    assert!(documents.next().unwrap().is_ok());
}

/// The version to test with; pip downloads it once per build directory.
const FIO_PLOT: &str = "fio-plot==1.1.21";

/// fio-plot, in an environment of its own.
fn fio_plot() -> Result<PathBuf, FixtureError> {
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join(FIO_PLOT);
    let program = venv.join("bin/fio-plot");
    let marker = venv.join("complete");
    if marker.exists() {
        return Ok(program);
    }
    let unavailable = |reason: &str| FixtureError::Unavailable(format!("no fio-plot: {reason}"));
    let limit = Duration::from_secs(300);
    let mut python = Command::new("python3");
    let created = run_within(python.args(["-m", "venv", "--clear"]).arg(&venv), limit);
    if !created.is_ok_and(|it| it.code == 0) {
        return Err(unavailable("python3 makes no virtual environment"));
    }
    let mut pip = Command::new(venv.join("bin/pip"));
    pip.args([
        "install",
        "--quiet",
        "--disable-pip-version-check",
        FIO_PLOT,
    ]);
    match run_within(&mut pip, limit) {
        Ok(output) if output.code == 0 => {}
        Ok(output) => {
            return Err(unavailable(
                output.stderr.lines().last().unwrap_or("pip fails"),
            ));
        }
        Err(error) => return Err(unavailable(&error.to_string())),
    }
    fs::write(marker, "").unwrap();
    Ok(program)
}

#[test]
fn fio_plot_draws_charts() {
    let fio_plot = need!(fio_plot());
    let bed = ScratchTarget::new().unwrap();
    let results = bed.target().join("results");
    fs::create_dir(&results).unwrap();
    for depth in ["1", "4"] {
        for clones in ["1", "2"] {
            let json = results.join(format!("randread-{depth}-{clones}.json"));
            let logs = results.join(format!("randread-iodepth-{depth}-numjobs-{clones}"));
            let (json, logs) = (json.display(), logs.display());
            let arguments = format!(
                "--name=randread --rw=randread --bs=4k --size=1m --ioengine=libaio \
                 --iodepth={depth} --numjobs={clones} --group_reporting --time_based \
                 --runtime=500ms --log_avg_msec=100 --write_iops_log={logs} \
                 --write_lat_log={logs} --write_bw_log={logs} --output={json}"
            );
            run(&bed, false, (&arguments, ""), "json");
        }
    }
    for (name, kind) in [
        ("bars", "-l -d 1 4 -n 1"),
        ("bars-of-clones", "-N -d 1 -n 1 2"),
        ("three-dimensional", "-L -t iops -d 1 4 -n 1 2"),
        ("histogram", "-H -d 1 -n 1"),
        ("lines", "-g -t iops lat bw -d 1 4 -n 1"),
    ] {
        let chart = bed.path().join(format!("{name}.png"));
        let mut command = Command::new(&fio_plot);
        command
            .args(kind.split(' '))
            .args(["-r", "randread", "-T", name]);
        command.arg("-i").arg(&results).arg("-o").arg(&chart);
        command.env("MPLBACKEND", "Agg").env("HOME", bed.path());
        let output = finish(command.current_dir(bed.path()));
        assert_eq!(output.code, 0, "{name}: {}", output.text());
        let picture = fs::read(&chart).unwrap_or_default();
        assert!(picture.starts_with(b"\x89PNG"), "{name}: {}", output.text());
        assert!(picture.len() > 20_000, "{name}: {} bytes", picture.len());
    }
}
