//! Queue depth of a job whose engine has one request at a time: as many threads.

use workload::job::{JobFile, JobPlan};
use workload::plan::{EngineKind, SpanPlan, WorkerPlan};

use crate::rng::mix;

/// The threads of a worker with a job: itself, or one for each request in flight where the engine
/// has one at a time. Each of these works in a part of its own of every file, all of the same size
/// but for the last, and does its share of what the job does in all.
#[must_use]
pub fn threads(plan: &WorkerPlan) -> Vec<WorkerPlan> {
    let Some(job) = plan.job.as_deref() else {
        return vec![plan.clone()];
    };
    let is_one_by_one = matches!(job.engine, EngineKind::Psync | EngineKind::Mmap);
    if !is_one_by_one || job.iodepth < 2 || job.names.is_some() {
        return vec![plan.clone()];
    }
    let count = job.iodepth;
    let thread = |index: u32| WorkerPlan {
        seed: mix(plan.seed ^ mix(u64::from(index))),
        spans: plan.spans.iter().map(one_at_a_time).collect(),
        job: Some(Box::new(share(job, (index, count)))),
        ..plan.clone()
    };
    (0..count).map(thread).collect()
}

fn one_at_a_time(span: &SpanPlan) -> SpanPlan {
    SpanPlan {
        iodepth: 1,
        ..*span
    }
}

/// What the thread with this index, of so many, does of the job.
fn share(job: &JobPlan, (index, count): (u32, u32)) -> JobPlan {
    let unit = unit_bytes(job);
    let part = |file: &JobFile| {
        let (start, end) = (
            cut(file.size_bytes, unit, (index, count)),
            cut(file.size_bytes, unit, (index + 1, count)),
        );
        JobFile {
            start_bytes: file.start_bytes + start,
            size_bytes: end - start,
            ..*file
        }
    };
    let mut share = JobPlan {
        iodepth: 1,
        files: job.files.iter().map(part).collect(),
        ..job.clone()
    };
    let end = &mut share.stream.end;
    end.bytes = cut(end.bytes, unit, (index + 1, count)) - cut(end.bytes, unit, (index, count));
    let all = job.stream.end.requests;
    let upto = |all: u64, index: u32| u128::from(all) * u128::from(index) / u128::from(count);
    end.requests = all.map(|all| (upto(all, index + 1) - upto(all, index)) as u64);
    share
}

/// Where the part with this index, of so many, begins: a multiple of the unit, or the end.
fn cut(bytes: u64, unit_bytes: u64, (index, count): (u32, u32)) -> u64 {
    match index == count {
        true => bytes,
        false => bytes / u64::from(count) / unit_bytes * unit_bytes * u64::from(index),
    }
}

/// What all places and sizes of its requests are multiples of.
fn unit_bytes(job: &JobPlan) -> u64 {
    u64::from(job.buffer_bytes().max(1))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use workload::job::{Mix, NameWork};
    use workload::plan::{ContentPlan, CursorKind, PositionRule};

    use super::*;
    use crate::job::tests::plan;

    fn of(job: JobPlan) -> Vec<WorkerPlan> {
        threads(&WorkerPlan {
            worker_index: 0,
            rank: 0,
            name: "job".to_owned(),
            access_spec: "job".to_owned(),
            lines: Vec::new(),
            spans: Vec::new(),
            seed: 1,
            position: PositionRule::Uniform,
            cursor: CursorKind::Worker,
            content: ContentPlan::Incompressible,
            verify: false,
            transactions_per_connection: None,
            network: false,
            cpu: None,
            job: Some(Box::new(job)),
        })
    }

    #[test]
    fn threads_share_files_and_amounts_to_the_last_byte() {
        for (count, size_bytes) in [(2, 1 << 20), (3, 1 << 20), (8, (1 << 20) + 4096)] {
            let mut job = plan(Mix::Write, size_bytes);
            (job.engine, job.iodepth) = (EngineKind::Psync, count);
            job.files[0].start_bytes = 8192;
            job.stream.end.requests = Some(1000);
            let threads = of(job);
            assert_eq!(threads.len(), count as usize);
            let jobs = || threads.iter().filter_map(|it| it.job.as_deref());
            let mut at_bytes = 8192;
            for job in jobs() {
                assert_eq!((job.iodepth, job.files[0].start_bytes), (1, at_bytes));
                assert_eq!(job.stream.end.bytes, job.files[0].size_bytes);
                at_bytes += job.files[0].size_bytes;
            }
            assert_eq!(at_bytes, 8192 + size_bytes);
            let requests: u64 = jobs().filter_map(|job| job.stream.end.requests).sum();
            assert_eq!(requests, 1000);
            let seeds: BTreeSet<u64> = threads.iter().map(|it| it.seed).collect();
            assert_eq!(seeds.len(), count as usize);
        }
    }

    #[test]
    fn an_engine_with_a_queue_and_work_on_names_need_one_thread() {
        for (engine, names) in [
            (EngineKind::IoUring, None),
            (EngineKind::Psync, Some(NameWork::Stat)),
        ] {
            let mut job = plan(Mix::Read, 1 << 20);
            (job.engine, job.iodepth, job.names) = (engine, 8, names);
            assert_eq!(of(job).len(), 1);
        }
    }
}
