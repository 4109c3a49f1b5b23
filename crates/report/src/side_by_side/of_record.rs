//! Converts the record of a lab to a table.

use results::{LabRecord, LabSection, RunRecord, WarningLevel};

use super::{Listed, SideBySide};
use crate::html::command_line;
use crate::model;
use crate::names::when;

/// Name of the fact that pages show separately, for copying.
pub(super) const REPEAT: &str = "Repeat";

impl SideBySide {
    /// Returns the table of a lab's record.
    #[must_use]
    pub fn of(record: &LabRecord) -> Self {
        let columns = record.columns.iter();
        let columns = columns.map(|it| (it.name.clone(), it.behind.clone()));
        let mut side_by_side = Self::new(record.title.clone(), columns.collect());
        side_by_side.facts = facts(record);
        side_by_side.is_of_guests = record.is_of_guests;
        side_by_side.remarks.clone_from(&record.remarks);
        side_by_side.failures.clone_from(&record.alarms);
        side_by_side.notes.clone_from(&record.notes);
        side_by_side.command.clone_from(&record.command);
        for section in &record.sections {
            side_by_side.take(record, section);
        }
        let runs = side_by_side.runs.iter();
        side_by_side.records = runs.filter_map(|it| record.run(&it.id)).cloned().collect();
        // The store keeps runs separately from labs, so a user can have removed some of them.
        let ids = record.run_ids().into_iter();
        let missing_count = ids.filter(|id| record.run(id).is_none()).count();
        if missing_count > 0 {
            side_by_side
                .failures
                .push(format!("{missing_count} of the runs are no longer there"));
        }
        side_by_side
    }

    fn take(&mut self, record: &LabRecord, section: &LabSection) {
        if !section.words.is_empty() {
            let rows = section.words.iter();
            let rows: Vec<_> = rows
                .map(|it| (it.label.as_str(), it.values.clone()))
                .collect();
            self.add_words(&section.heading, &rows);
            return;
        }
        let runs_of = |ids: &Vec<String>| -> Vec<RunRecord> {
            ids.iter()
                .filter_map(|id| record.run(id))
                .cloned()
                .collect()
        };
        let columns: Vec<Vec<RunRecord>> = section.runs.iter().map(runs_of).collect();
        // The index that `add` gives to this section below.
        let section_index = self.sections.len();
        for (column_index, (column, runs)) in record.columns.iter().zip(&columns).enumerate() {
            let listed = runs.iter().map(|run| Listed {
                position: [section_index, column_index],
                ..listed(run, &column.name, &section.heading)
            });
            self.runs.extend(listed);
        }
        let columns: Vec<&[RunRecord]> = columns.iter().map(Vec::as_slice).collect();
        self.add(&section.heading, &columns, &section.figures);
    }
}

fn listed(run: &RunRecord, column: &str, section: &str) -> Listed {
    let mut warnings: Vec<String> = Vec::new();
    let grave = run.warnings.iter();
    for warning in grave.filter(|it| it.level() == WarningLevel::Warning) {
        let code = warning.code.to_string();
        if !warnings.contains(&code) {
            warnings.push(code);
        }
    }
    Listed {
        id: run.id.clone(),
        column: column.to_owned(),
        section: section.to_owned(),
        position: [0, 0],
        started: run.started_at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        warnings,
    }
}

/// Returns the known facts about time and machine.
fn facts(record: &LabRecord) -> Vec<(&'static str, String)> {
    let when = when(record.started_at, record.finished_at);
    let system = model::host_and_machine(&record.environment);
    let command = command_line(&record.command);
    let facts = [
        ("System", system),
        ("When", when),
        (
            "Lab",
            format!("{}, pgmeter {}", record.id, record.pgmeter.version),
        ),
        (REPEAT, command),
    ];
    let known = facts.into_iter().filter(|(_, text)| !text.is_empty());
    known
        .map(|(name, text)| (name, crate::wrap::printable(&text)))
        .collect()
}
