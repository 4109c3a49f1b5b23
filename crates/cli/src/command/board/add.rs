//! `board add`: makes a submission from a run.

use std::io::{BufRead, IsTerminal, stdin};
use std::path::Path;
use std::process::Command;

use board::{
    Checker, DeclaredFacts, PreparedSubmission, SUBMISSION_FORMAT, SubmissionAdded,
    SubmissionDescription, check_together, kind_of, prepare, slug_of, table_of,
};
use results::{RunRecord, Timestamp};
use units::printable;

use super::files::write_below;
use super::lint::finding;
use super::open::{BOARD_FILE, OpenBoard, SIGNATURE_NAMESPACE};
use crate::args::board::BoardAddArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::{OutputFile, OverwritePolicy};
use crate::stored::StoreLocation;
use crate::terminal::OutputStream;

/// Adds a run to a board, unless a rule refuses it.
pub(super) fn add(args: &BoardAddArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    let json = args.json.open()?;
    let mut board = OpenBoard::open(&args.board)?;
    let record = location.record(&args.run)?;
    let description = described(args, &record)?;
    let slug = free_slug(&board, &description.title)?;
    let prepared = prepare(&slug, &record, description, &args.kept_kinds())?;
    if let Some(name) = &args.new_table {
        add_table(&mut board, name, &prepared)?;
    }
    let added = check(&board, &prepared)?;
    for file in &prepared.files {
        write_below(&board.directory, file)?;
    }
    if args.new_table.is_some() {
        let file = OutputFile::create(&board.directory.join(BOARD_FILE), OverwritePolicy::Replace)?;
        file.finish(&OutputText::Data(board.config.text()))?;
    }
    if let Some(key) = &args.sign {
        sign(key, &board.submission(&slug).join("record.json"))?;
    }
    json.give(&added, || OutputText::prose(shown(&added, &args.board)))?;
    Ok(Exit::Success)
}

/// Returns the description from the options, and asks for missing texts on a terminal.
fn described(args: &BoardAddArgs, record: &RunRecord) -> Result<SubmissionDescription, CliError> {
    let text = |given: &Option<String>, option: &str, question: &str| match given {
        Some(text) => Ok(text.clone()),
        None => required(option, question),
    };
    Ok(SubmissionDescription {
        format: SUBMISSION_FORMAT.to_owned(),
        title: text(&args.title, "--title", "Name of the system")?,
        submitter: text(&args.submitter, "--submitter", "Your name or organization")?,
        license: text(
            &args.license,
            "--license",
            "License of the data, such as CC0-1.0",
        )?,
        submitted: Some(Timestamp::now().strftime("%Y-%m-%d").to_string()),
        year: None,
        kind: args.kind.map_or_else(|| kind_of(record), Into::into),
        system: args.system.clone(),
        source: None,
        note: args.note.clone(),
        declared: DeclaredFacts {
            errors: args.errors.clone(),
            cache: args.cache.clone(),
            link_bytes_per_second: args.link.map(|it| it.0 as f64),
            server: args.server.clone(),
        },
        record: None,
        answers: args.answer.iter().cloned().collect(),
    })
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
fn free_slug(board: &OpenBoard, title: &str) -> Result<String, CliError> {
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
    let refused = |message: String, help: &str| {
        Err(CliError::new(Exit::Usage, message, Some(help.to_owned())))
    };
    if board.config.table(name).is_some() {
        let message = format!("the board already has a table `{}`", printable(name));
        return refused(message, "leave out `--new-table`, or name another table");
    }
    let record = prepared.submission.record();
    match record.and_then(|record| table_of(name, record)) {
        Some(table) => board.config.tables.push(table),
        None => {
            return refused(
                "the run has no complete cell".to_owned(),
                "measure it again",
            );
        }
    }
    // Reading it back checks the name of the table.
    board::BoardConfig::read(BOARD_FILE, &board.config.text())?;
    Ok(())
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
    let help = match checked.findings.iter().any(|it| it.rule == "E13") {
        true => "measure with the command of a table, or make a table with `--new-table NAME`",
        false => "correct the first finding, or measure again",
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

fn shown(added: &SubmissionAdded, board: &Path) -> String {
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
    let board = board.display();
    text.push_str(&format!(
        "next: `pgmeter board build {board} -o SITE` makes the site\n"
    ));
    text
}
