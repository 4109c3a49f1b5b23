//! Workers that wait, ends that are shared, and paths through files.

use super::*;
use plan::program::{CounterSelection, FilePath, PhaseEndAction, Refill, TakeAmount};

/// Two groups of a phase, and what they wait for.
fn groups(tokens: &str, first: &str, second: &str) -> String {
    let group = |body: &str| format!("[[phase.group]]\nworkers = 1\nbody = [\n{body}\n]\n");
    let (first, second) = (group(first), group(second));
    format!(
        "{FILESET}[[tokens]]\n{tokens}\n[[phase]]\nname = \"serve\"\nrun_time = \"9s\"\n\
         {first}{second}"
    )
}

const STAT_ACT: &str = "{ stat = \"mail\", pick = \"uniform\" }";

#[test]
fn tokens_are_put_and_taken_by_name() {
    let tokens =
        "name = \"work\"\ncounters = 2\nstart = 3\nroom = 10\nrate = \"96/s\"\nat_once = 8";
    let program = read(&groups(
        tokens,
        "{ put = \"work\", count = 4, whose = \"each\" }, { meet = \"noon\" }",
        &format!(
            "{{ take = \"work\", whose = \"turns\" }}, {{ step = \"look\", do = [{STAT_ACT}] }}, \
             {{ take = \"work\", per_bytes = \"1MiB\", of = \"look\" }}, {{ meet = \"noon\" }}"
        ),
    ));
    let refill = Refill {
        per_second: 96.0,
        at_once: 8,
        most: 96,
    };
    assert_eq!(program.tokens[0].refill, Some(refill));
    assert_eq!(
        (program.tokens[0].counters, program.tokens[0].start),
        (2, 3)
    );
    let groups = &program.phases()[0].groups;
    let put = Act::Put {
        tokens: 0,
        count: 4,
        whose: CounterSelection::Each,
    };
    assert_eq!(groups[0].body, [put, Act::Meet(0)]);
    let take = |count, whose| Act::Take {
        tokens: 0,
        count,
        whose,
    };
    assert_eq!(
        groups[1].body[0],
        take(TakeAmount::Fixed(1), CounterSelection::Turns)
    );
    let since = TakeAmount::Since {
        what: Measure::StepBytes(0),
        each: 1 << 20,
    };
    assert_eq!(groups[1].body[2], take(since, CounterSelection::Mine));
    assert_eq!(groups[1].body[3], Act::Meet(0));
    let words = program.words().join("\n");
    assert!(
        words.contains("put 4 of work, meet all other workers"),
        "{words}"
    );
    assert!(
        words.contains("take one of work for each 1MiB of look"),
        "{words}"
    );
}

#[test]
fn waits_that_can_never_end_are_refused() {
    let take = format!("{{ take = \"work\" }}, {STAT_ACT}");
    let refused = refusal(&groups("name = \"work\"", &take, STAT_ACT));
    assert!(
        refused.contains("no worker of the phase `serve` puts what is taken from `work`"),
        "{refused}"
    );
    let endless = refusal(&groups("name = \"work\"", "{ put = \"work\" }", &take));
    assert!(endless.contains("put without ever waiting"), "{endless}");
    let unknown = refusal(&groups("name = \"work\"", "{ put = \"wrok\" }", STAT_ACT));
    assert!(unknown.contains("did you mean `work`?"), "{unknown}");
    let idle = refusal(&groups("name = \"work\"\nmost = 3", STAT_ACT, STAT_ACT));
    assert!(idle.contains("`most` needs a `rate`"), "{idle}");
    let twice = "{ put = \"work\" }, { take = \"work\", count = 1, per_calls = 2 }";
    let twice = refusal(&groups("name = \"work\"", twice, STAT_ACT));
    assert!(twice.contains("set twice"), "{twice}");
    let early = format!(
        "{FILESET}[[phase]]\nname = \"serve\"\n[[phase.group]]\nrounds = 1\n\
         enter = [{{ meet = \"a\" }}]\nbody = [{STAT_ACT}]\n"
    );
    let early = refusal(&early);
    assert!(
        early.contains("workers cannot wait for each other"),
        "{early}"
    );
}

#[test]
fn a_phase_can_end_with_its_first_worker_or_at_a_common_level() {
    let phase = |keys: &str, rounds: &str| {
        format!(
            "{FILESET}[[phase]]\nname = \"serve\"\n{keys}\n[[phase.group]]\nworkers = 2\nshift = \
             1\n{rounds}\nbody = [{STAT_ACT}]\n"
        )
    };
    let program = read(&phase("run_time = \"5s\"\ntime_up = \"level\"", ""));
    assert_eq!(program.phases()[0].time_up, PhaseEndAction::Level);
    assert_eq!(program.phases()[0].groups[0].shift, 1);
    let program = read(&phase("first_done = \"finish\"", "rounds = 9"));
    assert_eq!(program.phases()[0].first_done, Some(PhaseEndAction::Finish));
    let endless = refusal(&phase("run_time = \"5s\"\ntime_up = \"finish\"", ""));
    assert!(endless.contains("never ends"), "{endless}");
    let timeless = refusal(&phase("time_up = \"level\"", "rounds = 9"));
    assert!(
        timeless.contains("has `time_up` but no `run_time`"),
        "{timeless}"
    );
}

#[test]
fn paths_through_a_file_are_read() {
    let at = |position: &str| {
        let read =
            format!("{{ open = \"mail\" }}, {{ read = \"4KiB\", at = {position} }}, \"close\"");
        calls(&read)[1].place.clone()
    };
    let along = CallPosition::Along;
    let step_bytes = 4096;
    assert_eq!(
        at("{ backward = \"4KiB\" }"),
        along(FilePath::Backward { step_bytes })
    );
    assert_eq!(
        at("{ shuffled = \"4KiB\" }"),
        along(FilePath::Shuffled { step_bytes })
    );
    assert_eq!(
        at("{ dealt = \"4KiB\" }"),
        along(FilePath::Dealt { step_bytes })
    );
    assert_eq!(
        at("{ strided = \"64KiB\", shift = \"4KiB\" }"),
        along(FilePath::Strided {
            stride_bytes: 65_536,
            shift_bytes: 4096,
            margin_bytes: 0
        })
    );
    assert_eq!(
        at("{ blocks = \"1MiB\", stride = \"4MiB\" }"),
        along(FilePath::Blocks {
            block_bytes: 1 << 20,
            stride_bytes: 4 << 20,
            each_bytes: 1 << 20,
            block_count: 0
        })
    );
    assert_eq!(
        at("{ blocks = \"1MiB\", count = 3 }"),
        along(FilePath::Blocks {
            block_bytes: 1 << 20,
            stride_bytes: 1 << 20,
            each_bytes: 1 << 20,
            block_count: 3
        })
    );
    let place = |place: &str| {
        refused(&format!(
            "{{ open = \"mail\" }}, {{ read = \"4KiB\", at = {place} }}, \"close\""
        ))
    };
    let two = place("{ backward = \"4KiB\", shuffled = \"4KiB\" }");
    assert!(two.contains("a place is one of"), "{two}");
    let idle = place("{ backward = \"4KiB\", shift = \"4KiB\" }");
    assert!(
        idle.contains("`shift` does not apply to `backward`"),
        "{idle}"
    );
    let standstill = place("{ backward = 0 }");
    assert!(standstill.contains("never advances"), "{standstill}");
}
