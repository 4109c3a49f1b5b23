//! Work on many files as records of all versions have it.

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::files::FilePlan;
use crate::classics::create_remove::CreateRemovePlan;
use crate::classics::fs_mark::FsMarkPlan;
use crate::classics::lat_fs::LatFsPlan;
use crate::postmark::StoredPlan;
use crate::program::Program;

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

impl<'de> Deserialize<'de> for FilePlan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match StoredFilePlan::deserialize(deserializer)? {
            StoredFilePlan::Postmark(plan) => {
                Self::Program(Box::new(plan.program().map_err(D::Error::custom)?))
            }
            StoredFilePlan::CreateRemove(plan) => Self::Program(Box::new(plan.program())),
            StoredFilePlan::LatFs(plan) => Self::Program(Box::new(plan.program())),
            StoredFilePlan::FsMark(plan) => Self::FsMark(plan),
            StoredFilePlan::Program(program) => Self::Program(program),
        })
    }
}
