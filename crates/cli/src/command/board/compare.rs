//! `board compare`: shows two submissions next to each other.

use std::path::Path;

use board::{CheckedSubmission, SubmissionComparison};
use units::printable;

use super::open::OpenBoard;
use crate::args::board::BoardCompareArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};

/// Compares two submissions in the tables that have both.
pub(super) fn compare(args: &BoardCompareArgs) -> Result<Exit, CliError> {
    let json = args.json.open()?;
    let board = OpenBoard::open(&args.board)?;
    let all = board.check_all(&mut |_, _| Ok(()))?;
    let pair = [&args.first, &args.second];
    let [first, second] = pair.map(|slug| find(&all, slug, &args.board));
    let compared = SubmissionComparison::of(&board.config, [first?, second?]);
    json.give(&compared, || OutputText::prose(shown(&compared)))?;
    Ok(Exit::Success)
}

fn find<'a>(
    all: &'a [CheckedSubmission],
    slug: &str,
    board: &Path,
) -> Result<&'a CheckedSubmission, CliError> {
    all.iter().find(|it| it.slug == slug).ok_or_else(|| {
        let message = format!("the board has no submission `{}`", printable(slug));
        let nearest = description::nearest(slug, all.iter().map(|it| it.slug.as_str()));
        let help = match nearest {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("name a directory of {}/submissions", board.display()),
        };
        CliError::new(Exit::Usage, message, Some(help))
    })
}

fn shown(compared: &SubmissionComparison) -> String {
    let titles = compared
        .titles
        .each_ref()
        .map(|it| printable(it).into_owned());
    if compared.values.is_empty() {
        return format!("no table has both {} and {}\n", titles[0], titles[1]);
    }
    let rows = compared.values.iter().map(|it| {
        let [first, second] = it.values.each_ref().map(board::MeasuredValue::text);
        let ratio = it
            .ratio
            .map_or_else(String::new, |it| format!(" (× {it:.3})"));
        let verdict = match it.verdict(&titles) {
            verdict if verdict.is_empty() => verdict,
            verdict => format!("; better: {verdict}"),
        };
        let (table, column) = (printable(&it.table), printable(&it.column));
        format!("{table}, {column}: {first} and {second}{ratio}{verdict}\n")
    });
    format!(
        "{} and {}\n{}",
        titles[0],
        titles[1],
        rows.collect::<String>()
    )
}
