//! `clean`: removes what a run left that could not do so itself.

use crate::args::CleanArgs;
use crate::failure::{Exit, Failure};
use crate::output::print;

/// Removes what manifests at the path name, and says what was left and why.
pub(crate) fn clean(args: &CleanArgs) -> Result<Exit, Failure> {
    let report = target::clean(&args.path)?;
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
    Ok(if report.left.is_empty() {
        Exit::Measured
    } else {
        Exit::Failed
    })
}
