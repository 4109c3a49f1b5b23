//! `board build`: makes the static site.

use std::fs;
use std::path::Path;

use board::{BoardBuilt, BoardSite, CheckedSubmission, NewFile, SiteEntry, Submission};

use super::files::write_below;
use super::open::{OpenBoard, unreadable};
use crate::args::board::BoardBuildArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::output::cannot_write;

/// Name of a file that only a site has.
const MARK: &str = "board.json";

/// Makes the site of a board.
pub(super) fn build(args: &BoardBuildArgs) -> Result<Exit, CliError> {
    let json = args.json.open()?;
    let board = OpenBoard::open(&args.directory)?;
    clear(&args.output)?;
    let mut files = 0;
    let mut write = |file: &NewFile| {
        files += 1;
        write_below(&args.output, file)
    };
    let mut entries = Vec::new();
    // The record of each submission is dropped before the next one is read.
    let checked = board.check_all(&mut |submission, checked| {
        for file in pages_of(&board, submission)? {
            write(&file)?;
        }
        entries.push(SiteEntry::of(submission, checked));
        Ok(())
    })?;
    // Some verdicts need all submissions, and unreadable ones have no page.
    let find = |slug: &str| checked.iter().find(|it| it.slug == slug);
    for entry in &mut entries {
        if let Some(it) = find(&entry.checked.slug) {
            entry.checked = it.clone();
        }
    }
    let site = BoardSite::new(&board.config, &entries, &checked);
    site.write(&mut |file: NewFile| write(&file))?;
    let refused = checked.iter().filter(|it| it.is_refused());
    let built = BoardBuilt {
        directory: args.output.to_string_lossy().into_owned(),
        file_count: files,
        submission_count: checked.len(),
        refused: refused
            .map(|it: &CheckedSubmission| it.slug.clone())
            .collect(),
    };
    json.give(&built, || OutputText::prose(shown(&built)))?;
    Ok(Exit::Success)
}

/// Returns the report and the record of a submission; nothing for figures.
fn pages_of(board: &OpenBoard, submission: &Submission) -> Result<Vec<NewFile>, CliError> {
    let Some(record) = submission.record() else {
        return Ok(Vec::new());
    };
    let path = board.submission(&submission.slug).join("record.json");
    // As submitted, so that readers can verify its signature.
    let submitted = fs::read_to_string(&path).map_err(|error| unreadable(&path, &error))?;
    let name = |ending: &str| format!("submissions/{}-{ending}", submission.slug);
    Ok(vec![
        NewFile {
            path: name("report.html"),
            text: report::html(std::slice::from_ref(record)),
        },
        NewFile {
            path: name("record.json"),
            text: submitted,
        },
    ])
}

/// Removes an earlier site, so that no page of a removed submission stays. Other files are refused.
fn clear(site: &Path) -> Result<(), CliError> {
    let has_files = fs::read_dir(site).is_ok_and(|mut entries| entries.next().is_some());
    if !has_files {
        return Ok(());
    }
    if !site.join(MARK).is_file() || !site.join("index.html").is_file() {
        let message = format!("`{}` has files that are no site", site.display());
        let help = "name a new or empty directory";
        return Err(CliError::new(Exit::Usage, message, Some(help.to_owned())));
    }
    for name in ["tables", "submissions"] {
        let path = site.join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).map_err(|error| cannot_write(&path, &error))?;
        }
    }
    Ok(())
}

/// Maximum number of refused submissions that are named.
const REFUSED_MAX: usize = 10;

fn shown(built: &BoardBuilt) -> String {
    let mut text = format!(
        "made {} files of {} submissions in {}\n",
        built.file_count, built.submission_count, built.directory
    );
    if !built.refused.is_empty() {
        let (named, others) = built.refused.split_at(built.refused.len().min(REFUSED_MAX));
        let more = match others.len() {
            0 => String::new(),
            count => format!(" and {count} more"),
        };
        text.push_str(&format!(
            "refused, and therefore not ranked: {}{more}\nnext: `pgmeter board lint` says why\n",
            named.join(", ")
        ));
    }
    text
}
