//! `board add`: makes a submission from a run.

use std::collections::BTreeMap;
use std::io::{BufRead, IsTerminal, stdin};
use std::path::Path;
use std::process::Command;

use board::{
    Checker, DeclaredFacts, PreparedSubmission, SUBMISSION_FORMAT, SubmissionAdded,
    SubmissionDescription, check_together, kind_of, prepare, slug_of, table_of, work_of,
};
use results::{RunRecord, Timestamp};
use units::printable;

use super::files::write_below;
use super::lint::finding;
use super::open::{BOARD_FILE, OpenBoard, SIGNATURE_NAMESPACE};
use crate::args::board::{BoardAddArgs, SubmitterArgs};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::{OutputFile, OverwritePolicy};
use crate::result_file::record_or_results;
use crate::stored::StoreLocation;
use crate::terminal::OutputStream;

/// Adds a run to a board, unless a rule refuses it.
pub(super) fn add(args: &BoardAddArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    let json = args.json.open()?;
    let mut board = OpenBoard::open(&args.board)?;
    let record = record_or_results(&args.run, location)?;
    let description = described(args, &record)?;
    let slug = free_slug(&board, &description.title)?;
    let prepared = prepare(&slug, &record, description, &args.kept_kinds())?;
    let change = match (&args.new_table, &args.same_work_as) {
        (Some(name), _) => BoardChange::NewTable(name),
        (None, Some(name)) => BoardChange::SameWork(name),
        (None, None) => BoardChange::None,
    };
    let added = write(&mut board, &prepared, change)?;
    if let Some(key) = &args.sign {
        sign(key, &board.submission(&slug).join("record.json"))?;
    }
    let text = || OutputText::prose(shown(&added) + &next(&args.board));
    json.give(&added, text)?;
    Ok(Exit::Success)
}

/// Texts that every submission needs.
pub(super) struct SubmitterTexts {
    pub title: String,
    submitter: String,
    license: String,
}

impl SubmitterTexts {
    /// Returns the texts of the options, and asks for missing ones on a terminal.
    pub fn of(args: &SubmitterArgs) -> Result<Self, CliError> {
        let text = |given: &Option<String>, option: &str, question: &str| match given {
            Some(text) => Ok(text.clone()),
            None => required(option, question),
        };
        let license = "License of the data, such as CC0-1.0";
        Ok(Self {
            title: text(&args.title, "--title", "Name of the system")?,
            submitter: text(&args.submitter, "--submitter", "Your name or organization")?,
            license: text(&args.license, "--license", license)?,
        })
    }

    /// Returns the description of a record with only these texts.
    pub fn description(&self, record: &RunRecord) -> SubmissionDescription {
        SubmissionDescription {
            format: SUBMISSION_FORMAT.to_owned(),
            title: self.title.clone(),
            submitter: self.submitter.clone(),
            license: self.license.clone(),
            submitted: Some(Timestamp::now().strftime("%Y-%m-%d").to_string()),
            year: None,
            kind: kind_of(record),
            system: None,
            source: None,
            note: None,
            declared: DeclaredFacts::default(),
            record: None,
            answers: BTreeMap::new(),
        }
    }
}

/// Returns the description from the options.
fn described(args: &BoardAddArgs, record: &RunRecord) -> Result<SubmissionDescription, CliError> {
    let basic = SubmitterTexts::of(&args.texts)?.description(record);
    Ok(SubmissionDescription {
        year: args.year.clone(),
        kind: args.kind.map_or(basic.kind, Into::into),
        system: args.system.clone(),
        source: args.source.clone(),
        note: args.note.clone(),
        declared: DeclaredFacts {
            errors: args.errors.clone(),
            cache: args.cache.clone(),
            link_bytes_per_second: args.link.map(|it| it.0 as f64),
            server: args.server.clone(),
        },
        answers: args.answer.iter().cloned().collect(),
        ..basic
    })
}

/// Change of a board's tables for a new submission.
#[derive(Debug, Clone, Copy)]
pub(super) enum BoardChange<'a> {
    None,
    /// A new table of this name for the work.
    NewTable(&'a str),
    /// The table of this name also ranks imported results of equal work.
    SameWork(&'a str),
}

/// Checks a submission and writes its files, and `board.toml` if its tables change.
pub(super) fn write(
    board: &mut OpenBoard,
    prepared: &PreparedSubmission,
    change: BoardChange<'_>,
) -> Result<SubmissionAdded, CliError> {
    let tables = board.config.tables.clone();
    match change {
        BoardChange::None => {}
        BoardChange::NewTable(name) => add_table(board, name, prepared)?,
        BoardChange::SameWork(name) => add_work(board, name, prepared)?,
    }
    let checked = check(board, prepared);
    if checked.is_err() {
        // A refused submission changes no table, neither on disk nor for the next submission.
        board.config.tables = tables;
    }
    let added = checked?;
    for file in &prepared.files {
        write_below(&board.directory, file)?;
    }
    if !matches!(change, BoardChange::None) {
        let file = OutputFile::create(&board.directory.join(BOARD_FILE), OverwritePolicy::Replace)?;
        file.finish(&OutputText::Data(board.config.text()))?;
    }
    Ok(added)
}

fn required(option: &str, question: &str) -> Result<String, CliError> {
    if OutputStream::Error.is_terminal() && stdin().is_terminal() {
        tell!("{question}:");
        let mut answer = String::new();
        let is_read = stdin().lock().read_line(&mut answer).is_ok();
        let answer = answer.trim();
        if is_read && !answer.is_empty() {
            return Ok(answer.to_owned());
        }
    }
    let message = format!("the submission needs `{option}`");
    let help = format!("add `{option} TEXT`");
    Err(CliError::new(Exit::Usage, message, Some(help)))
}

/// Returns a name for the submission's directory that no other one has.
pub(super) fn free_slug(board: &OpenBoard, title: &str) -> Result<String, CliError> {
    let slug = slug_of(title);
    let taken = board.slugs()?;
    let numbered = (2..).map(|number| format!("{slug}-{number}"));
    let mut names = std::iter::once(slug.clone()).chain(numbered);
    Ok(names.find(|it| !taken.contains(it)).unwrap_or(slug))
}

fn add_table(
    board: &mut OpenBoard,
    name: &str,
    prepared: &PreparedSubmission,
) -> Result<(), CliError> {
    refuse_known_table(board, name)?;
    let record = prepared.submission.record();
    match record.and_then(|record| table_of(name, record)) {
        Some(table) => board.config.tables.push(table),
        None => {
            let message = "the run has no value that a table of any work has";
            let help = "measure it again";
            return Err(CliError::new(Exit::Usage, message, Some(help.to_owned())));
        }
    }
    check_config(board)
}

/// Lets a table also rank imported results of equal work.
fn add_work(
    board: &mut OpenBoard,
    name: &str,
    prepared: &PreparedSubmission,
) -> Result<(), CliError> {
    let usage =
        |message: String, help: &str| CliError::new(Exit::Usage, message, Some(help.to_owned()));
    let import = prepared.submission.import();
    let work = import.and_then(work_of).ok_or_else(|| {
        let message = "only results of another program can do the work of a table that has a hash";
        usage(message.to_owned(), "leave out `--same-work-as`")
    })?;
    let tables = board.config.tables.iter_mut();
    let mut tables = tables.filter(|table| table.paper.is_none());
    let table = tables.find(|table| table.name == name).ok_or_else(|| {
        let message = format!("the board has no table `{}` of any work", printable(name));
        usage(message, "name a table of board.toml without `paper`")
    })?;
    if !table.imports.contains(&work) {
        table.imports.push(work);
    }
    check_config(board)
}

fn check_config(board: &OpenBoard) -> Result<(), CliError> {
    // Reading it back checks names, as if somebody had written them.
    board::BoardConfig::read(BOARD_FILE, &board.config.text())?;
    Ok(())
}

/// Refuses the name of a table that the board has.
pub(super) fn refuse_known_table(board: &OpenBoard, name: &str) -> Result<(), CliError> {
    if board.config.table(name).is_none() {
        return Ok(());
    }
    let message = format!("the board already has a table `{}`", printable(name));
    let help = "leave out `--new-table`, or name another table";
    Err(CliError::new(Exit::Usage, message, Some(help.to_owned())))
}

/// Checks the submission next to the others, and refuses it with every broken rule.
fn check(board: &OpenBoard, prepared: &PreparedSubmission) -> Result<SubmissionAdded, CliError> {
    let mut all = board.check_all(&mut |_, _| Ok(()))?;
    let mut checker = Checker::new(&board.config, Timestamp::now());
    all.push(checker.check(&prepared.submission));
    check_together(&board.config, &mut all);
    let checked = all.pop().ok_or_else(CliError::bug)?;
    if !checked.is_refused() {
        return Ok(SubmissionAdded {
            submission: checked,
            stripped: prepared.stripped.clone(),
        });
    }
    let errors = checked.findings.iter().filter(|it| it.is_refusing());
    let lines: String = errors.map(finding).collect();
    let message = format!(
        "the rules of the board refuse this run\n{}",
        lines.trim_end()
    );
    let has_no_table = checked.findings.iter().any(|it| it.rule == "E13");
    let help = match prepared.submission.import() {
        _ if !has_no_table => "correct the first finding, or measure again",
        Some(_) => {
            "add `--same-work-as TABLE` if the results are of equal work, or `--new-table NAME`"
        }
        None => "measure with the command of a table, or make a table with `--new-table NAME`",
    };
    Err(CliError::new(Exit::Failed, message, Some(help.to_owned())))
}

/// Signs the record; `ssh-keygen` may ask for the passphrase of the key.
fn sign(key: &Path, record: &Path) -> Result<(), CliError> {
    let status = Command::new("ssh-keygen")
        .args(["-q", "-Y", "sign", "-n", SIGNATURE_NAMESPACE, "-f"])
        .arg(key)
        .arg(record)
        .status();
    let message = match status {
        Ok(status) if status.success() => return Ok(()),
        Ok(status) => format!("`ssh-keygen` could not sign the record: {status}"),
        Err(error) => format!("`ssh-keygen` cannot be started: {error}"),
    };
    let help = "the submission is written; sign `record.json` with `ssh-keygen -Y sign`";
    Err(CliError::new(Exit::Failed, message, Some(help.to_owned())))
}

/// Describes a new submission: replaced texts, findings, and tables.
pub(super) fn shown(added: &SubmissionAdded) -> String {
    let it = &added.submission;
    let mut text = String::new();
    for stripped in &added.stripped {
        let kind = stripped.kind.name();
        let replaced = printable(&stripped.text);
        text.push_str(&format!(
            "replaced {kind} `{replaced}` with `{}`\n",
            stripped.replacement
        ));
    }
    text.extend(it.findings.iter().map(finding));
    let tables: Vec<&str> = it.values.iter().map(|it| it.table.as_str()).collect();
    text.push_str(&format!(
        "added submissions/{} ({}) to {}\n",
        it.slug,
        it.trust.name(),
        tables.join(", ")
    ));
    text
}

/// Says how to see a submission on the site.
pub(super) fn next(board: &Path) -> String {
    let board = board.display();
    format!("next: `pgmeter board build {board} -o SITE` makes the site\n")
}
