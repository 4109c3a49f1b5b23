//! Limits of jobs from any source: refuses what no engine can do.

use std::collections::HashSet;

use units::format::size;

use description::check::{IODEPTH_MAX, REQUEST_BYTES_MAX};
use plan::job::{JobFiles, UnplannedJob};
use plan::{CacheMode, Diagnostic, EngineKind, TargetKind};

use super::Context;
use super::memory::MemoryUse;

/// Refuses a queue depth or a request size that no engine supports.
pub(super) fn check(job: &UnplannedJob) -> Result<(), Diagnostic> {
    let name = plan::printable(&job.name);
    let depth = job.plan.iodepth;
    let refused = |message: String, help: &str| {
        let error = Diagnostic::error("", message).help(help);
        Err(job.location.put(error))
    };
    if !(1..=IODEPTH_MAX).contains(&depth) {
        let message =
            format!("the queue depth of the job `{name}` is {depth}, not from 1 to {IODEPTH_MAX}");
        return refused(message, "spread the requests over several jobs");
    }
    let bytes = u64::from(job.plan.buffer_bytes());
    if bytes > REQUEST_BYTES_MAX {
        let (bytes, most) = (size(bytes), size(REQUEST_BYTES_MAX));
        let message = format!("a request of the job `{name}` has {bytes}, more than {most}");
        return refused(message, "use smaller blocks");
    }
    Ok(())
}

/// Refuses a file that is too small to be divided among the threads of its job.
pub(super) fn check_shares(job: &UnplannedJob) -> Result<(), Diagnostic> {
    let plan = &job.plan;
    // The threads of a replay share its requests, not its file.
    let parts = match plan.trace() {
        Some(_) => 1,
        None => u64::from(plan.thread_count()),
    };
    let least = u64::from(plan.buffer_bytes()).saturating_mul(parts);
    let mut files = plan.files.iter().filter(|_| parts > 1);
    let Some(file) = files.find(|it| it.size_bytes < least) else {
        return Ok(());
    };
    let message = format!(
        "{parts} threads of the job `{}` share a file of {}, with requests of {} each",
        plan::printable(&job.name),
        size(file.size_bytes),
        size(plan.buffer_bytes().into())
    );
    Err(Diagnostic::error("", message).help("use a smaller queue depth, or a larger `size`"))
}

/// Refuses work that `/dev/null` and `/dev/zero` cannot do.
pub(super) fn check_endless(
    job: &UnplannedJob,
    files: &JobFiles,
    context: &Context,
) -> Result<(), Diagnostic> {
    let plan = &job.plan;
    let targets = plan.files.iter().map(|part| {
        let file = &files.files[part.file_index as usize];
        &context.targets.entries[file.target_index as usize].facts
    });
    for target in targets.filter(|it| it.kind == TargetKind::Endless) {
        let (what, help) = match plan.engine {
            EngineKind::Null => continue,
            EngineKind::Mmap => ("has no size to map", "use another engine"),
            _ if plan.cache == CacheMode::Direct => ("has no direct I/O", "leave `direct=1` out"),
            _ if plan.stream.mix.trims() => ("has nothing to trim", "name a block device"),
            // A read of `/dev/null` returns end of file immediately (null(4)).
            _ if plan.stream.mix.reads() && target.path == "/dev/null" => {
                ("has nothing to read", "read `/dev/zero`")
            }
            _ => continue,
        };
        let message = format!("`{}` is a character device, which {what}", target.path);
        return Err(job.location.put(Diagnostic::error("", message).help(help)));
    }
    Ok(())
}

/// Refuses buffers that do not fit into memory.
pub(super) fn check_buffers(jobs: &[UnplannedJob], context: &Context) -> Result<(), Diagnostic> {
    let bytes = |job: &UnplannedJob| {
        u64::from(job.plan.buffer_bytes()).saturating_mul(u64::from(job.plan.iodepth))
    };
    let shares = &context.shares;
    let taken = MemoryUse {
        name: "the buffers of the jobs that run together",
        help: "use smaller blocks, a smaller queue depth or fewer jobs",
        workers: jobs
            .iter()
            .enumerate()
            .map(|(index, job)| (shares.rank_of(index, None), bytes(job))),
    };
    taken.fits(context.facts).map_err(|error| match jobs {
        [only] => only.location.put(error),
        _ => error,
    })
}

/// Refuses a file whose path contains the name of another file as a directory.
pub(super) fn check_names(files: &JobFiles, context: &mut Context) -> Result<(), Diagnostic> {
    let named = || {
        let named = files.files.iter();
        named.filter_map(|file| Some((file.target_index, file.name.as_deref()?, file.is_removed)))
    };
    let own: HashSet<(u32, &str)> = named().map(|(target, name, _)| (target, name)).collect();
    let mut directories = HashSet::new();
    for (target, name, is_removed) in named() {
        for directory in parents(name) {
            let key = (target, directory.to_owned());
            if own.contains(&(target, directory)) || context.job_files.contains_key(&key) {
                return Err(both(directory, name));
            }
            directories.insert((target, directory));
            // Only files that stay can be in the way of later jobs.
            if !is_removed {
                context.job_directories.insert(key);
            }
        }
    }
    let is_directory = |(target, name): (u32, &str)| {
        directories.contains(&(target, name))
            || context.job_directories.contains(&(target, name.to_owned()))
    };
    // The smallest name, because a hash set has another order in each run.
    match own.into_iter().filter(|it| is_directory(*it)).min() {
        Some((_, name)) => Err(both(name, name)),
        None => Ok(()),
    }
}

/// The directories above a file, from the target down.
fn parents(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('/').map(|(at, _)| &name[..at])
}

fn both(directory: &str, name: &str) -> Diagnostic {
    let directory = plan::printable(directory);
    let message = match name == directory {
        true => format!("`{directory}` is a file, and the directory of another file"),
        false => format!(
            "`{directory}` is a file, and the directory of `{}`",
            plan::printable(name)
        ),
    };
    Diagnostic::error("", message).help("give the files other names")
}

#[cfg(test)]
mod tests {
    use crate::plan;
    use description::Overrides;
    use description::load;
    use plan::facts::SystemFacts;

    /// What planning says of jobs on a machine with 24 GiB.
    fn checked(text: &str) -> Result<(), String> {
        let loaded = load("w.toml", text).map_err(|it| it.to_string())?;
        let facts = SystemFacts {
            memory_bytes: 24 << 30,
            ..SystemFacts::default()
        };
        let planned = plan(&loaded, &Overrides::new(), &facts);
        planned.map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn the_buffers_of_jobs_must_fit_in_memory() {
        let job = |rest: &str| format!("[[job]]\nengine = \"null\"\nsize = \"4g\"\n{rest}");
        let fits = job("block_size = \"1g\"\niodepth = 4\ncount = 3\n");
        assert_eq!(checked(&fits), Ok(()));
        let error = checked(&job("block_size = \"1g\"\niodepth = 4\ncount = 8\n")).unwrap_err();
        let wanted = "need 32 GiB, more than half of this machine's memory (24 GiB)";
        assert!(
            error.contains(wanted) && error.contains("help: "),
            "{error}"
        );
        let split = "block_size = \"4k:99,1g:1\"\n";
        let error = checked(&job(&format!("{split}iodepth = 64\n"))).unwrap_err();
        assert!(error.contains("need 64 GiB"), "{error}");
        // What runs one after the other has the memory one after the other.
        let part = "engine = \"null\"\nsize = \"4g\"\nblock_size = \"1g\"\niodepth = 8\n";
        let in_turn = format!("[[job]]\n{part}[[job]]\nwaits = true\n{part}");
        assert_eq!(checked(&in_turn), Ok(()));
        let simultaneous = format!("[[job]]\n{part}[[job]]\n{part}");
        assert!(checked(&simultaneous).is_err());
    }

    #[test]
    fn every_file_of_a_job_needs_room_for_a_request_per_thread() {
        let job = |rest: &str| format!("[[job]]\nengine = \"psync\"\niodepth = 8\n{rest}");
        let refused = checked(&job("size = \"16k\"\n")).unwrap_err();
        assert!(
            refused.contains("8 threads of the job `job-1` share a file of 16 KiB"),
            "{refused}"
        );
        for rest in ["size = \"32k\"\n", "names = \"create\"\nfiles = 4\n"] {
            assert_eq!(checked(&job(rest)), Ok(()), "{rest}");
        }
    }

    #[test]
    fn no_file_of_a_job_may_lie_below_another() {
        let jobs = |files: &str| format!("[[job]]\nengine = \"null\"\nfiles = {files}\n");
        for files in [
            "[\"a/b\", \"a\"]",
            "[\"a\", \"a/b\"]",
            "[\"a/b/c\", \"x\", \"a/b\"]",
        ] {
            let error = checked(&jobs(files)).unwrap_err();
            assert!(error.contains("is a file, and the directory of"), "{error}");
        }
        assert_eq!(checked(&jobs("[\"a/b\", \"a/c\", \"ab\"]")), Ok(()));
        // Also if another job, at the same time or later, uses it.
        for waits in ["", "waits = true\n"] {
            let two = jobs("[\"a/b\"]") + &jobs("[\"a\"]") + waits;
            assert!(checked(&two).is_err(), "{waits}");
        }
    }

    #[test]
    fn an_unusable_skew_or_request_size_is_refused() {
        let line = |more: &str| {
            format!(
                "engine = \"null\"\n[[access_spec]]\n\
                 line = [{{ size = \"4k\", random = 100, {more} }}]\n"
            )
        };
        for law in ["zipf = 1e308", "zipf = 101", "zipf = 1", "zipf = 0"] {
            let error = checked(&line(&format!("distribution = {{ {law} }}"))).unwrap_err();
            assert!(
                error.contains("the skew of `zipf` is") && error.len() < 300,
                "{error}"
            );
        }
        assert_eq!(checked(&line("distribution = { zipf = 100 }")), Ok(()));
        let large =
            "engine = \"null\"\nsize = \"4g\"\n[[access_spec]]\nline = [{ size = \"1025m\" }]\n";
        assert!(
            checked(large)
                .unwrap_err()
                .contains("more than a request may have")
        );
    }
}
