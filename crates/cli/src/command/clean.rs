//! `clean`: removes leftover files of an interrupted run.

use std::io::{BufRead, IsTerminal, stdin};

use storage::{Adoptable, CleanReport, CleanedTarget, NotRemoved};

use super::mounts::restore_unmounted;
use crate::args::CleanArgs;
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::terminal::one_line;

/// Number of leftover files of a classic shown in the prompt.
const FILES_SHOWN: usize = 5;

/// Removes the files listed in manifests at the path. Reports the files that remain, and why.
pub(crate) fn clean(args: &CleanArgs) -> Result<Exit, CliError> {
    if args.adopt && !args.yes && !stdin().is_terminal() {
        let help = format!(
            "run it in a terminal, or add `--yes` to remove them without asking; `pgmeter clean \
             {}` lists them",
            one_line(&args.path.display())
        );
        let message = "`--adopt` asks before removing anything, but standard input is not a \
                       terminal";
        return Err(CliError::new(Exit::Usage, message, Some(help)));
    }
    let output = args.json.open()?;
    // If the file system is not mounted, the directory below its mount point would be cleaned
    // instead.
    restore_unmounted(std::iter::once(args.path.as_path()))?;
    let mut ask = |found: &[Adoptable]| {
        tell!("these match the manifest in name, size and owner, but not in inode number:");
        tell_text!("{}\n", listed(found));
        args.yes || is_confirmed()
    };
    let mut report = storage::clean(&args.path, args.adopt.then_some(&mut ask))?;
    clean_classics(args, &mut report)?;
    // Instances of killed recordings belong to no path.
    let (removed, left) = record::remove_leftovers();
    report.removed.extend(removed);
    report.left.extend(left);
    let cleaned = CleanedTarget {
        path: &args.path,
        report: &report,
    };
    output.give(&cleaned, || OutputText::prose(text(args, &report)))?;
    if !args.adopt && !report.adoptable.is_empty() {
        tell_text!(
            "these may be copies of pgmeter's files (`cp`, a restored backup), or their file \
             system renumbers files (some FUSE file systems do):\n{}\n\
             help: to remove them as well, run `pgmeter clean --adopt {}`\n",
            listed(&report.adoptable),
            one_line(&args.path.display())
        );
    }
    Ok(if report.left.is_empty() {
        Exit::Success
    } else {
        Exit::Failed
    })
}

/// Lists removed and remaining files, one per line.
fn text(args: &CleanArgs, report: &CleanReport) -> String {
    let mut text = String::new();
    if report.is_empty() {
        text = format!(
            "nothing left by pgmeter at `{}`\n",
            one_line(&args.path.display())
        );
    }
    for path in &report.removed {
        text.push_str(&format!("removed `{}`\n", one_line(&path.display())));
    }
    if report.beneath_count > 0 {
        let count = report.beneath_count;
        text.push_str(&format!("removed {count} files and directories below\n"));
    }
    for left in &report.left {
        text.push_str(&format!(
            "left `{}`: {}\n",
            one_line(&left.path.display()),
            one_line(&left.reason)
        ));
    }
    text
}

/// Removes the leftover files of a killed `as`, after a prompt.
fn clean_classics(args: &CleanArgs, report: &mut CleanReport) -> Result<(), CliError> {
    let (leftovers, left) = storage::classic_leftovers(&args.path)?;
    report.left.extend(left);
    for leftover in leftovers {
        let count = leftover.files().count();
        // A manifest without remaining files can be removed without a question.
        if count > 0 {
            let first = leftover.files().take(FILES_SHOWN);
            let first: Vec<_> = first
                .map(|path| format!("`{}`", one_line(&path.display())))
                .collect();
            let more = match count - first.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            tell!(
                "`as {}` was killed here and left {count} files: {}{more}",
                leftover.program(),
                first.join(", ")
            );
            // In-place files lie among the user's own files, so a script must ask for their removal
            // with `--yes`.
            let may_go = args.yes || stdin().is_terminal() && is_confirmed();
            if !may_go {
                let path = args.path.clone();
                tell!(
                    "help: to remove them, run `pgmeter clean --yes {}`",
                    one_line(&path.display())
                );
                let reason = format!("the files of `as {}` are kept", leftover.program());
                report.left.push(NotRemoved { path, reason });
                continue;
            }
        }
        leftover.remove(report);
    }
    Ok(())
}

fn listed(found: &[Adoptable]) -> String {
    let line = |it: &Adoptable| match it.size_bytes {
        Some(bytes) => format!(
            "  `{}`, {}",
            one_line(&it.path.display()),
            units::Bytes(bytes)
        ),
        None => format!(
            "  `{}`, a directory with {} files and directories",
            one_line(&it.path.display()),
            it.beneath_count
        ),
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Returns `true` if the user answers `yes`.
fn is_confirmed() -> bool {
    tell!("remove them? Type `yes`:");
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).is_ok() && answer.trim() == "yes"
}
