//! Queue depth of a job whose engine handles one request at a time: one thread per request.

use plan::job::{JobFile, JobPlan};
use plan::{SpanPlan, WorkerPlan};

use plan::share;
use stats::mix;

/// The threads of a worker with a job, as workers. If there are several, each uses its own part of
/// every file and performs its share of the job's bytes and requests. The parts have equal size,
/// except the last.
#[must_use]
pub fn threads(plan: &WorkerPlan) -> Vec<WorkerPlan> {
    let Some(job) = plan.job.as_deref() else {
        return vec![plan.clone()];
    };
    let count = job.thread_count();
    if count < 2 {
        return vec![plan.clone()];
    }
    let thread = |index: u32| WorkerPlan {
        // With equal seeds, all threads would visit the same places of their parts in step.
        seed: mix(plan.seed ^ mix(u64::from(index))),
        spans: plan.spans.iter().map(one_at_a_time).collect(),
        job: Some(Box::new(part_of(job, (index, count)))),
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

/// The part of a job for one of its `count` threads.
fn part_of(job: &JobPlan, (index, count): (u32, u32)) -> JobPlan {
    // The largest request. Each part then holds whole requests and has no unused rest.
    let unit = u64::from(job.buffer_bytes().max(1));
    let file_part = |file: &JobFile| {
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
    // The threads of a replay share its list of requests, each of which may be anywhere.
    if job.trace().is_some() {
        return JobPlan {
            iodepth: 1,
            ..job.clone()
        };
    }
    let mut part = JobPlan {
        iodepth: 1,
        files: job.files.iter().map(file_part).collect(),
        ..job.clone()
    };
    let end = &mut part.stream.end;
    end.bytes = cut(end.bytes, unit, (index + 1, count)) - cut(end.bytes, unit, (index, count));
    end.requests = end
        .requests
        .map(|all| share(all, count.into(), index.into()));
    part
}

/// Start of part `index` of `count`: a multiple of the unit, or the end of the last part.
fn cut(bytes: u64, unit_bytes: u64, (index, count): (u32, u32)) -> u64 {
    match index == count {
        true => bytes,
        // Divided before it is rounded, so that all parts but the last are equal.
        false => bytes / u64::from(count) / unit_bytes * unit_bytes * u64::from(index),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use plan::EngineKind;
    use plan::job::{MetadataWork, ReadWriteMix};

    use super::*;
    use crate::job::tests::plan;
    use crate::sample;

    fn of(job: JobPlan) -> Vec<WorkerPlan> {
        threads(&WorkerPlan {
            job: Some(Box::new(job)),
            ..sample::plan(Vec::new(), Vec::new())
        })
    }

    #[test]
    fn threads_split_files_and_amounts_exactly() {
        for (count, size_bytes) in [(2, 1 << 20), (3, 1 << 20), (8, (1 << 20) + 4096)] {
            let mut job = plan(ReadWriteMix::Write, size_bytes);
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
    fn asynchronous_engines_and_name_operations_use_one_thread() {
        for (engine, names) in [
            (EngineKind::IoUring, None),
            (EngineKind::Psync, Some(MetadataWork::Stat)),
        ] {
            let mut job = plan(ReadWriteMix::Read, 1 << 20);
            (job.engine, job.iodepth, job.names) = (engine, 8, names);
            assert_eq!(of(job).len(), 1);
        }
    }
}
