//! Operations on each file.

use plan::program::FileOperation;

use crate::options::WrittenValue;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SmallfileOperation {
    name: &'static str,
    pub effect: FileEffect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileEffect {
    Write(Opening),
    Read,
    /// A call on the file's name.
    Name(FileOperation),
    /// A call on the file's other name.
    OtherName(FileOperation),
    /// A call from the file's name to its other name.
    BothNames(FileOperation),
    /// Sets the extended attributes of the file, or reads them.
    Attributes(FileOperation),
    /// Lists each directory of the files.
    List,
    /// Lists each directory of the files, and calls `stat` for each file.
    ListAndStat,
}

/// How a file is opened for writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    New,
    AtStart,
    AtEnd,
    Truncated,
}

const ALL: [(&str, FileEffect); 18] = [
    ("create", FileEffect::Write(Opening::New)),
    ("append", FileEffect::Write(Opening::AtEnd)),
    ("overwrite", FileEffect::Write(Opening::AtStart)),
    ("truncate-overwrite", FileEffect::Write(Opening::Truncated)),
    ("read", FileEffect::Read),
    ("stat", FileEffect::Name(FileOperation::Stat)),
    ("chmod", FileEffect::Name(FileOperation::Chmod)),
    ("rename", FileEffect::BothNames(FileOperation::Rename)),
    ("delete", FileEffect::Name(FileOperation::Unlink)),
    (
        "delete-renamed",
        FileEffect::OtherName(FileOperation::Unlink),
    ),
    ("symlink", FileEffect::BothNames(FileOperation::Symlink)),
    ("mkdir", FileEffect::Name(FileOperation::Mkdir)),
    ("rmdir", FileEffect::Name(FileOperation::Rmdir)),
    ("cleanup", FileEffect::Name(FileOperation::Unlink)),
    ("setxattr", FileEffect::Attributes(FileOperation::Setxattr)),
    ("getxattr", FileEffect::Attributes(FileOperation::Getxattr)),
    ("readdir", FileEffect::List),
    ("ls-l", FileEffect::ListAndStat),
];

/// Operations of the original that are not supported.
const UNSUPPORTED: &str = "swift-get swift-put await-create mkfifo";

impl Default for SmallfileOperation {
    fn default() -> Self {
        let (name, done) = ALL[0];
        Self { name, effect: done }
    }
}

impl SmallfileOperation {
    /// Parses the name of an operation.
    ///
    /// # Errors
    /// The operation is unknown or not supported.
    pub(super) fn read(&mut self, value: &WrittenValue<'_>) -> Result<(), String> {
        let known = ALL.into_iter().find(|(name, _)| *name == value.text);
        let (name, done) =
            known.ok_or_else(|| match UNSUPPORTED.split(' ').any(|it| it == value.text) {
                true => format!(
                    "the operation `{}` is not supported; use another one, such as `stat`",
                    value.text
                ),
                false => {
                    let near = description::nearest(value.text, ALL.map(|(name, _)| name));
                    let help = near.map(|near| format!("; did you mean `{near}`?"));
                    let help = help.unwrap_or_default();
                    format!("there is no operation `{}`{help}", value.shown())
                }
            })?;
        *self = Self { name, effect: done };
        Ok(())
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    /// The call that happens once per file, or once per directory if they are only listed.
    pub(super) const fn call(&self) -> FileOperation {
        match self.effect {
            FileEffect::Write(_) | FileEffect::Read | FileEffect::Attributes(_) => {
                FileOperation::Close
            }
            FileEffect::List => FileOperation::List,
            FileEffect::ListAndStat => FileOperation::Stat,
            FileEffect::Name(call) | FileEffect::OtherName(call) | FileEffect::BothNames(call) => {
                call
            }
        }
    }

    /// Name of that call in results.
    pub(super) const fn counted_call(&self) -> &'static str {
        match self.effect {
            // The label of the listing, which replaces the call.
            FileEffect::List => self.name,
            _ => self.call().name(),
        }
    }

    /// `true` if the operation lists the directories of the files.
    pub(super) const fn lists(&self) -> bool {
        matches!(self.effect, FileEffect::List | FileEffect::ListAndStat)
    }

    /// `true` if the operation creates the files or directories.
    pub(super) const fn makes(&self) -> bool {
        matches!(
            self.effect,
            FileEffect::Write(Opening::New) | FileEffect::Name(FileOperation::Mkdir)
        )
    }

    /// `true` if later operations need all files of this one. It then always finishes.
    pub(super) fn is_whole(&self) -> bool {
        self.makes() || self.name == "cleanup"
    }
}
