//! Iometer's eight test types: the workers, targets and depth of each run.

use description::model::{StepKind, TestType};

use super::CELLS_MAX;
use super::options::{CyclingSteps, StepSeries};

/// A worker that has work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EligibleWorker {
    /// 0-based index of its group.
    pub group_index: usize,
    /// 0-based index of the process within which it is cycled; 0 if all workers are cycled
    /// together.
    pub cycle_index: usize,
    /// Number of its targets, at least one.
    pub target_count: u32,
}

/// One run of a series.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunShape {
    /// For each eligible worker, the number of its first targets that are used; 0 to skip it.
    pub target_counts: Vec<u32>,
    /// Queue depth, if the test type sets it.
    pub iodepth: Option<u32>,
}

/// The runs of a test type, in order; one more than [`CELLS_MAX`] if there are too many.
pub(super) fn runs(
    test_type: TestType,
    steps: &CyclingSteps,
    workers: &[EligibleWorker],
    depths: &[u32],
) -> Vec<RunShape> {
    let all = || vec![workers.iter().map(|worker| worker.target_count).collect()];
    let no_depth = [None];
    let set_depths: Vec<Option<u32>> = depths.iter().copied().map(Some).collect();
    let (counts, depths): (Vec<Vec<u32>>, &[Option<u32>]) = match test_type {
        TestType::Normal => (all(), &no_depth),
        TestType::CycleOutstandingIos => (all(), &set_depths),
        TestType::CycleTargets => (targets(steps.targets, workers), &no_depth),
        TestType::CycleOutstandingIosAndTargets => (targets(steps.targets, workers), &set_depths),
        TestType::CycleWorkers => (
            growing_shapes(steps.workers, |n| first_workers(workers, n)),
            &no_depth,
        ),
        TestType::IncrementTargetsParallel => (
            growing_shapes(steps.targets, |n| {
                filled(workers, n, |worker| worker.group_index)
            }),
            &no_depth,
        ),
        TestType::IncrementTargetsSerial => (
            growing_shapes(steps.targets, |n| {
                filled(workers, n, |worker| worker.cycle_index)
            }),
            &no_depth,
        ),
        TestType::CycleWorkersAndTargets => (workers_and_targets(steps, workers), &no_depth),
    };
    let shapes = counts.iter().flat_map(|counts| {
        depths.iter().map(|depth| RunShape {
            target_counts: counts.clone(),
            iodepth: *depth,
        })
    });
    // One more than the limit is enough for the caller to refuse the plan.
    shapes.take(CELLS_MAX + 1).collect()
}

/// The queue depths of a cycle, up to its end.
pub(super) fn depths(steps: &CyclingSteps) -> Vec<u32> {
    let end = u64::from(steps.iodepth_end);
    let values = steps.iodepth.values().take_while(|value| *value <= end);
    values
        .take(CELLS_MAX + 1)
        .map(|value| value as u32)
        .collect()
}

impl StepSeries {
    /// The numbers of the series, growing without end: a step of 1 is added for either kind.
    fn values(self) -> impl Iterator<Item = u64> {
        // A factor of 1 would repeat the first number without end.
        let linear = self.kind == StepKind::Linear || self.step == 1;
        self.step_values(linear)
    }

    fn step_values(self, linear: bool) -> impl Iterator<Item = u64> {
        let step = u64::from(self.step);
        std::iter::successors(Some(u64::from(self.start)), move |value| {
            // Saturating: the largest number activates nothing new, which ends the series.
            Some(if linear {
                value.saturating_add(step)
            } else {
                value.saturating_mul(step)
            })
        })
    }
}

fn targets(series: StepSeries, workers: &[EligibleWorker]) -> Vec<Vec<u32>> {
    growing_shapes(series, |n| first_targets(workers, n))
}

/// The shapes of a series, which ends when a step activates nothing new. A step beyond the last
/// worker or target still counts if it adds some.
fn growing_shapes(series: StepSeries, shape: impl Fn(u64) -> Vec<u32>) -> Vec<Vec<u32>> {
    growing_shapes_of(series.values(), shape)
}

fn growing_shapes_of(
    values: impl Iterator<Item = u64>,
    shape: impl Fn(u64) -> Vec<u32>,
) -> Vec<Vec<u32>> {
    let mut active = 0;
    let mut shapes = Vec::new();
    for value in values {
        let counts = shape(value);
        let now: u64 = counts.iter().map(|count| u64::from(*count)).sum();
        // As in Iometer, a step beyond the last worker or target still runs if it adds some.
        if now == active || shapes.len() > CELLS_MAX {
            break;
        }
        active = now;
        shapes.push(counts);
    }
    shapes
}

fn first_targets(workers: &[EligibleWorker], n: u64) -> Vec<u32> {
    let most = u32::try_from(n).unwrap_or(u32::MAX);
    workers
        .iter()
        .map(|worker| worker.target_count.min(most))
        .collect()
}

fn first_workers(workers: &[EligibleWorker], n: u64) -> Vec<u32> {
    let mut taken = GroupCounts::default();
    let count = |worker: &EligibleWorker| {
        let taken = taken.of(worker.group_index);
        *taken += 1;
        if *taken <= n { worker.target_count } else { 0 }
    };
    workers.iter().map(count).collect()
}

/// `n` targets per group, filled worker by worker.
fn filled(
    workers: &[EligibleWorker],
    n: u64,
    group: impl Fn(&EligibleWorker) -> usize,
) -> Vec<u32> {
    let mut given = GroupCounts::default();
    let count = |worker: &EligibleWorker| {
        let given = given.of(group(worker));
        // A group never gets more than `n`, so the difference cannot be negative.
        let count = u64::from(worker.target_count).min(n - *given);
        *given += count;
        // At most the worker's own number of targets, which has 32 bits.
        count as u32
    };
    workers.iter().map(count).collect()
}

/// For each number of workers, each number of targets.
///
/// As in Iometer, the workers' step decides whether the targets' step is added or multiplied.
fn workers_and_targets(steps: &CyclingSteps, workers: &[EligibleWorker]) -> Vec<Vec<u32>> {
    let linear = steps.targets.kind == StepKind::Linear || steps.workers.step == 1;
    let mut all = Vec::new();
    for of_workers in growing_shapes(steps.workers, |n| first_workers(workers, n)) {
        let shape = |n: u64| {
            let most = u32::try_from(n).unwrap_or(u32::MAX);
            of_workers.iter().map(|count| (*count).min(most)).collect()
        };
        all.extend(growing_shapes_of(steps.targets.step_values(linear), shape));
        if all.len() > CELLS_MAX {
            break;
        }
    }
    all
}

/// A counter per group.
#[derive(Default)]
struct GroupCounts(Vec<u64>);

impl GroupCounts {
    fn of(&mut self, group_index: usize) -> &mut u64 {
        if self.0.len() <= group_index {
            self.0.resize(group_index + 1, 0);
        }
        &mut self.0[group_index]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINEAR: StepSeries = StepSeries {
        start: 1,
        step: 1,
        kind: StepKind::Linear,
    };

    fn steps(targets: StepSeries) -> CyclingSteps {
        let iodepth = StepSeries {
            start: 1,
            step: 2,
            kind: StepKind::Exponential,
        };
        CyclingSteps {
            workers: LINEAR,
            targets,
            iodepth,
            iodepth_end: 32,
        }
    }

    fn exponential(start: u32, step: u32) -> StepSeries {
        StepSeries {
            start,
            step,
            kind: StepKind::Exponential,
        }
    }

    /// Two groups: workers of 3 and 1 targets, then a worker of 2 targets.
    fn workers() -> Vec<EligibleWorker> {
        [(0, 3), (0, 1), (1, 2)]
            .map(|(group_index, target_count)| EligibleWorker {
                group_index,
                cycle_index: 0,
                target_count,
            })
            .to_vec()
    }

    fn counts(test_type: TestType, steps: &CyclingSteps) -> Vec<Vec<u32>> {
        let depths = depths(steps);
        let runs = runs(test_type, steps, &workers(), &depths);
        runs.into_iter().map(|run| run.target_counts).collect()
    }

    #[test]
    fn the_normal_test_type_is_one_run_with_everything() {
        assert_eq!(counts(TestType::Normal, &steps(LINEAR)), [[3, 1, 2]]);
    }

    #[test]
    fn targets_grow_with_each_worker() {
        let linear = counts(TestType::CycleTargets, &steps(LINEAR));
        assert_eq!(linear, [[1, 1, 1], [2, 1, 2], [3, 1, 2]]);
    }

    #[test]
    fn a_step_beyond_the_last_target_still_runs_if_it_adds_some() {
        let doubled = counts(TestType::CycleTargets, &steps(exponential(1, 2)));
        assert_eq!(doubled, [[1, 1, 1], [2, 1, 2], [3, 1, 2]]);
        let tripled = counts(TestType::CycleTargets, &steps(exponential(1, 3)));
        assert_eq!(tripled, [[1, 1, 1], [3, 1, 2]]);
    }

    #[test]
    fn workers_grow_within_each_group() {
        let grown = counts(TestType::CycleWorkers, &steps(LINEAR));
        assert_eq!(grown, [[3, 0, 2], [3, 1, 2]]);
    }

    #[test]
    fn parallel_targets_fill_each_group_worker_by_worker() {
        let grown = counts(TestType::IncrementTargetsParallel, &steps(LINEAR));
        assert_eq!(grown, [[1, 0, 1], [2, 0, 2], [3, 0, 2], [3, 1, 2]]);
    }

    #[test]
    fn serial_targets_fill_all_groups_in_order() {
        let grown = counts(TestType::IncrementTargetsSerial, &steps(LINEAR));
        let wanted = [
            [1, 0, 0],
            [2, 0, 0],
            [3, 0, 0],
            [3, 1, 0],
            [3, 1, 1],
            [3, 1, 2],
        ];
        assert_eq!(grown, wanted);
    }

    #[test]
    fn targets_cycle_within_workers() {
        let grown = counts(TestType::CycleWorkersAndTargets, &steps(LINEAR));
        let wanted = [
            [1, 0, 1],
            [2, 0, 2],
            [3, 0, 2],
            [1, 1, 1],
            [2, 1, 2],
            [3, 1, 2],
        ];
        assert_eq!(grown, wanted);
    }

    #[test]
    fn the_workers_step_decides_how_targets_step_within_workers() {
        // Iometer adds 3 here, since the workers' step is 1: 1 then 4 targets, not 1 then 3.
        let mut tripling = steps(exponential(2, 2));
        assert_eq!(counts(TestType::CycleWorkersAndTargets, &tripling).len(), 4);
        tripling.workers = exponential(1, 2);
        tripling.targets = exponential(1, 1);
        // A factor of 1 adds nothing, so each number of workers has one run.
        let grown = counts(TestType::CycleWorkersAndTargets, &tripling);
        assert_eq!(grown, [[1, 0, 1], [1, 1, 1]]);
    }

    #[test]
    fn depths_keep_their_start_as_a_factor_and_stay_below_the_end() {
        let mut steps = steps(LINEAR);
        assert_eq!(depths(&steps), [1, 2, 4, 8, 16, 32]);
        steps.iodepth = exponential(3, 2);
        steps.iodepth_end = 13;
        assert_eq!(depths(&steps), [3, 6, 12]);
        steps.iodepth = exponential(5, 1);
        steps.iodepth_end = 8;
        assert_eq!(depths(&steps), [5, 6, 7, 8]);
        steps.iodepth_end = 4;
        assert!(depths(&steps).is_empty());
        steps.iodepth_end = u32::MAX;
        assert_eq!(depths(&steps).len(), CELLS_MAX + 1);
    }

    #[test]
    fn depths_cycle_within_targets() {
        let mut steps = steps(LINEAR);
        steps.iodepth_end = 2;
        let depths = depths(&steps);
        let runs = runs(
            TestType::CycleOutstandingIosAndTargets,
            &steps,
            &[EligibleWorker {
                group_index: 0,
                cycle_index: 0,
                target_count: 2,
            }],
            &depths,
        );
        let pairs: Vec<_> = runs
            .iter()
            .map(|run| (run.target_counts[0], run.iodepth))
            .collect();
        assert_eq!(
            pairs,
            [(1, Some(1)), (1, Some(2)), (2, Some(1)), (2, Some(2))]
        );
    }

    #[test]
    fn no_series_is_endless() {
        let huge = StepSeries {
            start: u32::MAX,
            step: u32::MAX,
            kind: StepKind::Exponential,
        };
        let steps = CyclingSteps {
            workers: huge,
            targets: huge,
            iodepth: huge,
            iodepth_end: u32::MAX,
        };
        for test_type in [
            TestType::CycleTargets,
            TestType::CycleWorkers,
            TestType::IncrementTargetsParallel,
            TestType::IncrementTargetsSerial,
            TestType::CycleWorkersAndTargets,
            TestType::CycleOutstandingIosAndTargets,
        ] {
            assert_eq!(counts(test_type, &steps).len(), 1, "{test_type:?}");
        }
    }
}
