//! Goals of fio's jobs: minimum rates, maximum latencies, searches for a depth, and steady states,
//! compared with fio if it is installed. Rates are throttled far below what any machine achieves,
//! and limits are far from them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::Command;

use end_to_end::{Finished, ScratchTarget, finish, installed, need};
use serde_json::Value;

/// Jobs without I/O that run until they are ended.
const ENDLESS_JOBS: [&str; 7] = [
    "--name=a",
    "--ioengine=null",
    "--size=1g",
    "--bs=4k",
    "--rw=randread",
    "--time_based",
    "--runtime=60",
];

fn as_fio(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    let directory = format!("--directory={}", bed.target().display());
    bed.run(&[&["as", "fio", &directory], arguments].concat())
}

fn fio(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    finish(
        Command::new("fio")
            .args(arguments)
            .current_dir(bed.target()),
    )
}

/// The first job of the JSON on standard output; fio has notes before it.
fn job(output: &Finished) -> Value {
    let begin = output.stdout.find("{\n");
    let begin = begin.unwrap_or_else(|| panic!("{}", output.text()));
    let document: Value = serde_json::from_str(&output.stdout[begin..]).unwrap();
    document["jobs"][0].clone()
}

/// What pgmeter makes of the same arguments as JSON, and fio, where it is there.
fn both(bed: &ScratchTarget, arguments: &[&str]) -> Vec<(Finished, Value)> {
    let arguments = [arguments, &["--output-format=json"]].concat();
    let mut outputs = vec![as_fio(bed, &arguments)];
    // pgmeter's part is tested wherever it runs.
    if installed("fio").is_ok() {
        outputs.push(fio(bed, &arguments));
    }
    outputs
        .into_iter()
        .map(|output| {
            let job = job(&output);
            (output, job)
        })
        .collect()
}

fn runtime_ms(job: &Value) -> u64 {
    job["read"]["runtime"].as_u64().unwrap()
}

#[test]
fn a_job_below_its_minimum_rate_ends_with_the_error_of_fio() {
    let bed = ScratchTarget::new().unwrap();
    for (floor, said) in [
        (
            "--rate_iops_min=1000",
            "a: rate_iops_min=1000 not met, got ",
        ),
        ("--rate_min=10m", "a: rate_min=10485760B/s not met, got "),
    ] {
        // A hundred requests a second at most.
        let slow = ["--thinktime=10ms", "--rate_cycle=500", floor];
        for (output, job) in both(&bed, &[&ENDLESS_JOBS[..], &slow].concat()) {
            assert_eq!(output.code, 1, "{}", output.text());
            assert_eq!(job["error"], 5);
            assert!(output.stderr.contains(said), "{}", output.text());
            // Two seconds to settle, and one window.
            let runtime_ms = runtime_ms(&job);
            assert!((2400..20_000).contains(&runtime_ms), "{runtime_ms}");
        }
    }
}

#[test]
fn a_missed_goal_is_in_the_text_and_is_a_warning() {
    let bed = ScratchTarget::new().unwrap();
    let slow = [
        "--thinktime=10ms",
        "--rate_cycle=100",
        "--rate_iops_min=1000",
    ];
    let output = as_fio(&bed, &[&ENDLESS_JOBS[..], &slow].concat());
    assert_eq!(output.code, 1, "{}", output.text());
    let head = "a: (groupid=0, jobs=1): err= 5 (Input/output error): pid=";
    assert!(output.stdout.contains(head), "{}", output.text());
    bed.file(
        "slow.fio",
        "[slow]\nioengine=null\nsize=1g\nrw=read\ntime_based\nruntime=60\nthinktime=10ms\n\
         rate_cycle=100\nrate_iops_min=1000\n",
    );
    let output = bed.run(&["run", "slow.fio", "--json", "-"]);
    assert_eq!(output.code, 1, "{}", output.text());
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    let warnings = record["warnings"].as_array().unwrap();
    let missed = warnings.iter().find(|it| it["code"] == "goal-missed");
    let message = missed.unwrap()["message"].as_str().unwrap();
    assert!(
        message.starts_with("the job `slow` was ended after 2."),
        "{message}"
    );
    assert!(
        message.ends_with("/s, but 1000/s were required"),
        "{message}"
    );
    let goals = &record["cells"][0]["worker_figures"][0]["goals"];
    assert_eq!(goals["missed"]["goal"], "iops");
    assert_eq!(goals["missed"]["wanted"], 1000);
}

#[test]
fn a_job_that_meets_its_goals_ends_like_one_without_goals() {
    let bed = ScratchTarget::new().unwrap();
    let met = [
        "--name=a",
        "--ioengine=null",
        "--size=2400k",
        "--bs=4k",
        "--rw=read",
        "--rate_iops=200",
        "--rate_iops_min=1",
        "--rate_cycle=500",
        "--max_latency=60s",
    ];
    for (output, job) in both(&bed, &met) {
        assert_eq!(
            (output.code, &job["error"]),
            (0, &Value::from(0)),
            "{}",
            output.text()
        );
        assert_eq!(job["read"]["total_ios"], 600);
    }
}

#[test]
fn a_minimum_rate_above_the_rate_is_an_error() {
    let bed = ScratchTarget::new().unwrap();
    let rates = ["--rate_iops=100", "--rate_iops_min=1000"];
    let output = as_fio(&bed, &[&ENDLESS_JOBS[..], &rates].concat());
    assert_ne!(output.code, 0);
    assert!(
        output.stderr.contains("minimum rate is above"),
        "{}",
        output.text()
    );
    need!(installed("fio"));
    let output = fio(&bed, &[&ENDLESS_JOBS[..], &rates].concat());
    assert_eq!(output.code, 1);
}

#[test]
fn a_request_above_the_maximum_latency_ends_its_job() {
    let bed = ScratchTarget::new().unwrap();
    // No file system writes in a microsecond, or a request of 1 MiB in any case.
    let slow = [
        "--name=a",
        "--ioengine=psync",
        "--size=4m",
        "--bs=1m",
        "--rw=write",
        "--max_latency=60s,1",
    ];
    for (output, job) in both(&bed, &slow) {
        assert_eq!(output.code, 1, "{}", output.text());
        assert_eq!(job["error"], 110);
        assert_eq!(job["write"]["total_ios"], 1);
        let message = " nsec exceeds specified max (1000 nsec): ";
        assert!(output.stderr.contains(message), "{}", output.text());
        assert!(
            output.stderr.contains("a.0.0 write 0 1048576"),
            "{}",
            output.text()
        );
    }
    // The limit of one direction is nothing to the other.
    let other = [&slow[..5], &["--max_latency=1,60s"]].concat();
    for (output, job) in both(&bed, &other) {
        assert_eq!(
            (output.code, &job["error"]),
            (0, &Value::from(0)),
            "{}",
            output.text()
        );
        assert_eq!(job["write"]["total_ios"], 4);
    }
}

#[test]
fn the_largest_depth_is_found_if_every_depth_meets_the_latency() {
    let bed = ScratchTarget::new().unwrap();
    let search = [
        "--latency_target=10s",
        "--latency_window=100ms",
        "--latency_percentile=90",
        "--iodepth=4",
        "--rate_iops=2000",
    ];
    for (output, job) in both(&bed, &[&ENDLESS_JOBS[..], &search].concat()) {
        assert_eq!(
            (output.code, &job["error"]),
            (0, &Value::from(0)),
            "{}",
            output.text()
        );
        assert_eq!(job["latency_depth"], 4);
        assert_eq!(job["latency_percentile"], 90.0);
        let target_ns = job
            .get("latency_target_ns")
            .unwrap_or(&job["latency_target"]);
        assert_eq!(*target_ns, 10_000_000_000_u64);
        assert_eq!(job["latency_window"], 100_000);
        // One window at the depth that was found, and none of the search.
        let runtime_ms = runtime_ms(&job);
        assert!((50..5000).contains(&runtime_ms), "{runtime_ms}");
    }
    let output = as_fio(&bed, &[&ENDLESS_JOBS[..], &search].concat());
    let line = "latency   : target=10000000000, window=100000, percentile=90.00%, depth=4";
    assert!(output.stdout.contains(line), "{}", output.text());
}

#[test]
fn a_latency_that_no_depth_meets_ends_the_job_or_is_reported() {
    let bed = ScratchTarget::new().unwrap();
    let common = [
        "--name=a",
        "--ioengine=psync",
        "--size=1m",
        "--bs=1m",
        "--rw=write",
        "--latency_target=1",
        "--latency_window=10ms",
    ];
    // No file system writes a MiB in a microsecond.
    for (output, job) in both(&bed, &common) {
        assert_eq!(
            (output.code, &job["error"]),
            (1, &Value::from(110)),
            "{}",
            output.text()
        );
        assert_eq!(job["latency_depth"], 1);
    }
    let most = [
        &common[..],
        &["--latency_percentile=50", "--time_based", "--runtime=1"],
    ]
    .concat();
    for (output, job) in both(&bed, &most) {
        assert_eq!(
            (output.code, &job["error"]),
            (0, &Value::from(0)),
            "{}",
            output.text()
        );
        assert_eq!(job["latency_depth"], 1);
        assert!(job["write"]["runtime"].as_u64().unwrap() >= 900);
    }
    let output = as_fio(&bed, &most);
    assert!(
        output.stderr.contains("not kept at any queue depth"),
        "{}",
        output.text()
    );
    bed.file(
        "late.fio",
        "[late]\nioengine=psync\nsize=1m\nbs=1m\nrw=write\ntime_based\nruntime=1\n\
         latency_target=1\nlatency_window=10ms\nlatency_percentile=50\n",
    );
    let output = bed.run(&["run", "late.fio", "--json", "-"]);
    let record: Value = serde_json::from_str(&output.stdout).unwrap();
    let mut warnings = record["warnings"].as_array().unwrap().iter();
    assert!(warnings.any(|it| it["code"] == "depth-not-found"));
}

/// What both say of a steady state.
fn steady(arguments: &[&str], rule: &str, wanted: &[(&str, f64)]) {
    let bed = ScratchTarget::new().unwrap();
    for (output, job) in both(&bed, &[&ENDLESS_JOBS[..], arguments].concat()) {
        assert_eq!(output.code, 0, "{}", output.text());
        let steady = &job["steadystate"];
        assert_eq!(steady["ss"], rule);
        assert_eq!(steady["duration"], 3);
        assert_eq!(steady["attained"], 1, "{steady}");
        let percent = rule.ends_with('%');
        assert_eq!(
            steady["criterion"].as_str().unwrap().ends_with('%'),
            percent
        );
        assert!(steady["max_deviation"].is_f64() && steady["slope"].is_f64());
        for key in ["iops", "bw"] {
            assert_eq!(steady["data"][key].as_array().unwrap().len(), 3, "{steady}");
        }
        for (key, value) in wanted {
            let actual = steady["data"][key].as_f64().unwrap();
            assert!((actual / value - 1.0).abs() < 0.3, "{key}: {actual}");
        }
        let runtime_ms = runtime_ms(&job);
        assert!((2500..50_000).contains(&runtime_ms), "{runtime_ms}");
    }
}

#[test]
fn a_job_ends_when_its_iops_are_steady() {
    let means = [("iops_mean", 200.0), ("bw_mean", 819_200.0)];
    let rate = "--rate_iops=200";
    steady(
        &[rate, "--ss=iops:50%", "--ss_dur=3"],
        "iops:50.000000%",
        &means,
    );
    steady(
        &[rate, "--ss=iops_slope:50%", "--ss_dur=3", "--ss_ramp=1"],
        "iops_slope:50.000000%",
        &means,
    );
}

#[test]
fn a_job_ends_when_its_bandwidth_is_steady() {
    let means = [("iops_mean", 200.0), ("bw_mean", 819_200.0)];
    let rate = "--rate=800k";
    steady(
        &[rate, "--ss=bw:50%", "--ss_dur=3"],
        "bw:50.000000%",
        &means,
    );
    steady(
        &[rate, "--ss=bw_slope:1m", "--ss_dur=3"],
        "bw_slope:1048576.000000",
        &means,
    );
}

#[test]
fn jobs_of_a_group_reach_steady_state_together() {
    let bed = ScratchTarget::new().unwrap();
    let group = [
        "--rate_iops=100",
        "--numjobs=3",
        "--group_reporting",
        "--ss=iops:50%",
        "--ss_dur=3",
    ];
    for (output, job) in both(&bed, &[&ENDLESS_JOBS[..], &group].concat()) {
        assert_eq!(output.code, 0, "{}", output.text());
        let steady = &job["steadystate"];
        assert_eq!(steady["attained"], 1, "{steady}");
        let iops = steady["data"]["iops_mean"].as_f64().unwrap();
        assert!((200.0..400.0).contains(&iops), "{iops}");
        assert!(runtime_ms(&job) < 50_000);
    }
}

#[test]
fn a_job_that_is_not_steady_by_the_end_is_reported() {
    let bed = ScratchTarget::new().unwrap();
    let short = [
        "--name=a",
        "--ioengine=null",
        "--size=1g",
        "--rw=read",
        "--rate_iops=200",
        "--time_based",
        "--runtime=2",
        "--ss=iops:50%",
        "--ss_dur=30",
    ];
    for (output, job) in both(&bed, &short) {
        assert_eq!(output.code, 0, "{}", output.text());
        let steady = &job["steadystate"];
        assert_eq!(
            (&steady["attained"], &steady["duration"]),
            (&0.into(), &30.into())
        );
    }
    let output = as_fio(&bed, &short);
    assert!(
        output.stdout.contains("  steadystate  : attained=no, bw="),
        "{}",
        output.text()
    );
}

#[test]
fn steady_state_can_use_latency_and_short_intervals() {
    let bed = ScratchTarget::new().unwrap();
    let newer = [
        "--thinktime=5ms",
        "--ss=lat:100000%",
        "--ss_dur=2",
        "--ss_interval=500ms",
        "--output-format=json",
    ];
    // fio 3.33 knows neither.
    let output = as_fio(&bed, &[&ENDLESS_JOBS[..], &newer].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let steady = job(&output)["steadystate"].clone();
    assert_eq!(
        (&steady["ss"], &steady["attained"]),
        (&"lat:100000.000000%".into(), &1.into())
    );
    assert_eq!(steady["data"]["lat_ns"].as_array().unwrap().len(), 4);
    assert!(steady["data"]["lat_mean"].is_u64());
}

#[test]
fn check_describes_goals_in_words_and_groups_share_one_rule() {
    let bed = ScratchTarget::new().unwrap();
    let file = "[global]\nioengine=null\nsize=1g\n[a]\nrate_min=1m\nmax_latency=20ms\n\
                latency_target=5ms\nlatency_window=100ms\n[b]\nstonewall\nss=iops:1%\nss_dur=10\n";
    bed.file("goals.fio", file);
    let output = bed.run(&["check", "goals.fio"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let text = output
        .stdout
        .split_whitespace()
        .collect::<Vec<_>>()
        .join(" ");
    for said in [
        "a ends with an error when its reads fall below 1 MiB/s in 1s",
        "a ends with an error when a read takes longer than 20ms",
        "a finds the largest depth that keeps all requests within 5ms, 100ms at each, and is \
         measured there",
        "b ends when every reading of its IOPS is within 1 % of their mean over 10s",
    ] {
        assert!(text.contains(said), "{said}\n{}", output.stdout);
    }
    let file = "[global]\nioengine=null\nsize=1g\n[a]\nss=iops:1%\nss_dur=10\n[b]\nss=bw:1%\n\
                ss_dur=10\n";
    bed.file("odd.fio", file);
    let output = bed.run(&["check", "odd.fio"]);
    assert_eq!(output.code, 2, "{}", output.text());
    assert!(
        output.stderr.contains("have different steady states"),
        "{}",
        output.text()
    );
}
