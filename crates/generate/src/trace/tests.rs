use super::*;

fn call(operation: TraceOperation, name: u32) -> TraceCall {
    TraceCall {
        due_ns: 0,
        offset_bytes: 0,
        bytes: 0,
        name,
        second: 0,
        line: name + 1,
        operation,
        handle: 0,
        label: 0,
        expected: TraceResult::Success,
    }
}

fn trace(calls: Vec<TraceCall>) -> Trace {
    Trace {
        register_count: 1,
        is_searching: true,
        calls: calls.into(),
        ..Trace::default()
    }
}

fn player(trace: &Trace, time_ns: Option<u64>) -> TracePlayer {
    TracePlayer::new(&ReplayContext {
        trace,
        label_count: 1,
        ramp_ns: 1000,
        time_ns,
        start_s: 100,
        checks_results: true,
        phase_end: &Arc::new(PhaseEnd::new(1)),
        is_open_loop: false,
        call_count: None,
    })
}

/// What a player asks for, by the names of operations, where requests end so; the rest ends well.
fn played(player: &mut TracePlayer, ends: &[(usize, i32)]) -> Vec<String> {
    let mut issued = Vec::new();
    let mut now_ns = 0;
    while issued.len() < 1000 {
        let request = match player.next(0, now_ns) {
            Step::Issue(request) => request,
            Step::Wait { until_ns } => {
                assert!(until_ns > now_ns);
                now_ns = until_ns;
                continue;
            }
            Step::Park | Step::Again | Step::Finished => break,
        };
        let end = ends.iter().find(|(index, _)| *index == issued.len());
        let result = end.map_or(request.length_bytes as i32, |(_, result)| *result);
        let is_none = player.expected_bytes(&request, result) == EXPECTED_FAILURE;
        let mark = if is_none { "?" } else { "" };
        let name = request.operation.name();
        issued.push(format!("{name}{mark} {}", request.file_index));
        now_ns += 100;
        player.complete(Completion { slot: 0, result }, now_ns);
    }
    issued
}

const NOT_FOUND: i32 = -2;

#[test]
fn names_are_looked_up_and_searched_before_use() {
    let mut rename = call(TraceOperation::Rename, 0);
    rename.second = 1;
    let calls = trace(vec![rename, call(TraceOperation::Unlink, 1)]);
    let mut player = player(&calls, None);
    let issued = played(&mut player, &[(1, NOT_FOUND)]);
    assert_eq!(
        issued,
        [
            "stat 0", "stat? 1", "search 1", "rename 0", "stat 1", "unlink 1"
        ]
    );
    assert_eq!(player.broken(), None);
}

#[test]
fn directories_are_created_and_opened_despite_the_expectation() {
    let open = |mode| call(TraceOperation::Open(mode), 0);
    let calls = trace(vec![
        open(TraceOpenMode::Directory),
        call(TraceOperation::Close, 0),
        open(TraceOpenMode::Existing),
        // Still open, so it is closed first.
        open(TraceOpenMode::Created),
    ]);
    let issued = played(&mut player(&calls, None), &[(1, -17), (6, IS_DIRECTORY)]);
    assert_eq!(
        issued,
        [
            "stat 0", "mkdir? 0", "open 0", "stat 0", "close 0", "stat 0", "open? 0", "open 0",
            "stat 0", "stat 0", "close 0", "open 0", "stat 0"
        ]
    );
}

#[test]
fn an_unexpectedly_opened_file_is_closed_and_counts_as_failed() {
    let mut open = call(TraceOperation::Open(TraceOpenMode::Existing), 0);
    open.expected = TraceResult::Failure;
    // Nothing is open then, so that there is nothing to be read.
    let calls = trace(vec![open, call(TraceOperation::Read, 0), open]);
    let mut player = player(&calls, None);
    let ends = [(3, NOT_FOUND), (4, 5), (5, NOT_FOUND)];
    let issued = played(&mut player, &ends);
    assert_eq!(
        issued,
        [
            "stat 0", "open 0", "close 0", "stat? 0", "search 0", "open? 0"
        ]
    );
}

#[test]
fn a_result_unlike_the_recorded_one_ends_the_replay() {
    for (operation, expected, result, errno) in [
        (
            TraceOperation::Unlink,
            TraceResult::Success,
            NOT_FOUND,
            Some(2),
        ),
        (TraceOperation::Rmdir, TraceResult::Failure, 0, None),
        (TraceOperation::Unlink, TraceResult::Any, NOT_FOUND, Some(0)),
        (
            TraceOperation::Unlink,
            TraceResult::Failure,
            NOT_FOUND,
            Some(0),
        ),
    ] {
        let mut first = call(operation, 4);
        first.expected = expected;
        let calls = trace(vec![first, call(TraceOperation::Statfs, 0)]);
        let mut player = player(&calls, None);
        let issued = played(&mut player, &[(1, result)]);
        let is_broken = errno != Some(0);
        assert_eq!(issued.len(), if is_broken { 2 } else { 3 }, "{issued:?}");
        let broken = is_broken.then_some(DivergedCall { line: 5, errno });
        assert_eq!(player.broken(), broken);
    }
}

#[test]
fn calls_wait_for_their_times_and_count_after_the_ramp() {
    let mut late = call(TraceOperation::Statfs, 0);
    late.due_ns = 5_000;
    let mut timed = trace(vec![call(TraceOperation::Statfs, 0), late]);
    timed.is_timed = true;
    let mut one = player(&timed, None);
    assert_eq!(played(&mut one, &[]).len(), 2);
    assert_eq!(one.steps()[0].count, 1);
    timed.is_repeated = true;
    let mut again = player(&timed, Some(20_000));
    // Two in each round of 5.1 µs, of which the fifth is cut at 21 µs.
    assert_eq!(played(&mut again, &[]).len(), 9);
}

#[test]
fn a_byte_rate_delays_the_next_call() {
    let mut open = call(TraceOperation::Open(TraceOpenMode::Created), 0);
    open.handle = 0;
    let mut write = call(TraceOperation::Write, 0);
    (write.bytes, write.second) = (1000, 1000);
    let mut calls = trace(vec![open, write, call(TraceOperation::Statfs, 0)]);
    calls.bytes_per_second = 1_000_000_000;
    let mut player = player(&calls, None);
    assert_eq!(played(&mut player, &[]).len(), 5);
    // The last call is delayed by 1 µs, the time of 1000 bytes at this rate.
    assert_eq!(player.steps()[0].bytes, 0);
    assert!(player.call_ns >= 300 + 1000);
}

#[test]
fn a_round_without_calls_ends() {
    let mut calls = trace(vec![call(TraceOperation::Close, 0)]);
    calls.is_repeated = true;
    assert_eq!(played(&mut player(&calls, None), &[]), [""; 0]);
    assert_eq!(played(&mut player(&trace(Vec::new()), None), &[]), [""; 0]);
}

#[test]
fn nothing_is_allocated_while_the_program_runs() {
    let open = call(TraceOperation::Open(TraceOpenMode::Created), 0);
    let mut write = call(TraceOperation::Write, 0);
    (write.bytes, write.second) = (100, 100);
    let close = call(TraceOperation::Close, 0);
    let mut calls = trace(vec![open, write, close, call(TraceOperation::Unlink, 0)]);
    calls.is_repeated = true;
    let mut player = player(&calls, None);
    let mut count = 0;
    let counts = allocation_counter::measure(|| {
        while count < 100_000 {
            let Step::Issue(request) = player.next(0, count) else {
                break;
            };
            let result = request.length_bytes as i32;
            player.complete(Completion { slot: 0, result }, count);
            count += 1;
        }
    });
    assert_eq!((count, counts.count_total), (100_000, 0));
}
