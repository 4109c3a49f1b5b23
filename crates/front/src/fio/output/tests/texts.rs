//! Text for people, terse lines, logs.

use plan::job::{LoggedRequest, RecordedKind, RecordedRequest};

use super::super::super::{OutputFormat, compressed_log, text};
use super::against_fio::fio;
use super::*;

/// A job of two directions with every figure that a job can report.
fn busy() -> (JobSet, RunRecord) {
    let set = jobs(
        "[j]\nrw=randrw\nsize=4m\nioengine=io_uring\niodepth=32\nbs=4k,16k\nfsync=5\n\
         description=a\tb\n",
    );
    let mut values = vec![4000; 900];
    values.extend([1_200_000; 100]);
    let job = WorkerFigures {
        intervals: intervals("read", &[200, 300, 300, 200]),
        ..worker(&[
            ("read", operation(&values)),
            ("write", operation(&[250_000; 10])),
            ("fsync", operation(&[5_000_000; 2])),
        ])
    };
    (set, record(vec![vec![job]]))
}

#[test]
fn a_job_is_printed_as_in_fio() {
    let (set, record) = busy();
    let printed = normal(&set, &record);
    let time = json::local_time(record.finished_at.unwrap());
    let expected = include_str!("normal.txt").replace("TIME", &time);
    assert_eq!(printed, expected);
}

#[test]
fn control_characters_in_names_are_not_printed() {
    let mut set = jobs("[a]\nsize=1m\n");
    set.jobs[0].name = "a\u{1b}[31m".to_owned();
    let record = record(vec![vec![reader(&[1000; 10], &[5; 4])]]);
    for text in [
        normal(&set, &record),
        terse(&set, &record, 3),
        json(&set, &record, false),
    ] {
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}

#[test]
fn groups_are_printed_with_their_slowest_and_fastest_job() {
    let set = jobs("[global]\nsize=4m\n[a]\n[b]\n[c]\nstonewall\nrw=write\n");
    let waves = vec![
        vec![reader(&[1000; 256], &[]), reader(&[1000; 512], &[])],
        vec![worker(&[("write", operation(&[1000; 512]))])],
    ];
    let printed = normal(&set, &record(waves));
    let (_, groups) = printed.split_once("\nRun status").unwrap();
    assert_eq!(
        groups,
        " group 0 (all jobs):\n   READ: bw=1536KiB/s (1573kB/s), 512KiB/s-1024KiB/s \
         (524kB/s-1049kB/s), io=3072KiB (3146kB), run=2000-2000msec\n\nRun status group 1 \
         (all jobs):\n  WRITE: bw=1024KiB/s (1049kB/s), 1024KiB/s-1024KiB/s \
         (1049kB/s-1049kB/s), io=2048KiB (2097kB), run=2000-2000msec\n"
    );
}

#[test]
fn disk_statistics_are_printed_if_there_are_any() {
    let (set, mut record) = busy();
    assert!(!normal(&set, &record).contains("Disk stats"));
    record.cells[0].device = Some(results::DeviceFigures {
        read_bytes: 4096,
        reads: 1,
        utilization: Some(0.5),
        source: "vda".to_owned(),
        ..results::DeviceFigures::default()
    });
    let line = "  vda: ios=1/0, sectors=8/0, merge=0/0, ticks=0/0, in_queue=0, util=50.00%\n";
    assert!(normal(&set, &record).ends_with(&format!("\nDisk stats (read/write):\n{line}")));
    assert!(json(&set, &record, false).contains("\"read_sectors\" : 8,"));
    assert_eq!(
        terse(&set, &record, 3).trim().split(';').count(),
        121 + 9 + 1
    );
}

#[test]
fn terse_lines_have_as_many_fields_as_in_fio() {
    let (set, options) = jobs_and_options("--name=a --rw=randrw --size=1m --bs=4k");
    assert_eq!(options.formats, [OutputFormat::Normal]);
    let job = worker(&[
        ("read", operation(&[1500; 20])),
        ("write", operation(&[2500; 20])),
    ]);
    let record = record(vec![vec![job]]);
    for (version, count) in [(2, 161), (3, 121), (4, 162), (5, 180)] {
        let line = terse(&set, &record, version);
        assert_eq!(line.trim_end().split(';').count(), count, "{line}");
        let arguments = format!(
            "--name=a --rw=randrw --size=1m --bs=4k --output-format=terse \
             --terse-version={version}"
        );
        if let Some(theirs) = fio(&format!("terse-{version}"), &arguments) {
            let theirs = theirs.lines().last().unwrap();
            assert_eq!(skeleton(line.trim_end()), skeleton(theirs), "{version}");
        }
    }
    let line = terse(&set, &record, 3);
    assert!(line.starts_with("3;fio-3.42;a;0;0;80;40;10;2000;0;0;0.000000;0.000000;1;1;1.500000;"));
}

/// A line with its numbers as `#`, with or without a point, and without prefixes of units.
fn skeleton(line: &str) -> String {
    let mut text = String::new();
    let mut in_number = false;
    for part in line.replace("fio-3.33", "fio-3.42").chars() {
        let is_digit = part.is_ascii_digit() || (in_number && part == '.');
        if is_digit && !in_number {
            text.push('#');
        }
        let is_prefix = in_number && !is_digit && "kKMGTi".contains(part);
        in_number = is_digit || is_prefix;
        // How numbers are padded depends on them.
        if !in_number && !part.is_whitespace() {
            text.push(part);
        }
    }
    let units = ["(nsec)", "(usec)", "(msec)"];
    units
        .iter()
        .fold(text, |text, it| text.replace(it, "(sec)"))
}

#[test]
fn text_lines_have_the_format_of_fio() {
    let arguments = "--name=a --rw=randread --size=8m --bs=4k --rate_iops=1000 --numjobs=2 \
                     --group_reporting --lat_percentiles=1";
    let (set, _) = jobs_and_options(arguments);
    let job = || reader(&[3000; 1000], &[250; 4]);
    let own = normal(&set, &record(vec![vec![job(), job()]]));
    let Some(theirs) = fio("normal", arguments) else {
        return;
    };
    let lines = |text: &str| -> Vec<String> {
        let is_comparable = |line: &&str| {
            // Which classes there are depends on latencies; the time is a word.
            !line.is_empty()
                && !line.starts_with("  lat (")
                && !line.starts_with("Laying")
                && !line.contains("Laying out IO file")
        };
        let cut = |line: &str| match line.split_once("pid=") {
            Some((before, _)) => skeleton(before),
            None => skeleton(line),
        };
        // How many percentiles a line has depends on the digits of latencies.
        let text = text.replace(",\n     |", ",");
        text.lines().filter(is_comparable).map(cut).collect()
    };
    let (own, mut theirs) = (lines(&own), lines(&theirs));
    // Without `slat_percentiles`, submissions are not timed, so `slat` lines are missing here.
    theirs.retain(|line| !line.starts_with("slat"));
    let devices = theirs.iter().position(|line| line.starts_with("Diskstats"));
    theirs.truncate(devices.unwrap_or(theirs.len()));
    assert_eq!(own, theirs);
}

#[test]
fn percentile_columns_are_only_as_wide_as_needed() {
    let table = |options: &str, most_ns: u64| {
        let set = jobs(&format!("[a]\nsize=1m\n{options}\n"));
        let job = reader(&[1000, most_ns], &[1; 4]);
        normal(&set, &record(vec![vec![job]]))
    };
    let text = table("", 667_648);
    assert!(
        text.contains(" 20.00th=[  1000],\n     | 30.00th=[  1000]"),
        "{text}"
    );
    let text = table("", 8_585_216);
    assert!(
        text.contains(" 10.00th=[   1000],\n     | 20.00th=[   1000]"),
        "{text}"
    );
    assert!(text.contains("99.99th=[8585216]\n"), "{text}");
    let text = table("percentile_list=1:99", 17_695);
    assert!(
        text.contains("     |   1th=[ 1000],  99th=[17695]\n"),
        "{text}"
    );
}

#[test]
fn percentiles_are_rounded_up_as_in_fio() {
    let set = jobs("[a]\nsize=1m\npercentile_list=10:90\n");
    let table = |values: &[u64]| normal(&set, &record(vec![vec![reader(values, &[1; 4])]]));
    let text = table(&[2_100_000, 100_000_001]);
    let wanted = "clat percentiles (msec):\n     |  10th=[    3],  90th=[  101]\n";
    assert!(text.contains(wanted), "{text}");
    let text = table(&[2001, 100_000]);
    let wanted = "clat percentiles (usec):\n     |  10th=[    3],  90th=[  100]\n";
    assert!(text.contains(wanted), "{text}");
}

#[test]
fn terse_percentiles_are_of_total_latency_if_it_has_any() {
    let first = |options: &str| {
        let set = jobs(&format!("[a]\nsize=1m\npercentile_list=50\n{options}\n"));
        let mut job = reader(&[3000; 10], &[]);
        job.transaction_latency = Some(latency(&[9000; 10]));
        let line = terse(&set, &record(vec![vec![job]]), 3);
        line.split(';').nth(17).unwrap().to_owned()
    };
    assert_eq!(first(""), "50.000000%=3");
    assert_eq!(first("lat_percentiles=1"), "50.000000%=9");
    assert_eq!(
        first("lat_percentiles=1\nclat_percentiles=0"),
        "50.000000%=9"
    );
    assert_eq!(first("clat_percentiles=0"), "0%=0");
}

#[test]
fn logs_are_named_and_written_as_in_fio() {
    let (set, options) = jobs_and_options(
        "--name=a --size=8m --write_bw_log=x --write_lat_log=y --write_iops_log= \
         --log_avg_msec=1000 --numjobs=2 --bandwidth-log --aux-path=/logs",
    );
    let mut late = reader(&[2000; 100], &[0, 0, 100, 300, 50]);
    late.begin_ns = Some(1_000_000_000);
    let mut record = record(vec![vec![reader(&[2000; 100], &[100, 200]), late]]);
    record.cells[0].intervals = intervals("read", &[256]);
    let logs = logs(&set, &record, &options);
    let text = |name: &str| {
        let found = logs.iter().find(|(known, _)| known == name);
        found.map(|(_, text)| text.as_str())
    };
    assert_eq!(logs.len(), 2 * 5 + 3, "{logs:?}");
    // fio 3.42 uses `--aux-path` only for the state of verification.
    assert_eq!(text("x_bw.1.log"), Some("1000, 1200, 0, 0, 0\n"));
    assert_eq!(text("a_iops.1.log"), Some("1000, 300, 0, 0, 0\n"));
    assert_eq!(text("a_iops.2.log"), Some("1000, 400, 0, 0, 0\n"));
    assert_eq!(text("y_clat.1.log"), Some("1000, 2000, 0, 0, 0\n"));
    assert_eq!(text("y_lat.1.log"), text("y_clat.1.log"));
    assert_eq!(text("y_slat.1.log"), Some(""), "no time of its own");
    assert_eq!(text("agg-read_bw.log"), Some("750, 2048, 0, 0, 0\n"));
}

#[test]
fn logs_can_show_maximum_values_offsets_and_the_epoch() {
    let set = jobs(
        "[a/b]\nsize=1m\nwrite_lat_log=\nlog_max_value=1\nlog_offset=1\nlog_prio=1\n\
         log_unix_epoch=1\nper_job_logs=0\nnumjobs=2\n",
    );
    let (_, options) = jobs_and_options("--name=a --size=1m");
    let job = || reader(&[2000; 100], &[100]);
    let logs = logs(&set, &record(vec![vec![job(), job()]]), &options);
    let line = "1795225014750, 9000, 0, 0, 0, 0x0000\n";
    assert_eq!(logs[0], ("a_b_lat.log".to_owned(), line.repeat(2)));
    assert_eq!(logs[1], ("a_b_slat.log".to_owned(), String::new()));
    assert_eq!(logs[2].0, "a_b_clat.log");
}

/// A read of 4 KiB, when it was issued and how long it took.
fn noted(index: u32, issued_us: u64, took_us: u64, moved_bytes: u32) -> LoggedRequest {
    LoggedRequest {
        request: RecordedRequest {
            due_ns: issued_us * 1000,
            kind: RecordedKind::Read,
            part_index: 0,
            length_bytes: 4096,
            offset_bytes: u64::from(index) * 4096,
        },
        index,
        moved_bytes,
        submitted_ns: (issued_us + 3) * 1000,
        done_ns: (issued_us + took_us) * 1000,
    }
}

#[test]
fn without_averaging_logs_have_a_line_per_request_after_the_ramp() {
    let written = |more: &str| {
        let (set, options) = jobs_and_options(&format!(
            "--name=a --size=8m --ioengine=libaio --write_bw_log=x --write_lat_log=x \
             --write_iops_log=x {more}"
        ));
        let mut record = record(vec![vec![reader(&[2000; 100], &[50; 2])]]);
        record.cells[0].worker_figures[0].noted = vec![
            noted(0, 0, 100, 4096),
            noted(2, 1_000_000, 40, 4096),
            noted(1, 500_000, 1_000_000, 1024),
            noted(3, 1_600_000, 10, 0),
        ];
        let logs = logs(&set, &record, &options);
        let text = |kind: &str| {
            let name = format!("x_{kind}.1.log");
            let text = logs.iter().find(|(known, _)| *known == name);
            text.map_or_else(String::new, |(_, text)| text.clone())
        };
        ["bw", "iops", "lat", "clat", "slat"].map(text)
    };
    let [bandwidth, iops, latency, completion, submission] = written("");
    assert_eq!(
        bandwidth,
        "0, 40960, 0, 4096, 0\n1000, 102400, 0, 4096, 0\n1500, 1, 0, 1024, 0\n"
    );
    assert_eq!(iops.lines().nth(1), Some("1000, 1, 0, 4096, 0"));
    assert_eq!(latency.lines().nth(1), Some("1000, 40000, 0, 4096, 0"));
    assert_eq!(completion.lines().nth(1), Some("1000, 37000, 0, 4096, 0"));
    assert_eq!(submission.lines().nth(1), Some("1000, 3000, 0, 4096, 0"));
    assert_eq!(submission.lines().count(), 3);
    // Without submissions, no log of them is written.
    assert_eq!(written("--disable_slat=1")[4], "");
    let more = "--log_offset=1 --log_prio=1 --log_issue_time=1 --ramp_time=1";
    let [_, _, latency, completion, _] = written(more);
    assert_eq!(
        latency.lines().next(),
        Some("0, 40000, 0, 4096, 8192, 0x0000, 0")
    );
    assert_eq!(
        completion.lines().last(),
        Some("500, 999997000, 0, 1024, 4096, 0x0000, 500003000")
    );
    // Of windows, both values and no places.
    let both = written("--log_avg_msec=1000 --log_window_value=both --log_offset=1");
    assert_eq!(both[3], "1000, 2000, 9000, 0, 0, 0, 0\n");
}

#[test]
fn compressed_logs_are_inflated_to_the_lines_of_others() {
    let line = "--name=a --size=8m --write_lat_log=x --per_job_logs=0 --log_offset=1 \
                --log_window_value=both --log_avg_msec=1000 --numjobs=2";
    let record = record(vec![vec![reader(&[2000; 100], &[50; 2]); 2]]);
    let (set, options) = jobs_and_options(line);
    let lines = logs(&set, &record, &options);
    let (set, options) = jobs_and_options(&format!("{line} --log_store_compressed=1"));
    assert!(logs(&set, &record, &options).is_empty());
    let compressed = compressed_logs(&set, &record, &options);
    assert_eq!(compressed.len(), 3);
    for ((name, bytes), (plain, text)) in compressed.iter().zip(&lines) {
        assert_eq!(*name, format!("{plain}.fz"));
        assert_eq!(compressed_log::inflated(bytes).as_deref(), Ok(&**text));
    }
}

#[test]
fn output_is_printed_at_the_end_or_written_to_a_file() {
    let measured = record(vec![vec![reader(&[1000; 10], &[5; 4])]]);
    let printed = |line: &str| {
        let (set, options) = jobs_and_options(line);
        let mut text = text(set, options);
        (text.end(&measured), text.documents(&measured))
    };
    let (json, documents) = printed("--name=a --size=1m --output-format=json");
    assert!(serde_json::from_str::<serde_json::Value>(&json).is_ok() && documents.is_empty());
    let (nothing, documents) = printed("--name=a --size=1m --output-format=json --output=f");
    assert_eq!((nothing.as_str(), documents[0].0.as_str()), ("", "f"));
    assert_eq!(documents[0].1, json.replace("size=1m", ""));
    let (all, _) = printed("--name=a --size=1m --output-format=normal,json+,terse");
    let order = [
        "a: (g=0)",
        "fio-3.42",
        "\n3;fio",
        "\n{\n",
        "\"bins\"",
        "a: (groupid=0",
        "READ:",
    ];
    let positions: Vec<_> = order.iter().map(|it| all.find(it).unwrap()).collect();
    assert!(positions.is_sorted(), "{all}");
}
