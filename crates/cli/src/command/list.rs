//! `list`: the built-in workloads and packs.

use std::fmt::Write as _;

use workload::BuiltinList;

use crate::args::ListArgs;
use crate::document::Document;
use crate::failure::{Exit, Failure};

/// Prints each name with its title and source.
pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let output = args.json.open()?;
    let list = BuiltinList::current();
    output.give(&list, || Document::prose(text(&list, args.names)))?;
    Ok(Exit::Measured)
}

fn text(list: &BuiltinList, names_only: bool) -> String {
    let names = list.workloads.iter().map(|builtin| builtin.name.len());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    for builtin in &list.workloads {
        // Writing to a string does not fail.
        let _ = if names_only {
            writeln!(text, "{}", builtin.name)
        } else {
            writeln!(text, "{:width$}  {}", builtin.name, builtin.title)
        };
    }
    text
}
