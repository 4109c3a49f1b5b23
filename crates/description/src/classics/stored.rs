//! Work on many files in early records, which had a kind of work per table.

use serde::Deserialize;
use serde_json::{Value, json};

use plan::program::Program;

use super::create_remove::CreateRemovePlan;
use super::fs_mark::FsMarkPlan;
use super::lat_fs::LatFsPlan;
use super::postmark::StoredPlan;

/// The kinds of work on many files in such records.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum StoredFilePlan {
    Postmark(StoredPlan),
    CreateRemove(CreateRemovePlan),
    LatFs(LatFsPlan),
    FsMark(FsMarkPlan),
}

/// Replaces the `files` of a planned cell by a program if they are of such a kind; leaves
/// everything else unchanged.
///
/// # Errors
/// If the settings are invalid.
pub fn upgrade_files(files: &mut Value) -> serde_json::Result<()> {
    // Files of any other kind are programs already.
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

/// The program of a stored plan of work on many files.
#[cfg(test)]
pub(crate) fn read(text: &str) -> Program {
    program(serde_json::from_str(text).unwrap()).unwrap()
}
