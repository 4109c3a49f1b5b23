use engine::{Completion, Request};
use generate::{Generator, Step};
use plan::EngineKind;

use super::*;
use crate::tests::{cell, line, worker};

const REQUESTS: usize = 10_000;

/// Four workers of two slots each, two in each of two processes.
fn shared() -> Cell {
    let workers = (0..4).map(|index| {
        let mut worker = worker(
            index,
            2,
            vec![line(4096, 70.0, 100.0), line(65536, 0.0, 50.0)],
        );
        worker
            .lines
            .iter_mut()
            .for_each(|line| line.of_size_percent = 50.0);
        worker.rank = index / 2;
        worker
    });
    let mut cell = cell(2, workers.collect());
    cell.operations = Some(40_003);
    cell
}

/// Requests of a lane if all of them succeed immediately.
fn requested(lane: &Lane) -> Vec<Request> {
    fn of<G: Generator>(mut generator: G) -> Vec<Request> {
        let mut requests = Vec::with_capacity(REQUESTS);
        let mut now_ns = 1;
        while requests.len() < REQUESTS {
            now_ns += 1000;
            match generator.next(0, now_ns) {
                Step::Issue(request) => {
                    let (slot, result) = (request.slot, request.length_bytes as i32);
                    requests.push(request);
                    generator.complete(Completion { slot, result }, now_ns);
                }
                Step::Finished => break,
                _ => {}
            }
        }
        requests
    }
    match lane.requests().unwrap() {
        Requests::Transfer(generator) => of(generator),
        Requests::SharedTransfer(generator) => of(generator),
        Requests::Iometer(generator) => of(generator),
        Requests::SharedIometer(generator) => of(generator),
        Requests::Messages(generator) => of(generator),
    }
}

#[test]
fn all_ranks_together_have_the_lanes_of_one_process() {
    for engine in [EngineKind::IoUring, EngineKind::Psync] {
        let mut cell = shared();
        cell.engine = engine;
        let alone = lanes(&cell, 7, 1).unwrap();
        let both_ranks: Vec<Lane> = (0..2)
            .flat_map(|rank| {
                cell.rank = Some(rank);
                lanes(&cell, 7, 1).unwrap()
            })
            .collect();
        assert_eq!(both_ranks.len(), alone.len());
        let counts = alone.iter().map(|lane| lane.operations.unwrap());
        assert_eq!(counts.sum::<u64>(), 40_003);
        for (own, of_all) in both_ranks.iter().zip(&alone) {
            assert_eq!(own.plan, of_all.plan);
            assert_eq!(own.worker_index, of_all.worker_index);
            assert_eq!(own.operations, of_all.operations);
            let requests = requested(own);
            assert_eq!(requests.len(), REQUESTS);
            assert_eq!(requests, requested(of_all));
        }
    }
}

#[test]
fn all_ranks_together_have_the_due_times_of_one_process() {
    let mut cell = shared();
    cell.rate = Some(OpenLoop {
        per_second: 1000.0,
        arrivals: ArrivalKind::Poisson,
    });
    let due = |lanes: Vec<Lane>| -> Vec<Vec<u64>> {
        let of = |lane: Lane| match lane.pace.unwrap().due {
            DueTimes::Own(mut arrivals) => (0..100).map(|_| arrivals.next_due_ns()).collect(),
            DueTimes::Shared(_) | DueTimes::Recorded(_) => Vec::new(),
        };
        lanes.into_iter().map(of).collect()
    };
    let alone = due(lanes(&cell, 7, 1).unwrap());
    assert!(alone.iter().all(|it| it.len() == 100));
    let both_ranks = (0..2).flat_map(|rank| {
        cell.rank = Some(rank);
        due(lanes(&cell, 7, 1).unwrap())
    });
    assert_eq!(both_ranks.collect::<Vec<_>>(), alone);
}
