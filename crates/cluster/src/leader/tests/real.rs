//! Real workers, on threads of this process.

use std::sync::mpsc::RecvTimeoutError;

use super::*;
use crate::ClusterWorker;

/// Starts real workers on threads. Each message to the leader goes through `passes` first.
fn at_work(ends: Ends, passes: impl Fn(u32, Vec<u8>) -> Vec<u8> + Clone + Send + 'static) {
    for (rank, from_leader) in (0..).zip(ends.from_leader) {
        let (to, messages) = channel::<Vec<u8>>();
        let worker = ClusterWorker::new(channel_sender(to), Arc::default());
        let (desk, to_leader, passes) = (worker.inbox(), ends.to_leader.clone(), passes.clone());
        thread::spawn(move || {
            from_leader.iter().for_each(|message| desk.take(&message));
            desk.on_leader_lost();
        });
        thread::spawn(move || {
            loop {
                let message = match messages.recv_timeout(KEEPALIVE_INTERVAL) {
                    Ok(message) => passes(rank, message),
                    Err(RecvTimeoutError::Timeout) => KEEPALIVE.to_vec(),
                    Err(RecvTimeoutError::Disconnected) => return,
                };
                if to_leader.send((rank, LinkEvent::Message(message))).is_err() {
                    return;
                }
            }
        });
        thread::spawn(move || worker.work());
    }
}

#[test]
fn an_interval_report_is_smaller_than_a_kilobyte() {
    let plan = plan_of(2, &[("run_time", "1"), ("workers", "8")]);
    let (hub, ends) = hub(2);
    let (lengths, received) = channel();
    at_work(ends, move |_, message| {
        let report = decode::<MemberMessage>(&message).expect("a message of the protocol");
        if let Some(MemberMessage::Event { event }) = &report
            && let RunEvent::Interval { interval, .. } = &**event
        {
            let _ = lengths.send((message.len(), interval.clone()));
        }
        message
    });
    let finished = led(&plan, hub, OnLost::Fail).expect("no process is lost");
    assert_eq!(finished.record.status, results::Status::Complete);
    let reports: Vec<_> = received.try_iter().collect();
    assert!(!reports.is_empty());
    for (length, interval) in reports {
        assert!(!interval.latencies.is_empty());
        assert!(length < 1000, "{length} bytes: {interval:?}");
    }
    let record = &finished.record.cells[0];
    let ranks = &record
        .cluster
        .as_ref()
        .expect("a record of several processes")
        .ranks;
    let sums = [
        ranks.iter().map(|it| it.count).sum::<u64>(),
        record.worker_figures.iter().map(|it| it.transactions).sum(),
    ];
    assert_eq!(sums, [record.total.count; 2]);
}

#[test]
fn two_processes_with_one_worker_each_match_one_process_with_two() {
    let counts = |ranks: u32, workers: &str| -> Vec<u64> {
        let settings = [
            ("operations", "20001"),
            ("run_time", "0"),
            ("workers", workers),
        ];
        let plan = plan_of(ranks, &settings);
        let finished = match ranks {
            1 => run::measure(
                RunSpec::new(&plan, &mut |_| {}),
                &RunOptions::default(),
                None,
            ),
            _ => {
                let (hub, ends) = hub(ranks);
                at_work(ends, |_, message| message);
                led(&plan, hub, OnLost::Fail).expect("no process is lost")
            }
        };
        let record = &finished.record.cells[0];
        assert_eq!(record.total.count, 20_001);
        let operations = record
            .worker_figures
            .iter()
            .flat_map(|it| it.operations.values());
        operations.map(|it| it.count).collect()
    };
    // The streams determine the number of reads and writes, with any number of processes.
    assert_eq!(counts(2, "1"), counts(1, "2"));
}

#[test]
fn all_ranks_reach_the_steady_state_in_the_same_round() {
    // The sum of all ranks decides on the last round.
    let settings = [
        ("run_time", "300ms"),
        ("until", "steady"),
        ("steady.rounds", "7"),
    ];
    let plan = plan_of(3, &settings);
    let (hub, ends) = hub(3);
    at_work(ends, |_, message| message);
    let finished = led(&plan, hub, OnLost::Fail).expect("no process is lost");
    assert_eq!(finished.record.status, results::Status::Complete);
    let record = &finished.record.cells[0];
    let steady = record.steady.as_ref().expect("rounds");
    assert_ne!(steady.verdict, stats::SteadyVerdict::NotYet);
    assert!((5..=7).contains(&steady.rounds.len()), "{steady:?}");
    let window = steady.window.as_ref().expect("a window");
    for (round, value) in steady.rounds[window.first_round_index..]
        .iter()
        .zip(&window.values)
    {
        let share = round.per_second / value;
        assert!((0.999..1.001).contains(&share), "{round:?} is not {value}");
    }
    // The record counts the window only, and each process measured all of it.
    let counts = steady.rounds[window.first_round_index..]
        .iter()
        .map(|it| it.count);
    let ranks = &record
        .cluster
        .as_ref()
        .expect("a record of several processes")
        .ranks;
    assert_eq!(
        counts.sum::<u64>(),
        record.total.count,
        "{steady:?} {ranks:?}"
    );
    assert!(ranks.iter().all(|it| it.count > 0));
}
