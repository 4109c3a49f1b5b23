//! Settings from the keys of a file workload's table.

use description::model::{Workload, WorkloadTable};
use plan::Diagnostic;
use plan::program::Program;
use plan::{Setting, Source};

use super::super::Context;

/// Notes the settings of a program's own tables, all of which are written.
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

/// Notes every key of the table with its value and the source of the value.
///
/// # Errors
/// If a value is invalid.
pub(super) fn note(
    workload: &Workload,
    table: WorkloadTable,
    program: &Program,
    target_count: usize,
    context: &mut Context,
) -> Result<(), Diagnostic> {
    if table == WorkloadTable::Program {
        note_program(workload, program, context);
        return Ok(());
    }
    let rows = workload.table_settings(target_count);
    for row in rows.map_err(|error| Diagnostic::error("", error.to_string()))? {
        // The threads of a table are the workers.
        let from_workers = row.key == "threads" && context.overrides.has("workers");
        let from_option = from_workers || context.overrides.has_in(table, row.key);
        context.settings.push(Setting {
            workload: workload.name_or_default().to_owned(),
            key: format!("{}.{}", table.key(), row.key),
            value: row.value,
            source: Source::of(from_option, row.is_written),
        });
    }
    Ok(())
}
