//! The table of commands and how a line finds its entry.

use super::Compat;

/// What a line can ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Command {
    Size,
    Number,
    Seed,
    Transactions,
    Location,
    Subdirectories,
    ReadBlock,
    WriteBlock,
    Buffering,
    ReadBias,
    CreateBias,
    Report,
    Run,
    Load,
    Show,
    Help,
    Quit,
}

/// An entry of the table.
pub(super) struct Entry {
    pub(super) command: Command,
    pub(super) name: &'static str,
    pub(super) help: &'static str,
}

const fn entry(command: Command, name: &'static str, help: &'static str) -> Entry {
    Entry {
        command,
        name,
        help,
    }
}

/// The commands in the order in which they are looked for and listed.
const TABLE: [Entry; 17] = [
    entry(
        Command::Size,
        "set size",
        "Sets low and high bounds of files",
    ),
    entry(
        Command::Number,
        "set number",
        "Sets number of simultaneous files",
    ),
    entry(
        Command::Seed,
        "set seed",
        "Sets seed for random number generator",
    ),
    entry(
        Command::Transactions,
        "set transactions",
        "Sets number of transactions",
    ),
    entry(
        Command::Location,
        "set location",
        "Sets location of working files",
    ),
    entry(
        Command::Subdirectories,
        "set subdirectories",
        "Sets number of subdirectories",
    ),
    entry(Command::ReadBlock, "set read", "Sets read block size"),
    entry(Command::WriteBlock, "set write", "Sets write block size"),
    entry(
        Command::Buffering,
        "set buffering",
        "Sets usage of buffered I/O",
    ),
    entry(
        Command::ReadBias,
        "set bias read",
        "Sets the chance of choosing read over append",
    ),
    entry(
        Command::CreateBias,
        "set bias create",
        "Sets the chance of choosing create over delete",
    ),
    entry(
        Command::Report,
        "set report",
        "Choose verbose or terse report format",
    ),
    entry(Command::Run, "run", "Runs one iteration of benchmark"),
    entry(Command::Load, "load", "Read configuration file"),
    entry(Command::Show, "show", "Displays current configuration"),
    entry(Command::Help, "help", "Prints out available commands"),
    entry(Command::Quit, "quit", "Exit program"),
];

/// The commands that a version knows, in the table's order.
pub(super) fn known(compat: Compat) -> impl Iterator<Item = &'static Entry> {
    TABLE
        .iter()
        .filter(move |entry| entry.command != Command::Load || !compat.is_before_1_51())
}

/// The first command whose whole name begins the line, and the text after it.
///
/// One byte after the name separates, whatever it is; without one there is no parameter.
pub(super) fn find(compat: Compat, line: &[u8]) -> Option<(Command, Option<&[u8]>)> {
    let entry = known(compat).find(|entry| line.starts_with(entry.name.as_bytes()))?;
    Some((entry.command, line.get(entry.name.len() + 1..)))
}

/// The lines of help for the commands that begin with `prefix`, or for all if none does.
pub(super) fn help(compat: Compat, prefix: Option<&[u8]>) -> Vec<u8> {
    let prefix = prefix.unwrap_or_default();
    let lines = |prefix: &[u8]| {
        known(compat)
            .filter(|entry| entry.name.as_bytes().starts_with(prefix))
            .map(|entry| format!("{} - {}\n", entry.name, entry.help))
            .collect::<String>()
            .into_bytes()
    };
    let matching = lines(prefix);
    if matching.is_empty() {
        return lines(b"");
    }
    matching
}
