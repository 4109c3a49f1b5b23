//! Made-up pages of the lab and of published experiments.

use report::{Lineup, LineupFormat, PAPERS, Page, PaperSide, PaperTable};
use results::{Better, LabColumn, LabFigure, LabRecord, LabSection, LabWords, RunRecord};
use workload::plan::CacheMode;

use crate::made_up;

const PAGE: Page = Page::PLAIN;

/// Every page by its name, and its text.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![("lab", lab()), ("recover", recover()), ("paper", paper())]
}

fn columns(names: &[&str]) -> Vec<LabColumn> {
    let made = |name: &&str| LabColumn {
        name: (*name).to_owned(),
        behind: format!("loop device on `/var/tmp/image`; made by `mkfs.{name} -q`"),
    };
    names.iter().map(made).collect()
}

/// The same work on a file system that is so many times as fast.
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
    let command = "pgmeter lab run file-server --fs ext4,xfs,btrfs,nilfs2";
    LabRecord {
        title: title.to_owned(),
        columns: columns(names),
        remarks: vec!["each on a loop device, one at a time".to_owned()],
        notes: vec!["ext4: `mkfs.ext4` said nothing".to_owned()],
        ..LabRecord::new(environment, vec![command.to_owned()])
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
            better: Better::Lower,
            is_time: true,
        }],
        words: Vec::new(),
    }];
    lab.runs = runs.into_iter().flatten().collect();
    Lineup::of(&lab)
        .render(LineupFormat::Html, PAGE)
        .to_string()
}

fn recover() -> String {
    let title = "What file systems keep when their kernel is killed";
    let mut lab = draft(title, &["nilfs2", "f2fs"]);
    let words = |label: &str, values: [&str; 2]| LabWords {
        label: label.to_owned(),
        values: values.map(|value| Some(value.to_owned())).into(),
    };
    lab.sections = vec![LabSection {
        heading: "Promised by `fsync`".to_owned(),
        words: vec![words("intact", ["7", "9"]), words("lost", ["0", "1"])],
        ..LabSection::default()
    }];
    lab.alarms = vec!["f2fs, trial 1: a file is lost".to_owned()];
    Lineup::of(&lab)
        .render(LineupFormat::Html, PAGE)
        .to_string()
}

fn paper() -> String {
    let table = PaperTable {
        paper: &PAPERS[0],
        heading: vec!["An experiment, as `PostMark` made it".to_owned()],
        remarks: Vec::new(),
        alarms: Vec::new(),
        sides: Vec::<PaperSide>::new(),
        costs: Vec::new(),
        is_of_guests: false,
        peak: None,
    };
    table.render(LineupFormat::Html, PAGE).to_string()
}
