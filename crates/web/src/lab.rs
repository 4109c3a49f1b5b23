//! Requests for labs and published experiments: the options of `lab run` and `paper run` that are
//! safe for a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::answer::RefusedAnswer;

/// Maximum number of workloads or file systems.
const COUNT_MAX: usize = 64;
/// Number of measurements of each workload on each file system, unless the request has one.
const REPETITIONS_DEFAULT: u32 = 5;

/// A lab, or a published experiment to repeat.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LabRequest {
    /// Names of built-in workloads or packs to measure; empty with `paper`.
    pub workloads: Vec<String>,
    /// Name of a published experiment to repeat instead.
    pub paper: Option<String>,
    /// File systems to create, by their names in `GET /api/file-systems`; their options are
    /// available only on the command line. Empty to repeat an experiment directly in `target`.
    pub file_systems: Vec<String>,
    /// A directory below one of the roots. Images are created in it, or the experiment is repeated
    /// in it.
    pub target: String,
    /// Size of each image, such as `2GiB`; 8 GiB by default.
    pub image_size: Option<String>,
    /// Number of measurements of each workload on each file system; if missing, 5, or 1 for a
    /// published experiment.
    pub repetitions: Option<u32>,
    /// Scale of the work, above 0 and at most 1.
    pub scale: Option<String>,
    /// `true` to drop the kernel's caches before each workload.
    pub cold: bool,
}

impl LabRequest {
    /// Number of measurements of each workload on each file system; `None` for the default of a
    /// published experiment.
    pub(crate) fn repetitions(&self) -> Option<u32> {
        let default = self.paper.is_none().then_some(REPETITIONS_DEFAULT);
        self.repetitions.or(default)
    }

    /// Number of its runs; `None` for a published experiment, which may need several runs per
    /// measurement.
    pub(crate) fn run_count(&self) -> Option<u32> {
        let count = self.workloads.len() * self.file_systems.len();
        let count = u32::try_from(count).ok().filter(|it| *it > 0)?;
        count.checked_mul(self.repetitions()?)
    }

    /// Title in the queue.
    pub(crate) fn title(&self) -> String {
        let subject = match &self.paper {
            Some(paper) => paper.clone(),
            None => self.workloads.join(", "),
        };
        match self.file_systems.is_empty() {
            true => subject,
            false => format!("{subject} on {}", self.file_systems.join(", ")),
        }
    }

    /// Refuses invalid requests, and names that could act as options or paths on the command line.
    pub(crate) fn check(&self) -> Result<(), RefusedAnswer> {
        let names = [&self.workloads, &self.file_systems];
        if names.iter().any(|names| names.len() > COUNT_MAX) {
            let error = format!("there are more than {COUNT_MAX} workloads or file systems");
            return Err(RefusedAnswer::bad(error));
        }
        for name in &self.workloads {
            description::builtin::find(name)
                .map_err(|error| RefusedAnswer::missing(error.message))?;
        }
        // Options of file systems can name other paths, so only plain names are accepted.
        let others = self.file_systems.iter().chain(&self.paper);
        if let Some(name) = others.into_iter().find(|name| !is_name(name)) {
            let shown: String = name.chars().take(40).collect();
            let error = format!("`{shown}` is not a name of a file system or experiment");
            return Err(RefusedAnswer::bad(error)
                .help("give options of file systems on the command line: `pgmeter lab run --fs`"));
        }
        if self.workloads.is_empty() == self.paper.is_none() {
            return Err(RefusedAnswer::bad("name `workloads` or a `paper`"));
        }
        if self.file_systems.is_empty() && self.paper.is_none() {
            return Err(RefusedAnswer::bad("no file system was chosen")
                .help("name one in `file_systems`, such as `ext4`"));
        }
        let is_scale = |text: &String| {
            let scale = text.parse::<f64>();
            scale.is_ok_and(|scale| scale > 0.0 && scale <= 1.0)
        };
        if self.scale.as_ref().is_some_and(|text| !is_scale(text)) {
            return Err(RefusedAnswer::bad(
                "`scale` is not a number above 0 and at most 1",
            ));
        }
        let size = self.image_size.as_ref().map(|text| text.parse::<Bytes>());
        match size {
            Some(Err(error)) => Err(RefusedAnswer::bad(format!("`image_size`: {error}"))),
            _ => Ok(()),
        }
    }
}

/// `true` for up to 64 lower-case letters, digits and hyphens that do not begin with a hyphen.
pub(crate) fn is_name(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit();
    let begins = name.starts_with(is_letter);
    begins && name.len() <= 64 && name.chars().all(|it| is_letter(it) || it == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lab_request_accepts_only_plain_names() {
        let lab = LabRequest {
            workloads: vec!["postmark".to_owned()],
            file_systems: vec!["ext4".to_owned(), "xfs".to_owned()],
            ..LabRequest::default()
        };
        assert!(lab.check().is_ok());
        assert_eq!(lab.title(), "postmark on ext4, xfs");
        assert_eq!(lab.run_count(), Some(10));
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
