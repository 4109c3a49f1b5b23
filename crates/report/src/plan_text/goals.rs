//! Describes the goals of jobs, one sentence per goal.

use units::format::size;
use units::{Percent, Span};

use plan::Cell;
use plan::job::{DepthTarget, GoalMeasure, JobGoals, ReadWriteMix, SteadyGoal};

use super::jobs::write_word;

/// One line per goal; jobs with the same goals share a line.
pub(super) fn lines(cell: &Cell) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let jobs = cell.workers.iter().filter_map(|worker| {
        let job = worker.job.as_deref()?;
        Some((plan::printable(&worker.name), job))
    });
    for (name, job) in jobs.filter(|(_, job)| !job.goals.is_empty()) {
        let goals = goals_of(&job.goals, job.stream.mix);
        let goals = goals.iter().map(|goal| format!("  {name} {goal}"));
        for line in goals {
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines
}

/// Leaves out goals of a direction that is not used.
fn goals_of(goals: &JobGoals, mix: ReadWriteMix) -> Vec<String> {
    let mut texts = Vec::new();
    if let Some(floor) = &goals.rate_floor {
        let window = Span(floor.window_ns);
        let read = floor.least.read.filter(|_| mix.reads());
        let write = floor.least.write.filter(|_| mix.modifies());
        for (what, least) in [("read", read), (write_word(mix), write)] {
            texts.extend(least.map(|least| {
                let rate = match least.is_of_bytes {
                    true => format!("{}/s", size(least.per_second)),
                    false => format!("{}/s", least.per_second),
                };
                format!("ends with an error when its {what}s fall below {rate} in {window}")
            }));
        }
    }
    let most = &goals.latency_ns_max;
    let read = most.read.filter(|_| mix.reads());
    let write = most.write.filter(|_| mix.modifies());
    for (what, latency_ns) in [("read", read), (write_word(mix), write)] {
        texts.extend(latency_ns.map(|ns| {
            let most = Span(ns);
            format!("ends with an error when a {what} takes longer than {most}")
        }));
    }
    texts.extend(goals.depth_target.as_ref().map(depth_target));
    texts.extend(goals.steady.as_ref().map(steady));
    texts.extend(goals.flow.map(|flow| {
        let (weight, group) = (flow.weight, flow.group);
        format!("shares requests with all jobs of flow {group}, with a weight of {weight}")
    }));
    texts
}

fn depth_target(target: &DepthTarget) -> String {
    let (latency, window) = (Span(target.latency_ns), Span(target.window_ns));
    let share = match target.percentile {
        100.0.. => "all requests".to_owned(),
        percentile => format!("{} of the requests", Percent(percentile)),
    };
    let then = match target.goes_on {
        true => "searching until it ends",
        false => "and is measured there",
    };
    format!("finds the largest depth that keeps {share} within {latency}, {window} at each, {then}")
}

fn steady(goal: &SteadyGoal) -> String {
    let measure = match goal.measure {
        GoalMeasure::Iops => "IOPS",
        GoalMeasure::Bandwidth => "bandwidth",
        GoalMeasure::Latency => "latency",
    };
    let unit = match (goal.is_percent, goal.measure) {
        (true, _) => " %",
        (false, GoalMeasure::Iops) => "/s",
        (false, GoalMeasure::Bandwidth) => " bytes/s",
        (false, GoalMeasure::Latency) => " ns",
    };
    let criterion = match goal.is_slope {
        true => format!("the slope of its {measure} is below {}{unit}", goal.limit),
        false => format!(
            "every reading of its {measure} is within {}{unit} of their mean",
            goal.limit
        ),
    };
    let group = match goal.group_index {
        Some(_) => " with its group",
        None => "",
    };
    let ramp = match goal.ramp_ns {
        0 => String::new(),
        ramp_ns => format!(", the first {} apart", Span(ramp_ns)),
    };
    format!(
        "ends{group} when {criterion} over {}, a reading each {}{ramp}",
        Span(goal.window_ns),
        Span(goal.interval_ns)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::job::{MinRate, PerDirection, RateFloor};

    const MS: u64 = 1_000_000;

    #[test]
    fn goals_are_described_in_words() {
        let goals = JobGoals {
            rate_floor: Some(RateFloor {
                least: PerDirection {
                    read: Some(MinRate {
                        per_second: 1000,
                        is_of_bytes: false,
                    }),
                    write: Some(MinRate {
                        per_second: 1 << 20,
                        is_of_bytes: true,
                    }),
                },
                window_ns: 500 * MS,
                settle_ns: 2000 * MS,
            }),
            latency_ns_max: PerDirection {
                read: None,
                write: Some(20 * MS),
            },
            depth_target: Some(DepthTarget {
                latency_ns: 5 * MS,
                window_ns: 200 * MS,
                percentile: 99.9,
                goes_on: false,
            }),
            steady: Some(SteadyGoal {
                measure: GoalMeasure::Iops,
                is_slope: true,
                limit: 0.3,
                is_percent: true,
                window_ns: 60_000 * MS,
                ramp_ns: 10_000 * MS,
                interval_ns: 1000 * MS,
                group_index: Some(0),
            }),
            flow: None,
        };
        let wanted = [
            "ends with an error when its reads fall below 1000/s in 500ms",
            "ends with an error when its writes fall below 1 MiB/s in 500ms",
            "ends with an error when a write takes longer than 20ms",
            "finds the largest depth that keeps 99.9% of the requests within 5ms, 200ms at \
             each, and is measured there",
            "ends with its group when the slope of its IOPS is below 0.3 % over 1m, a reading \
             each 1s, the first 10s apart",
        ];
        let both = ReadWriteMix::Both { read_percent: 50.0 };
        assert_eq!(goals_of(&goals, both), wanted);
        assert_eq!(
            goals_of(&goals, ReadWriteMix::Read)[..],
            [wanted[0], wanted[3], wanted[4]]
        );
        assert!(goals_of(&JobGoals::default(), both).is_empty());
    }
}
