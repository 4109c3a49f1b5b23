//! What is known of the machines of all processes.

use super::*;

#[test]
fn each_machine_is_listed_with_its_processes_and_memory() {
    let (hub, ends) = hub(6);
    let clock = TscClock::new();
    play(ends, move |rank, order, send| {
        let report = match order {
            LeaderMessage::Probe { .. } => Some(MemberMessage::Facts {
                facts: SystemFacts {
                    memory_bytes: u64::from(rank + 1) << 30,
                    cpu_count: 8 - rank,
                    ..SystemFacts::default()
                },
            }),
            order => routine(rank, order, &clock),
        };
        if let Some(report) = report {
            send(rank, encode(&report));
        }
    });
    let stop = AtomicBool::new(false);
    let mut leader = Leader::greet(hub, LeaderOptions::default(), &stop).expect("they are there");
    let facts = leader.facts(|_| &[], None, true, &stop).expect("facts");
    let hosts = facts.hosts.iter();
    let hosts = hosts.map(|it| (it.name.as_str(), it.ranks.as_slice(), it.memory_bytes >> 30));
    let wanted = [("node0", &[0, 1, 2, 3][..], 1), ("node1", &[4, 5], 5)];
    assert_eq!(hosts.collect::<Vec<_>>(), wanted);
    // What there is least of is what all have.
    assert_eq!((facts.memory_bytes >> 30, facts.cpu_count), (1, 4));
}
