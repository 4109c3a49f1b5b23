//! The keys of a file workload's table as settings.

use description::model::{Table, Workload};
use plan::Diagnostic;
use plan::program::Program;
use plan::{Setting, Source};

use super::super::Context;

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

/// Notes every key of the table with its value and where that came from.
///
/// # Errors
/// A value that the table cannot have.
pub(super) fn note(
    workload: &Workload,
    table: Table,
    program: &Program,
    target_count: usize,
    context: &mut Context,
) -> Result<(), Diagnostic> {
    if table == Table::Program {
        note_program(workload, program, context);
        return Ok(());
    }
    let rows = workload.table_settings(target_count);
    for row in rows.map_err(|error| Diagnostic::error("", error.to_string()))? {
        // Threads of a table are the workers.
        let by_workers = row.key == "threads" && context.overrides.has("workers");
        let by_option = by_workers || context.overrides.has_in(table, row.key);
        context.settings.push(Setting {
            workload: workload.name_or_default().to_owned(),
            key: format!("{}.{}", table.key(), row.key),
            value: row.value,
            source: Source::of(by_option, row.is_written),
        });
    }
    Ok(())
}
