//! What came out, in a sentence for each rate: who is first, by how much, and whether that may be
//! chance.

use results::Better;
use stats::Ratio;

use super::rows::{Row, Value};
use super::text::ratio;

/// More sentences than that nobody reads.
const SENTENCES_MAX: usize = 4;

/// The conclusions of a table whose columns have these names.
pub(super) fn conclusions(rows: &[Row], names: &[&str]) -> Vec<String> {
    let rates = rows.iter().filter(|row| row.is_rate);
    let told = rates.filter_map(|row| conclusion(row, names));
    told.take(SENTENCES_MAX).collect()
}

/// The two best columns of a row against each other; none where nothing ranks them.
fn conclusion(row: &Row, names: &[&str]) -> Option<String> {
    let mut values: Vec<(&str, &Value)> = names
        .iter()
        .zip(&row.values)
        .filter_map(|(name, value)| Some((*name, value.as_ref()?)))
        .collect();
    values.sort_by(|(_, a), (_, b)| match row.better {
        Better::Lower => a.mean.total_cmp(&b.mean),
        _ => b.mean.total_cmp(&a.mean),
    });
    let [(first, best), (second, next), ..] = values.as_slice() else {
        return None;
    };
    let ratio_of = Ratio::of_estimates(&next.estimate?, &best.estimate?);
    let ratio_of = ratio_of.filter(|_| row.better != Better::Neither)?;
    let by = ratio(ratio_of.value);
    let label = &row.label;
    Some(match ratio_of.certainty {
        None => format!(
            "{label}: {first} was best with {}, against {} for {second} ({by} times); measured \
             once, so this may be chance.",
            best.shown, next.shown
        ),
        Some(sure) => {
            let ends = format!("{} to {}", ratio(sure.ci95_low), ratio(sure.ci95_high));
            match sure.ci95_low <= 1.0 && sure.ci95_high >= 1.0 {
                true => format!(
                    "{label}: no difference is shown between {first} and {second} ({by} times, \
                     95 % confidence {ends})."
                ),
                false => format!(
                    "{label}: {first} was best with {}, {by} times {second} (95 % confidence \
                     {ends}).",
                    best.shown
                ),
            }
        }
    })
}
