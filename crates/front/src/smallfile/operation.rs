//! What is done to each file.

use plan::program::FileOperation;

use crate::options::Value;

/// An operation of the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Operation {
    name: &'static str,
    pub done: Done,
}

/// What it does to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    Write(Opening),
    Read,
    /// A call on its name.
    Name(FileOperation),
    /// A call on its other name.
    Other(FileOperation),
    /// A call that leads from its name to the other one.
    Both(FileOperation),
}

/// How a file is opened that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    New,
    AtStart,
    AtEnd,
    Emptied,
}

const ALL: [(&str, Done); 14] = [
    ("create", Done::Write(Opening::New)),
    ("append", Done::Write(Opening::AtEnd)),
    ("overwrite", Done::Write(Opening::AtStart)),
    ("truncate-overwrite", Done::Write(Opening::Emptied)),
    ("read", Done::Read),
    ("stat", Done::Name(FileOperation::Stat)),
    ("chmod", Done::Name(FileOperation::Chmod)),
    ("rename", Done::Both(FileOperation::Rename)),
    ("delete", Done::Name(FileOperation::Unlink)),
    ("delete-renamed", Done::Other(FileOperation::Unlink)),
    ("symlink", Done::Both(FileOperation::Symlink)),
    ("mkdir", Done::Name(FileOperation::Mkdir)),
    ("rmdir", Done::Name(FileOperation::Rmdir)),
    ("cleanup", Done::Name(FileOperation::Unlink)),
];

/// Operations of the original that are not done here.
const OTHERS: &str = "readdir ls-l setxattr getxattr swift-get swift-put await-create mkfifo";

impl Default for Operation {
    fn default() -> Self {
        let (name, done) = ALL[0];
        Self { name, done }
    }
}

impl Operation {
    /// That of a name.
    ///
    /// # Errors
    /// There is none, or it is not done here.
    pub(super) fn read(&mut self, value: &Value<'_>) -> Result<(), String> {
        let known = ALL.into_iter().find(|(name, _)| *name == value.text);
        let (name, done) =
            known.ok_or_else(|| match OTHERS.split(' ').any(|it| it == value.text) {
                true => format!("the operation `{}` is not done here", value.text),
                false => format!("there is no operation `{}`", value.shown()),
            })?;
        *self = Self { name, done };
        Ok(())
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// The call that each file has once.
    pub(super) const fn call(&self) -> FileOperation {
        match self.done {
            Done::Write(_) | Done::Read => FileOperation::Close,
            Done::Name(call) | Done::Other(call) | Done::Both(call) => call,
        }
    }

    /// Whether it makes what it works on.
    pub(super) const fn makes(&self) -> bool {
        matches!(
            self.done,
            Done::Write(Opening::New) | Done::Name(FileOperation::Mkdir)
        )
    }

    /// Whether later operations need all that it does, so that it is always done to its end.
    pub(super) fn is_whole(&self) -> bool {
        self.makes() || self.name == "cleanup"
    }
}
