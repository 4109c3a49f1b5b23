//! Work on many files as records of all versions have it.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Serialize};

use crate::classics::create_remove::CreateRemovePlan;
use crate::classics::fs_mark::FsMarkPlan;
use crate::classics::lat_fs::LatFsPlan;
use crate::classics::postmark::StoredPlan;
use crate::job::JobFiles;
use crate::program::Program;

use super::Work;

/// What is or was a kind of its own.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StoredFilePlan {
    Postmark(StoredPlan),
    CreateRemove(CreateRemovePlan),
    LatFs(LatFsPlan),
    FsMark(FsMarkPlan),
    Program(Box<Program>),
}

/// What is done to many files, in the place of requests on one large one a target.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "FilePlan")]
pub(super) enum Written<'a> {
    /// What is done phase by phase.
    Program(&'a Program),
}

/// The keys of a cell that say what its workers do.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Work")]
pub(super) struct WrittenWork<'a> {
    /// Work on many files in place of requests on one large one a target; the workers then have
    /// no access lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    files: Option<Written<'a>>,
    /// The files of its jobs, where its workers have jobs in place of access lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    jobs: Option<&'a JobFiles>,
}

impl<'a> From<&'a Work> for WrittenWork<'a> {
    fn from(work: &'a Work) -> Self {
        Self {
            files: work.program().map(Written::Program),
            jobs: work.job_files(),
        }
    }
}

/// The same keys, as a record of any version has them.
#[derive(Deserialize)]
pub(super) struct StoredWork {
    #[serde(default)]
    files: Option<StoredFilePlan>,
    #[serde(default)]
    jobs: Option<Box<JobFiles>>,
}

impl StoredWork {
    /// The work that they say.
    ///
    /// # Errors
    /// Keys that are there both, or settings that no program can have.
    pub fn work<E: Error>(self) -> Result<Work, E> {
        match (self.files, self.jobs) {
            (None, None) => Ok(Work::Access),
            (None, Some(jobs)) => Ok(Work::Requests(jobs)),
            (Some(plan), None) => plan.program().map(Work::Acts),
            (Some(_), Some(_)) => Err(E::custom("a cell has both `files` and `jobs`")),
        }
    }
}

impl StoredFilePlan {
    fn program<E: Error>(self) -> Result<Box<Program>, E> {
        Ok(match self {
            Self::Postmark(plan) => Box::new(plan.program().map_err(E::custom)?),
            Self::CreateRemove(plan) => Box::new(plan.program()),
            Self::LatFs(plan) => Box::new(plan.program()),
            Self::FsMark(plan) => Box::new(plan.program()),
            Self::Program(program) => program,
        })
    }
}

/// The program of a stored plan of work on files.
#[cfg(test)]
pub(crate) fn read(text: &str) -> Program {
    let stored: StoredFilePlan = serde_json::from_str(text).unwrap();
    *stored.program::<serde_json::Error>().unwrap()
}
