//! Reports for people.

use report::{Format, Model, Page, ShownRepetitions, VerdictPosition, render, render_text};
use results::{Phase, RunRecord, Status, Warning, WarningCode};
use unicode_width::UnicodeWidthStr;

use crate::sample;

fn text(record: &RunRecord, width: usize) -> String {
    render(
        record,
        Format::Text,
        Page {
            width,
            color: false,
        },
    )
    .to_string()
}

#[test]
fn a_report_can_be_pasted_into_a_mail() {
    let wanted = "
pgmeter 0.1.0, run 20261121-023612-042-1f, 2026-11-21 02:36:12 UTC
Linux 6.12.9, ext4 on nvme0n1 (PM9A3), 64 CPUs (EPYC 9354), 64 GiB memory
io_uring, direct, 8 GiB of data, 10 s measured, 2 s ramp, /mnt/array, seed 7
repeat: pgmeter run

verdict
                                            queue
workload                            rate    depth  how sure
File Server, 2 workers       10.00k IOPS  depth 8  measured once
4 KiB random read, 1 worker   500.0 IOPS  depth 1  measured once
limit: the results do not show what limits them
doubt: no warnings for these results
next: add `--repetitions 5`: only repetitions show how much results differ

results
                                               --------- latency in µs ---------
                         queue
workload        workers  depth    IOPS  MiB/s   mean    p50    p99  p99.9    max
File Server           2      8  10.00k  39.06  161.8  150.5  199.7  199.7  12000
4 KiB random          1      1   500.0  1.953  161.8  150.5  199.7      -  12000
read

by operation
                                              --------- latency in µs ---------
             queue
workload     depth  operation    IOPS  MiB/s   mean    p50    p99  p99.9    max
File Server      8  read       8.000k  31.25  150.0  150.5  199.7  199.7  200.0
File Server      8  write      2.000k  7.812  209.3  150.5  199.7  11993  12000

processor and device
                                                      -- block device --
                            queue  user   sys    own   read  write  busy
workload           workers  depth     %     %  ns/op  MiB/s  MiB/s     %
File Server              2      8  40.0  60.0  18.25  31.25  7.812  98.7
4 KiB random read        1      1  40.0  60.0  18.25  1.953      0  98.7

`-` as a percentile: fewer than 10 operations lie beyond it
no operation failed

note: 4 KiB random read at queue depth 1: 5000 operations are too few for
  p99.9; a percentile needs 10 beyond it [few-samples-for-percentile]
";
    let shown = render(&sample::record(), Format::Text, Page::PLAIN);
    assert_eq!(shown, wanted[1..], "\n{shown}");
}

#[test]
fn a_narrow_terminal_shows_what_matters_most() {
    let table = |width| {
        let shown = text(&sample::record(), width);
        shown.split("\n\n").nth(2).map(str::to_owned).unwrap()
    };
    let wanted = "
results
                                 latency in µs
                   queue
workload           depth    IOPS  MiB/s    p99
File Server            8  10.00k  39.06  199.7
4 KiB random read      1   500.0  1.953  199.7";
    assert_eq!(table(46), wanted[1..]);
    let wanted = "
results
               queue
workload       depth    IOPS
File Server        8  10.00k
4 KiB random       1   500.0
read";
    assert_eq!(table(28), wanted[1..]);
}

#[test]
fn no_line_is_wider_than_the_page() {
    let mut record = sample::record();
    record.cells[0].access_spec =
        Some("企鹅测量仪 a very long name of an access specification".into());
    record.cells[1].target = "/mnt/somewhere/else/with/a/long/path/and/more".into();
    record.cells[1].total.errors = 12;
    record.warnings.push(Warning::of_run(
        WarningCode::LoadBefore,
        "word ".repeat(40) + &"x".repeat(200),
    ));
    for width in [40, 60, 79, 80, 100, 132, 200] {
        for line in text(&record, width).lines() {
            assert!(line.width() <= width, "{width}: {line}");
        }
    }
    for width in [0, 1, 20, 30] {
        let _ = text(&record, width);
    }
}

#[test]
fn errors_are_shown_even_on_a_narrow_page() {
    let mut record = sample::record();
    record.cells[0].total.errors = 7;
    let shown = text(&record, 60);
    assert!(shown.contains("errors"), "{shown}");
    assert!(!shown.contains("no operation failed"), "{shown}");
}

#[test]
fn colors_are_used_only_on_request() {
    let mut record = sample::record();
    let steal = Warning::of_run(WarningCode::StealTime, "the hypervisor took 2 %");
    record.warnings.push(steal);
    assert!(!render(&record, Format::Text, Page::PLAIN).contains('\x1b'));
    assert!(!render(&record, Format::Text, Page::terminal(80, true)).contains('\x1b'));
    let colored = render(&record, Format::Text, Page::terminal(80, false)).painted();
    assert!(colored.contains("\x1b[33mwarning:"), "{colored}");
    let mut bare = colored;
    for code in ["\x1b[0m", "\x1b[1m", "\x1b[33m", "\x1b[31m"] {
        bare = bare.replace(code, "");
    }
    assert_eq!(bare, *render(&record, Format::Text, Page::PLAIN));
}

#[test]
fn an_interrupted_run_says_so() {
    let mut record = sample::record();
    record.status = Status::Interrupted;
    record.cells.pop();
    let shown = text(&record, 80);
    assert!(
        shown.contains("\ninterrupted: 1 of 2 cells were measured in full\n"),
        "{shown}"
    );
}

#[test]
fn a_run_without_cells_has_a_report() {
    let mut record = sample::record();
    record.status = Status::Failed;
    record.cells.clear();
    record.warnings.clear();
    let wanted = "
pgmeter 0.1.0, run 20261121-023612-042-1f, 2026-11-21 02:36:12 UTC
Linux 6.12.9, ext4 on nvme0n1 (PM9A3), 64 CPUs (EPYC 9354), 64 GiB memory
seed 7
repeat: pgmeter run
failed: 0 of 2 cells were measured in full

verdict
next: run it again, to its end
";
    assert_eq!(text(&record, 80), wanted[1..]);
    assert!(render(&record, Format::Markdown, Page::PLAIN).contains("**failed: 0 of 2"));
}

#[test]
fn repetitions_are_shown_with_their_uncertainty() {
    let mut record = sample::record();
    let plan = record.plan.clone();
    record.cells = [10_000, 10_100, 9_900]
        .map(|n| sample::cell_record(&plan, 0, n))
        .into();
    for (repetition, cell) in (0..).zip(&mut record.cells) {
        cell.repetition = repetition;
    }
    record.estimates = results::estimates(&record.cells);
    let means = text(&record, 80);
    let all = render_text(
        &record,
        ShownRepetitions::All,
        VerdictPosition::Last,
        Page::PLAIN,
    );
    for shown in [&means, &*all] {
        let heading = shown.find("over repetitions").unwrap();
        let section = shown[heading..].split("\n\n").next().unwrap();
        assert!(
            section.starts_with("over repetitions, with 95 % confidence\n"),
            "{section}"
        );
        assert!(section.contains("1.000k ± 24.84"), "{section}");
    }
    // Means come first, one row per cell; single repetitions appear only with `--all`.
    let (_, tables) = means.split_once("\nnext: ").unwrap();
    assert_eq!(tables.matches("\nFile Server ").count(), 3, "{means}");
    assert!(means.contains("by operation, over repetitions"));
    assert!(means.contains("`--all` shows each repetition"));
    assert!(!all.contains("`--all`"), "{all}");
    let part = |shown: &str, index| shown.split("\n\n").nth(index).unwrap().to_owned();
    assert!(part(&means, 1).starts_with("verdict\n"), "{means}");
    assert!(part(&means, 2).contains("1.000k ± 24.84"));
    let first_table = part(&all, 1);
    assert!(first_table.contains("rep"), "{all}");
    assert_eq!(first_table.matches("\nFile Server ").count(), 3, "{all}");
}

#[test]
fn transactions_are_shown_if_they_differ_from_operations() {
    let mut record = sample::record();
    record.cells[0]
        .transactions
        .get_mut("transfer")
        .unwrap()
        .count = 50_000;
    let shown = text(&record, 100);
    assert!(shown.contains("transfer (transaction)"), "{shown}");
}

#[test]
fn repeated_warnings_print_once_and_similar_ones_are_counted() {
    let mut record = sample::record();
    let warn = |code: WarningCode, cell, message: &str| Warning::of_cell(code, cell, message);
    record.warnings = vec![
        warn(WarningCode::CompressibleContent, 0, "zeros"),
        warn(WarningCode::CompressibleContent, 1, "zeros"),
        warn(WarningCode::StealTime, 0, "2 %"),
        Warning::of_run(WarningCode::IoErrors, "1 operation failed"),
        warn(WarningCode::StealTime, 1, "3 %"),
    ];
    let model = Model::new(&record);
    let messages: Vec<&str> = model
        .warnings
        .iter()
        .map(|warning| &*warning.message)
        .collect();
    let wanted = [
        "1 operation failed",
        "File Server at queue depth 8: 2 % (both cells have this warning; the worst is shown)",
        "zeros",
    ];
    assert_eq!(messages, wanted);
    let severe: Vec<bool> = model
        .warnings
        .iter()
        .map(|warning| warning.is_severe)
        .collect();
    assert_eq!(severe, [true, false, false]);
    let notes: Vec<bool> = model.warnings.iter().map(|it| it.is_note).collect();
    assert_eq!(notes, [false, false, true]);
    let shown = text(&record, 80);
    assert!(
        shown.contains("\n\nnote: zeros [compressible-content]\n"),
        "{shown}"
    );
    let shown = render(&record, Format::Markdown, Page::PLAIN);
    assert!(
        shown.contains("## Notes\n\n- `compressible-content`: zeros"),
        "{shown}"
    );
}

#[test]
fn a_warning_about_all_cells_names_no_cell() {
    let mut record = sample::record();
    let phases = record.cells.clone();
    record.cells.extend(phases);
    let late = |cell| Warning::of_cell(WarningCode::CellCutShort, cell, "it ended early");
    record.warnings = vec![late(0), late(1)];
    assert_eq!(Model::new(&record).warnings[0].message, "it ended early");
}

#[test]
fn warnings_of_cells_with_the_same_name_say_what_differs() {
    let mut record = sample::record();
    record.cells[1].access_spec = record.cells[0].access_spec.clone();
    record.cells[1].iodepth = record.cells[0].iodepth;
    record.cells[1].workers = record.cells[0].workers;
    record.cells[1].target = "/mnt/other".into();
    let late = |cell| Warning::of_cell(WarningCode::CellCutShort, cell, "it ended early");
    record.warnings = vec![late(0)];
    let message = |record: &RunRecord| Model::new(record).warnings[0].message.clone();
    let target = record.cells[0].target.clone();
    let wanted = format!("File Server at queue depth 8, on `{target}`: it ended early");
    assert_eq!(message(&record), wanted);
    record.cells[1].target = target;
    assert_eq!(
        message(&record),
        "File Server at queue depth 8, cell 1: it ended early"
    );
    let warning = || Warning::of_run(WarningCode::CellCutShort, "it ended early");
    record.warnings = vec![warning(), warning()];
    assert_eq!(message(&record), "it ended early (2 times)");
}

#[test]
fn no_transaction_is_called_an_io_operation() {
    let mut record = sample::record();
    // A phase next to a cell of requests: one heading applies to both.
    record.cells[0].phase = Phase::Classic("create".to_owned());
    let mut again = record.cells[0].clone();
    again.repetition = 1;
    record.cells.push(again);
    record.estimates = results::estimates(&record.cells);
    let page = Page {
        width: 100,
        color: false,
    };
    let shown = render_text(&record, ShownRepetitions::All, VerdictPosition::Last, page);
    let (tables, _) = shown.split_once("\n\nverdict\n").unwrap();
    assert!(tables.contains("over repetitions"), "{shown}");
    assert!(!tables.contains("IOPS"), "{shown}");
    // What was measured once is the cell of requests alone.
    let shown = text(&record, 100);
    let (_, tables) = shown.split_once("\nnext: ").unwrap();
    let (means, once) = tables.split_once("measured once").unwrap();
    assert!(!means.contains("IOPS") && once.contains("IOPS"), "{shown}");
}

#[test]
fn warnings_about_the_whole_run_print_up_to_three_of_a_kind() {
    let mut record = sample::record();
    let host = |index: u32| format!("host {index} has another kernel");
    let unlike = |index| Warning::of_run(WarningCode::UnequalHosts, host(index));
    record.warnings = (0..5).map(unlike).collect();
    let model = Model::new(&record);
    let messages: Vec<&str> = model.warnings.iter().map(|it| &*it.message).collect();
    assert_eq!(messages[..3], [host(0), host(1), host(2)]);
    let more = format!(
        "2 more of this kind; `pgmeter report {} --format json` has them",
        record.id
    );
    assert_eq!(messages[3..], [more]);
}

#[test]
fn a_warning_names_its_repetition_if_there_are_several() {
    let mut record = sample::record();
    record.cells[1].repetition = 1;
    let steal = |cell| Warning::of_cell(WarningCode::StealTime, cell, format!("{cell} %"));
    record.warnings = vec![steal(0), steal(1)];
    let model = Model::new(&record);
    let messages = model.warnings.iter().map(|warning| &*warning.message);
    let wanted = "File Server at queue depth 8, repetition 1: 0 % (both cells have this warning; \
                  the worst is shown)";
    assert!(messages.eq([wanted]), "{:?}", model.warnings);
}

#[test]
fn names_cannot_control_the_terminal() {
    let mut record = sample::record();
    record.cells[0].access_spec = Some("\x1b[2Jevil\r\n".into());
    record.environment.kernel = "\x1b]0;title\x07".into();
    record.warnings[0].message = "\x1b[31m".into();
    record.id = "\x1bc".into();
    record.cells[1].target = "/a\u{202e}b\u{9b}2J".into();
    assert!(!text(&record, 80).contains(['\x1b', '\x07', '\r', '\u{202e}', '\u{9b}']));
    for format in [Format::Text, Format::Markdown, Format::Html] {
        let shown = render(&record, format, Page::PLAIN).painted();
        assert!(
            !shown.contains(['\x1b', '\u{202e}', '\u{9b}']),
            "{format:?}"
        );
        assert!(shown.contains("\\u{202e}"), "{format:?}");
    }
}

#[test]
fn markdown_has_a_table_for_each_section() {
    let shown = render(&sample::record(), Format::Markdown, Page::PLAIN);
    let wanted = "
| workload | workers | queue depth | IOPS | MiB/s | mean, latency in µs | p50, latency in µs | \
p99, latency in µs | p99.9, latency in µs | max, latency in µs | errors |
| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: | --: |
| File Server | 2 | 8 | 10.00k | 39.06 | 161.8 | 150.5 | 199.7 | 199.7 | 12000 | 0 |
| 4 KiB random read | 1 | 1 | 500.0 | 1.953 | 161.8 | 150.5 | 199.7 | - | 12000 | 0 |
";
    assert!(shown.contains(wanted), "{shown}");
    for heading in ["# pgmeter", "## Results", "## By operation", "## Notes"] {
        assert!(shown.contains(heading), "{heading}");
    }
}

#[test]
fn names_cannot_break_markdown() {
    let mut record = sample::record();
    record.cells[0].access_spec = Some("a|b*c\n".into());
    let shown = render(&record, Format::Markdown, Page::PLAIN);
    assert!(shown.contains("| a\\|b\\*c\\\\n | 2 |"), "{shown}");
}

#[test]
fn an_interrupted_cell_is_reported_as_up_to_its_run_time() {
    let mut record = sample::record();
    record.cells[1].status = Status::Interrupted;
    let shown = text(&record, 80);
    assert!(
        shown.contains("8 GiB of data, up to 10 s measured, 2 s ramp"),
        "{shown}"
    );
}
