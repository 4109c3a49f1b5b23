//! Work on many files as records of all versions have it.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Serialize};

use crate::classics::create_remove::CreateRemovePlan;
use crate::classics::fs_mark::FsMarkPlan;
use crate::classics::lat_fs::LatFsPlan;
use crate::classics::postmark::StoredPlan;
use crate::program::Program;

/// What is or was a kind of its own.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(super) enum StoredFilePlan {
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

impl StoredFilePlan {
    /// The program that it stands for.
    ///
    /// # Errors
    /// Settings that no program can have.
    pub fn program<E: Error>(self) -> Result<Box<Program>, E> {
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
