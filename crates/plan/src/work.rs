//! What the workers of a cell do: one of a few kinds of work.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::job::JobFiles;
use crate::program::Program;

/// What the workers of a cell do. Everything else about a cell (how many work, how deep, how fast,
/// how long, how often) says the same whatever the work is.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Work {
    /// Requests on one file or device per target, by the access lines of each worker.
    #[default]
    Access,
    /// Requests of jobs, whose files these are; each worker has a job in place of access lines.
    Requests(Box<JobFiles>),
    /// Calls on many files, by the phases of a program; the workers have no access lines.
    Acts(Box<Program>),
}

impl Work {
    /// Whether it is requests by access lines.
    #[must_use]
    pub const fn is_access(&self) -> bool {
        matches!(self, Self::Access)
    }

    /// Whether it is requests of jobs.
    #[must_use]
    pub const fn is_requests(&self) -> bool {
        matches!(self, Self::Requests(_))
    }

    /// Whether it is calls on many files.
    #[must_use]
    pub const fn is_acts(&self) -> bool {
        matches!(self, Self::Acts(_))
    }

    /// The files of its jobs, if it has jobs.
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

/// As the keys `files` and `jobs` of a cell, one of which is there at most: the form that records
/// of all versions have.
impl Serialize for Work {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WrittenWork::from(self).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Work {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StoredWork::deserialize(deserializer)?.work()
    }
}

impl JsonSchema for Work {
    fn inline_schema() -> bool {
        WrittenWork::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        WrittenWork::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        WrittenWork::json_schema(generator)
    }
}

/// The keys of a cell that say what its workers do.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Work")]
struct WrittenWork<'a> {
    /// Work on many files in place of requests on one large one a target; the workers then have
    /// no access lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<WrittenFiles<'a>>,
    /// The files of its jobs, where its workers have jobs in place of access lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jobs: Option<&'a JobFiles>,
}

impl<'a> From<&'a Work> for WrittenWork<'a> {
    fn from(work: &'a Work) -> Self {
        Self {
            files: work.program().map(WrittenFiles::Program),
            jobs: work.job_files(),
        }
    }
}

/// What is done to many files, in the place of requests on one large one a target.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "FilePlan")]
enum WrittenFiles<'a> {
    /// What is done phase by phase.
    Program(&'a Program),
}

/// The same, as it is read.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StoredFiles {
    Program(Box<Program>),
}

/// The same keys, as they are read.
#[derive(Deserialize)]
struct StoredWork {
    #[serde(default)]
    files: Option<StoredFiles>,
    #[serde(default)]
    jobs: Option<Box<JobFiles>>,
}

impl StoredWork {
    /// The work that they say.
    ///
    /// # Errors
    /// Keys that are there both.
    fn work<E: Error>(self) -> Result<Work, E> {
        match (self.files, self.jobs) {
            (None, None) => Ok(Work::Access),
            (None, Some(jobs)) => Ok(Work::Requests(jobs)),
            (Some(StoredFiles::Program(program)), None) => Ok(Work::Acts(program)),
            (Some(_), Some(_)) => Err(E::custom("a cell has both `files` and `jobs`")),
        }
    }
}
