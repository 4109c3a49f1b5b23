//! Merges a program's own results of a phase that several processes ran.

use crate::phase_figures::{
    LabelFigures, PhaseFigures, PoolFigures, ReportedRound, RoundFigures, StepFigures,
};

/// The merged results; `None` if no process has any.
pub(super) fn merged<'a>(
    of: impl Iterator<Item = Option<&'a PhaseFigures>>,
) -> Option<PhaseFigures> {
    let all: Vec<&PhaseFigures> = of.flatten().collect();
    let first = *all.first()?;
    let mut rounds = merge_by_index(all.iter().map(|it| it.rounds.as_slice()), add_round);
    // After all are added: the first window may belong to any process.
    rounds.iter_mut().for_each(rebase_on_first_window);
    Some(PhaseFigures {
        steps: merge_by_index(all.iter().map(|it| it.steps.as_slice()), add_step),
        labels: labels(&all),
        rounds,
        reported_round: all.iter().filter_map(|it| it.reported_round).reduce(longer),
        pool: all.iter().filter_map(|it| it.pool).reduce(merge_pools),
        ..first.clone()
    })
}

/// Merges the elements at the same index of each list.
fn merge_by_index<'a, T: Clone + 'a>(
    lists: impl Iterator<Item = &'a [T]>,
    add: fn(&mut T, &T),
) -> Vec<T> {
    let mut sums: Vec<T> = Vec::new();
    for list in lists {
        for (index, it) in list.iter().enumerate() {
            match sums.get_mut(index) {
                Some(sum) => add(sum, it),
                None => sums.push(it.clone()),
            }
        }
    }
    sums
}

fn add_step(sum: &mut StepFigures, other: &StepFigures) {
    sum.count = sum.count.saturating_add(other.count);
    sum.errors = sum.errors.saturating_add(other.errors);
    // All processes do the step at the same time, so it lasts until the slowest is done.
    sum.time_ns = sum.time_ns.max(other.time_ns);
    sum.user_ns = sum.user_ns.saturating_add(other.user_ns);
    sum.system_ns = sum.system_ns.saturating_add(other.system_ns);
}

fn add_round(sum: &mut RoundFigures, other: &RoundFigures) {
    sum.file_count = sum.file_count.saturating_add(other.file_count);
    sum.time_ns = sum.time_ns.max(other.time_ns);
    sum.sync_ns = sum.sync_ns.max(other.sync_ns);
    sum.workers.extend(other.workers.iter().cloned());
}

/// Each process reports windows relative to the agreed start. Merged windows are relative to the
/// first window's start.
fn rebase_on_first_window(round: &mut RoundFigures) {
    let windows = || round.workers.iter().filter_map(|it| it.window);
    let begin_ns = windows().map(|it| it.begin_ns).min().unwrap_or(0);
    for window in round.workers.iter_mut().filter_map(|it| it.window.as_mut()) {
        for at_ns in [
            &mut window.begin_ns,
            &mut window.body_ns,
            &mut window.body_end_ns,
            &mut window.end_ns,
        ] {
            *at_ns = at_ns.saturating_sub(begin_ns);
        }
        if let Some(wall) = &mut window.wall {
            wall.at_ns = wall.at_ns.saturating_sub(begin_ns);
        }
    }
}

fn longer(a: ReportedRound, b: ReportedRound) -> ReportedRound {
    if a.time_ns < b.time_ns { b } else { a }
}

/// Merges labels by name. Percentiles are dropped because they are known only per process.
fn labels(all: &[&PhaseFigures]) -> Vec<LabelFigures> {
    let mut sums: Vec<LabelFigures> = Vec::new();
    for label in all.iter().flat_map(|it| &it.labels) {
        let Some(sum) = sums.iter_mut().find(|it| it.label == label.label) else {
            sums.push(label.clone());
            continue;
        };
        sum.count = sum.count.saturating_add(label.count);
        sum.errors = sum.errors.saturating_add(label.errors);
        sum.bytes = sum.bytes.saturating_add(label.bytes);
        sum.sum_ns = sum.sum_ns.saturating_add(label.sum_ns);
        sum.min_ns = sum.min_ns.min(label.min_ns);
        sum.max_ns = sum.max_ns.max(label.max_ns);
        (sum.p50_ns, sum.p99_ns) = (None, None);
    }
    sums
}

fn merge_pools(a: PoolFigures, b: PoolFigures) -> PoolFigures {
    PoolFigures {
        transactions_count: a.transactions_count.saturating_add(b.transactions_count),
        transactions_per_second: None,
        created_count: a.created_count.saturating_add(b.created_count),
        created_before_count: a
            .created_before_count
            .saturating_add(b.created_before_count),
        read_count: a.read_count.saturating_add(b.read_count),
        appended_count: a.appended_count.saturating_add(b.appended_count),
        deleted_count: a.deleted_count.saturating_add(b.deleted_count),
        deleted_after_count: a.deleted_after_count.saturating_add(b.deleted_after_count),
        read_bytes: a.read_bytes.saturating_add(b.read_bytes),
        written_bytes: a.written_bytes.saturating_add(b.written_bytes),
        // In 32-bit floats, like the program.
        read_bytes_float: f64::from(a.read_bytes_float as f32 + b.read_bytes_float as f32),
        written_bytes_float: f64::from(a.written_bytes_float as f32 + b.written_bytes_float as f32),
        taken_count: a.taken_count.saturating_add(b.taken_count),
        creation_ns: a.creation_ns.max(b.creation_ns),
        directories_made_ns: a.directories_made_ns.max(b.directories_made_ns),
        transactions_ns: a.transactions_ns.max(b.transactions_ns),
        deletion_ns: a.deletion_ns.max(b.deletion_ns),
        directories_removed_ns: a.directories_removed_ns.max(b.directories_removed_ns),
    }
    // From the merged times, because rates over different times do not add up.
    .with_rate()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase_figures::{WorkerTimes, WorkerWindow};

    #[test]
    fn merged_worker_windows_keep_their_distance() {
        let process_figures = |windows: &[(u64, u64)]| {
            let workers = windows.iter().map(|(begin_ns, end_ns)| WorkerTimes {
                window: Some(WorkerWindow {
                    begin_ns: *begin_ns,
                    body_ns: *begin_ns,
                    body_end_ns: *end_ns,
                    end_ns: *end_ns,
                    ..WorkerWindow::default()
                }),
                ..WorkerTimes::default()
            });
            PhaseFigures {
                rounds: vec![RoundFigures {
                    workers: workers.collect(),
                    ..RoundFigures::default()
                }],
                ..PhaseFigures::default()
            }
        };
        let both = [
            process_figures(&[(70, 500), (40, 450)]),
            process_figures(&[(90, 700)]),
        ];
        let sum = merged(both.iter().map(Some)).expect("figures");
        let windows = sum.rounds[0].workers.iter().filter_map(|it| it.window);
        let ends = windows.map(|it| (it.begin_ns, it.body_end_ns, it.end_ns));
        let wanted = [(30, 460, 460), (0, 410, 410), (50, 660, 660)];
        assert_eq!(ends.collect::<Vec<_>>(), wanted);
    }
}
