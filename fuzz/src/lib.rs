//! What holds for every workload that is read, whatever it is read from.

pub mod made_of;

use std::path::{Component, Path};

use description::{Overrides, Workload, read_toml, to_toml};
use engine::{Completion, Request};
use generate::job::JobStream;
use generate::{Generator, Step};
use plan::Plan;
use plan::facts::SystemFacts;
use plan::job::{ConvertedJobs, JobPlan, UnplannedJob};
use plan::program::{DirectoryTree, FileNames, FilesetPlan};
use planning::plan;
use report::plan_text;

/// Planning and its words do not panic.
pub fn planned(workloads: &[Workload]) {
    if let Ok(planned) = plan(workloads, &Overrides::new(), &SystemFacts::default()) {
        let _ = plan_text(&planned);
    }
}

/// What can be written as TOML is read again, and written the same.
pub fn reads_back(workloads: &[Workload]) {
    for workload in workloads {
        let Ok(text) = to_toml(workload) else {
            continue;
        };
        let again = read_toml("again.toml", &text);
        let again = again.unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(to_toml(&again).expect("it was written before"), text);
    }
}

/// No name of a job, or of a program that passes the checks, leads out of the target.
pub fn stays_below(workloads: &[Workload]) {
    for jobs in workloads.iter().filter_map(|it| it.jobs.as_ref()) {
        let names = jobs.files.files.iter().filter_map(|it| it.name.as_ref());
        names.for_each(|name| assert!(is_below(name), "{name:?}"));
    }
    for built in workloads.iter().filter_map(|it| it.built.as_ref()) {
        let program = &built.program;
        if program.check().is_err() {
            continue;
        }
        program.filesets.iter().for_each(fileset_stays_below);
        let traces = program.groups().filter_map(|group| group.trace.as_ref());
        for name in traces.flat_map(|trace| &trace.names) {
            assert!(is_below(name), "{name:?}");
        }
    }
}

/// Jobs that are followed, files and requests in flight of each, and requests, at most.
const JOBS_MAX: usize = 4;
const FILES_MAX: usize = 1000;
const DEPTH_MAX: u32 = 256;
const STEPS_MAX: usize = 512;

/// No request of a job leaves its part of a file.
pub fn streams_stay_inside(workloads: &[Workload]) {
    let jobs = workloads.iter().filter_map(|it| it.jobs.as_deref());
    let jobs = jobs.flat_map(|ConvertedJobs { jobs, .. }| jobs);
    let is_followed = |it: &&UnplannedJob| is_small(&it.plan) && it.share.is_none();
    for job in jobs.filter(is_followed).take(JOBS_MAX) {
        if let Ok(stream) = JobStream::new(&job.plan, job.seed) {
            follow(&job.plan, stream);
        }
    }
}

/// No file of a planned job leads out of its target, and no request leaves its part of a file.
pub fn jobs_stay_inside(plan: &Plan) {
    let cells = plan.cells.iter().take(JOBS_MAX);
    for cell in cells {
        let files = cell.job_files().into_iter().flat_map(|it| &it.files);
        let names = files.filter_map(|it| it.name.as_ref());
        names.for_each(|name| assert!(is_below(name), "{name:?}"));
        let jobs = cell.workers.iter().take(JOBS_MAX);
        let jobs = jobs.filter_map(|it| Some((it.job.as_deref()?, it.seed)));
        for (job, seed) in jobs.filter(|(job, _)| is_small(job)) {
            if let Ok(stream) = JobStream::new(job, seed) {
                follow(job, stream);
            }
        }
    }
}

/// `true` if the plan is small enough to follow.
fn is_small(plan: &JobPlan) -> bool {
    let known = plan.files.iter().all(|part| part.size_bytes > 0);
    known && plan.files.len() <= FILES_MAX && plan.iodepth <= DEPTH_MAX
}

/// Completes each request immediately; time passes in waits.
fn follow(plan: &JobPlan, mut stream: JobStream) {
    let mut now_ns = 1;
    for _ in 0..STEPS_MAX {
        match stream.next(0, now_ns) {
            Step::Issue(request) => {
                stays_inside(plan, &request);
                let result = i32::try_from(request.length_bytes).expect("it is below 2 GiB");
                stream.complete(Completion { slot: 0, result }, now_ns);
            }
            Step::Wait { until_ns } => now_ns = until_ns,
            Step::Again => {}
            Step::Park => panic!("nothing is in flight"),
            Step::Finished => return,
        }
    }
}

fn stays_inside(plan: &JobPlan, request: &Request) {
    let part = &plan.files[request.file_index as usize];
    let end = request.offset_bytes + u64::from(request.length_bytes);
    let is_inside =
        request.offset_bytes >= part.start_bytes && end <= part.start_bytes + part.size_bytes;
    // A sync has no place.
    assert!(
        is_inside || request.length_bytes == 0,
        "{request:?} {part:?}"
    );
}

fn fileset_stays_below(set: &FilesetPlan) {
    assert!(set.path.is_empty() || is_below(&set.path), "{:?}", set.path);
    if let FileNames::Listed(files) = &set.names {
        let is_plain = |name: &str| is_below(name) && !name.contains('/');
        assert!(files.names.iter().all(|name| is_plain(name)), "{files:?}");
        return;
    }
    let (before, _, after) = set.names.parts();
    let nested = match &set.tree {
        DirectoryTree::Nested { directories, .. } => directories.before.as_str(),
        _ => "",
    };
    for text in [before, after, nested] {
        assert!(!text.contains(['/', '\0']), "{text:?}");
    }
}

/// Whether a name leads nowhere else; `.` is where it is looked up.
fn is_below(name: &str) -> bool {
    let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    !name.is_empty() && !name.contains('\0') && Path::new(name).components().all(is_plain)
}
