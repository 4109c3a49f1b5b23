//! Describes a program in words, for users who check what it would do.

mod acts;
mod laws;
mod pool;
#[cfg(test)]
mod tests;

use units::{Bytes as Size, Span};

pub(super) use laws::size;

use super::{
    AmountScope, DirectoryTree, FileNames, FilesetPlan, FilesetSharing, Group, Measure, OnNoFile,
    PhaseEndAction, PhasePreparation, Program, ProgramPart, ProgramPhase, Quota, RoundsEnd,
};
use acts::ActDescriber;

impl Program {
    /// Describes the files and the work: one line per fileset, then one or more per phase.
    #[must_use]
    pub fn words(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.filesets.iter().map(describe_fileset).collect();
        let users = self.groups().filter(|group| group.pool.is_some());
        if let (Some(pool), Some(workers)) = (&self.pool, users.map(Group::worker_count).max()) {
            let ramp_ns = self.transactions_phase().map_or(0, |it| it.ramp_ns);
            lines.extend(pool.words((self.pool_time_ns(), ramp_ns), workers.into()));
        }
        self.describe_parts(&self.parts, "", &mut lines);
        lines
    }

    fn describe_parts(&self, parts: &[ProgramPart], indent: &str, lines: &mut Vec<String>) {
        for part in parts {
            match part {
                ProgramPart::Phase(phase) => self.describe_phase(phase, indent, lines),
                ProgramPart::Rounds { until, parts } => {
                    let often = match until {
                        RoundsEnd::Spent { ns } if is_hidden(parts) => {
                            format!("as a ramp, repeated for {}", Span(*ns))
                        }
                        until => describe_repetition(*until),
                    };
                    lines.push(format!("{indent}{often}:"));
                    self.describe_parts(parts, &format!("{indent}  "), lines);
                }
            }
        }
    }

    /// All phases of a pool are described together.
    fn describe_phase(&self, phase: &ProgramPhase, indent: &str, lines: &mut Vec<String>) {
        if phase.groups.iter().all(|group| group.pool.is_some()) {
            return;
        }
        if !phase.before.is_empty() {
            let before: Vec<String> = phase.before.iter().map(|it| before(*it)).collect();
            lines.push(format!("{indent}{}", listed(&before)));
        }
        let name = &phase.name;
        let hidden = if phase.is_hidden {
            " (not recorded)"
        } else {
            ""
        };
        let [group] = phase.groups.as_slice() else {
            let time = time(phase).map_or(String::new(), |time| format!(", {time}"));
            lines.push(format!("{indent}{name}{hidden}{time}:"));
            for group in &phase.groups {
                let words = self.describe_group(phase, group);
                lines.push(format!("{indent}  {}: {words}", group.name));
            }
            return;
        };
        let words = self.describe_group(phase, group);
        lines.push(format!("{indent}{name}{hidden}: {words}"));
    }

    fn describe_group(&self, phase: &ProgramPhase, group: &Group) -> String {
        let workers = match group.worker_count() {
            1 => "1 worker".to_owned(),
            count => format!("{count} workers"),
        };
        let is_shared = group
            .quotas
            .iter()
            .any(|quota| quota.of == AmountScope::Group);
        let is_each = group.worker_count() > 1 && !is_shared;
        let until = match self.describe_ends(phase, group) {
            Some(until) if is_each => format!(", each {until}"),
            Some(until) => format!(", {until}"),
            None => String::new(),
        };
        let words = ActDescriber { program: self };
        let list = |acts: &[super::Act]| words.list(acts);
        let is_framed = group
            .lists()
            .iter()
            .filter(|(_, acts)| !acts.is_empty())
            .count()
            > 1;
        let mut parts = Vec::new();
        for (lead, acts) in [
            ("beforehand ", &group.enter),
            ("first ", &group.first),
            (if is_framed { "repeatedly " } else { "" }, &group.body),
            ("at last ", &group.last),
            ("afterwards ", &group.leave),
        ] {
            if !acts.is_empty() {
                parts.push(format!("{lead}{}", list(acts)));
            }
        }
        parts.extend(group.trace.as_ref().map(|trace| trace.words()));
        if let Some(spawn) = &group.spawn {
            return spawn.words(self);
        }
        let files = match group.shift {
            0 => String::new(),
            1 => ", each on the files of the next one".to_owned(),
            shift => format!(", each on the files of the one {shift} further on"),
        };
        format!("{workers}{until}{files}: {}", parts.join("; "))
    }

    /// Describes when a worker's rounds end.
    fn describe_ends(&self, phase: &ProgramPhase, group: &Group) -> Option<String> {
        if group.body.is_empty() && !group.is_endless_trace() {
            return Some("once".to_owned());
        }
        let quotas = group.quotas.iter().map(|quota| self.describe_quota(quota));
        let is_alone = phase.groups.len() == 1;
        let first = match phase.first_done {
            None => None,
            Some(PhaseEndAction::Stop) => Some("until the first is done".to_owned()),
            Some(_) => Some("all of it, noting when the first is done".to_owned()),
        };
        let time = is_alone.then(|| time(phase)).flatten();
        let ends: Vec<String> = time.into_iter().chain(quotas).chain(first).collect();
        if !ends.is_empty() {
            return Some(ends.join(" or "));
        }
        match (phase.time_ns, group.out) {
            (Some(_), _) => None,
            (None, OnNoFile::EndPhase) => {
                Some("until there is no file left, which ends the phase".to_owned())
            }
            (None, _) => Some("until there is no file left".to_owned()),
        }
    }

    fn describe_quota(&self, quota: &Quota) -> String {
        let count = quota.count;
        let scope = match quota.of {
            AmountScope::Each => "",
            AmountScope::Group => " together",
        };
        let times = match count {
            1 => "once".to_owned(),
            2 => "twice".to_owned(),
            count => format!("{count} times"),
        };
        match quota.what {
            Measure::Rounds => format!("{times}{scope}"),
            Measure::Bytes => format!("until {} were moved{scope}", Size(count)),
            Measure::Calls => format!("until {count} calls were made{scope}"),
            Measure::StepBytes(label) => {
                let label = self.label(label);
                format!("until {label} moved {}{scope}", Size(count))
            }
            Measure::Steps(label) => {
                format!("until {} was done {times}{scope}", self.label(label))
            }
        }
    }
}

/// Whether none of its phases is recorded.
fn is_hidden(parts: &[ProgramPart]) -> bool {
    parts
        .iter()
        .all(|part| matches!(part, ProgramPart::Phase(phase) if phase.is_hidden))
}

fn time(phase: &ProgramPhase) -> Option<String> {
    let time = format!("for {}", Span(phase.time_ns?));
    let time = match phase.ramp_ns {
        0 => time,
        ramp => format!("{time} after a ramp of {}", Span(ramp)),
    };
    Some(match phase.time_up {
        PhaseEndAction::Stop => time,
        PhaseEndAction::Finish => format!("{time} (noted), then to their own ends"),
        PhaseEndAction::Level => {
            format!("{time}, then until all have done as many rounds as the fastest")
        }
    })
}

fn describe_repetition(until: RoundsEnd) -> String {
    match until {
        RoundsEnd::Times(1) => "once".to_owned(),
        RoundsEnd::Times(count) => format!("{count} times"),
        RoundsEnd::Spent { ns } => format!(
            "repeated until {} were measured; the best round counts",
            Span(ns)
        ),
        RoundsEnd::Full | RoundsEnd::Fitting { times: None, .. } => {
            "repeated until the file system is full".to_owned()
        }
        RoundsEnd::Fitting {
            times: Some(times), ..
        } => describe_repetition(RoundsEnd::Times(times)),
        RoundsEnd::Sampled {
            samples, least_ns, ..
        } => format!(
            "{samples} times, with as many files as take {}; the median counts",
            Span(least_ns)
        ),
    }
}

fn before(before: PhasePreparation) -> String {
    match before {
        PhasePreparation::Sync => "sync all file systems".to_owned(),
        PhasePreparation::DropCaches => "drop the kernel's caches".to_owned(),
        PhasePreparation::Remount => "remount the file system".to_owned(),
        PhasePreparation::Pause { ns } => format!("wait for {}", Span(ns)),
        PhasePreparation::Semaphore { number, .. } => {
            format!("wait for other processes at semaphore {number}")
        }
        PhasePreparation::Prompt { .. } => "wait for a line on standard input".to_owned(),
    }
}

/// Joins as `a, b and c`.
fn listed(items: &[String]) -> String {
    match items.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// One line: number, size and location of the files.
fn describe_fileset(fileset: &FilesetPlan) -> String {
    let count = match (fileset.count, fileset.present_count()) {
        (1, 0) => "1 file, created later".to_owned(),
        (1, _) => "1 file".to_owned(),
        (count, 0) => format!("up to {count} files, none of them present at first"),
        (count, present) if present == count => format!("{count} files"),
        (count, present) => format!("up to {count} files, {present} of them present at first"),
    };
    let size = match fileset.size.always() {
        Some(0) => String::new(),
        _ => format!(", {} each", laws::size(&fileset.size)),
    };
    let stamped = match &fileset.names {
        FileNames::Stamped(names) => names.directories,
        _ => 0,
    };
    let tree = match &fileset.tree {
        _ if stamped > 0 => format!(", in {stamped} directories"),
        DirectoryTree::Flat | DirectoryTree::Turns { directories: 1 } => String::new(),
        DirectoryTree::Nested { each, .. } => format!(", {each} in each directory of a tree"),
        DirectoryTree::Turns { directories } => format!(", in {directories} directories"),
        DirectoryTree::Blocks { each } => format!(", {each} in each directory"),
        DirectoryTree::Grown(_) => ", in a tree of directories".to_owned(),
        DirectoryTree::DirectoriesOf { .. } => {
            return format!("{}: all directories of a tree", fileset.name);
        }
    };
    let copies = match fileset.copies {
        FilesetSharing::One => "",
        FilesetSharing::PerWorker => ", for each worker",
    };
    format!("{}: {count}{size}{tree}{copies}", fileset.name)
}
