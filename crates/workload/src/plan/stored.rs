//! Work on many files as records of all versions have it.

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::classics::create_remove::CreateRemovePlan;
use crate::classics::fs_mark::FsMarkPlan;
use crate::classics::lat_fs::LatFsPlan;
use crate::classics::postmark::StoredPlan;
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

/// What is done to many files, in the place of requests on one large one a target.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(rename = "FilePlan")]
pub(super) enum Written<'a> {
    /// What is done phase by phase.
    Program(&'a Program),
}

#[expect(clippy::ref_option, reason = "serde asks so")]
pub(super) fn serialize<S: Serializer>(
    files: &Option<Box<Program>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let files = files.as_deref().map(Written::Program);
    files.serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<Program>>, D::Error> {
    let Some(stored) = Option::<StoredFilePlan>::deserialize(deserializer)? else {
        return Ok(None);
    };
    Ok(Some(match stored {
        StoredFilePlan::Postmark(plan) => Box::new(plan.program().map_err(D::Error::custom)?),
        StoredFilePlan::CreateRemove(plan) => Box::new(plan.program()),
        StoredFilePlan::LatFs(plan) => Box::new(plan.program()),
        StoredFilePlan::FsMark(plan) => Box::new(plan.program()),
        StoredFilePlan::Program(program) => program,
    }))
}

/// The program of a stored plan of work on files.
#[cfg(test)]
pub(crate) fn read(text: &str) -> Program {
    let mut reader = serde_json::Deserializer::from_str(text);
    *deserialize(&mut reader).unwrap().unwrap()
}
