//! What is done to each file.

use workload::program::FileOperation;

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

const fn op(name: &'static str, done: Done) -> Operation {
    Operation { name, done }
}

const ALL: [Operation; 14] = [
    op("create", Done::Write(Opening::New)),
    op("append", Done::Write(Opening::AtEnd)),
    op("overwrite", Done::Write(Opening::AtStart)),
    op("truncate-overwrite", Done::Write(Opening::Emptied)),
    op("read", Done::Read),
    op("stat", Done::Name(FileOperation::Stat)),
    op("chmod", Done::Name(FileOperation::Chmod)),
    op("rename", Done::Both(FileOperation::Rename)),
    op("delete", Done::Name(FileOperation::Unlink)),
    op("delete-renamed", Done::Other(FileOperation::Unlink)),
    op("symlink", Done::Both(FileOperation::Symlink)),
    op("mkdir", Done::Name(FileOperation::Mkdir)),
    op("rmdir", Done::Name(FileOperation::Rmdir)),
    op("cleanup", Done::Name(FileOperation::Unlink)),
];

/// Operations of the original that are not done here.
const OTHERS: &str = "readdir ls-l setxattr getxattr swift-get swift-put await-create mkfifo";

impl Default for Operation {
    fn default() -> Self {
        ALL[0]
    }
}

impl Operation {
    /// That of a name.
    ///
    /// # Errors
    /// There is none, or it is not done here.
    pub(super) fn read(&mut self, value: &Value<'_>) -> Result<(), String> {
        let known = ALL.iter().find(|it| it.name == value.text);
        *self = *known.ok_or_else(|| match OTHERS.split(' ').any(|it| it == value.text) {
            true => format!("the operation `{}` is not done here", value.text),
            false => format!("there is no operation `{}`", value.shown()),
        })?;
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
