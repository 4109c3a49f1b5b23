//! Kinds of work of the workers of a cell.

use std::borrow::Cow;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::job::JobFiles;
use crate::program::Program;

/// Kind of work of the workers of a cell. All other fields of a cell (workers, depth, rate, time,
/// repetitions) have the same meaning for every kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Work {
    /// Requests to one file or device per target, by the access lines of each worker.
    #[default]
    Access,
    /// Requests of jobs, which use these files; each worker has a job instead of access lines.
    Requests(Box<JobFiles>),
    /// Calls on many files, by the phases of a program; the workers have no access lines. Shared,
    /// because a cell is copied for each phase and a program may have thousands of phases.
    Acts(Arc<Program>),
}

impl Work {
    /// `true` for requests by access lines.
    #[must_use]
    pub const fn is_access(&self) -> bool {
        matches!(self, Self::Access)
    }

    /// `true` for requests of jobs.
    #[must_use]
    pub const fn is_requests(&self) -> bool {
        matches!(self, Self::Requests(_))
    }

    /// `true` for calls on many files.
    #[must_use]
    pub const fn is_acts(&self) -> bool {
        matches!(self, Self::Acts(_))
    }

    /// The files of its jobs; `None` for other work.
    #[must_use]
    pub fn job_files(&self) -> Option<&JobFiles> {
        match self {
            Self::Requests(files) => Some(files),
            Self::Access | Self::Acts(_) => None,
        }
    }

    /// Its program, if it has one.
    #[must_use]
    pub fn program(&self) -> Option<&Program> {
        match self {
            Self::Acts(program) => Some(program),
            Self::Access | Self::Requests(_) => None,
        }
    }
}

/// Serialized as the keys `files` and `jobs` of a cell, at most one of which is present. Records of
/// all versions have this form.
impl Serialize for Work {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        SerializedWork::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Work {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StoredWork::deserialize(deserializer)?.work()
    }
}

impl JsonSchema for Work {
    fn inline_schema() -> bool {
        SerializedWork::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        SerializedWork::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        SerializedWork::json_schema(generator)
    }
}

/// Keys of a cell that define the work of its workers.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Work")]
struct SerializedWork<'a> {
    /// Work on many files, instead of requests to one large file per target; the workers then have
    /// no access lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<SerializedFiles<'a>>,
    /// Files of its jobs, if its workers run jobs instead of access lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jobs: Option<&'a JobFiles>,
}

impl<'a> From<&'a Work> for SerializedWork<'a> {
    fn from(work: &'a Work) -> Self {
        Self {
            files: work.program().map(SerializedFiles::Program),
            jobs: work.job_files(),
        }
    }
}

/// Work on many files, instead of requests to one large file per target.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "FilePlan")]
enum SerializedFiles<'a> {
    /// A program with phases.
    Program(&'a Program),
}

/// The deserialized form of [`SerializedFiles`].
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StoredFiles {
    Program(Box<Program>),
}

/// The deserialized form of [`SerializedWork`].
#[derive(Deserialize)]
// [`SerializedWork`] borrows from the cell, but a parser has to own what it reads.
struct StoredWork {
    #[serde(default)]
    files: Option<StoredFiles>,
    #[serde(default)]
    jobs: Option<Box<JobFiles>>,
}

impl StoredWork {
    /// The work that the keys define.
    ///
    /// # Errors
    /// If both keys are present.
    fn work<E: Error>(self) -> Result<Work, E> {
        match (self.files, self.jobs) {
            (None, None) => Ok(Work::Access),
            (None, Some(jobs)) => Ok(Work::Requests(jobs)),
            (Some(StoredFiles::Program(program)), None) => Ok(Work::Acts(program.into())),
            (Some(_), Some(_)) => Err(E::custom("a cell has both `files` and `jobs`")),
        }
    }
}
