//! Tables of the settings that vary.

use results::RunRecord;

use crate::group::groups;
use crate::matrix::matrices;
use crate::table::Table;

/// Results of all combinations of the values of some settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixModel {
    /// The workload, what is compared, and the settings.
    pub caption: String,
    /// The last setting in the columns, the others in the rows.
    pub table: Table,
    /// The best combination, if anything was measured.
    pub best: Option<String>,
}

/// Returns a table for each workload with at least two settings that vary. The values of a single
/// setting are the rows of the table of all cells.
pub fn models(record: &RunRecord) -> Vec<MatrixModel> {
    let groups = groups(record);
    let matrices = matrices(&groups, &record.plan).into_iter();
    let several = matrices.filter(|matrix| matrix.axes.len() > 1);
    several
        .map(|matrix| MatrixModel {
            caption: matrix.caption(),
            table: matrix.table(),
            best: matrix.best(),
        })
        .collect()
}
