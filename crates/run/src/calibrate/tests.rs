use std::sync::atomic::Ordering;

use generate::ContentSource;
use plan::ContentPlan;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

use super::*;
use crate::lane::lanes;
use crate::tests::{cell, line, worker};

/// Binds the calling thread to the first processor that it may use.
fn bind() {
    let allowed = sched_getaffinity(None).unwrap();
    let first = (0..CpuSet::MAX_CPU).find(|cpu| allowed.is_set(*cpu));
    let mut one = CpuSet::new();
    one.set(first.unwrap());
    sched_setaffinity(None, &one).unwrap();
}

/// Lowest CPU time and elapsed time per operation of five calibrations, in nanoseconds.
fn least(measure: &dyn Fn() -> OwnCost) -> (f64, f64) {
    let costs: Vec<OwnCost> = (0..5).map(|_| measure()).collect();
    let least = |of: fn(&OwnCost) -> u64| {
        let per_operation = costs.iter().map(|it| of(it) as f64 / it.count as f64);
        per_operation.fold(f64::INFINITY, f64::min)
    };
    (least(|it| it.cpu_ns), least(|it| it.wall_ns))
}

#[test]
fn the_own_cost_of_an_operation_ignores_a_concurrent_busy_loop() {
    let cell = cell(8, vec![worker(0, 8, vec![line(4096, 50.0, 100.0)])]);
    let lane = lanes(&cell, 7, 1).unwrap().remove(0);
    let contents = Contents {
        source: ContentSource::new(&ContentPlan::Incompressible).unwrap(),
        verify: None,
    };
    let clock = TscClock::new();
    let measure = || own_cost(&lane, &contents, 32, &clock).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let measured = scope.spawn(|| {
            bind();
            let alone = least(&measure);
            let busy_loop = scope.spawn(|| {
                bind();
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
            let loaded = least(&measure);
            over.store(true, Ordering::Relaxed);
            busy_loop.join().unwrap();
            (alone, loaded)
        });
        let ((alone_ns, _), (loaded_ns, wall_ns)) = measured.join().unwrap();
        assert!(wall_ns > loaded_ns * 1.3, "{wall_ns} {loaded_ns}");
        assert!(loaded_ns < alone_ns * 1.5, "{loaded_ns} {alone_ns}");
    });
}
