//! The leader with processes that are none: made up, real ones on threads, hostile ones.

mod crowd;
mod facts;
mod hostile;
mod real;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use plan::facts::SystemFacts;
use plan::{Cell, Plan};
use results::{CellRecord, CounterNames, Environment};
use run::{Finished, RunOptions, RunSpec};
use stats::{Counter, Interval};

use super::*;
use crate::leader_links::channel_sender;
use crate::worker::hash;

const SECOND_NS: u64 = 1_000_000_000;
const NAMES: CounterNames<'static> = CounterNames {
    operations: &["read", "write"],
    transactions: &[],
};

/// A plan of one cell, of a worker each, that touches nothing.
fn plan_of(ranks: u32, settings: &[(&str, &str)]) -> Plan {
    let text = "run_time = 60\nramp_time = 0\nengine = \"null\"\nsize = \"64m\"\nseed = 7\n\
        [[access_spec]]\nline = [{ size = \"4k\", read = 50, random = 100 }]\n";
    let workload = description::read_toml("made.toml", text).expect("a workload");
    let mut overrides = description::Overrides::new();
    for (key, value) in settings {
        overrides.set(key, value).expect("a setting");
    }
    overrides.set_ranks(ranks);
    let planned = planning::plan(&[workload], &overrides, &SystemFacts::default());
    planned.expect("a plan").plan
}

/// Ends of channels on the side of those who are led.
struct Ends {
    from_leader: Vec<Receiver<Vec<u8>>>,
    to_leader: SyncSender<(u32, LinkEvent)>,
}

fn hub(ranks: u32) -> (LeaderLinks, Ends) {
    let (to_leader, from) = sync_channel(4096);
    let channels = (0..ranks).map(|_| channel());
    let (to, from_leader) = channels
        .map(|(to, from)| (channel_sender(to), from))
        .unzip();
    let ends = Ends {
        from_leader,
        to_leader,
    };
    (
        LeaderLinks {
            senders: to,
            events: from,
        },
        ends,
    )
}

/// Answers for all processes in one thread until the leader closes its links. `answer` receives the
/// rank and the leader's message, and sends reports.
fn play(
    ends: Ends,
    mut answer: impl FnMut(u32, &LeaderMessage, &mut dyn FnMut(u32, Vec<u8>)) + Send + 'static,
) -> JoinHandle<u64> {
    thread::spawn(move || {
        let mut bytes_sent = 0;
        let mut last = (Vec::new(), None);
        loop {
            let (mut has_received, mut disconnected_count) = (false, 0);
            for (rank, from) in (0..).zip(&ends.from_leader) {
                match from.try_recv() {
                    Ok(bytes) => {
                        has_received = true;
                        if last.0 != bytes {
                            let order =
                                decode::<LeaderMessage>(&bytes).expect("the leader's words");
                            last = (bytes, order);
                        }
                        let mut send = |rank, message: Vec<u8>| {
                            bytes_sent += message.len() as u64 + 4;
                            let _ = ends.to_leader.send((rank, LinkEvent::Message(message)));
                        };
                        if let Some(order) = &last.1 {
                            answer(rank, order, &mut send);
                        }
                    }
                    Err(TryRecvError::Disconnected) => disconnected_count += 1,
                    Err(TryRecvError::Empty) => {}
                }
            }
            if disconnected_count == ends.from_leader.len() {
                return bytes_sent;
            }
            if !has_received {
                thread::sleep(Duration::from_millis(1));
            }
        }
    })
}

/// What a made-up process says to all but a cell.
fn routine(rank: u32, order: &LeaderMessage, clock: &TscClock) -> Option<MemberMessage> {
    use engine::clock::Clock;
    Some(match order {
        LeaderMessage::Hello { .. } => MemberMessage::Hello {
            protocol: PROTOCOL,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            host: format!("node{}", rank / 4),
            environment: Box::new(Environment::default()),
        },
        LeaderMessage::Plan { plan, .. } => MemberMessage::Planned { hash: hash(plan) },
        LeaderMessage::Ground { places, .. } => MemberMessage::Grounded {
            places: places.clone(),
        },
        LeaderMessage::Prepare => MemberMessage::Prepared {
            environment: Box::new(Environment::default()),
        },
        LeaderMessage::Cell { .. } => MemberMessage::Armed,
        LeaderMessage::Ping { number } => MemberMessage::Pong {
            number: *number,
            at_ns: clock.now_ns(),
        },
        LeaderMessage::Clean | LeaderMessage::Vacate => MemberMessage::Cleaned { left: Vec::new() },
        _ => return None,
    })
}

/// What a process did in a second, or in so many: a thousand latencies of two operations each.
fn second(rank: u32, number: u64) -> Interval {
    let mut interval = Interval::with([0, 1], 0);
    let mut state = u64::from(rank) << 32 | number << 1 | 1;
    for operation in 0..2 {
        let mut counter = Counter::new();
        for _ in 0..1000 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            // From some microseconds to some tens of milliseconds.
            let shift = (state >> 60) % 13;
            counter.record(4000 + ((state >> 40) >> (24 - 12 - shift)), 4096);
        }
        interval.operation_mut(operation).merge(&counter);
    }
    interval.length_ns = SECOND_NS;
    interval.at_ns = number * SECOND_NS;
    interval
}

fn record_of(cell: &Cell, plan: &Plan, rank: u32, seconds: u64) -> CellRecord {
    let mut all = Interval::with([0, 1], 0);
    let mut intervals = Vec::new();
    for number in 0..seconds {
        let interval = second(rank, number);
        intervals
            .push(results::IntervalRecord::of(&interval, NAMES).with_latencies(&interval, NAMES));
        all.merge(&interval);
    }
    let mut record = CellRecord::of(cell, plan, &all, seconds * SECOND_NS, NAMES);
    record.workers = 1;
    record.intervals = intervals;
    record
}

/// A run from its beginning to its end.
fn led(plan: &Plan, hub: LeaderLinks, on_lost: OnLost) -> Result<Finished, ClusterError> {
    let stop = AtomicBool::new(false);
    let options = LeaderOptions {
        carrier: "test".to_owned(),
        on_lost,
        ..LeaderOptions::default()
    };
    let mut leader = Leader::greet(hub, options, &stop)?;
    let run_options = RunOptions {
        stop: Arc::default(),
        ..RunOptions::default()
    };
    let mut listener = |_: &RunEvent| {};
    let spec = RunSpec::new(plan, &mut listener);
    Ok(run::measure(spec, &run_options, Some(&mut leader)))
}
