//! Makes a submission from a record.

use plan::TargetKind;
use results::{ImportRecord, ImportedResult, RunRecord};

use crate::hash::sha256;
use crate::imported::{FIO, columns_of, settings_of};
use crate::strip::{StrippedKind, StrippedText, strip};
use crate::work::{work_columns, work_hash, works};
use crate::{
    BoardColumn, BoardError, BoardTable, ImportedWork, NewFile, RecordFacts, Submission,
    SubmissionDescription, SubmittedResult, SystemKind,
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
    if record.import.is_some() {
        // No output of another program says which devices its files are on.
        return SystemKind::Unknown;
    }
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

/// Makes a table for the work of the first complete cell of a record, or of the first imported
/// result, with all values that it has.
#[must_use]
pub fn table_of(name: &str, record: &RunRecord) -> Option<BoardTable> {
    if let Some(import) = &record.import {
        return table_of_import(name, import);
    }
    let mut cells = record
        .cells
        .iter()
        .filter(|it| it.status == Status::Complete);
    let cell: &CellRecord = cells.find(|it| !work_columns(it).is_empty())?;
    let columns = board_columns(&work_columns(cell));
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
        imports: Vec::new(),
        columns,
    })
}

fn board_columns(names: &[&str]) -> Vec<BoardColumn> {
    let columns = names.iter().map(|name| BoardColumn {
        name: (*name).to_owned(),
        better: match name.contains("latency") {
            true => BetterDirection::Lower,
            false => BetterDirection::Higher,
        },
    });
    columns.collect()
}

fn table_of_import(name: &str, import: &ImportRecord) -> Option<BoardTable> {
    let work = work_of(import)?;
    let result = import.results.iter().find(|it| has_columns(it))?;
    let columns = board_columns(&columns_of(result, work.operation.as_deref()));
    Some(BoardTable {
        name: name.to_owned(),
        title: format!("{}: {}", import.origin.program, result.name),
        source: None,
        command: command_of_import(import, &work),
        paper: None,
        heading: None,
        work: None,
        rank_by: columns.first()?.name.clone(),
        pool: None,
        imports: vec![work],
        columns,
    })
}

/// Returns `true` if a result has values for tables of any work.
fn has_columns(result: &ImportedResult) -> bool {
    operations(result).any(|it| !columns_of(result, it).is_empty())
}

/// Returns the total, and each operation.
fn operations(result: &ImportedResult) -> impl Iterator<Item = Option<&str>> {
    std::iter::once(None).chain(result.operations().into_iter().map(Some))
}

/// Returns the work of the first imported result that has values for tables of any work, as its
/// source states it.
#[must_use]
pub fn work_of(import: &ImportRecord) -> Option<ImportedWork> {
    let result = import.results.iter().find(|it| has_columns(it))?;
    let operation = operations(result).find(|it| !columns_of(result, *it).is_empty())?;
    let program = import.origin.program.clone();
    Some(ImportedWork {
        // A job of fio has any name, and its options say what it did.
        result: (program != FIO).then(|| result.name.clone()),
        operation: operation.map(str::to_owned),
        settings: settings_of(import, result),
        program,
    })
}

/// Returns the command that does the work of a result in another directory.
fn command_of_import(import: &ImportRecord, work: &ImportedWork) -> String {
    if import.origin.program == FIO {
        let options = work
            .settings
            .iter()
            .map(|(name, value)| match value.as_str() {
                "" => format!("--{name}"),
                value => quoted(&format!("--{name}={value}")),
            });
        let options: Vec<String> = options.collect();
        return format!(
            "fio --name=board {} --directory=DIR --output-format=json",
            options.join(" ")
        );
    }
    let stated = import.statement("command");
    stated.map_or_else(|| import.origin.program.clone(), str::to_owned)
}
/// Returns a word as a shell reads it.
fn quoted(word: &str) -> String {
    let is_safe = |it: u8| it.is_ascii_alphanumeric() || b"-_=,.:/%".contains(&it);
    match word.bytes().all(is_safe) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
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
        words.push(quoted(word));
    }
    words.push("--target DIR".to_owned());
    words.join(" ")
}
