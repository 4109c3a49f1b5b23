//! Workloads with options applied, to be written as a file with the same effect.

use std::collections::HashSet;

use crate::check::{check_whole, repeated_target};
use crate::model::{AccessLine, OneOrMany, Workload, job};
use plan::Diagnostic;
use plan::job::{JobFiles, NamedFile, UnplannedJob};

use super::Overrides;

impl Overrides {
    /// One workload with the options and targets applied; several workloads become a pack.
    ///
    /// # Errors
    /// An option that has no effect on any workload, or that a workload does not accept.
    pub fn written(&self, workloads: &[Workload]) -> Result<Workload, Diagnostic> {
        let mut applied = self.applied(workloads)?.workloads;
        if let Some(flaw) = repeated_target(self.targets()) {
            return Err(flaw.diagnostic(""));
        }
        for workload in &mut applied {
            check_whole(workload).map_err(|flaw| flaw.diagnostic(""))?;
            let targets = self.targets_of(workload);
            if !targets.is_empty() {
                put_targets(workload, &targets);
            }
        }
        Ok(match applied.len() {
            1 => applied.remove(0),
            _ => Workload {
                name: applied.first().and_then(|first| first.pack.clone()),
                part: applied,
                ..Workload::default()
            },
        })
    }
}

impl Overrides {
    /// `true` if the workloads with the options applied write nothing, preparation included.
    #[must_use]
    pub fn only_reads(&self, workloads: &[Workload]) -> bool {
        let applied = self.applied(workloads);
        applied.is_ok_and(|applied| applied.workloads.iter().all(only_reads))
    }
}

fn only_reads(workload: &Workload) -> bool {
    let reads = |line: &AccessLine| {
        // A reply has the opposite direction, so the reply to a read is a write.
        line.read.is_none_or(|share| share.0 >= 100.0) && line.reply.is_none_or(|it| it.0 == 0)
    };
    let is_set = |flag: Option<bool>| flag.unwrap_or(false);
    workload.table().is_none()
        && jobs_only_read(workload)
        // Before stamps can be checked, preparation writes them.
        && !is_set(workload.verify)
        && !is_set(workload.new_file)
        && workload.precondition.is_none_or(|it| it.0 == 0.0)
        && workload
            .access_spec
            .iter()
            .flat_map(|it| &it.line)
            .all(reads)
}

/// Whether its jobs, if it has any, only read, and only the targets themselves.
fn jobs_only_read(workload: &Workload) -> bool {
    let reads = |job: &UnplannedJob, files: &JobFiles| {
        let mut own = job.plan.files.iter();
        let is_itself = |file: &NamedFile| file.name.is_none() && !file.is_removed;
        let does_more = job.plan.writes() || job.plan.names.is_some() || job.verify || job.fills;
        !does_more && own.all(|it| is_itself(&files.files[it.file_index as usize]))
    };
    if let Some(built) = &workload.jobs {
        return built.jobs.iter().all(|job| reads(job, &built.files));
    }
    let waves = job::waves(workload.clone());
    waves.iter().all(|wave| match job::jobs(wave) {
        Ok(Some(built)) => built.jobs.iter().all(|job| reads(job, &built.files)),
        Ok(None) => true,
        // The cautious answer; planning reports the error.
        Err(_) => false,
    })
}

/// Puts the options' targets where planning would use them: as many as the file names replace those
/// one by one, in order; otherwise each worker uses all of them.
fn put_targets(workload: &mut Workload, targets: &[String]) {
    let common = workload.targets.clone();
    let own = workload.worker.iter().map(|it| it.targets.clone());
    let lists: Vec<_> = match workload.worker.is_empty() {
        true => vec![common.clone()],
        false => own.map(|own| own.or(common.clone())).collect(),
    };
    let names = lists.iter().flatten().flat_map(OneOrMany::as_slice);
    let mut seen = HashSet::new();
    let distinct: Vec<String> = names.filter(|it| seen.insert(*it)).cloned().collect();
    let one_by_one = targets.len() > 1 && targets.len() == distinct.len();
    let put = |list: &mut Option<OneOrMany<String>>| {
        let names = list.as_ref().map_or(&[][..], OneOrMany::as_slice);
        // A worker with an empty list stays idle.
        if names.is_empty() && !distinct.is_empty() {
            return;
        }
        let index_of = |name: &String| distinct.iter().position(|it| it == name);
        let replacements = names
            .iter()
            .filter_map(index_of)
            .map(|at| targets[at].clone());
        *list = Some(OneOrMany::from(match one_by_one {
            true => replacements.collect::<Vec<_>>(),
            false => targets.to_vec(),
        }));
    };
    put(&mut workload.targets);
    for worker in workload.worker.iter_mut().filter(|it| it.targets.is_some()) {
        put(&mut worker.targets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load_builtin;

    fn overrides(pairs: &[&str], targets: &[&str]) -> Overrides {
        let mut overrides = Overrides::new();
        for pair in pairs {
            overrides.set_pair(pair).unwrap();
        }
        if !targets.is_empty() {
            overrides.set_targets(targets.iter().map(|it| (*it).to_owned()).collect());
        }
        overrides
    }

    #[test]
    fn a_workload_only_reads_if_it_neither_writes_nor_prepares() {
        let reads = |name: &str, pairs: &[&str]| {
            let workloads = load_builtin(name).unwrap();
            overrides(pairs, &[]).only_reads(&workloads)
        };
        assert!(reads("randread-4k", &[]));
        assert!(reads("web-server", &["iodepth=8"]));
        for option in ["verify=true", "precondition=1x", "new_file=true"] {
            assert!(!reads("randread-4k", &[option]), "{option}");
        }
        for name in [
            "randwrite-4k",
            "randrw-4k",
            "oltp",
            "quick",
            "postmark",
            "fs-mark",
        ] {
            assert!(!reads(name, &[]), "{name}");
        }
    }

    #[test]
    fn jobs_only_read_if_they_read_just_their_targets() {
        let reads = |job: &str| {
            let text = format!("targets = \"/a\"\n[[job]]\n{job}");
            let read = crate::load("x.toml", &text).unwrap();
            overrides(&[], &[]).only_reads(&read)
        };
        assert!(reads("files = 0"));
        for job in [
            "",
            "files = 0\nread = 0",
            "files = 0\nread = 70",
            "files = 0\nverify = true",
        ] {
            assert!(!reads(job), "{job}");
        }
    }
}
