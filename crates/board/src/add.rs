//! Makes a submission from a record.

use plan::TargetKind;
use results::RunRecord;

use crate::hash::sha256;
use crate::strip::{StrippedKind, StrippedText, strip};
use crate::work::{work_columns, work_hash, works};
use crate::{
    BoardColumn, BoardError, BoardTable, NewFile, RecordFacts, Submission, SubmissionDescription,
    SubmittedResult, SystemKind,
};
use results::{BetterDirection, CellRecord, Status};

/// A submission that is ready to be written.
#[derive(Debug, Clone)]
pub struct PreparedSubmission {
    /// The submission, for checks before it is written.
    pub submission: Submission,
    /// Its files.
    pub files: Vec<NewFile>,
    /// Texts that were replaced in the record.
    pub stripped: Vec<StrippedText>,
}

/// Makes the files of a submission from a record.
///
/// # Errors
/// If the record cannot be written without its names.
pub fn prepare(
    slug: &str,
    record: &RunRecord,
    mut description: SubmissionDescription,
    keep: &[StrippedKind],
) -> Result<PreparedSubmission, BoardError> {
    let original_sha256 = sha256(record.to_json().as_bytes());
    let (record, stripped) = strip(record, keep)?;
    let text = record.to_json();
    let mut kinds: Vec<String> = stripped
        .iter()
        .map(|it| it.kind.name().to_owned())
        .collect();
    kinds.dedup();
    let sha256 = sha256(text.as_bytes());
    description.record = Some(RecordFacts {
        id: record.id.clone(),
        sha256: sha256.clone(),
        original_sha256,
        works: works(&record),
        stripped: kinds,
    });
    let name = |file: &str| format!("submissions/{slug}/{file}");
    let files = vec![
        NewFile::new(name("submission.toml"), description.text()),
        NewFile::new(name("record.json"), text),
    ];
    let submission = Submission {
        slug: slug.to_owned(),
        info: description,
        result: SubmittedResult::Record {
            record: Box::new(record),
            sha256,
        },
    };
    Ok(PreparedSubmission {
        submission,
        files,
        stripped,
    })
}

/// Returns the kind of system that a record shows.
#[must_use]
pub fn kind_of(record: &RunRecord) -> SystemKind {
    let environment = &record.environment;
    let mut targets = record.plan.targets.iter();
    let is_remote = |kind: &str| kind.starts_with("nfs") || kind == "cifs" || kind == "ceph";
    match () {
        () if targets.any(|it| it.kind == TargetKind::Network) => SystemKind::Network,
        () if environment
            .file_systems
            .iter()
            .any(|it| is_remote(&it.kind)) =>
        {
            SystemKind::Network
        }
        () if environment.stacks.iter().any(|it| it.in_memory) => SystemKind::Memory,
        () if environment.devices.is_empty() => SystemKind::Unknown,
        () => SystemKind::Local,
    }
}

/// Makes a table for the work of the first complete cell of a record, with all values that the cell
/// has.
#[must_use]
pub fn table_of(name: &str, record: &RunRecord) -> Option<BoardTable> {
    let mut cells = record
        .cells
        .iter()
        .filter(|it| it.status == Status::Complete);
    let cell: &CellRecord = cells.find(|it| !work_columns(it).is_empty())?;
    let columns = work_columns(cell).into_iter().map(|name| BoardColumn {
        name: name.to_owned(),
        better: match name.contains("latency") {
            true => BetterDirection::Lower,
            false => BetterDirection::Higher,
        },
    });
    let columns: Vec<BoardColumn> = columns.collect();
    Some(BoardTable {
        name: name.to_owned(),
        title: cell.name().to_owned(),
        source: None,
        command: command_of(record),
        paper: None,
        heading: None,
        work: Some(work_hash(record.plan.cell(cell.index)?)),
        rank_by: columns.first()?.name.clone(),
        pool: None,
        columns,
    })
}

/// Options of a command that do not change the work. Their values follow as separate words.
const DROPPED_OPTIONS: [&str; 7] = [
    "--json", "--db", "--target", "-t", "--html", "--csv", "--tag",
];
/// Options without a value that do not change the work.
const DROPPED_FLAGS: [&str; 5] = ["--quiet", "-q", "--no-html", "--no-db", "--all"];

/// Returns the command that does the work of a run in another directory.
fn command_of(record: &RunRecord) -> String {
    let mut words = vec!["pgmeter".to_owned()];
    let mut given = record.command.iter().skip(1).peekable();
    while let Some(word) = given.next() {
        let name = word.split('=').next().unwrap_or_default();
        if DROPPED_FLAGS.contains(&name) {
            continue;
        }
        if DROPPED_OPTIONS.contains(&name) {
            let has_value = given.peek().is_some_and(|next| !next.starts_with('-'));
            if has_value && !word.contains('=') {
                given.next();
            }
            continue;
        }
        // The command is shown for a shell.
        let is_safe = |it: u8| it.is_ascii_alphanumeric() || b"-_=,.:/%".contains(&it);
        words.push(match word.bytes().all(is_safe) {
            true => word.clone(),
            false => format!("'{}'", word.replace('\'', "'\\''")),
        });
    }
    words.push("--target DIR".to_owned());
    words.join(" ")
}
