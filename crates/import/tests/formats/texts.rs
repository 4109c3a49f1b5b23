//! Formats of text.

use crate::{imported, refusal, value};

const MIB: f64 = 1_048_576.0;

const POSTMARK: &str = include_str!("../texts/postmark-1.51.txt");

#[test]
fn a_verbose_postmark_report_keeps_every_number() {
    let record = imported(POSTMARK);
    assert_eq!(record.origin.title(), "PostMark 1.51");
    assert_eq!(record.origin.time, None);
    let of = |operation, metric| value(&record, "PostMark", operation, metric);
    assert_eq!(of("total", "time"), 12e9);
    assert_eq!(of("transactions", "time"), 9e9);
    assert_eq!(of("total", "transactions_per_second"), 100.0);
    assert_eq!(of("create", "count"), 645.0);
    assert_eq!(of("create before transactions", "per_second"), 100.0);
    assert_eq!(of("create in transactions", "count"), 445.0);
    assert_eq!(of("append", "per_second"), 50.0);
    assert_eq!(of("delete in transactions", "count"), 455.0);
    assert_eq!(of("read", "bytes"), 2.75 * MIB);
    assert_eq!(of("read", "bytes_per_second"), 234.67 * 1024.0);
    assert_eq!(of("write", "bytes_per_second"), 298.66 * 1024.0);
    let result = &record.results[0];
    assert!(
        result
            .settings
            .iter()
            .any(|it| it.name == "Transactions" && it.value == "900")
    );
    let read = result.figures.iter().find(|it| it.unit == "B/s").unwrap();
    assert_eq!(read.step, Some(10.24), "the last digit is 0.01 KiB/s");
}

#[test]
fn postmark_1_13_prints_the_same_lines_with_smaller_megabytes() {
    let record = imported(&POSTMARK.replace("v1.51 : 8/14/01", "v1.13 : 5/18/00"));
    assert_eq!(record.origin.version.as_deref(), Some("1.13"));
    assert_eq!(
        value(&record, "PostMark", "total", "transactions_per_second"),
        100.0
    );
    let bytes = value(&record, "PostMark", "read", "bytes");
    assert_eq!(bytes, 2.75 * 1000.0 * 1024.0);
    let rate = value(&record, "PostMark", "read", "bytes_per_second");
    assert_eq!(rate, 234.67 * 1024.0, "kilobytes are the same");
}

#[test]
fn runs_of_a_postmark_session_are_not_repetitions() {
    let report = &POSTMARK[POSTMARK.find("Creating").unwrap()..];
    let record = imported(&format!("{POSTMARK}{report}"));
    assert_eq!(record.names(), ["PostMark #1", "PostMark #2"]);
}

#[test]
fn a_terse_postmark_report_has_thirteen_numbers() {
    let text = "PostMark v1.51 : 8/14/01\nCreating files...Done\n\
                13 8 375.00 158.54 250.00 195.12 184.50 190.00 158.54 207.33 179.88 742485.06 \
                1033844.00\n";
    let record = imported(text);
    let of = |operation, metric| value(&record, "PostMark", operation, metric);
    assert_eq!(of("total", "transactions_per_second"), 375.0);
    assert_eq!(of("read", "per_second"), 184.5);
    assert_eq!(of("write", "bytes_per_second"), 1_033_844.0);
}

#[test]
fn an_unfinished_postmark_run_is_refused() {
    let cut = &POSTMARK[..POSTMARK.find("\t451").unwrap()];
    assert_eq!(refusal(cut).0, 26);
    let stopped = "PostMark v1.51 : 8/14/01\npm>Creating files...Done\n\
                   Performing transactions..out of files!\n";
    let (line, message) = refusal(stopped);
    assert_eq!(line, 2);
    assert!(message.contains("`Time:`"), "{message}");
    let bad = POSTMARK.replace("440 read (48 per second)", "many read (48 per second)");
    assert_eq!(refusal(&bad).0, 26);
}

const IOZONE: &str = include_str!("../texts/iozone-3.489.txt");

#[test]
fn iozone_results_belong_to_the_columns_that_they_end_in() {
    let record = imported(IOZONE);
    assert_eq!(record.origin.version.as_deref(), Some("3.489"));
    let rate = |name: &str| {
        let name = format!("{name}, 1024 kB in records of 4 kB");
        value(&record, &name, "total", "bytes_per_second")
    };
    assert_eq!(rate("rewrite"), 619_938.0 * 1024.0);
    assert_eq!(rate("random read"), 839_179.0 * 1024.0);
    assert_eq!(rate("random write"), 720_867.0 * 1024.0);
    assert_eq!(record.results.len(), 4);
    let shifted = IOZONE.replace("   254772", "       254772");
    assert_eq!(refusal(&shifted).0, 10);
    assert_eq!(
        refusal(&IOZONE.replace("iozone test complete.\n", "")).0,
        11
    );
}

#[test]
fn iozone_before_3_420_has_narrower_columns() {
    let text = include_str!("../texts/iozone-3.283.txt");
    let record = imported(text);
    let name = "random write, 512 kB in records of 8 kB";
    assert_eq!(
        value(&record, name, "total", "bytes_per_second"),
        70_000.0 * 1024.0
    );
}

#[test]
fn the_spreadsheet_of_iozone_is_read_without_its_table() {
    let text = "\"Writer report\"\n        \"4\"  \"8\"\n\"64\"   1000  2000\n\"128\"   1500  0\n\n\
                \"Re-Reader report\"\n        \"4\"  \"8\"\n\"64\"   7000  8000\n";
    let record = imported(text);
    let rate = |name| value(&record, name, "total", "bytes_per_second");
    assert_eq!(rate("write, 64 kB in records of 8 kB"), 2000.0 * 1024.0);
    assert_eq!(rate("reread, 64 kB in records of 4 kB"), 7000.0 * 1024.0);
    assert_eq!(record.results.len(), 5, "0 was not measured");
}

#[test]
fn several_children_of_iozone_have_one_result_per_test() {
    let text = "\tIozone: Performance Test of File I/O
\tOutput is in kBytes/sec
\tThroughput test with 2 processes

\tChildren see throughput for  2 initial writers \t= 4887385.25 kB/sec
\tParent sees throughput for  2 initial writers \t= 2764039.15 kB/sec
\tMin throughput per process \t\t\t= 1500790.00 kB/sec
\tMin xfer \t\t\t\t\t=    7552.00 kB

iozone test complete.
";
    let record = imported(text);
    let of = |metric| value(&record, "initial writers", "total", metric);
    assert_eq!(of("bytes_per_second"), 4_887_385.25 * 1024.0);
    assert_eq!(of("worker_bytes_min"), 7552.0 * 1024.0);
    assert_eq!(record.results[0].workers, Some(2));
}

const IOR: &str = include_str!("../texts/ior-3.3.0.txt");

#[test]
fn repetitions_of_ior_are_repetitions() {
    let record = imported(IOR);
    assert_eq!(record.origin.version.as_deref(), Some("3.3.0"));
    assert_eq!(
        value(&record, "write", "total", "bytes_per_second"),
        2030.54 * MIB
    );
    assert_eq!(value(&record, "read", "total", "per_second"), 504_065.0);
    assert_eq!(value(&record, "read", "close", "time"), 55_648_000.0);
    let repetitions = record.results.iter().filter(|it| it.name == "write");
    let repetitions: Vec<u32> = repetitions.map(|it| it.repetition).collect();
    assert_eq!(repetitions, [0, 1]);
    assert_eq!(record.results[0].workers, Some(4));
    assert_eq!(record.results[0].target.as_deref(), Some("/data/testFile"));
    let cut = &IOR[..IOR.find("Max Write").unwrap()];
    assert_eq!(refusal(cut).0, 15);
}

#[test]
fn ior_3_0_has_no_column_of_rates() {
    let text = include_str!("../texts/ior-3.0.1.txt");
    let record = imported(text);
    assert_eq!(
        value(&record, "write", "total", "bytes_per_second"),
        912.4 * MIB
    );
    assert_eq!(record.results[0].value("total", "per_second"), None);
    assert_eq!(record.results[0].workers, Some(8));
}

const MDTEST: &str = include_str!("../texts/mdtest-4.1.0.txt");

#[test]
fn mdtest_states_means_with_their_deviation() {
    let record = imported(MDTEST);
    assert_eq!(record.origin.title(), "mdtest 4.1.0");
    assert_eq!(
        value(&record, "File stat", "total", "per_second"),
        1_300_679.898
    );
    let mean = &record.results[0].figures[0];
    assert_eq!((mean.stddev, mean.n), (Some(108_251.679), Some(3)));
    assert_eq!(record.results[0].workers, Some(2));
    assert_eq!(record.results[0].target.as_deref(), Some("/tmp/md"));
    let cut = &MDTEST[..MDTEST.find("-- finished").unwrap()];
    assert_eq!(refusal(cut).0, 12);
}

#[test]
fn mdtest_1_9_ends_names_with_a_colon() {
    let text = MDTEST
        .replace("mdtest-4.1.0", "mdtest-1.9.3")
        .replace("SUMMARY rate (in ops/sec):", "SUMMARY:")
        .replace("creation ", "creation:");
    let record = imported(&text);
    assert_eq!(
        value(&record, "Directory creation", "total", "per_second_max"),
        302_433.861
    );
}

const IO500: &str = include_str!("../texts/io500-isc24.txt");

#[test]
fn an_io500_summary_has_phases_and_scores() {
    let record = imported(IO500);
    assert_eq!(record.origin.version.as_deref(), Some("io500-isc24_v3"));
    let rate = value(&record, "ior-easy-write", "total", "bytes_per_second");
    assert_eq!(rate, 0.146_316 * 1_073_741_824.0);
    assert_eq!(
        value(&record, "mdtest-easy-write", "total", "per_second"),
        9456.456
    );
    assert_eq!(value(&record, "score", "total", "total_score"), 0.81);
    assert_eq!(record.results[1].settings[0].name, "valid");
    let cut = &IO500[..IO500.find("[SCORE").unwrap()];
    assert_eq!(refusal(cut).0, 4);
}

#[test]
fn summaries_before_2020_number_their_phases() {
    let text = "[RESULT] BW   phase 1       ior_easy_write      16.123 GB/s : time 301.50 seconds\n\
                [SCORE] Bandwidth 5.5 GB/s : IOPS 12.25 kiops : TOTAL 8.208\n";
    let record = imported(text);
    assert_eq!(
        value(&record, "ior_easy_write", "total", "bytes_per_second"),
        16.123e9
    );
    assert_eq!(value(&record, "ior_easy_write", "total", "time"), 301.5e9);
}

const DBENCH: &str = include_str!("../texts/dbench-4.00.txt");

#[test]
fn dbench_states_each_operation_and_the_throughput() {
    let record = imported(DBENCH);
    assert_eq!(record.origin.title(), "dbench 4.00");
    let of = |operation, metric| value(&record, "dbench", operation, metric);
    assert_eq!(of("NTCreateX", "count"), 347_891.0);
    assert_eq!(of("NTCreateX", "latency_max"), 8_088_000.0);
    assert_eq!(of("total", "bytes_per_second"), 2165.68e6);
    assert_eq!(record.results[0].workers, Some(2));
    let cut = &DBENCH[..DBENCH.find("Throughput").unwrap()];
    assert_eq!(refusal(cut).0, 10);
    assert_eq!(refusal(&DBENCH.replace("0.007", "fast")).0, 8);
}

#[test]
fn dbench_3_has_no_latencies() {
    let record = imported("dbench version 3.04\nThroughput 123.456 MB/sec 4 procs\n");
    assert_eq!(
        value(&record, "dbench", "total", "bytes_per_second"),
        123.456e6
    );
    assert_eq!(record.results[0].workers, Some(4));
}

#[test]
fn each_row_of_fs_mark_is_a_round() {
    let text = "#  fs_mark  -d  /tmp/a  -n  1000
#\tVersion 3.3, 4 thread(s) starting at Sat Nov 21 01:26:06 2026

FSUse%        Count         Size    Files/sec     App Overhead
     4         1000        10240      40159.5            14708
     4         2000        10240      39000.0            14000
";
    let record = imported(text);
    assert_eq!(record.origin.title(), "fs_mark 3.3");
    assert_eq!(value(&record, "round 1", "total", "per_second"), 40_159.5);
    assert_eq!(value(&record, "round 2", "total", "overhead"), 14_000_000.0);
    assert_eq!(record.results[0].workers, Some(4));
    assert_eq!(refusal(&text.replace("39000.0", "")).0, 6);
}

#[test]
fn fs_mark_with_times_has_three_per_call() {
    let text = include_str!("../texts/fs_mark-times.txt");
    let record = imported(text);
    assert_eq!(
        value(&record, "round 1", "write", "latency_max"),
        20_036_000.0
    );
    assert_eq!(
        value(&record, "round 1", "sync", "latency_mean"),
        22_644_000.0
    );
    assert_eq!(record.origin.version, None);
}

const SYSBENCH: &str = include_str!("../texts/sysbench-1.0.20.txt");

#[test]
fn sysbench_1_0_states_rates_per_operation() {
    let record = imported(SYSBENCH);
    assert_eq!(record.origin.title(), "sysbench fileio 1.0.20");
    let of = |operation, metric| value(&record, "random r/w", operation, metric);
    assert_eq!(of("read", "per_second"), 447.81);
    assert_eq!(of("write", "bytes_per_second"), 4.66 * MIB);
    assert_eq!(of("total", "latency_p95"), 1_640_000.0);
    assert_eq!(of("total", "time"), 30_145_400_000.0);
    assert_eq!(record.results[0].workers, Some(16));
    let cut = &SYSBENCH[..SYSBENCH.find("         max").unwrap()];
    assert_eq!(refusal(cut).0, 23);
}

#[test]
fn sysbench_0_4_states_one_rate() {
    let text = "sysbench 0.4.12:  multi-threaded system evaluation benchmark

Number of threads: 1
Extra file open flags: 0
Doing random read test

Operations performed:  10000 Read, 0 Write, 0 Other = 10000 Total
Read 156.25Mb  Written 0b  Total transferred 156.25Mb  (9.375Mb/sec)
  600.00 Requests/sec executed

Test execution summary:
    total time:                          16.6667s
    per-request statistics:
         min:                                  0.01ms
         avg:                                  1.66ms
         max:                                 30.50ms
         approx.  95 percentile:               4.00ms
";
    let record = imported(text);
    let of = |operation, metric| value(&record, "random read", operation, metric);
    assert_eq!(of("total", "per_second"), 600.0);
    assert_eq!(of("total", "bytes_per_second"), 9.375 * MIB);
    assert_eq!(of("read", "count"), 10_000.0);
    assert_eq!(of("total", "latency_max"), 30_500_000.0);
}
