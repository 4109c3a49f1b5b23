//! `list`: the built-in workloads and packs, and the programs that pgmeter can emulate.

use std::fmt::Write as _;

use description::builtin::Builtin;
use front::Front;
use planning::{BuiltinList, ListedProgram};

use crate::args::{ListArgs, programs};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};

/// Prints names and titles, grouped by origin.
pub(crate) fn list(args: &ListArgs) -> Result<Exit, CliError> {
    let output = args.json.open()?;
    let list = BuiltinList::with(emulated_programs());
    output.give(&list, || {
        OutputText::prose(match args.names {
            true => names(&list),
            false => text(&list),
        })
    })?;
    Ok(Exit::Success)
}

/// Returns the programs that `as` can emulate.
fn emulated_programs() -> Vec<ListedProgram> {
    let listed = |program: clap::builder::PossibleValue| {
        let name = program.get_name().to_owned();
        let help = program.get_help().map(ToString::to_string);
        let file = front::find(&name).and_then(|front: &Front| front.file.as_ref());
        ListedProgram {
            title: help.unwrap_or_default(),
            files: file.map(|file| file.kind),
            name,
        }
    };
    programs().into_iter().map(listed).collect()
}

fn names(list: &BuiltinList) -> String {
    let names = list.workloads.iter();
    names.map(|builtin| format!("{}\n", builtin.name)).collect()
}

fn text(list: &BuiltinList) -> String {
    let names = list.workloads.iter().map(|builtin| builtin.name.len());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    for (origin, workloads) in by_origin(&list.workloads) {
        let _ = writeln!(text, "{origin}");
        for builtin in workloads {
            let _ = writeln!(text, "  {:width$}  {}", builtin.name, builtin.title);
        }
        text.push('\n');
    }
    text.push_str("other programs, emulated by `pgmeter as NAME ARGUMENTS`\n");
    for program in &list.programs {
        let files = program.files.map(|kind| format!("; `run` takes a {kind}"));
        let (name, title) = (&program.name, &program.title);
        let _ = writeln!(
            text,
            "  {name:width$}  {title}{}",
            files.unwrap_or_default()
        );
    }
    text
}

/// Groups workloads by origin, in the order of their first appearance.
fn by_origin(workloads: &[Builtin]) -> Vec<(&'static str, Vec<&Builtin>)> {
    let mut groups: Vec<(&'static str, Vec<&Builtin>)> = Vec::new();
    for builtin in workloads {
        match groups
            .iter_mut()
            .find(|(origin, _)| *origin == builtin.origin)
        {
            Some((_, group)) => group.push(builtin),
            None => groups.push((builtin.origin, vec![builtin])),
        }
    }
    groups
}
