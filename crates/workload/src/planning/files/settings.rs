//! The keys of a file workload's table as settings.

use units::Bytes;

use crate::classics::fs_mark::{FsMarkPlan, Subdirectories};
use crate::diagnostic::Diagnostic;
use crate::model::{Table, Workload};
use crate::plan::{FilePlan, Setting, Source};
use crate::program::Program;

use super::super::Context;
use crate::word::text_of;

/// Notes what a program's own tables say, all of which is written.
fn note_program(workload: &Workload, program: &Program, context: &mut Context) {
    for setting in program.settings() {
        context.settings.push(Setting {
            workload: workload.name_or_default().to_owned(),
            key: setting.key,
            value: setting.value,
            source: Source::Written,
        });
    }
}

/// A key, its value as text, and whether the workload has it.
type Row = (&'static str, String, bool);

/// Notes every key of the table with its value and where that came from.
///
/// # Errors
/// A value that the table cannot have.
pub(super) fn note(
    workload: &Workload,
    table: Table,
    files: &FilePlan,
    context: &mut Context,
) -> Result<(), Diagnostic> {
    let rows = match files {
        FilePlan::FsMark(plan) => fs_mark(workload, plan),
        FilePlan::Program(program) if table == Table::Program => {
            note_program(workload, program, context);
            return Ok(());
        }
        FilePlan::Program(_) => {
            let rows = workload.table_settings();
            let rows = rows.map_err(|error| Diagnostic::error("", error.to_string()))?;
            let rows = rows.into_iter();
            rows.map(|row| (row.key, row.value, row.is_written))
                .collect()
        }
    };
    for (key, value, is_written) in rows {
        // The number of workers is that of fs_mark's threads.
        let by_workers = key == "threads" && context.overrides.has("workers");
        let by_option = by_workers || context.overrides.has_in(table, key);
        let source = Source::of(by_option, is_written);
        context.settings.push(Setting {
            workload: workload.name_or_default().to_owned(),
            key: format!("{}.{key}", table.key()),
            value,
            source,
        });
    }
    Ok(())
}

fn fs_mark(workload: &Workload, plan: &FsMarkPlan) -> Vec<Row> {
    let written = workload.fs_mark.clone().unwrap_or_default();
    let write_size = Bytes(plan.write_bytes.into()).to_string();
    let mut rows = vec![
        (
            "threads",
            plan.thread_count.to_string(),
            written.threads.or(workload.workers).is_some(),
        ),
        (
            "files",
            plan.file_count.to_string(),
            written.files.is_some(),
        ),
        (
            "size",
            Bytes(plan.size_bytes).to_string(),
            written.size.is_some(),
        ),
        ("write_size", write_size, written.write_size.is_some()),
        (
            "sync_method",
            text_of(&plan.sync_method),
            written.sync_method.is_some(),
        ),
        (
            "name_length",
            plan.name_length.to_string(),
            written.name_length.is_some(),
        ),
        (
            "random_length",
            plan.random_length.to_string(),
            written.random_length.is_some(),
        ),
        (
            "loops",
            plan.iterations.to_string(),
            written.loops.is_some(),
        ),
        ("keep", plan.is_kept.to_string(), written.keep.is_some()),
        (
            "until_full",
            plan.until_full.to_string(),
            written.until_full.is_some(),
        ),
        (
            "mkdir_every_file",
            plan.is_directory_made.to_string(),
            written.mkdir_every_file.is_some(),
        ),
    ];
    let (count, each) = match plan.subdirectories {
        Subdirectories::None => return rows,
        Subdirectories::ByTime { count } => (count, None),
        Subdirectories::RoundRobin { count, each_count } => (count, Some(each_count)),
    };
    rows.push(("subdirectories", count.to_string(), true));
    rows.extend(each.map(|each| ("files_per_subdirectory", each.to_string(), true)));
    rows
}
