//! `clean`: removes what a run left that could not do so itself.

use std::io::{BufRead, IsTerminal, stdin};

use target::Adoptable;

use super::mounts::put_back;
use crate::args::CleanArgs;
use crate::failure::{Exit, Failure};
use crate::output::print;

/// Removes what manifests at the path name, and says what was left and why.
pub(crate) fn clean(args: &CleanArgs) -> Result<Exit, Failure> {
    if args.adopt && !args.yes && !stdin().is_terminal() {
        let help = format!(
            "run it in a terminal, or, to remove them unasked, add `--yes`; `pgmeter clean {}` \
             lists them",
            args.path.display()
        );
        let message = "`--adopt` asks before it removes anything, and nobody can answer";
        return Err(Failure::new(Exit::Usage, message, Some(help)));
    }
    put_back(std::iter::once(args.path.as_path()))?;
    let mut ask = |found: &[Adoptable]| {
        tell!("these have the names, sizes and owner in the manifest, but other inode numbers:");
        tell!("{}", listed(found));
        args.yes || is_confirmed()
    };
    let report = target::clean(&args.path, args.adopt.then_some(&mut ask))?;
    let mut text = String::new();
    if report.is_empty() {
        text = format!("nothing of pgmeter is at `{}`\n", args.path.display());
    }
    for path in &report.removed {
        text.push_str(&format!("removed `{}`\n", path.display()));
    }
    if report.beneath_count > 0 {
        let count = report.beneath_count;
        text.push_str(&format!("removed {count} files and directories beneath\n"));
    }
    for left in &report.left {
        text.push_str(&format!(
            "left `{}`: {}\n",
            left.path.display(),
            left.reason
        ));
    }
    print(&text)?;
    if !args.adopt && !report.adoptable.is_empty() {
        tell!(
            "these could be copies of what pgmeter made (`cp`, a restored backup), or their file \
             system numbers files anew (some FUSE file systems do):\n{}\n\
             help: to remove them as well, run `pgmeter clean --adopt {}`",
            listed(&report.adoptable),
            args.path.display()
        );
    }
    Ok(if report.left.is_empty() {
        Exit::Measured
    } else {
        Exit::Failed
    })
}

fn listed(found: &[Adoptable]) -> String {
    let line = |it: &Adoptable| match it.size_bytes {
        Some(bytes) => format!("  `{}`, {}", it.path.display(), units::Bytes(bytes)),
        None => format!(
            "  `{}`, a directory with {} files and directories",
            it.path.display(),
            it.beneath_count
        ),
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Whether the user's next line says yes.
fn is_confirmed() -> bool {
    tell!("remove them? Type `yes`:");
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).is_ok() && answer.trim() == "yes"
}
