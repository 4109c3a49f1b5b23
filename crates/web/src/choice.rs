//! Selection of a workload, and changes to it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::RefusedAnswer;
use crate::own_workloads::{OwnFolder, check_name};
use crate::scratch::ChildFile;

/// Maximum number of targets, settings or devices in a request.
const COUNT_MAX: usize = 256;

/// A workload: exactly one of `builtin`, `own` and `text`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadChoice {
    /// Name of a built-in workload or pack.
    pub builtin: Option<String>,
    /// Name of a file in the user's folder.
    pub own: Option<String>,
    /// Text of a workload file of any kind: TOML, `.icf`, a fio job file, and others.
    pub text: Option<String>,
    /// With `text`: name of the file in messages; `workload.toml` by default.
    pub name: Option<String>,
    /// Kind of file, as in `--as`; detected from the content by default.
    pub kind: Option<String>,
    /// `true` to refuse everything that the format's original program would refuse.
    pub strict: bool,
}

/// A workload with changes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadRequest {
    /// The workload.
    pub workload: WorkloadChoice,
    /// Paths of the targets, each below one of the server's roots. They replace the targets of the
    /// file.
    pub targets: Vec<String>,
    /// Other keys of the workload with their values, as in `--set`: `"iodepth": "[1, 8]"`,
    /// `"run_time": "3s"`.
    pub settings: BTreeMap<String, String>,
    /// Block devices that may be overwritten; the server must permit each with
    /// `--overwrite-device`.
    pub overwrite_devices: Vec<String>,
}

impl WorkloadChoice {
    /// The command-line argument for the workload, with the file that it names.
    pub(crate) fn resolve(
        &self,
        folder: &OwnFolder,
    ) -> Result<(String, Option<ChildFile>), RefusedAnswer> {
        match (&self.builtin, &self.own, &self.text) {
            (Some(name), None, None) => match description::builtin::find(name) {
                // The name from the table, so that no text of the request becomes an argument.
                Ok(found) => Ok((found.name.to_owned(), None)),
                Err(error) => {
                    let refusal = RefusedAnswer::missing(error.message);
                    Err(match error.help {
                        Some(help) => refusal.help(help),
                        None => refusal,
                    })
                }
            },
            (None, Some(name), None) => Ok(given(name, folder.load(name)?)),
            (None, None, Some(text)) => {
                let name = self.name.as_deref().unwrap_or("workload.toml");
                // The file is written under this name into a temporary directory.
                check_name(name)?;
                Ok(given(name, text.clone()))
            }
            _ => Err(RefusedAnswer::bad(
                "`workload` must have exactly one of `builtin`, `own` and `text`",
            )),
        }
    }

    /// Name of the workload.
    pub(crate) fn title(&self) -> String {
        let names = [&self.builtin, &self.own, &self.name];
        let name = names.into_iter().flatten().next();
        name.cloned().unwrap_or_else(|| "workload.toml".to_owned())
    }

    /// Command-line options for reading the file.
    pub(crate) fn options(&self) -> Result<Vec<OsString>, RefusedAnswer> {
        let mut options = Vec::new();
        if let Some(kind) = &self.kind {
            // The kind becomes an argument of a command line.
            let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_+".contains(letter);
            if kind.is_empty() || kind.starts_with('-') || !kind.chars().all(is_word) {
                return Err(RefusedAnswer::bad("`kind` is not a kind of workload file"));
            }
            options.push(format!("--as={kind}").into());
        }
        if self.strict {
            options.push("--strict".into());
        }
        Ok(options)
    }
}

impl WorkloadRequest {
    /// Refuses more targets, settings or devices than a person would enter.
    pub(crate) fn check_counts(&self) -> Result<(), RefusedAnswer> {
        let counts = [
            ("targets", self.targets.len()),
            ("settings", self.settings.len()),
            ("overwrite_devices", self.overwrite_devices.len()),
        ];
        match counts.into_iter().find(|(_, count)| *count > COUNT_MAX) {
            Some((name, count)) => {
                let error =
                    format!("there are {count} `{name}`, but at most {COUNT_MAX} are allowed");
                Err(RefusedAnswer::bad(error))
            }
            None => Ok(()),
        }
    }
}

/// A file, and an argument that cannot be mistaken for an option or a built-in workload.
fn given(name: &str, text: String) -> (String, Option<ChildFile>) {
    let word = format!("./{name}");
    let name = name.to_owned();
    (word, Some(ChildFile { name, text }))
}
