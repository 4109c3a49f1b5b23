//! Checks of imported records.

use results::RunRecord;

use crate::StoreError;
use crate::entry::EventRows;
use crate::histogram;

/// Maximum length of a run's id.
const ID_LENGTH_MAX: usize = 64;

/// Refuses a record that cannot come from a run.
pub(crate) fn check(record: &RunRecord, entries: &[EventRows]) -> Result<(), StoreError> {
    let bad = |reason| Err(StoreError::BadRecord { reason });
    if !is_id(&record.id) {
        // The id can be of any length; the message must not be.
        let start: String = record.id.chars().take(ID_LENGTH_MAX).collect();
        return bad(format!(
            "its id is {start:?}, not letters, digits and `-` after a first digit"
        ));
    }
    if let Some(finished_at) = record.finished_at.filter(|end| *end < record.started_at) {
        let started_at = record.started_at;
        return bad(format!(
            "it ends at {finished_at}, before it starts at {started_at}"
        ));
    }
    for entry in entries {
        if let EventRows::CellDone(done) = entry
            && !done.stored.histograms.iter().all(|bytes| is_rising(bytes))
        {
            return bad(format!(
                "the buckets of a histogram of cell {} are not in rising order",
                done.index
            ));
        }
    }
    Ok(())
}

/// `true` if the text can be a run's id. Such an id cannot be mistaken for `last`, an option or a
/// path.
pub(crate) fn is_id(id: &str) -> bool {
    id.len() <= ID_LENGTH_MAX
        && id.starts_with(|first: char| first.is_ascii_digit())
        && id
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

fn is_rising(bytes: &[u8]) -> bool {
    let Some(histogram) = histogram::decode(bytes) else {
        return false;
    };
    let mut after = Some(0);
    histogram.buckets_ns.iter().all(|&[low, high, _]| {
        let rises = after.is_some_and(|after| after <= low && low <= high);
        // Buckets must not overlap, so the next one starts above this one's highest value.
        after = high.checked_add(1);
        rises
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_cannot_be_mistaken_for_another_argument() {
        assert!(is_id("20261121-023612-042-1f"));
        for id in [
            "",
            "last",
            "@-1",
            "-rf",
            "../x",
            "1/2",
            "1 2",
            "1\n2",
            "1\u{1b}[2J",
        ] {
            assert!(!is_id(id), "{id:?}");
        }
        assert!(!is_id(&"1".repeat(65)));
    }

    #[test]
    fn buckets_rise_up_to_the_end() {
        let rises = |buckets_ns: &[[u64; 3]]| {
            is_rising(&histogram::encode(&results::HistogramRecord {
                buckets_ns: buckets_ns.to_vec(),
                ..results::HistogramRecord::default()
            }))
        };
        assert!(rises(&[[0, 0, 1], [1, 5, 9], [6, u64::MAX, 1]]));
        assert!(!rises(&[[5, 4, 1]]));
        assert!(!rises(&[[0, 4, 1], [4, 8, 1]]));
        assert!(!rises(&[[0, u64::MAX, 1], [0, 0, 1]]));
    }
}
