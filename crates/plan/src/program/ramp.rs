//! Adds a ramp before the measurement.

use super::{PoolPart, Program, ProgramPart, RoundsEnd};

impl Program {
    /// The program with a ramp time of `ramp_ns` nanoseconds that is not measured. A pool ramps up
    /// with its first transactions. Rounds that report their best or median run for that long
    /// before.
    #[must_use]
    pub fn with_ramp(mut self, ramp_ns: u64) -> Self {
        for phase in self.phases_mut() {
            if phase.pool_part() == Some(PoolPart::Transact) {
                phase.ramp_ns = ramp_ns;
            }
        }
        let parts = std::mem::take(&mut self.parts);
        for part in parts {
            self.parts.extend(before(&part, ramp_ns));
            self.parts.push(part);
        }
        self
    }
}

/// The ramp of these rounds: the same rounds, not recorded; `None` for other parts.
fn before(part: &ProgramPart, ramp_ns: u64) -> Option<ProgramPart> {
    let ProgramPart::Rounds { until, parts } = part else {
        return None;
    };
    let hidden = |part: &ProgramPart| {
        let mut part = part.clone();
        if let ProgramPart::Phase(phase) = &mut part {
            phase.is_hidden = true;
        }
        part
    };
    until.reports_one_round().then(|| ProgramPart::Rounds {
        // By time also before samples, so that the ramp has the requested length.
        until: RoundsEnd::Spent { ns: ramp_ns },
        parts: parts.iter().map(hidden).collect(),
    })
}
