//! What a record from outside must be before it is taken in.

use results::RunRecord;

use crate::StoreError;
use crate::entry::Entry;
use crate::histogram;

/// No run's name is longer.
const ID_LENGTH_MAX: usize = 64;

/// Refuses what no run can have left.
pub(crate) fn check(record: &RunRecord, entries: &[Entry]) -> Result<(), StoreError> {
    let bad = |reason| Err(StoreError::BadRecord { reason });
    if !is_id(&record.id) {
        let seen: String = record.id.chars().take(ID_LENGTH_MAX).collect();
        return bad(format!(
            "its id is {seen:?}, not letters, digits and `-` after a first digit"
        ));
    }
    if let Some(finished_at) = record.finished_at.filter(|end| *end < record.started_at) {
        let started_at = record.started_at;
        return bad(format!(
            "it ends at {finished_at}, before it starts at {started_at}"
        ));
    }
    for entry in entries {
        if let Entry::CellDone(done) = entry
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

/// Whether it can be a run's name and cannot be taken for `last`, an option or a path.
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
        after = high.checked_add(1);
        rises
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_none_that_could_be_taken_for_something_else() {
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
