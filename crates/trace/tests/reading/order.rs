//! Order of requests.

use proptest::prelude::*;
use trace::TraceOptions;

use crate::{read, read_parts};

fn spc(times: &[u64]) -> String {
    times
        .iter()
        .map(|time| format!("0,8,512,R,{time}.0\n"))
        .collect()
}

#[test]
fn a_jump_of_40_years_and_back_is_reported_and_does_not_end_the_order() {
    let years_40 = 40 * 365 * 86_400;
    let trace = read(spc(&[1, 2, years_40, 4, 3, 5]));
    let seconds: Vec<i64> = trace
        .requests
        .iter()
        .map(|it| it.time_ns / 1_000_000_000)
        .collect();
    let last = i64::try_from(years_40).unwrap();
    assert_eq!(seconds, [1, 2, 3, 4, 5, last]);
    assert_eq!(trace.backward_count, 2);
    assert!(
        trace.notices.contains("row 3: the time jumps ahead by 14"),
        "{}",
        trace.notices
    );
}

#[test]
fn rows_beyond_the_window_stay_in_the_order_of_the_file() {
    let trace = read(spc(&[1, 10, 20, 5]));
    let seconds: Vec<i64> = trace
        .requests
        .iter()
        .map(|it| it.time_ns / 1_000_000_000)
        .collect();
    assert_eq!(seconds.len(), 4);
    assert_eq!(trace.backward_count, 1);
}

proptest! {
    #[test]
    fn a_window_as_long_as_the_trace_sorts_it(times in prop::collection::vec(0_u64..1000, 1..300)) {
        let options = TraceOptions { window_ns: 2000 * 1_000_000_000, ..TraceOptions::default() };
        let trace = read_parts(&[spc(&times).as_bytes()], options).unwrap();
        let found: Vec<i64> = trace.requests.iter().map(|it| it.time_ns).collect();
        prop_assert!(found.is_sorted());
        prop_assert_eq!(found.len(), times.len());
        let back = times.windows(2).filter(|pair| pair[1] < pair[0]).count() as u64;
        prop_assert_eq!(trace.backward_count, back);
        // Equal times keep the order of the file.
        let rows: Vec<(i64, u64)> = trace.requests.iter().map(|it| (it.time_ns, it.row)).collect();
        prop_assert!(rows.is_sorted());
    }
}
