//! `board lint`: checks submissions.

use std::path::Path;

use board::{BoardLint, CheckedSubmission, Checker, RuleFinding, RuleLevel, check_together};
use results::Timestamp;
use units::printable;

use super::open::{BOARD_FILE, OpenBoard};
use crate::args::board::BoardLintArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::result_file::record_or_results;
use crate::stored::StoreLocation;

/// Checks boards, single submissions and records.
pub(super) fn lint(args: &BoardLintArgs, location: &StoreLocation) -> Result<Exit, CliError> {
    let json = args.json.open()?;
    let mut checked = Vec::new();
    for path in &args.paths {
        checked.extend(check(path, location)?);
    }
    let lint = BoardLint::of(checked);
    json.give(&lint, || OutputText::prose(shown(&lint)))?;
    Ok(match lint.error_count {
        0 => Exit::Success,
        _ => Exit::Failed,
    })
}

fn check(path: &Path, location: &StoreLocation) -> Result<Vec<CheckedSubmission>, CliError> {
    let nothing = &mut |_: &_, _: &_| Ok(());
    if path.join("submission.toml").is_file() {
        let path = std::path::absolute(path).map_err(|error| CliError::system("lint", &error))?;
        let board = path.parent().and_then(Path::parent).unwrap_or(&path);
        let board = OpenBoard::open(board)?;
        let slug = path.file_name().map(|it| it.to_string_lossy().into_owned());
        let slug = slug.unwrap_or_default();
        // The others are read too, because a copy is found only with its original.
        let mut all = board.check_all(nothing)?;
        all.retain(|it| it.slug == slug);
        return Ok(all);
    }
    if path.is_dir() || path.join(BOARD_FILE).exists() {
        return OpenBoard::open(path)?.check_all(nothing);
    }
    let board = OpenBoard::built_in()?;
    let record = record_or_results(path, location)?;
    let name = path.to_string_lossy();
    let mut checker = Checker::new(&board.config, Timestamp::now());
    let mut checked = vec![checker.check_alone(&name, &record)];
    check_together(&board.config, &mut checked);
    Ok(checked)
}

fn shown(lint: &BoardLint) -> String {
    let with_findings = lint.submissions.iter().filter(|it| !it.findings.is_empty());
    let mut text: String = with_findings.map(submission).collect();
    let count = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let refused = lint.submissions.iter().filter(|it| it.is_refused()).count();
    text.push_str(&format!(
        "{}: {}, {}; {refused} refused\n",
        count(lint.submissions.len(), "submission"),
        count(lint.error_count, "error"),
        count(lint.warning_count, "warning"),
    ));
    text
}

fn submission(it: &CheckedSubmission) -> String {
    let mut text = format!("{} ({})\n", printable(&it.slug), it.trust.name());
    for found in &it.findings {
        text.push_str(&finding(found));
    }
    text
}

/// Returns the line of a finding.
pub(super) fn finding(it: &RuleFinding) -> String {
    let level = match it.level {
        RuleLevel::Error => "error",
        RuleLevel::Warning => "warning",
    };
    let [place, expected, actual] = [&it.place, &it.expected, &it.actual].map(|it| printable(it));
    format!(
        "  {level} {} {}, {place}: expected {expected}; found {actual}\n",
        it.rule, it.name
    )
}
