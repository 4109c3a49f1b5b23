//! Number of rounds of a worker.

use crate::program::{
    Act, AmountScope, Call, CallObject, FileSharing, FilesetSharing, Group, Measure, MovedBytes,
    Pick, Program,
};

/// Maximum number of rounds of a worker; `None` if only time ends them.
pub(in crate::program) fn rounds_of(program: &Program, group: &Group) -> Option<f64> {
    let mut tally = RoundWork::default();
    tally.acts(program, group, &group.body, 1.0);
    let workers = f64::from(group.worker_count()).max(1.0);
    let quotas = group.quotas.iter().filter_map(|quota| {
        let per_round = match quota.what {
            Measure::Rounds | Measure::Steps(_) => 1.0,
            Measure::Bytes | Measure::StepBytes(_) => tally.bytes,
            Measure::Calls => tally.calls,
        };
        let sharers = match quota.of {
            AmountScope::Each => 1.0,
            AmountScope::Group => workers,
        };
        (per_round > 0.0).then(|| quota.count as f64 / per_round / sharers)
    });
    let rounds = quotas.chain(tally.rounds).reduce(f64::min);
    rounds.map(|rounds| rounds.max(1.0))
}

/// Work of one round.
#[derive(Default)]
struct RoundWork {
    calls: f64,
    bytes: f64,
    /// Number of rounds before files run out.
    rounds: Option<f64>,
}

impl RoundWork {
    fn acts(&mut self, program: &Program, group: &Group, acts: &[Act], times: f64) {
        for act in acts {
            if let Act::Call(call) = act {
                self.call(program, group, call, times);
            }
            let often = act.frequencies(program);
            for (acts, often) in act.lists().into_iter().zip(often) {
                self.acts(program, group, acts, times * often);
            }
        }
    }

    fn call(&mut self, program: &Program, group: &Group, call: &Call, times: f64) {
        self.calls += times;
        if let (true, MovedBytes::Law(law)) = (call.operation.moves(), &call.bytes) {
            self.bytes += times * law.mean();
        }
        let first = match &call.on {
            CallObject::Name(pick) => Some(pick),
            _ => None,
        };
        for pick in first.into_iter().chain(&call.second) {
            // Acts that are never done, such as a choice without a card, have a frequency of 0.
            let rounds = picks_of(program, group, pick).map(|picks| picks / times.max(1e-9));
            self.rounds = match (self.rounds, rounds) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            };
        }
    }
}

/// Number of files in an order that ends, for one worker.
fn picks_of(program: &Program, group: &Group, pick: &Pick) -> Option<f64> {
    if !pick.order.is_single_pass() {
        return None;
    }
    let fileset = &program.filesets[usize::from(pick.fileset)];
    let workers = f64::from(group.worker_count()).max(1.0);
    Some(match (pick.turn, fileset.copies) {
        (FileSharing::Own, _) | (_, FilesetSharing::PerWorker) => f64::from(fileset.count),
        (FileSharing::Slice | FileSharing::Shared, FilesetSharing::One) => {
            f64::from(fileset.count) / workers
        }
    })
}
