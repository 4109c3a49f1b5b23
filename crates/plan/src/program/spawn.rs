//! Programs of the system that work on files, in the place of acts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes as Size;

use super::{FileOperation, Group, Order, Pick, Program};

/// Programs that are started one after the other, one for each file; each is waited for before the
/// next. What starting alone takes is measured beside, with a program that does nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "StartedPrograms")]
pub struct Spawn {
    /// The number of the label that they are counted under.
    pub label: u8,
    /// The files, each once.
    pub pick: Pick,
    /// What each is started for.
    pub command: FileCommand,
}

/// What a program is started for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FileCommand {
    /// To make an empty file, by `touch`.
    Touch,
    /// To make a file of so many zeros by one write, by `dd`.
    Fill {
        /// At least 1.
        bytes: u64,
    },
    /// To read a file's attributes, by `stat`.
    Stat,
    /// To remove a file, by `rm`.
    Remove,
    /// To do nothing, by `true`.
    Nothing,
}

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandWord {
    /// As it stands.
    Text(String),
    /// The file's path behind a text.
    File(&'static str),
}

impl FileCommand {
    /// The program's name; whoever starts it looks it up once and starts it by its path, as a
    /// shell that remembers where programs are.
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

    /// What the program is told.
    #[must_use]
    pub fn words(self) -> Vec<CommandWord> {
        let text = |text: &str| CommandWord::Text(text.to_owned());
        match self {
            Self::Touch | Self::Stat | Self::Remove => vec![CommandWord::File("")],
            Self::Fill { bytes } => vec![
                text("if=/dev/zero"),
                CommandWord::File("of="),
                text(&format!("bs={bytes}")),
                text("count=1"),
            ],
            Self::Nothing => Vec::new(),
        }
    }

    /// Whether it makes files.
    pub(super) const fn makes(self) -> bool {
        matches!(self, Self::Touch | Self::Fill { .. })
    }

    /// Bytes of the files that it makes.
    pub(super) const fn bytes(self) -> u64 {
        match self {
            Self::Fill { bytes } => bytes,
            Self::Touch | Self::Stat | Self::Remove | Self::Nothing => 0,
        }
    }

    /// What a call of a worker would be in its place.
    const fn operation(self) -> FileOperation {
        match self {
            Self::Touch | Self::Fill { .. } | Self::Nothing => FileOperation::Create,
            Self::Stat => FileOperation::Stat,
            Self::Remove => FileOperation::Unlink,
        }
    }
}

impl Spawn {
    /// In a few words.
    pub(super) fn words(&self, program: &Program) -> String {
        let name = program.filesets.get(usize::from(self.pick.fileset));
        let name = name.map_or("", |it| it.name.as_str());
        let order = match self.pick.order {
            Order::Back => ", from the last to the first",
            Order::Shuffled => ", in a random order",
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
    /// Whether programs are started.
    #[must_use]
    pub fn starts_programs(&self) -> bool {
        self.groups().any(|group| group.spawn.is_some())
    }
}

impl Group {
    /// A group whose work is that programs are started.
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
                CommandWord::Text(text) => text,
                CommandWord::File(before) => format!("{before}d/7"),
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
