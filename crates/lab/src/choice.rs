//! What `--fs` says: file systems with options of their own.

use std::path::{Path, PathBuf};

use crate::catalog::{ENTRIES, Entry, Maker};
use crate::command_line;
use crate::error::LabError;

/// A file system to measure on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// Names it in tables: unlike all others of a lab.
    pub label: String,
    /// What it is.
    pub kind: ChoiceKind,
}

/// What is to be measured on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoiceKind {
    /// One that the lab makes.
    Made {
        /// Which.
        entry: &'static Entry,
        /// Options of its program, after those that it always gets.
        mkfs_options: Vec<String>,
        /// Mount options, separated by commas.
        mount_options: String,
    },
    /// A directory of a file system that is there.
    Path(PathBuf),
}

impl Choice {
    /// Reads the values of `--fs`, each a list: `ext2,ext4:-O ^has_journal,xfs,mount=noatime`.
    ///
    /// A name begins another file system, what follows it belongs to it.
    ///
    /// # Errors
    /// An unknown name, options before any name, or quotes that do not close.
    pub fn read_all(values: &[String]) -> Result<Vec<Self>, LabError> {
        let mut choices = Vec::new();
        for value in values {
            for draft in drafts(value)? {
                choices.push(draft.choice(value)?);
            }
        }
        if choices.is_empty() {
            let seen = values.join(" ");
            return Err(LabError::BadChoice {
                seen,
                reason: "it is empty".to_owned(),
            });
        }
        number_twins(&mut choices);
        Ok(choices)
    }

    /// A directory of a file system that is there.
    #[must_use]
    pub fn of_path(path: &Path) -> Self {
        Self {
            label: path.display().to_string(),
            kind: ChoiceKind::Path(path.to_owned()),
        }
    }

    /// The entry of one that the lab makes.
    #[must_use]
    pub const fn entry(&self) -> Option<&'static Entry> {
        match &self.kind {
            ChoiceKind::Made { entry, .. } => Some(entry),
            ChoiceKind::Path(_) => None,
        }
    }

    /// Whether a block device lies under it that the lab provides.
    #[must_use]
    pub fn needs_device(&self) -> bool {
        self.entry()
            .is_some_and(|entry| matches!(entry.maker, Maker::Device | Maker::Overlay))
    }
}

/// A file system as it is read.
struct Draft<'a> {
    name: &'a str,
    mkfs: Option<String>,
    mount: Option<String>,
}

impl Draft<'_> {
    fn choice(self, value: &str) -> Result<Choice, LabError> {
        if let Some(path) = self.name.strip_prefix("path:") {
            return Ok(Choice::of_path(Path::new(path)));
        }
        let Some(entry) = Entry::find(self.name) else {
            return Err(unknown(self.name));
        };
        if entry.maker == Maker::Pool {
            return Err(LabError::Pool { name: entry.name });
        }
        let mkfs = self.mkfs.unwrap_or_default();
        let mkfs_options = command_line::split(&mkfs).ok_or_else(|| LabError::BadChoice {
            seen: value.to_owned(),
            reason: "a quote is not closed".to_owned(),
        })?;
        if entry.maker == Maker::Memory && !mkfs_options.is_empty() {
            let reason = format!("{} has no mkfs that could take `{mkfs}`", entry.name);
            let seen = value.to_owned();
            return Err(LabError::BadChoice { seen, reason });
        }
        let mount_options = self.mount.unwrap_or_default();
        let parts = [entry.name, mkfs.trim(), mount_options.as_str()];
        let label: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Ok(Choice {
            label: label.join(" "),
            kind: ChoiceKind::Made {
                entry,
                mkfs_options,
                mount_options,
            },
        })
    }
}

fn drafts(value: &str) -> Result<Vec<Draft<'_>>, LabError> {
    let mut drafts: Vec<Draft> = Vec::new();
    for part in value.split(',') {
        let (name, rest) = match part.split_once(':') {
            Some((name, rest)) if name != "path" => (name.trim(), Some(rest.to_owned())),
            _ => (part.trim(), None),
        };
        let begins = name.starts_with("path:") || Entry::find(name).is_some();
        if begins {
            drafts.push(Draft {
                name,
                mkfs: rest,
                mount: None,
            });
            continue;
        }
        let is_taken = drafts.last_mut().is_some_and(|draft| draft.take(part));
        if !is_taken && !part.trim().is_empty() {
            return Err(unknown(name));
        }
    }
    Ok(drafts)
}

impl Draft<'_> {
    /// Takes a part that is not a name; false where it belongs to nothing.
    fn take(&mut self, part: &str) -> bool {
        if let Some(options) = part.trim().strip_prefix("mount=") {
            self.mount = Some(joined(self.mount.take(), options));
        } else if let Some(options) = part.trim().strip_prefix("mkfs=") {
            self.mkfs = Some(joined(self.mkfs.take(), options));
        } else if self.mount.is_some() {
            self.mount = Some(joined(self.mount.take(), part));
        } else if self.mkfs.is_some() {
            self.mkfs = Some(joined(self.mkfs.take(), part));
        } else {
            return false;
        }
        true
    }
}

fn joined(before: Option<String>, part: &str) -> String {
    match before {
        Some(before) if !before.is_empty() => format!("{before},{part}"),
        _ => part.to_owned(),
    }
}

fn unknown(name: &str) -> LabError {
    LabError::UnknownFileSystem {
        name: plan::printable(name),
        nearest: description::nearest(name, ENTRIES.iter().map(|entry| entry.name)),
    }
}

/// The same again is a measurement of chance; its label says which of them it is.
fn number_twins(choices: &mut [Choice]) {
    for index in 1..choices.len() {
        let (before, behind) = choices.split_at_mut(index);
        let twins = before.iter().filter(|it| it.kind == behind[0].kind).count();
        if twins > 0 {
            behind[0].label = format!("{} #{}", behind[0].label, twins + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(values: &[&str]) -> Result<Vec<Choice>, LabError> {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        Choice::read_all(&values)
    }

    fn labels(values: &[&str]) -> Vec<String> {
        let choices = read(values).unwrap();
        choices.into_iter().map(|choice| choice.label).collect()
    }

    #[test]
    fn a_list_has_one_file_system_a_name() {
        assert_eq!(labels(&["ext2,ext3", "tmpfs"]), ["ext2", "ext3", "tmpfs"]);
    }

    #[test]
    fn options_belong_to_the_name_before_them() {
        let choices = read(&["ext4:-O ^has_journal,^extents,xfs,mount=noatime,logbsize=64k"]);
        let choices = choices.unwrap();
        let ChoiceKind::Made { mkfs_options, .. } = &choices[0].kind else {
            panic!("{choices:?}");
        };
        assert_eq!(mkfs_options, &["-O", "^has_journal,^extents"]);
        let ChoiceKind::Made { mount_options, .. } = &choices[1].kind else {
            panic!("{choices:?}");
        };
        assert_eq!(mount_options, "noatime,logbsize=64k");
        assert_eq!(choices[1].label, "xfs noatime,logbsize=64k");
    }

    #[test]
    fn the_same_twice_has_two_labels() {
        assert_eq!(labels(&["xfs,xfs,xfs"]), ["xfs", "xfs #2", "xfs #3"]);
    }

    #[test]
    fn a_path_is_taken_as_it_is() {
        let choices = read(&["path:/mnt/nfs,ext4"]).unwrap();
        assert_eq!(choices[0].kind, ChoiceKind::Path("/mnt/nfs".into()));
        assert!(!choices[0].needs_device() && choices[1].needs_device());
    }

    #[test]
    fn mistakes_are_told() {
        let error = read(&["ext5"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the lab does not know the file system `ext5`"
        );
        assert!(error.help().unwrap().starts_with("did you mean `ext4`"));
        assert!(read(&["ext4,noatime"]).is_err());
        assert!(read(&[""]).is_err());
        assert!(read(&["zfs"]).unwrap_err().is_usage());
        assert!(read(&["tmpfs:-b 4096"]).is_err());
        assert!(read(&["ext4:-L 'a"]).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_reader_panic(text in "[a-z0-9,:= '\"^-]{0,40}") {
            let _ = Choice::read_all(&[text]);
        }
    }
}
