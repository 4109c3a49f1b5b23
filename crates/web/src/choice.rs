//! Which workload is meant, and what to change in it.

use std::collections::BTreeMap;
use std::ffi::OsString;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answer::Refusal;
use crate::own::{OwnFolder, check_name};
use crate::scratch::Given;

/// More targets or settings are no plan of a person.
const COUNT_MAX: usize = 256;

/// Which workload is meant: exactly one of `builtin`, `own` and `text`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadChoice {
    /// Name of a built-in workload or pack.
    pub builtin: Option<String>,
    /// Name of a file of one's own folder.
    pub own: Option<String>,
    /// The text of a workload file of any kind: TOML, `.icf`, a fio job file, and others.
    pub text: Option<String>,
    /// With `text`: what the file is called, as verdicts name it; `workload.toml` by default.
    pub name: Option<String>,
    /// What kind of file it is, as `--as` takes it; by default its content tells.
    pub kind: Option<String>,
    /// Whether to refuse what the format's own program would refuse.
    pub strict: bool,
}

/// A workload with what to change in it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorkloadRequest {
    /// Which workload.
    pub workload: WorkloadChoice,
    /// Paths of the targets, each beneath one of the roots that the server offers. They replace
    /// those of the file.
    pub targets: Vec<String>,
    /// Other keys of the workload with their values, as `--set` takes them: `"iodepth": "[1, 8]"`,
    /// `"run_time": "3s"`.
    pub settings: BTreeMap<String, String>,
    /// Block devices that may be overwritten, each named to the server by `--overwrite-device`.
    pub overwrite_devices: Vec<String>,
}

impl WorkloadChoice {
    /// The word on a command line, with the file that it names.
    pub(crate) fn resolve(&self, folder: &OwnFolder) -> Result<(String, Option<Given>), Refusal> {
        match (&self.builtin, &self.own, &self.text) {
            (Some(name), None, None) => match description::builtin::find(name) {
                Ok(found) => Ok((found.name.to_owned(), None)),
                Err(error) => {
                    let refusal = Refusal::missing(error.message);
                    Err(match error.help {
                        Some(help) => refusal.help(help),
                        None => refusal,
                    })
                }
            },
            (None, Some(name), None) => Ok(given(name, folder.load(name)?)),
            (None, None, Some(text)) => {
                let name = self.name.as_deref().unwrap_or("workload.toml");
                check_name(name)?;
                Ok(given(name, text.clone()))
            }
            _ => Err(Refusal::bad(
                "`workload` must have exactly one of `builtin`, `own` and `text`",
            )),
        }
    }

    /// What it is called.
    pub(crate) fn title(&self) -> String {
        let names = [&self.builtin, &self.own, &self.name];
        let name = names.into_iter().flatten().next();
        name.cloned().unwrap_or_else(|| "workload.toml".to_owned())
    }

    /// Options for how a file is read.
    pub(crate) fn options(&self) -> Result<Vec<OsString>, Refusal> {
        let mut options = Vec::new();
        if let Some(kind) = &self.kind {
            let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_+".contains(letter);
            if kind.is_empty() || kind.starts_with('-') || !kind.chars().all(is_word) {
                return Err(Refusal::bad("`kind` is no kind of workload file"));
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
    /// Refuses what no person asks.
    pub(crate) fn check_counts(&self) -> Result<(), Refusal> {
        let counts = [
            ("targets", self.targets.len()),
            ("settings", self.settings.len()),
            ("overwrite_devices", self.overwrite_devices.len()),
        ];
        match counts.into_iter().find(|(_, count)| *count > COUNT_MAX) {
            Some((name, count)) => {
                let error =
                    format!("there are {count} `{name}`, and at most {COUNT_MAX} are taken");
                Err(Refusal::bad(error))
            }
            None => Ok(()),
        }
    }
}

/// A file, and the word that cannot be taken for an option or for a built-in workload.
fn given(name: &str, text: String) -> (String, Option<Given>) {
    let word = format!("./{name}");
    let name = name.to_owned();
    (word, Some(Given { name, text }))
}
