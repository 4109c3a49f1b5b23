//! Conclusions in one sentence per rate: which column is best, by how much, and whether that may be
//! chance.

use results::BetterDirection;

use super::rows::{FigureRow, ratio};

/// More sentences would not be read.
const SENTENCES_MAX: usize = 4;

/// Returns the conclusions of rows. `names` are the names of the columns, and `tests` is the number
/// of column pairs in the table.
pub(super) fn conclusions(rows: &[FigureRow], names: &[&str], tests: usize) -> Vec<String> {
    let rates = rows.iter().filter(|row| row.is_rate);
    let sentences = rates.filter_map(|row| conclusion(row, names, tests));
    sentences.take(SENTENCES_MAX).collect()
}

/// Compares the two best columns of a row; `None` if the row does not rank them.
fn conclusion(row: &FigureRow, names: &[&str], tests: usize) -> Option<String> {
    let [(first_place, best), (second_place, next), ..] = *row.ranked().as_slice() else {
        return None;
    };
    let (first, second) = (names[first_place], names[second_place]);
    let ratio_of = row.ratio_of(&best.estimate?, &next.estimate?);
    // Times from guests have no better direction, so none of them can be best.
    let ratio_of = ratio_of.filter(|_| row.better != BetterDirection::Neither)?;
    let by = ratio(ratio_of.value);
    let label = &row.label;
    Some(match ratio_of.certainty {
        None => format!(
            "{label}: {first} was best with {}, against {} for {second} ({by} times); measured \
             once, so this may be chance.",
            best.text, next.text
        ),
        Some(sure) => {
            let ends = format!("{} to {}", ratio(sure.ci95_low), ratio(sure.ci95_high));
            if row.differ(first_place, second_place) {
                format!(
                    "{label}: {first} was best with {}, {by} times {second} (95 % confidence \
                     {ends}).",
                    best.text
                )
            } else if sure.ci95_low <= 1.0 && sure.ci95_high >= 1.0 {
                format!(
                    "{label}: no significant difference between {first} and {second}: {first} had \
                     {by} times {second} (95 % confidence {ends})."
                )
            } else {
                format!(
                    "{label}: {first} had {by} times {second} (95 % confidence {ends}), which may \
                     be chance, because {tests} pairs of columns are judged together; use more \
                     `--repetitions`."
                )
            }
        }
    })
}
