//! Parses `--fs`: file systems with options.

use std::path::{Path, PathBuf};

use crate::catalog::{CreationMethod, ENTRIES, LabFileSystem};
use crate::command_line;
use crate::error::LabError;

/// A file system to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileSystemChoice {
    /// Name in tables, unique in a lab.
    pub label: String,
    /// Kind of the choice.
    pub kind: ChoiceKind,
}

/// Origin of the file system: created by the lab, or existing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChoiceKind {
    /// A file system that the lab creates.
    Created {
        /// The file system.
        entry: &'static LabFileSystem,
        /// Options for the program that creates it, after the fixed ones.
        mkfs_options: Vec<String>,
        /// Mount options, separated by commas.
        mount_options: String,
    },
    /// A directory of an existing file system.
    Path(PathBuf),
}

impl FileSystemChoice {
    /// Parses the values of `--fs`, each a list: `ext2,ext4:-O ^has_journal,xfs,mount=noatime`.
    ///
    /// Each name starts a new file system; options belong to the name before them.
    ///
    /// # Errors
    /// If a name is unknown, options come before any name, or a quote is not closed.
    pub fn read_all(values: &[String]) -> Result<Vec<Self>, LabError> {
        let mut choices = Vec::new();
        for value in values {
            for draft in raw_choices(value)? {
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
        number_duplicates(&mut choices);
        Ok(choices)
    }

    /// A directory of an existing file system.
    #[must_use]
    pub fn of_path(path: &Path) -> Self {
        Self {
            label: path.display().to_string(),
            kind: ChoiceKind::Path(path.to_owned()),
        }
    }

    /// The catalog entry; `None` for an existing directory.
    #[must_use]
    pub const fn entry(&self) -> Option<&'static LabFileSystem> {
        match &self.kind {
            ChoiceKind::Created { entry, .. } => Some(entry),
            ChoiceKind::Path(_) => None,
        }
    }

    /// `true` if the lab provides a block device for it.
    #[must_use]
    pub fn needs_device(&self) -> bool {
        self.entry().is_some_and(|entry| {
            matches!(
                entry.creation_method,
                CreationMethod::Device | CreationMethod::Overlay
            )
        })
    }
}

/// A file system as parsed so far.
struct RawChoice<'a> {
    name: &'a str,
    mkfs: Option<String>,
    mount: Option<String>,
}

impl RawChoice<'_> {
    fn choice(self, value: &str) -> Result<FileSystemChoice, LabError> {
        if let Some(path) = self.name.strip_prefix("path:") {
            return Ok(FileSystemChoice::of_path(Path::new(path)));
        }
        let Some(entry) = LabFileSystem::find(self.name) else {
            return Err(unknown(self.name, None));
        };
        if entry.creation_method == CreationMethod::Pool {
            return Err(LabError::Pool { name: entry.name });
        }
        let mkfs = self.mkfs.unwrap_or_default();
        if let Some(options) = mkfs.trim_start().strip_prefix("mount=") {
            let (name, options) = (entry.name, plan::printable(options));
            return Err(LabError::MountAsMkfs { name, options });
        }
        let mkfs_options = command_line::split(&mkfs).ok_or_else(|| LabError::BadChoice {
            seen: value.to_owned(),
            reason: "a quote is not closed".to_owned(),
        })?;
        if entry.creation_method == CreationMethod::Memory && !mkfs_options.is_empty() {
            let reason = format!("{} has no mkfs that accepts `{mkfs}`", entry.name);
            let seen = value.to_owned();
            return Err(LabError::BadChoice { seen, reason });
        }
        let mount_options = self.mount.unwrap_or_default();
        // With all options, because a lab may have the same file system with different ones.
        let parts = [entry.name, mkfs.trim(), mount_options.as_str()];
        let label: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        Ok(FileSystemChoice {
            label: label.join(" "),
            kind: ChoiceKind::Created {
                entry,
                mkfs_options,
                mount_options,
            },
        })
    }
}

fn raw_choices(value: &str) -> Result<Vec<RawChoice<'_>>, LabError> {
    let mut drafts: Vec<RawChoice> = Vec::new();
    for part in value.split(',') {
        let (name, rest) = match part.split_once(':') {
            // A path may contain colons and is kept whole.
            Some((name, rest)) if name != "path" => (name.trim(), Some(rest.to_owned())),
            _ => (part.trim(), None),
        };
        let begins = name.starts_with("path:") || LabFileSystem::find(name).is_some();
        if begins {
            drafts.push(RawChoice {
                name,
                mkfs: rest,
                mount: None,
            });
            continue;
        }
        // Commas also separate options, so a part that is not a name continues the options before
        // it.
        let is_taken = drafts.last_mut().is_some_and(|draft| draft.take(part));
        if !is_taken && !part.trim().is_empty() {
            let before = drafts.last().map(|draft| draft.name);
            return Err(unknown(name, before));
        }
    }
    Ok(drafts)
}

impl RawChoice<'_> {
    /// Adds an option; `false` if there is nothing that it can belong to.
    fn take(&mut self, part: &str) -> bool {
        if let Some(options) = part.trim().strip_prefix("mount=") {
            self.mount = Some(joined(self.mount.take(), options));
        } else if let Some(options) = part.trim().strip_prefix("mkfs=") {
            self.mkfs = Some(joined(self.mkfs.take(), options));
        // Mount options come after mkfs options, so later parts continue them first.
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

fn unknown(name: &str, before: Option<&str>) -> LabError {
    LabError::UnknownFileSystem {
        name: plan::printable(name),
        nearest: description::nearest(name, ENTRIES.iter().map(|entry| entry.name)),
        before: before.map(plan::printable),
    }
}

/// Numbers repeated file systems in their labels. Measuring the same one twice shows the variation
/// by chance.
fn number_duplicates(choices: &mut [FileSystemChoice]) {
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

    fn read(values: &[&str]) -> Result<Vec<FileSystemChoice>, LabError> {
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        FileSystemChoice::read_all(&values)
    }

    fn labels(values: &[&str]) -> Vec<String> {
        let choices = read(values).unwrap();
        choices.into_iter().map(|choice| choice.label).collect()
    }

    #[test]
    fn a_list_has_one_file_system_per_name() {
        assert_eq!(labels(&["ext2,ext3", "tmpfs"]), ["ext2", "ext3", "tmpfs"]);
    }

    #[test]
    fn options_belong_to_the_name_before_them() {
        let choices = read(&["ext4:-O ^has_journal,^extents,xfs,mount=noatime,logbsize=64k"]);
        let choices = choices.unwrap();
        let ChoiceKind::Created { mkfs_options, .. } = &choices[0].kind else {
            panic!("{choices:?}");
        };
        assert_eq!(mkfs_options, &["-O", "^has_journal,^extents"]);
        let ChoiceKind::Created { mount_options, .. } = &choices[1].kind else {
            panic!("{choices:?}");
        };
        assert_eq!(mount_options, "noatime,logbsize=64k");
        assert_eq!(choices[1].label, "xfs noatime,logbsize=64k");
    }

    #[test]
    fn repeated_file_systems_have_numbered_labels() {
        assert_eq!(labels(&["xfs,xfs,xfs"]), ["xfs", "xfs #2", "xfs #3"]);
    }

    #[test]
    fn a_path_is_used_unchanged() {
        let choices = read(&["path:/mnt/nfs,ext4"]).unwrap();
        assert_eq!(choices[0].kind, ChoiceKind::Path("/mnt/nfs".into()));
        assert!(!choices[0].needs_device() && choices[1].needs_device());
    }

    #[test]
    fn invalid_aging_text_is_refused_with_the_reason() {
        let error = read(&["ext5"]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the lab does not know the file system `ext5`"
        );
        assert!(error.help().unwrap().starts_with("did you mean `ext4`"));
        let nfs = read(&["nfs"]).unwrap_err().help();
        assert!(nfs.unwrap().contains("`--fs path:DIR`"));
        let option = read(&["ext4,noatime"]).unwrap_err().help().unwrap();
        assert_eq!(
            option,
            "if it is a mount option, write `--fs ext4,mount=noatime`"
        );
        assert!(read(&["noatime"]).unwrap_err().help().is_some());
        let mount = read(&["ext4:mount=noatime,data=ordered"]).unwrap_err();
        assert_eq!(
            mount.to_string(),
            "mount options follow `,mount=`, not `:mount=`"
        );
        let help = mount.help().unwrap();
        assert_eq!(help, "write `--fs ext4,mount=noatime,data=ordered`");
        assert!(mount.is_usage_error());
        assert!(read(&[""]).is_err());
        assert!(read(&["zfs"]).unwrap_err().is_usage_error());
        assert!(read(&["tmpfs:-b 4096"]).is_err());
        assert!(read(&["ext4:-L 'a"]).is_err());
    }

    proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[a-z0-9,:= '\"^-]{0,40}") {
            let _ = FileSystemChoice::read_all(&[text]);
        }
    }
}
