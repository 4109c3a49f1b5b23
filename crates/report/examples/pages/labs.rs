//! Made-up pages of the lab and of published experiments.

use report::{Better, Extra, Lineup, LineupFormat, PAPERS, Page, PaperSide, PaperTable};
use results::RunRecord;

use crate::made_up;

const PAGE: Page = Page::PLAIN;

/// Every page by its name, and its text.
pub fn pages() -> Vec<(&'static str, String)> {
    vec![("lab", lab()), ("recover", recover()), ("paper", paper())]
}

fn columns(names: &[&str]) -> Vec<(String, String)> {
    let made = |name: &&str| {
        let behind = format!("loop device on `/var/tmp/image`; made by `mkfs.{name} -q`");
        ((*name).to_owned(), behind)
    };
    names.iter().map(made).collect()
}

/// The same work on a file system that is so many times as fast.
fn faster(record: &RunRecord, factor: f64) -> RunRecord {
    let mut record = record.clone();
    for cell in &mut record.cells {
        cell.total.per_second *= factor;
        cell.total.bytes_per_second *= factor;
    }
    record
}

fn lab() -> String {
    let one = made_up::single();
    let runs = [1.0, 1.4, 0.7, 0.69]
        .map(|factor| [factor, factor * 1.01, factor * 0.98].map(|factor| faster(&one, factor)));
    let runs: Vec<&[RunRecord]> = runs.iter().map(<[_; 3]>::as_slice).collect();
    let title = "file-server on new file systems, 3 times each".to_owned();
    let mut lineup = Lineup::new(title, columns(&["ext4", "xfs", "btrfs", "nilfs2"]));
    lineup.remarks = vec!["each on a loop device, one at a time".to_owned()];
    let extra = Extra {
        label: "sync afterwards, s".to_owned(),
        samples: vec![vec![2.0, 2.1], vec![1.0, 1.1], vec![3.0, 3.0], Vec::new()],
        better: Better::Lower,
        is_time: true,
    };
    lineup.add("file-server", &runs, &[extra]);
    lineup.notes = vec!["ext4: `mkfs.ext4` said nothing".to_owned()];
    lineup.render(LineupFormat::Html, PAGE).to_string()
}

fn recover() -> String {
    let title = "What file systems keep when their kernel is killed".to_owned();
    let mut lineup = Lineup::new(title, columns(&["nilfs2", "f2fs"]));
    let words = |words: [&str; 2]| words.map(|word| Some(word.to_owned())).to_vec();
    let rows = [("intact", words(["7", "9"])), ("lost", words(["0", "1"]))];
    lineup.add_words("Promised by `fsync`", &rows);
    lineup.alarms = vec!["f2fs, trial 1: a file is lost".to_owned()];
    lineup.render(LineupFormat::Html, PAGE).to_string()
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
