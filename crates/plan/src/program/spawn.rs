//! System programs that work on files, instead of acts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes as Size;

use super::{FileOperation, Group, Pick, PickOrder, Program};

/// System programs that are started one after the other, one per file; each ends before the next
/// starts. The time of starting alone is measured in addition, with a program that does nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "StartedPrograms")]
pub struct Spawn {
    /// Number of the label under which they are counted.
    pub label: u8,
    /// The files, each picked once.
    pub pick: Pick,
    /// Command for each file.
    pub command: FileCommand,
}

/// Command for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileCommand {
    /// Creates an empty file, with `touch`.
    Touch,
    /// Creates a file of this many zero bytes with one write, with `dd`.
    Fill {
        /// At least 1.
        bytes: u64,
    },
    /// Reads a file's attributes, with `stat`.
    Stat,
    /// Removes a file, with `rm`.
    Remove,
    /// Does nothing, with `true`.
    Nothing,
}

/// An argument of a command that works on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandArgument {
    /// A fixed text.
    Text(String),
    /// The file's path, with a prefix.
    File(&'static str),
}

impl FileCommand {
    /// Name of the program. It is looked up once and then started by its path, as by a shell that
    /// caches the paths of commands.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Touch => "touch",
            Self::Fill { .. } => "dd",
            Self::Stat => "stat",
            Self::Remove => "rm",
            Self::Nothing => "true",
        }
    }

    /// Arguments of the program.
    #[must_use]
    pub fn words(self) -> Vec<CommandArgument> {
        let text = |text: &str| CommandArgument::Text(text.to_owned());
        match self {
            Self::Touch | Self::Stat | Self::Remove => vec![CommandArgument::File("")],
            Self::Fill { bytes } => vec![
                text("if=/dev/zero"),
                CommandArgument::File("of="),
                // One block of the whole size makes `dd` write with a single call.
                text(&format!("bs={bytes}")),
                text("count=1"),
            ],
            Self::Nothing => Vec::new(),
        }
    }

    /// `true` if it creates files.
    pub(super) const fn makes(self) -> bool {
        matches!(self, Self::Touch | Self::Fill { .. })
    }

    /// Size in bytes of the files that it creates.
    pub(super) const fn bytes(self) -> u64 {
        match self {
            Self::Fill { bytes } => bytes,
            Self::Touch | Self::Stat | Self::Remove | Self::Nothing => 0,
        }
    }

    /// The corresponding operation of a worker.
    const fn operation(self) -> FileOperation {
        match self {
            Self::Touch | Self::Fill { .. } | Self::Nothing => FileOperation::Create,
            Self::Stat => FileOperation::Stat,
            Self::Remove => FileOperation::Unlink,
        }
    }
}

impl Spawn {
    /// Describes the command in a few words.
    pub(super) fn words(&self, program: &Program) -> String {
        let name = program.filesets.get(usize::from(self.pick.fileset));
        let name = name.map_or("", |it| it.name.as_str());
        let order = match self.pick.order {
            PickOrder::Back => ", from the last to the first",
            PickOrder::Shuffled => ", in a random order",
            _ => "",
        };
        let size = match self.command.bytes() {
            0 => String::new(),
            bytes => format!(" of {}", Size(bytes)),
        };
        format!(
            "start `{}` to {} each file of {name}{size}{order}",
            self.command.program(),
            self.command.operation().name()
        )
    }
}

impl Program {
    /// `true` if it starts system programs.
    #[must_use]
    pub fn starts_programs(&self) -> bool {
        self.groups().any(|group| group.spawn.is_some())
    }
}

impl Group {
    /// A group that starts system programs.
    #[must_use]
    pub fn of_programs(name: &str, spawn: Spawn) -> Self {
        Self {
            name: name.to_owned(),
            workers: Some(1),
            spawn: Some(Box::new(spawn)),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_starts_its_program_for_a_file() {
        let line = |command: FileCommand| {
            let words = command.words().into_iter().map(|word| match word {
                CommandArgument::Text(text) => text,
                CommandArgument::File(before) => format!("{before}d/7"),
            });
            let words: Vec<String> = std::iter::once(command.program().to_owned())
                .chain(words)
                .collect();
            words.join(" ")
        };
        assert_eq!(line(FileCommand::Touch), "touch d/7");
        assert_eq!(
            line(FileCommand::Fill { bytes: 4096 }),
            "dd if=/dev/zero of=d/7 bs=4096 count=1"
        );
        assert_eq!(line(FileCommand::Remove), "rm d/7");
        assert_eq!(line(FileCommand::Stat), "stat d/7");
        assert_eq!(line(FileCommand::Nothing), "true");
    }
}
