//! `list`: the built-in workloads and packs.

use std::fmt::Write as _;

use workload::builtin;

use crate::args::ListArgs;
use crate::failure::{Exit, Failure};
use crate::terminal::print;

/// Prints each name with its title and source.
pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let all = builtin::list();
    let width = all
        .iter()
        .map(|builtin| builtin.name.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for builtin in all {
        // Writing to a string does not fail.
        let _ = if args.names {
            writeln!(text, "{}", builtin.name)
        } else {
            writeln!(text, "{:width$}  {}", builtin.name, builtin.title)
        };
    }
    print(text)?;
    Ok(Exit::Measured)
}
