//! Made-up pages of the lab and of published experiments.

use std::sync::Arc;

use plan::{CacheMode, Work};
use report::{Page, Paper, PaperSide, PaperTable, SideBySide, TableFormat};
use results::{
    BetterDirection, LabColumn, LabFigure, LabRecord, LabSection, LabText, RunRecord, Stack,
    Warning, WarningCode,
};

use crate::made_up;

const PAGE: Page = Page::PLAIN;

/// All pages, with their names and texts.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![
        ("lab", lab()),
        ("recover", recover()),
        ("paper", paper()),
        ("iozone", iozone()),
    ]
}

fn columns(names: &[&str]) -> Vec<LabColumn> {
    let column = |name: &&str| LabColumn {
        name: (*name).to_owned(),
        behind: format!("loop device on `/var/tmp/image`; made by `mkfs.{name} -q`"),
    };
    names.iter().map(column).collect()
}

/// The same work on a file system that is faster by this factor.
fn faster(record: &RunRecord, factor: f64) -> RunRecord {
    let mut record = record.clone();
    record.id = format!("20261121-{:06.0}", factor * 1e5);
    for cell in &mut record.cells {
        cell.total.per_second *= factor;
        cell.total.bytes_per_second *= factor;
        cell.cache = CacheMode::Buffered;
        cell.device = None;
    }
    record
}

fn draft(title: &str, names: &[&str]) -> LabRecord {
    let environment = made_up::single().environment;
    let command = "pgmeter lab run file-server --fs ext4,xfs,btrfs,nilfs2".split(' ');
    LabRecord {
        title: title.to_owned(),
        columns: columns(names),
        remarks: vec!["each on a loop device, one at a time".to_owned()],
        notes: vec!["ext4: `mkfs.ext4` said nothing".to_owned()],
        ..LabRecord::new(environment, command.map(str::to_owned).collect())
    }
}

fn lab() -> String {
    let one = made_up::single();
    let title = "file-server on new file systems, 3 times each";
    let mut lab = draft(title, &["ext4", "xfs", "btrfs", "nilfs2"]);
    let runs = [1.0, 1.4, 0.7, 0.69]
        .map(|factor| [factor, factor * 1.01, factor * 0.98].map(|factor| faster(&one, factor)));
    let ids = |runs: &[RunRecord; 3]| runs.iter().map(|run| run.id.clone()).collect();
    lab.sections = vec![LabSection {
        heading: "file-server".to_owned(),
        runs: runs.iter().map(ids).collect(),
        figures: vec![LabFigure {
            label: "sync afterwards, s".to_owned(),
            samples: vec![vec![2.0, 2.1], vec![1.0, 1.1], vec![3.0, 3.0], Vec::new()],
            better: BetterDirection::Lower,
            is_time: true,
        }],
        words: Vec::new(),
    }];
    lab.runs = runs.into_iter().flatten().collect();
    SideBySide::of(&lab)
        .render(TableFormat::Html, PAGE)
        .to_string()
}

fn recover() -> String {
    let title = "What file systems keep when their kernel is killed";
    let mut lab = draft(title, &["nilfs2", "f2fs"]);
    let words = |label: &str, values: [&str; 2]| LabText {
        label: label.to_owned(),
        values: values.map(|value| Some(value.to_owned())).into(),
    };
    lab.sections = vec![LabSection {
        heading: "Promised by `fsync`".to_owned(),
        words: vec![words("intact", ["7", "9"]), words("lost", ["0", "1"])],
        ..LabSection::default()
    }];
    lab.alarms = vec!["f2fs, trial 1: a file is lost".to_owned()];
    SideBySide::of(&lab)
        .render(TableFormat::Html, PAGE)
        .to_string()
}

/// An experiment that ranks this machine among many others, once at full and once at reduced size.
fn paper() -> String {
    let full = session(100_000, 14_300, 1.0);
    let again = session(100_000, 14_900, 1.04);
    let mut small = session(2_000, 31_000, 2.2);
    small.warnings = vec![Warning::of_run(WarningCode::Lab, "scale 0.02")];
    small.environment.stacks = vec![Stack {
        in_memory: true,
        ..Stack::default()
    }];
    let sides = [("xfs", vec![full, again]), ("tmpfs", vec![small])];
    let heading = [
        "PostMark on many systems, table 3: 100000 transactions on 20000 files",
        "\"Filesystem Benchmarking with PostMark from Network Appliance\", a web page of 1999",
    ];
    paper_table("netapp-postmark-3", &heading, &sides)
}

/// A PostMark session with this number of transactions, and this many per second.
fn session(transactions: u64, per_second: u64, factor: f64) -> RunRecord {
    let mut record = made_up::postmark();
    record.id = format!("20261121-{:06.0}", factor * 1e5);
    for cell in &mut record.cells {
        let figures = cell.phase_figures.as_mut();
        if let Some(pool) = figures.and_then(|figures| figures.pool.as_mut()) {
            pool.transactions_count = transactions;
            pool.transactions_ns = transactions * 1_000_000_000 / per_second;
        }
    }
    for planned in &mut record.plan.cells {
        if let Work::Acts(program) = &mut planned.work
            && let Some(pool) = &mut Arc::make_mut(program).pool
        {
            pool.number = 20_000;
            pool.transactions = transactions as u32;
        }
    }
    record.command = [
        "pgmeter",
        "paper",
        "run",
        "netapp-postmark-3",
        "--fs",
        "xfs,tmpfs",
    ]
    .map(str::to_owned)
    .into();
    record
}

/// An experiment of several tables with few systems each.
fn iozone() -> String {
    let record = |factor: f64| {
        let mut record = made_up::single();
        record.id = format!("20261121-{:06.0}", factor * 1e5);
        let cell = record.cells[0].clone();
        let cells = ["2", "3", "4"].iter().flat_map(|table| {
            ["write", "read"].map(|direction| {
                let mut cell = cell.clone();
                cell.workload = format!("table-9-{table}-{direction}");
                cell.total.bytes_per_second = factor * 1.3e9;
                cell
            })
        });
        record.cells = cells.collect();
        record
    };
    let sides = [("ext4", vec![record(1.0)]), ("xfs", vec![record(1.2)])];
    let heading = [
        "Sequential bandwidth of BFS, ext2 and NTFS",
        "Giampaolo: \"Practical File System Design with the Be File System\", 1999",
    ];
    paper_table("bfs-iozone", &heading, &sides)
}

fn paper_table(name: &str, heading: &[&str], sides: &[(&str, Vec<RunRecord>)]) -> String {
    let sides = sides.iter().map(|(name, records)| PaperSide {
        name: (*name).to_owned(),
        peak: None,
        records,
    });
    let table = PaperTable {
        paper: Paper::find(name).expect("it is in the catalog"),
        heading: heading.iter().map(|it| (*it).to_owned()).collect(),
        remarks: vec!["xfs: loop device on `/var/tmp/image`; made by `mkfs.xfs -q`".to_owned()],
        failures: Vec::new(),
        sides: sides.collect(),
        costs: Vec::new(),
        is_of_guests: false,
        peak: None,
    };
    table.render(TableFormat::Html, PAGE).to_string()
}
