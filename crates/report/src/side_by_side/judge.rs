//! Finds significant differences between columns, over all rows of a table together.
//!
//! Of 20 rows without a true difference, one has an interval that excludes 1 on average. So all
//! columns of all rows are compared with each other, and the p-values are corrected by Holm's
//! method.

use results::BetterDirection;
use stats::{Estimate, Ratio};

use super::WorkloadSection;
use super::rows::{FigureRow, SignificantPair};

/// Probability of any significant difference in a table without true differences.
pub(super) const SIGNIFICANCE_LEVEL: f64 = 0.05;

/// Comparison of two columns of a row.
struct ColumnTest {
    section: usize,
    row: usize,
    /// Indexes of the columns; `better` is the index of the one with the better mean.
    columns: [usize; 2],
    better: usize,
    p_value: f64,
}

/// Marks the significant differences in all rows. Returns the number of compared column pairs.
pub(super) fn judge(sections: &mut [WorkloadSection]) -> usize {
    let mut tests = Vec::new();
    for (section, rows) in sections.iter().map(|it| &it.rows).enumerate() {
        for (row, it) in rows.iter().enumerate() {
            tests.extend(column_tests(it, [section, row]));
        }
    }
    let p_values: Vec<f64> = tests.iter().map(|test| test.p_value).collect();
    let corrected = stats::holm(&p_values);
    for (test, p) in tests.iter().zip(corrected) {
        if p < SIGNIFICANCE_LEVEL {
            let row = &mut sections[test.section].rows[test.row];
            row.significant_pairs.push(SignificantPair {
                columns: test.columns,
                better: test.better,
            });
        }
    }
    tests.len()
}

impl FigureRow {
    /// Returns `true` if two columns differ significantly.
    pub fn differ(&self, one: usize, other: usize) -> bool {
        let columns = [one.min(other), one.max(other)];
        self.significant_pairs
            .iter()
            .any(|it| it.columns == columns)
    }

    /// Returns `true` if a column differs significantly from the first column with a value.
    pub fn differs_from_first(&self, column: usize) -> bool {
        let first = self.values.iter().position(Option::is_some);
        first.is_some_and(|first| self.differ(first, column))
    }

    /// Returns the column that is significantly better than every other one.
    pub fn best(&self) -> Option<usize> {
        let has_value = |column: &usize| self.values[*column].is_some();
        let columns: Vec<usize> = (0..self.values.len()).filter(has_value).collect();
        let beats_all = |column: &&usize| {
            let wins = self
                .significant_pairs
                .iter()
                .filter(|it| it.better == **column);
            columns.len() > 1 && wins.count() == columns.len() - 1
        };
        columns.iter().find(beats_all).copied()
    }

    /// Returns the ratio of two values of the row. Its error is at least that of their rounding.
    pub fn ratio_of(&self, of: &Estimate, to: &Estimate) -> Option<Ratio> {
        Some(Ratio::of_estimates(to, of)?.widened(self.rounding))
    }
}

/// Returns all pairs of a row's columns with a known uncertainty.
fn column_tests(row: &FigureRow, [section, row_index]: [usize; 2]) -> Vec<ColumnTest> {
    // A test without a possible winner would only make the correction stricter for the others.
    if row.better == BetterDirection::Neither {
        return Vec::new();
    }
    let estimates: Vec<(usize, Estimate)> = row
        .values
        .iter()
        .enumerate()
        .filter_map(|(column, value)| Some((column, value.as_ref()?.estimate?)))
        .collect();
    let mut tests = Vec::new();
    for (index, (one, a)) in estimates.iter().enumerate() {
        for (other, b) in &estimates[index + 1..] {
            let certainty = row.ratio_of(b, a).and_then(|ratio| ratio.certainty);
            let Some(certainty) = certainty else { continue };
            let is_higher_better = row.better == BetterDirection::Higher;
            tests.push(ColumnTest {
                section,
                row: row_index,
                columns: [*one, *other],
                better: match (b.mean > a.mean) == is_higher_better {
                    true => *other,
                    false => *one,
                },
                p_value: certainty.p_value,
            });
        }
    }
    tests
}
