//! The programs that `mode = "exec"` starts, one a file.

use std::ffi::{OsStr, OsString};

use super::{Act, Step};

/// A word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// As it stands.
    Text(String),
    /// The file's path behind a text, which may be empty.
    File {
        /// What stands before the path.
        prefix: &'static str,
    },
}

/// A program and what it is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The program's name; whoever starts it looks it up once and starts it by its path, as a
    /// shell that remembers where programs are.
    pub program: &'static str,
    /// Its arguments.
    pub words: Vec<Word>,
}

/// How one step works by programs.
///
/// Each file takes one command, waited for before the next; standard output and error go to the
/// null device. The step's user and system time are those of the children.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exec {
    /// The command of each file.
    pub each: Command,
    /// What to start as often, before the steps, to learn what starting alone takes; it touches
    /// no file.
    pub baseline: Command,
}

impl Exec {
    /// The commands of a step: `touch` for empty files, `dd` with one write for others; `stat`;
    /// `rm`.
    #[must_use]
    pub fn of(step: &Step) -> Self {
        let file = |prefix| Word::File { prefix };
        let text = |text: &str| Word::Text(text.to_owned());
        let named = |program| Command {
            program,
            words: vec![file("")],
        };
        let each = match (step.act, step.size_bytes) {
            (Act::Remove, _) => named("rm"),
            (Act::Stat, _) => named("stat"),
            (Act::Create, 0) => named("touch"),
            (Act::Create, size_bytes) => Command {
                program: "dd",
                words: vec![
                    text("if=/dev/zero"),
                    file("of="),
                    text(&format!("bs={size_bytes}")),
                    text("count=1"),
                ],
            },
        };
        let baseline = Command {
            program: "true",
            words: Vec::new(),
        };
        Self { each, baseline }
    }
}

impl Command {
    /// The arguments for a file.
    ///
    /// The path should not begin with a dash: it would be taken for an option.
    #[must_use]
    pub fn arguments(&self, path: &OsStr) -> Vec<OsString> {
        let argument = |word: &Word| match word {
            Word::Text(text) => OsString::from(text),
            Word::File { prefix } => {
                let mut argument = OsString::from(prefix);
                argument.push(path);
                argument
            }
        };
        self.words.iter().map(argument).collect()
    }
}
