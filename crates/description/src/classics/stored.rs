//! Work on many files as the first records have it, which had a kind for each table.

use serde::Deserialize;
use serde_json::{Value, json};

use plan::program::Program;

use super::create_remove::CreateRemovePlan;
use super::fs_mark::FsMarkPlan;
use super::lat_fs::LatFsPlan;
use super::postmark::StoredPlan;

/// What was a kind in its own right.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StoredFilePlan {
    Postmark(StoredPlan),
    CreateRemove(CreateRemovePlan),
    LatFs(LatFsPlan),
    FsMark(FsMarkPlan),
}

/// Puts the program in the place of a planned cell's `files` if they are of such a kind; all else
/// stays as it is.
///
/// # Errors
/// Settings that no program can have.
pub fn upgrade_files(files: &mut Value) -> serde_json::Result<()> {
    if let Ok(stored) = StoredFilePlan::deserialize(&*files) {
        let mut program = units::json_value(&program(stored)?)?;
        program["kind"] = json!("program");
        *files = program;
    }
    Ok(())
}

fn program(stored: StoredFilePlan) -> serde_json::Result<Program> {
    Ok(match stored {
        StoredFilePlan::Postmark(plan) => plan.program().map_err(serde::de::Error::custom)?,
        StoredFilePlan::CreateRemove(plan) => plan.program(),
        StoredFilePlan::LatFs(plan) => plan.program(),
        StoredFilePlan::FsMark(plan) => plan.program(),
    })
}

/// The program of a stored plan of work on files.
#[cfg(test)]
pub(crate) fn read(text: &str) -> Program {
    program(serde_json::from_str(text).unwrap()).unwrap()
}
