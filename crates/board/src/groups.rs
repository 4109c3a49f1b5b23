//! Cells of a record, grouped by what they repeat.

use results::{CellRecord, RunRecord, Status};

/// Returns the complete cells of a record, grouped by what they repeat.
pub(crate) fn groups_of(record: &RunRecord) -> Vec<Vec<&CellRecord>> {
    let mut groups: Vec<Vec<&CellRecord>> = Vec::new();
    for cell in record
        .cells
        .iter()
        .filter(|it| it.status == Status::Complete)
    {
        match groups.iter_mut().find(|group| group[0].key() == cell.key()) {
            Some(group) => group.push(cell),
            None => groups.push(vec![cell]),
        }
    }
    groups
}
