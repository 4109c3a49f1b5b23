//! The table of commands, and the search for a line's command.

use description::classics::postmark::Compat;

/// A command of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PostmarkCommand {
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

/// An entry in the table of commands.
pub(super) struct CommandEntry {
    pub(super) command: PostmarkCommand,
    pub(super) name: &'static str,
    pub(super) help: &'static str,
}

const fn entry(command: PostmarkCommand, name: &'static str, help: &'static str) -> CommandEntry {
    CommandEntry {
        command,
        name,
        help,
    }
}

/// All commands, in the order in which they are searched and listed.
const TABLE: [CommandEntry; 17] = [
    entry(
        PostmarkCommand::Size,
        "set size",
        "Sets low and high bounds of files",
    ),
    entry(
        PostmarkCommand::Number,
        "set number",
        "Sets number of simultaneous files",
    ),
    entry(
        PostmarkCommand::Seed,
        "set seed",
        "Sets seed for random number generator",
    ),
    entry(
        PostmarkCommand::Transactions,
        "set transactions",
        "Sets number of transactions",
    ),
    entry(
        PostmarkCommand::Location,
        "set location",
        "Sets location of working files",
    ),
    entry(
        PostmarkCommand::Subdirectories,
        "set subdirectories",
        "Sets number of subdirectories",
    ),
    entry(
        PostmarkCommand::ReadBlock,
        "set read",
        "Sets read block size",
    ),
    entry(
        PostmarkCommand::WriteBlock,
        "set write",
        "Sets write block size",
    ),
    entry(
        PostmarkCommand::Buffering,
        "set buffering",
        "Sets usage of buffered I/O",
    ),
    entry(
        PostmarkCommand::ReadBias,
        "set bias read",
        "Sets the chance of choosing read over append",
    ),
    entry(
        PostmarkCommand::CreateBias,
        "set bias create",
        "Sets the chance of choosing create over delete",
    ),
    entry(
        PostmarkCommand::Report,
        "set report",
        "Choose verbose or terse report format",
    ),
    entry(
        PostmarkCommand::Run,
        "run",
        "Runs one iteration of benchmark",
    ),
    entry(PostmarkCommand::Load, "load", "Read configuration file"),
    entry(
        PostmarkCommand::Show,
        "show",
        "Displays current configuration",
    ),
    entry(
        PostmarkCommand::Help,
        "help",
        "Prints out available commands",
    ),
    entry(PostmarkCommand::Quit, "quit", "Exit program"),
];

/// Commands of a version, in the table's order.
pub(super) fn known(compat: Compat) -> impl Iterator<Item = &'static CommandEntry> {
    TABLE
        .iter()
        // The command `load` came with version 1.51.
        .filter(move |entry| entry.command != PostmarkCommand::Load || !compat.is_before_1_51())
}

/// Finds the first command whose name begins the line, and the text after it.
///
/// Any byte may separate the name and its parameter; without a separator there is no parameter.
pub(super) fn find(compat: Compat, line: &[u8]) -> Option<(PostmarkCommand, Option<&[u8]>)> {
    // The original compares prefixes, so `set sizes` is accepted as `set size`.
    let entry = known(compat).find(|entry| line.starts_with(entry.name.as_bytes()))?;
    Some((entry.command, line.get(entry.name.len() + 1..)))
}

/// Help on the commands that begin with `prefix`, or on all commands if none does.
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
