//! Trims of blocks before they are written.

use std::collections::VecDeque;

use engine::{Operation, Request};
use plan::job::{JobPlan, ReadWriteMix};

use super::{JobSlot, JobStream, SlotRequest};
use crate::Step;

/// Writes of blocks that are trimmed first.
#[derive(Debug, Clone)]
pub(super) struct TrimmedWrites {
    /// The write after the trim in flight, by slot.
    trimming: Box<[Option<Request>]>,
    /// Writes whose trims have ended. A slot adds at most one and issues one before the next trim,
    /// so there are at most as many as slots.
    ready: VecDeque<Request>,
}

/// Operation of the requests that use the rules for writes.
pub(super) const fn write_operation(mix: ReadWriteMix) -> Operation {
    match mix {
        ReadWriteMix::Trim => Operation::Trim,
        _ => Operation::Write,
    }
}

impl TrimmedWrites {
    /// `None` if the job does not trim before it writes.
    pub(super) fn of(plan: &JobPlan) -> Option<Self> {
        let slot_count = plan.iodepth as usize;
        (plan.stream.mix == ReadWriteMix::TrimAndWrite).then(|| Self {
            trimming: vec![None; slot_count].into(),
            ready: VecDeque::with_capacity(slot_count),
        })
    }

    /// `true` while trims are in flight.
    pub(super) fn is_trimming(&self) -> bool {
        self.trimming.iter().any(Option::is_some)
    }
}

impl JobStream {
    /// Next step of a job that trims each block before it writes it. The write is issued after the
    /// end of the trim, which could otherwise discard what was written.
    pub(super) fn trim_or_write(&mut self, slot: u32, now_ns: u64) -> Step {
        let ready = self.trimmed.as_mut().and_then(|it| it.ready.pop_front());
        if let Some(request) = ready {
            self.slots[slot as usize] = JobSlot::default();
            self.in_flight += 1;
            return Step::Issue(Request { slot, ..request });
        }
        match (self.next_in_loop(slot, now_ns), &mut self.trimmed) {
            (Step::Issue(request), Some(trimmed)) if request.operation == Operation::Write => {
                self.slots[slot as usize].kind = SlotRequest::TrimBeforeWrite;
                trimmed.trimming[slot as usize] = Some(request);
                Step::Issue(Request {
                    operation: Operation::Trim,
                    ..request
                })
            }
            (step, _) => step,
        }
    }

    /// Makes the write after a trim ready.
    pub(super) fn trim_ended(&mut self, slot: u32) {
        if let Some(trimmed) = &mut self.trimmed {
            trimmed.ready.extend(trimmed.trimming[slot as usize].take());
        }
    }
}

#[cfg(test)]
mod tests {
    use engine::Completion;
    use plan::job::ReadBack;

    use super::*;
    use crate::Generator;
    use crate::job::tests::{plan, random, requests};

    const K: u64 = 1024;

    #[test]
    fn every_write_follows_the_trim_of_its_block() {
        let mix = ReadWriteMix::TrimAndWrite;
        for mut job in [plan(mix, 64 * K), random(mix, 64 * K)] {
            job.stream.sync.fsync_each = 4;
            let all = requests(&job);
            let syncs = all.iter().filter(|it| it.operation == Operation::Fsync);
            assert_eq!(syncs.count(), 3);
            let pairs: Vec<&Request> = all
                .iter()
                .filter(|it| it.operation != Operation::Fsync)
                .collect();
            assert_eq!(pairs.len(), 32);
            let mut offsets = Vec::new();
            for pair in pairs.chunks(2) {
                let [trim, write] = pair else { panic!() };
                assert_eq!(trim.operation, Operation::Trim);
                let operation = Operation::Write;
                assert_eq!(
                    **write,
                    Request {
                        operation,
                        ..**trim
                    }
                );
                offsets.push(write.offset_bytes);
            }
            offsets.sort_unstable();
            offsets.dedup();
            assert_eq!(offsets.len(), 16);
        }
    }

    #[test]
    fn trims_alone_visit_the_same_blocks_as_writes() {
        for job in [plan, random] {
            let writes = requests(&job(ReadWriteMix::Write, 256 * K));
            let mut trims = job(ReadWriteMix::Trim, 256 * K);
            // There are no writes after which a sync could be due.
            trims.stream.sync.fsync_each = 1;
            trims.stream.sync.fsync_at_end = true;
            let mut trims = requests(&trims);
            assert_eq!(trims.pop().map(|it| it.operation), Some(Operation::Fsync));
            let as_trims = writes.into_iter().map(|it| Request {
                operation: Operation::Trim,
                ..it
            });
            assert_eq!(trims, as_trims.collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_write_is_issued_after_its_trim_has_ended() {
        let mut job = random(ReadWriteMix::TrimAndWrite, 1024 * K);
        job.iodepth = 4;
        assert_eq!(counts(&job), [256, 256, 0]);
        job.stream.read_back = Some(ReadBack::default());
        assert_eq!(counts(&job), [256; 3]);
    }

    /// Number of trims, writes and reads of a job with four requests in flight.
    fn counts(job: &JobPlan) -> [u32; 3] {
        let mut stream = JobStream::new(job, 3).unwrap();
        let mut trimmed = Vec::new();
        let (mut in_flight, mut counts) = (Vec::new(), [0; 3]);
        let mut slots: Vec<u32> = (0..4).collect();
        let mut turn = 0;
        loop {
            let step = slots.last().map(|slot| stream.next(*slot, 1));
            match step {
                Some(Step::Issue(request)) => {
                    slots.pop();
                    match request.operation {
                        Operation::Trim => counts[0] += 1,
                        Operation::Write => {
                            counts[1] += 1;
                            let place = trimmed.iter().position(|it| *it == request.offset_bytes);
                            trimmed.swap_remove(place.expect("its trim has ended"));
                        }
                        Operation::Read => counts[2] += 1,
                        operation => panic!("{operation:?}"),
                    }
                    in_flight.push(request);
                    continue;
                }
                Some(Step::Again) => continue,
                Some(Step::Finished) if in_flight.is_empty() => break,
                _ => {}
            }
            // Any order of completions.
            turn += 7;
            let request = in_flight.swap_remove(turn % in_flight.len());
            if request.operation == Operation::Trim {
                trimmed.push(request.offset_bytes);
            }
            let slot = request.slot;
            stream.complete(Completion { slot, result: 0 }, 2);
            slots.push(slot);
        }
        assert!(trimmed.is_empty());
        counts
    }
}
