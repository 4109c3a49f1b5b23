//! Labs and published experiments to start: what `lab run` and `paper run` take, as far as it is
//! safe to ask for from a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::answer::Refusal;

/// More is no plan of a person.
const COUNT_MAX: usize = 64;
/// A lab, or a published experiment to repeat.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LabRequest {
    /// Names of built-in workloads or packs to measure; none with `paper`.
    pub workloads: Vec<String>,
    /// A published experiment in their place, by its name.
    pub paper: Option<String>,
    /// File systems to make, by their names in `GET /api/file-systems`; their options are for the
    /// command line. None for an experiment that is to be repeated in `target` itself.
    pub file_systems: Vec<String>,
    /// A directory beneath one of the roots, in which images are made, or else the experiment is
    /// repeated.
    pub target: String,
    /// Size of each image, such as `2GiB`; 8 GiB by default.
    pub image_size: Option<String>,
    /// How often each workload is measured on each file system; by default as on the command line.
    pub repetitions: Option<u32>,
    /// Scale of the work, above 0 and at most 1.
    pub scale: Option<String>,
    /// Whether the kernel's caches are dropped before each workload.
    pub cold: bool,
}

impl LabRequest {
    /// What it is called in the queue.
    pub(crate) fn title(&self) -> String {
        let what = match &self.paper {
            Some(paper) => paper.clone(),
            None => self.workloads.join(", "),
        };
        match self.file_systems.is_empty() {
            true => what,
            false => format!("{what} on {}", self.file_systems.join(", ")),
        }
    }

    /// Refuses what is no lab, and whatever could be an option or a place on the command line.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        let names = [&self.workloads, &self.file_systems];
        if names.iter().any(|names| names.len() > COUNT_MAX) {
            let error = format!("there are more than {COUNT_MAX} workloads or file systems");
            return Err(Refusal::bad(error));
        }
        for name in &self.workloads {
            description::builtin::find(name).map_err(|error| Refusal::missing(error.message))?;
        }
        let others = self.file_systems.iter().chain(&self.paper);
        if let Some(name) = others.into_iter().find(|name| !is_name(name)) {
            let shown: String = name.chars().take(40).collect();
            let error = format!("`{shown}` is no name of a file system or experiment");
            return Err(Refusal::bad(error)
                .help("options of file systems are for the command line: `pgmeter lab run --fs`"));
        }
        if self.workloads.is_empty() == self.paper.is_none() {
            return Err(Refusal::bad("name `workloads` or a `paper`"));
        }
        if self.file_systems.is_empty() && self.paper.is_none() {
            return Err(Refusal::bad("no file system was chosen")
                .help("name one in `file_systems`, such as `ext4`"));
        }
        let is_scale = |text: &String| {
            let scale = text.parse::<f64>();
            scale.is_ok_and(|scale| scale > 0.0 && scale <= 1.0)
        };
        if self.scale.as_ref().is_some_and(|text| !is_scale(text)) {
            return Err(Refusal::bad(
                "`scale` is not a number above 0 and at most 1",
            ));
        }
        let size = self.image_size.as_ref().map(|text| text.parse::<Bytes>());
        match size {
            Some(Err(error)) => Err(Refusal::bad(format!("`image_size`: {error}"))),
            _ => Ok(()),
        }
    }
}

/// Small letters, digits and hyphens.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let begins = name.starts_with(is_letter);
    begins && name.len() <= 64 && name.chars().all(|it| is_letter(it) || it == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_names_are_taken() {
        let lab = LabRequest {
            workloads: vec!["postmark".to_owned()],
            file_systems: vec!["ext4".to_owned(), "xfs".to_owned()],
            ..LabRequest::default()
        };
        assert!(lab.check().is_ok());
        assert_eq!(lab.title(), "postmark on ext4, xfs");
        for name in [
            "path:/etc",
            "ext4:-d /etc",
            "ext4,mount=suid",
            "-x",
            "",
            "a/b",
        ] {
            let file_systems = vec![name.to_owned()];
            let bad = LabRequest {
                file_systems,
                ..lab.clone()
            };
            assert!(bad.check().is_err(), "{name}");
        }
        for workload in ["./x.toml", "-h", "/etc/passwd"] {
            let workloads = vec![workload.to_owned()];
            let bad = LabRequest {
                workloads,
                ..lab.clone()
            };
            assert!(bad.check().is_err(), "{workload}");
        }
        for (scale, size) in [("0", "1GiB"), ("2", "1GiB"), ("nan", "1GiB"), ("1", "x")] {
            let bad = LabRequest {
                scale: Some(scale.to_owned()),
                image_size: Some(size.to_owned()),
                ..lab.clone()
            };
            assert!(bad.check().is_err(), "{scale} {size}");
        }
        let both = LabRequest {
            paper: Some("lfs-postmark".to_owned()),
            ..lab.clone()
        };
        assert!(both.check().is_err());
        let nothing = LabRequest {
            file_systems: Vec::new(),
            ..lab
        };
        assert!(nothing.check().is_err());
    }
}
