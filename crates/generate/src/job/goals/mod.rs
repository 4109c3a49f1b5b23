//! The goals of a job, checked at each request: a wrapper around the job's stream, which only jobs
//! with goals have.

mod board;
mod depth;
mod floor;
mod flow;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use engine::{Completion, Operation, OperationSet, Request};
use plan::job::JobPlan;

use crate::{Flow, Generator, Step};

use super::{RequestDirection, write_operation};
pub use board::{DepthReport, GoalCounts, GoalProgress, MissKind, MissedRequest};
use depth::{DepthSearch, DepthVerdict};
use floor::FloorWatch;
use flow::FlowJobState;
pub use flow::FlowTotal;

/// The requests of a job until a goal ends it.
#[derive(Debug)]
pub struct GoalLimited<G> {
    inner: G,
    progress: Arc<GoalProgress>,
    ramp_ns: u64,
    /// Time from which the goals count, on the worker's clock.
    begin_ns: Option<u64>,
    /// By direction.
    floors: [Option<FloorWatch>; 2],
    latency_ns_max: [u64; 2],
    /// Operation of the requests that count as writes.
    write_operation: Operation,
    depth: Option<DepthSearch>,
    flow: Option<FlowJobState>,
    /// Request and issue time, by slot.
    issued: Box<[(Request, u64)]>,
    in_flight: u32,
    is_over: bool,
}

impl<G: Generator> GoalLimited<G> {
    /// Wraps `inner`, which is the stream of this job.
    #[must_use]
    pub fn new(inner: G, plan: &JobPlan, board: Arc<GoalProgress>) -> Self {
        let goals = &plan.goals;
        let floors = goals.rate_floor.map_or([None, None], |floor| {
            let watch = |least| Some(FloorWatch::new(least, floor.window_ns, floor.settle_ns));
            let least = floor.least;
            [least.read.and_then(watch), least.write.and_then(watch)]
        });
        let depth = goals
            .depth_target
            .map(|target| DepthSearch::new(target, plan.iodepth));
        board.set_depth(depth.as_ref().map_or(plan.iodepth, DepthSearch::depth));
        let latency = goals.latency_ns_max;
        let flow = goals.flow.zip(board.flow());
        let flow = flow.map(|(share, flow)| FlowJobState::join(share, flow));
        Self {
            inner,
            progress: board,
            ramp_ns: plan.ramp_time_ns,
            begin_ns: None,
            floors,
            latency_ns_max: [latency.read, latency.write].map(|it| it.unwrap_or(u64::MAX)),
            write_operation: write_operation(plan.stream.mix),
            depth,
            flow,
            issued: vec![(Request::EMPTY, 0); plan.iodepth as usize].into(),
            in_flight: 0,
            is_over: false,
        }
    }

    /// Ends the job if a request took too long.
    fn check_latency(
        &mut self,
        side: RequestDirection,
        request: &Request,
        latency_ns: u64,
        now_ns: u64,
    ) {
        let wanted = self.latency_ns_max[side as usize];
        if latency_ns > wanted {
            self.miss(MissKind::Latency, request, (wanted, latency_ns), now_ns);
        }
    }

    /// Records a request that has moved its bytes.
    fn moved(&mut self, side: RequestDirection, request: &Request, latency_ns: u64, now_ns: u64) {
        self.check_latency(side, request, latency_ns, now_ns);
        let begin_ns = self.begin_ns.unwrap_or(now_ns);
        // Rates and depths do not count in the ramp time.
        let Some(since_ns) = now_ns.checked_sub(begin_ns) else {
            return;
        };
        self.progress.count(request.length_bytes, latency_ns);
        if let Some(floor) = &mut self.floors[side as usize] {
            floor.count(request.length_bytes);
        }
        // Judged for both directions, so that one that stands still is noticed while the other
        // continues.
        for index in 0..self.floors.len() {
            let floor = self.floors[index].as_mut();
            if let Some((kind, wanted, seen)) = floor.and_then(|it| it.judge(since_ns)) {
                let side = [Operation::Read, self.write_operation][index];
                let side_request = Request {
                    operation: side,
                    ..*request
                };
                self.miss(kind, &side_request, (wanted, seen), now_ns);
            }
        }
        let Some(search) = &mut self.depth else {
            return;
        };
        let wanted = search.latency_ns();
        match search.completed(latency_ns, since_ns, self.in_flight) {
            DepthVerdict::Continue => {}
            DepthVerdict::Settled => self.progress.settle(),
            DepthVerdict::Done => self.is_over = true,
            DepthVerdict::Missed => {
                self.miss(
                    MissKind::DepthLatency,
                    request,
                    (wanted, latency_ns),
                    now_ns,
                );
            }
        }
        if let Some(search) = &self.depth {
            self.progress.set_depth(search.depth());
            self.progress.set_kept(search.kept());
        }
    }

    /// Ends the job; the board keeps only the first missed goal.
    fn miss(&mut self, kind: MissKind, request: &Request, (wanted, seen): (u64, u64), now_ns: u64) {
        self.is_over = true;
        self.progress.miss(MissedRequest {
            kind,
            request: *request,
            wanted,
            seen,
            at_ns: now_ns.saturating_sub(self.begin_ns.unwrap_or(now_ns)),
        });
    }

    /// `true` if another request would exceed the depth being tried.
    fn is_deep_enough(&self) -> bool {
        let limit = self.depth.as_ref().map_or(u32::MAX, DepthSearch::limit);
        // With nothing in flight, no completion would end the wait.
        self.in_flight >= limit && self.in_flight > 0
    }
}

impl<G: Generator> Generator for GoalLimited<G> {
    fn operations(&self) -> OperationSet {
        self.inner.operations()
    }

    fn transaction_kinds(&self) -> Vec<String> {
        self.inner.transaction_kinds()
    }

    fn enter(&mut self) -> bool {
        self.inner.enter()
    }

    fn begin(&mut self) {
        self.inner.begin();
    }

    fn leave(&mut self) -> bool {
        self.inner.leave()
    }

    fn next(&mut self, slot: u32, now_ns: u64) -> Step {
        if self.begin_ns.is_none() {
            let begin_ns = now_ns.saturating_add(self.ramp_ns);
            self.begin_ns = Some(begin_ns);
            self.progress.begin(begin_ns);
        }
        if self.is_over || self.progress.is_ended() {
            return Step::Finished;
        }
        if self.is_deep_enough() {
            return Step::Park;
        }
        if let Some(flow) = self.flow.as_ref().filter(|it| it.is_ahead()) {
            return match self.in_flight {
                // A parked slot is woken by completions only, and none will come.
                0 => Step::Wait {
                    until_ns: flow.until_ns(now_ns),
                },
                _ => Step::Park,
            };
        }
        let step = self.inner.next(slot, now_ns);
        if let Step::Issue(request) = step {
            self.issued[slot as usize] = (request, now_ns);
            self.in_flight += 1;
            if let Some(flow) = &mut self.flow {
                flow.issued();
            }
        }
        step
    }

    fn expected_bytes(&self, request: &Request, result: i32) -> u32 {
        self.inner.expected_bytes(request, result)
    }

    fn complete(&mut self, completion: Completion, now_ns: u64) -> Flow {
        // Counted down first, because the search needs the number of other requests in flight.
        self.in_flight -= 1;
        let (request, issued_ns) = self.issued[completion.slot as usize];
        let latency_ns = now_ns.saturating_sub(issued_ns);
        match request.operation {
            _ if completion.result < 0 => {}
            Operation::Read => self.moved(RequestDirection::Read, &request, latency_ns, now_ns),
            operation if operation == self.write_operation => {
                self.moved(RequestDirection::Write, &request, latency_ns, now_ns);
            }
            // Before a write, which counts for both.
            Operation::Trim => {
                self.check_latency(RequestDirection::Write, &request, latency_ns, now_ns);
            }
            _ => {}
        }
        self.inner.complete(completion, now_ns)
    }

    fn on_mismatch(&mut self) {
        self.inner.on_mismatch();
    }
}

impl<G> Drop for GoalLimited<G> {
    fn drop(&mut self) {
        self.progress.leave();
    }
}
