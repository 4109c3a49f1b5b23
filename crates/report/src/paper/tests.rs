//! Published values are read and shown in their tables.

use results::{FilesetFigures, PhaseFigures, PoolFigures, StepFigures};
use units::JsonDocument;

use super::*;
use crate::{ReportMedium, VerdictPosition};

fn shown(name: &str) -> String {
    let table = PaperTable {
        paper: Paper::find(name).unwrap(),
        heading: vec!["heading".to_owned()],
        remarks: vec!["scale 0.1".to_owned()],
        failures: Vec::new(),
        sides: Vec::new(),
        costs: Vec::new(),
        is_of_guests: false,
        peak: None,
    };
    table.render(TableFormat::Text, Page::PLAIN).to_string()
}

#[test]
fn every_workload_loads_and_every_published_figure_is_a_number() {
    for paper in PAPERS {
        let loaded = description::load(paper.name, paper.workload);
        let loaded = loaded.unwrap();
        assert!(!loaded.is_empty(), "{}", paper.name);
        assert!(shown(paper.name).contains(paper.size), "{}", paper.name);
    }
    let count = |name| Paper::find(name).unwrap().rows().len();
    assert_eq!((count("lfs-postmark"), count("lfs-create-remove")), (2, 16));
    assert_eq!((count("netapp-postmark-1"), count("bfs-iozone")), (21, 9));
    assert_eq!(count("netapp-postmark-4"), 13);
}

#[test]
fn published_systems_keep_the_layout_of_their_table() {
    let text = shown("lfs-postmark");
    let line = text
        .lines()
        .find(|line| line.starts_with("deleted alone"))
        .unwrap();
    assert_eq!(
        line.split_whitespace().collect::<Vec<_>>()[2..],
        ["10993", "10993"]
    );
    let text = shown("bfs-iozone");
    assert!(
        text.contains("Table 9-4: 512 MB in chunks of 128K"),
        "{text}"
    );
    let text = shown("netapp-postmark-3");
    assert!(
        text.contains("P3/Linux") && text.contains("211.88"),
        "{text}"
    );
    let text = shown("lfs-create-remove");
    let line = text
        .lines()
        .find(|line| line.starts_with("create 0, µs a file"))
        .unwrap();
    assert_eq!(line.split_whitespace().last(), Some("629.8"), "{line}");
}

#[test]
fn a_run_is_shown_next_to_the_published_ones() {
    let mut record = crate::sample::record();
    record.cells[0].phase_figures = Some(of_pool(PoolFigures {
        created_count: 2_510_496,
        deleted_after_count: 10_993,
        transactions_ns: 77_000_000_000,
        ..PoolFigures::default()
    }));
    let records = [record];
    let table = PaperTable {
        paper: Paper::find("lfs-postmark").unwrap(),
        heading: Vec::new(),
        remarks: vec!["scale 0.1".to_owned()],
        failures: Vec::new(),
        sides: vec![PaperSide {
            name: "tmpfs".to_owned(),
            peak: None,
            records: &records,
        }],
        costs: Vec::new(),
        is_of_guests: false,
        peak: None,
    };
    for format in [TableFormat::Text, TableFormat::Markdown, TableFormat::Html] {
        let text = table.render(format, Page::PLAIN);
        assert!(text.contains("2510496") && text.contains("77"), "{text}");
        assert!(
            text.contains("scale 0.1") && text.contains("hardware of their time"),
            "{text}"
        );
    }
}

/// A run of PostMark of that size.
fn session(number: u32, transactions: u32) -> RunRecord {
    let mut record = crate::sample::record();
    let pool = plan::program::FilePool {
        number,
        transactions,
        ..plan::program::FilePool::default()
    };
    let program = plan::program::Program::of_pool(pool, None);
    let cell = &mut record.cells[0];
    let planned = record.plan.cells.iter_mut();
    for planned in planned.filter(|it| it.index == cell.index) {
        planned.work = plan::Work::Acts(program.clone().into());
    }
    cell.workers = 1;
    cell.phase_figures = Some(of_pool(PoolFigures {
        transactions_count: transactions.into(),
        transactions_ns: u64::from(transactions) * 1_000_000_000 / 9940,
        created_count: 2_510_496,
        ..PoolFigures::default()
    }));
    record
}

fn of_pool(pool: PoolFigures) -> PhaseFigures {
    PhaseFigures {
        pool: Some(pool),
        ..PhaseFigures::default()
    }
}

fn compared(columns: &str, run: &RunRecord) -> PublishedComparison {
    Reference::find(columns)
        .unwrap()
        .compare_with(&[run])
        .unwrap()
}

fn line(published: &[PublishedComparison], begin: &str) -> Vec<String> {
    let text = render_comparisons(
        &[],
        published,
        (ReportMedium::Terminal, VerdictPosition::First),
        Page::PLAIN,
    );
    let line = text.lines().find(|line| line.starts_with(begin)).unwrap();
    let words = line.split("  ").map(str::trim);
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_published_column_is_shown_with_the_ratio_of_the_run() {
    let published = [compared("lfs-postmark:lfs", &session(9999, 5_000_000))];
    let rate = line(&published, "transactions per s");
    assert_eq!(rate, ["transactions per s", "LFS", "4970", "9940", "2.000"]);
    let counts = line(&published, "created ");
    assert_eq!(counts, ["created", "LFS", "2510496", "2510496", "1.000"]);
    let none = line(&published, "appended");
    assert_eq!(none, ["appended", "LFS", "2472080", "0", "0"]);
    let markdown = render_comparisons(
        &[],
        &published,
        (ReportMedium::Markdown, VerdictPosition::First),
        Page::PLAIN,
    );
    assert!(markdown.contains("| transactions per s | LFS | 4970 | 9940 | 2.000 |"));
    assert!(markdown.contains("hardware of their time"), "{markdown}");
}

/// A run that created this number of empty files.
fn creation(count: u64) -> RunRecord {
    let mut run = crate::sample::record();
    let create = StepFigures {
        label: "create".to_owned(),
        count,
        time_ns: 143_880_000_000,
        ..StepFigures::default()
    };
    run.cells[0].phase_figures = Some(PhaseFigures {
        steps: vec![create],
        filesets: vec![FilesetFigures {
            file_count: count,
            file_bytes: 0,
        }],
        ..PhaseFigures::default()
    });
    run
}

#[test]
fn with_fewer_files_only_per_file_figures_have_a_ratio() {
    let last = |count, begin: &str| {
        let published = [compared("lfs-create-remove:lfs", &creation(count))];
        line(&published, begin).pop().unwrap()
    };
    assert_eq!(last(500_000, "create 0, real s"), "0.5000");
    assert_eq!(last(50_000, "create 0, real s"), "-");
    assert_eq!(last(50_000, "create 0, µs a file"), "5.000");
    let other = compared("lfs-create-remove:lfs", &creation(50_000));
    let size = other.sides[0].other_size.as_deref();
    assert_eq!(size, Some("50000 files of each size"));
    let records = [creation(50_000)];
    let table = PaperTable {
        paper: Paper::find("lfs-create-remove").unwrap(),
        heading: Vec::new(),
        remarks: Vec::new(),
        failures: Vec::new(),
        sides: vec![PaperSide {
            name: "ext4".to_owned(),
            peak: None,
            records: &records,
        }],
        costs: Vec::new(),
        is_of_guests: false,
        peak: None,
    };
    let text = table.render(TableFormat::Markdown, Page::PLAIN);
    assert!(
        text.contains("another size, 50000 files of each size"),
        "{text}"
    );
}

#[test]
fn a_published_figure_that_a_run_lacks_is_not_measured() {
    let run = creation(500_000);
    let published = [compared("lfs-create-remove:lfs", &run)];
    let values = |begin: &str| line(&published, begin).split_off(3);
    assert_eq!(values("create 0, µs a file"), ["287.8", "0.5000"]);
    for missing in ["remove 0, µs a file", "create 4096, µs a file"] {
        assert_eq!(values(missing), ["not measured", "-"]);
    }
}

#[test]
fn counts_at_another_size_have_no_ratio() {
    let published = [compared("lfs-postmark:ext3", &session(500, 500))];
    assert_eq!(line(&published, "created ").last().unwrap(), "-");
    assert_eq!(
        line(&published, "transactions per s").last().unwrap(),
        "15.06"
    );
    let text = render_comparisons(
        &[],
        &published,
        (ReportMedium::Terminal, VerdictPosition::First),
        Page::PLAIN,
    );
    assert!(text.contains("A ran at another size"), "{text}");
    let document = ComparisonDocument {
        comparisons: &[],
        published: &published,
    };
    let json = document.to_document();
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let figure = &json["published"][0]["tables"][0]["figures"][3];
    assert_eq!(figure["figure"], "created");
    assert_eq!(figure["measured"][0]["ratios"][0], serde_json::Value::Null);
    assert_eq!(figure["published"][0]["value"], 2_510_496.0);
}

#[test]
fn columns_are_chosen_by_prefix_and_default_to_all() {
    let systems = |text| Reference::find(text).map(|it| it.systems.len());
    assert_eq!(systems("netapp-postmark-1").unwrap(), 21);
    assert_eq!(systems("netapp-postmark-1:tmpfs,NFS/F6,TMPFS").unwrap(), 2);
    for (text, said) in [
        ("no-such", "no published experiment `no-such`"),
        ("bfs-lat-fs", "does not have published figures"),
        ("bfs-iozone:ufs", "has no published column `ufs`"),
        (
            "netapp-postmark-1:nfs",
            "has more than one published column",
        ),
    ] {
        let error = Reference::find(text).unwrap_err();
        assert!(error.to_string().contains(said), "{error}");
        assert!(error.help().starts_with("use one of "), "{}", error.help());
    }
}

#[test]
fn a_run_of_another_workload_is_refused() {
    let run = crate::sample::record();
    let error = Reference::find("bfs-iozone").unwrap().compare_with(&[&run]);
    let error = error.unwrap_err();
    assert!(
        error.to_string().contains("no figure of `bfs-iozone`"),
        "{error}"
    );
    assert!(error.help().contains("paper run bfs-iozone"));
}

/// A run of a workload of `bfs-iozone`, with a cell for each rate in MB/s.
fn at(rates: &[f64]) -> RunRecord {
    let mut record = crate::sample::record();
    let cell = record.cells[0].clone();
    record.cells = rates
        .iter()
        .map(|rate| {
            let mut cell = cell.clone();
            cell.workload = "table-9-2-write".to_owned();
            cell.total.bytes_per_second = rate * 1_048_576.0;
            cell
        })
        .collect();
    record
}

#[test]
fn an_interrupted_cell_counts_nowhere() {
    let cut = |rates: &[f64]| {
        let mut record = at(rates);
        record.cells.last_mut().unwrap().status = Status::Interrupted;
        record
    };
    let (peak, records) = (cut(&[100.0, 200.0, 900.0]), [cut(&[50.0, 70.0, 900.0])]);
    let table = PaperTable {
        paper: Paper::find("bfs-iozone").unwrap(),
        heading: Vec::new(),
        remarks: Vec::new(),
        failures: Vec::new(),
        sides: vec![PaperSide {
            name: "ext2".to_owned(),
            peak: Some(&peak),
            records: &records,
        }],
        costs: Vec::new(),
        is_of_guests: false,
        peak: Some(&peak),
    };
    let text = table.render(TableFormat::Markdown, Page::PLAIN);
    assert!(
        text.contains("| bare device (here) | 200.0 | 100 | - | - |"),
        "{text}"
    );
    assert!(
        text.contains("| ext2 (here) | 60.00 | 30 | - | - |"),
        "{text}"
    );
    // The ranks show it, too.
    assert!(!text.contains("900"), "{text}");
}

#[test]
fn shares_are_relative_to_the_peak_of_the_bare_device() {
    let (peak, records) = (at(&[100.0, 200.0]), [at(&[50.0, 70.0])]);
    let own = at(&[120.0]);
    let side = |name: &str, peak| PaperSide {
        name: name.to_owned(),
        peak,
        records: &records,
    };
    let table = PaperTable {
        paper: Paper::find("bfs-iozone").unwrap(),
        heading: Vec::new(),
        remarks: Vec::new(),
        failures: Vec::new(),
        sides: vec![
            side("ext2", Some(&peak)),
            side("tmpfs", None),
            side("/mnt/x", Some(&own)),
        ],
        costs: Vec::new(),
        is_of_guests: false,
        peak: Some(&peak),
    };
    let text = table.render(TableFormat::Markdown, Page::PLAIN);
    for row in [
        "| bare device (here) | 200.0 | 100 | - | - |",
        "| ext2 (here) | 60.00 | 30 | - | - |",
        "| tmpfs (here) | 60.00 | - | - | - |",
        "| /mnt/x (here) | 60.00 | 50 | - | - |",
    ] {
        assert!(text.contains(row), "{text}");
    }
}
