//! The second half of a turn of the measurement loop: what has completed.

use engine::clock::Clock;
use engine::{Completion, Engine, Operation};
use generate::{Content, Generator};

use crate::measure::Loop;
use crate::slots::{Flight, Turns};
use crate::tally::{Single, Tally, Together};

impl<E: Engine, G: Generator, C: Content, K: Clock> Loop<E, G, C, K> {
    #[inline]
    pub fn complete_all(&mut self, turns: &mut Turns, now_ns: u64) {
        if let [completion] = turns.done[..] {
            self.complete(turns, completion, now_ns, &mut Single);
        } else {
            let mut together = Together::new();
            let done = std::mem::take(&mut turns.done);
            for completion in &done {
                self.complete(turns, *completion, now_ns, &mut together);
            }
            turns.done = done;
            self.recorder.end_turn(&together);
        }
        turns.end_turn();
    }

    #[inline(always)]
    fn complete<T: Tally>(
        &mut self,
        turns: &mut Turns,
        completion: Completion,
        now_ns: u64,
        tally: &mut T,
    ) {
        let Completion { slot, result } = completion;
        let Flight { request, issued_ns } = turns.reaped(slot);
        let latency_ns = now_ns.saturating_sub(issued_ns);
        let expected_bytes = self.generator.expected_bytes(&request, result);
        self.recorder
            .record(tally, &request, (expected_bytes, result), latency_ns);
        if self.content.checks() && request.operation == Operation::Read && result > 0 {
            let seen = &self.engine.buffer(slot)[..result as usize];
            if let Err(mismatch) = self.content.check(seen, &request) {
                self.recorder.mismatch(mismatch, request.length_bytes);
                self.generator.mismatched();
            }
        }
        let flow = self.generator.complete(completion, now_ns);
        if let Some(ended) = turns.end_flow(completion, issued_ns, flow, now_ns) {
            self.recorder.flow_done(tally, &request, ended);
        }
    }
}
