//! The result table of `lab recover`.

use lab::FileSystemChoice;
use lab::recovery::{
    FileSystemTrials, Findings, RecoveryTrials, Trial, TrialsOutcome, recovery_lines,
};
use results::{LabColumn, LabRecord, LabSection, LabText, LabTrial, Timestamp};
use units::Bytes;

use super::super::remarks::{alarm, built_as, notes};

/// Number of broken guarantees listed per file system.
const LISTED_MAX: usize = 10;
/// Number of kernel messages quoted per file system.
const MESSAGES_MAX: usize = 4;

/// A count: its name in the table, its name in records, and its accessor.
type Count = (&'static str, &'static str, fn(&Findings) -> u64);

const PROMISED_COUNTS: [Count; 9] = [
    ("files promised", "promised", |it| it.promised_count),
    ("intact", "intact", |it| it.intact_count),
    ("lost", "lost", |it| it.lost_count),
    ("short", "short", |it| it.short_count),
    ("stale", "stale", |it| it.stale_count),
    ("damaged", "damaged", |it| it.damaged_count),
    ("removals promised", "removed", |it| it.removed_count),
    ("back again", "returned", |it| it.returned_count),
    ("names never created", "unknown", |it| it.unknown_count),
];

const UNPROMISED_COUNTS: [Count; 9] = [
    ("new and synced, directory not synced", "new", |it| {
        it.new.count
    }),
    ("- there", "new_there", |it| {
        it.new.count - it.new.missing_count
    }),
    (
        "synced and renamed, directory not synced",
        "renamed",
        |it| it.renamed.count,
    ),
    ("- the new file", "renamed_whole", |it| {
        it.renamed.whole_count
    }),
    ("written, not synced", "unsynced", |it| it.unsynced.count),
    ("- all there", "unsynced_whole", |it| {
        it.unsynced.whole_count
    }),
    ("- as it was before", "unsynced_older", |it| {
        it.unsynced.older_count
    }),
    ("- in part", "unsynced_torn", |it| it.unsynced.torn_count),
    ("- nothing there", "unsynced_missing", |it| {
        it.unsynced.missing_count
    }),
];

/// Result of one file system.
struct RecoveryColumn<'a> {
    results: FileSystemTrials<'a>,
    findings: Option<Findings>,
    label: &'a str,
}

/// Returns all trials as a record, with file systems in columns.
pub(super) fn record(
    trials: &RecoveryTrials,
    outcome: &TrialsOutcome,
    start: LabRecord,
) -> LabRecord {
    let choices = &trials.choices;
    let columns: Vec<RecoveryColumn> = choices
        .iter()
        .enumerate()
        .map(|(index, choice)| RecoveryColumn::of(outcome, index, choice))
        .collect();
    let described = columns.iter().zip(&outcome.setups);
    let described = described.map(|(column, built)| LabColumn {
        name: column.label.to_owned(),
        behind: built
            .as_ref()
            .map_or_else(|| "not made".to_owned(), built_as),
    });
    let alarms = outcome.failures.iter().map(|it| alarm(it, choices));
    let broken = columns.iter().flat_map(RecoveryColumn::broken);
    let stated = columns.iter().filter_map(RecoveryColumn::recovery_messages);
    let doubts = columns
        .iter()
        .filter_map(RecoveryColumn::first_inconsistency);
    LabRecord {
        finished_at: Some(Timestamp::now()),
        title: "What file systems keep when their kernel is killed".to_owned(),
        remarks: remarks(trials),
        columns: described.collect(),
        alarms: alarms.chain(broken).collect(),
        sections: sections(&columns),
        trials: outcome.trials.iter().map(|it| trial(choices, it)).collect(),
        notes: notes(&outcome.notes, choices, &[])
            .into_iter()
            .chain(stated)
            .chain(doubts)
            .collect(),
        ..start
    }
}

fn sections<'a>(columns: &[RecoveryColumn<'a>]) -> Vec<LabSection> {
    let row = |label: &str, of: fn(&RecoveryColumn<'a>) -> Option<String>| LabText {
        label: label.to_owned(),
        values: columns.iter().map(of).collect(),
    };
    let counted = |(label, _, of): &Count| LabText {
        label: (*label).to_owned(),
        values: columns.iter().map(|column| column.count(*of)).collect(),
    };
    let mut promised = vec![
        row("trials", RecoveryColumn::trials),
        row("steps done", RecoveryColumn::steps),
    ];
    promised.extend(PROMISED_COUNTS.iter().map(counted));
    let recovery = vec![
        row("mounted again, trials", |it| {
            it.share(it.results.mounted().count())
        }),
        row("mount, ms (of a guest)", RecoveryColumn::mount_ms),
        row("recovery did something, trials", |it| {
            it.share(it.results.recovered_count())
        }),
        row("unmounted, trials", |it| {
            it.share(it.results.unmounted_count())
        }),
        row("consistent afterwards, trials", |it| {
            it.share(it.results.consistent_count()?)
        }),
    ];
    vec![
        section("Promised by `fsync`", promised),
        section(
            "Beyond what was promised",
            UNPROMISED_COUNTS.iter().map(counted).collect(),
        ),
        section("Recovery", recovery),
    ]
}

fn section(heading: &str, words: Vec<LabText>) -> LabSection {
    LabSection {
        heading: heading.to_owned(),
        words,
        ..LabSection::default()
    }
}

/// Converts a trial for the record.
fn trial(choices: &[FileSystemChoice], trial: &Trial) -> LabTrial {
    let mounted = trial.mounted.as_ref().ok();
    let kind = kind(&choices[trial.choice_index]);
    let counts = mounted.into_iter().flat_map(|it| {
        let all = PROMISED_COUNTS.iter().chain(&UNPROMISED_COUNTS);
        all.map(|(_, name, of)| ((*name).to_owned(), of(&it.findings)))
    });
    LabTrial {
        column_index: u32::try_from(trial.choice_index).unwrap_or(u32::MAX),
        trial_index: trial.trial_index,
        done_count: trial.done_count,
        mount_ns: mounted.map(|it| u64::try_from(it.elapsed.as_nanos()).unwrap_or(u64::MAX)),
        not_mounted: trial.mounted.as_ref().err().cloned(),
        not_unmounted: mounted.and_then(|it| it.not_unmounted.clone()),
        has_recovered: mounted.map(|it| !recovery_lines(kind, &it.kernel_messages).is_empty()),
        is_consistent: trial.fsck.as_ref().map(Result::is_ok),
        counts: counts.collect(),
        broken: mounted.map_or_else(Vec::new, |it| it.findings.named.clone()),
    }
}

/// Returns the name of the file system type in the kernel.
fn kind(choice: &FileSystemChoice) -> &'static str {
    choice.entry().map_or("", |entry| entry.types[0])
}

fn remarks(trials: &RecoveryTrials) -> Vec<String> {
    let guests = format!(
        "each on an image in User-mode Linux {} with {} of memory, seed {}; the kernel is killed \
         and loses its memory, the device keeps what it was given",
        trials.host.kernel.release,
        Bytes(trials.host.memory_bytes),
        trials.seed
    );
    let control = "a control: nothing was synced although the check assumes it was, so losses must \
                   be found";
    let control = (!trials.really_syncs).then(|| control.to_owned());
    control.into_iter().chain([guests]).collect()
}

impl<'a> RecoveryColumn<'a> {
    fn of(outcome: &'a TrialsOutcome, choice_index: usize, choice: &'a FileSystemChoice) -> Self {
        let all = outcome.of_choice(choice_index, kind(choice));
        Self {
            findings: all.findings(),
            results: all,
            label: &choice.label,
        }
    }

    /// Returns a count; `None` if no trial could be inspected.
    fn count(&self, of: fn(&Findings) -> u64) -> Option<String> {
        self.findings.as_ref().map(|it| of(it).to_string())
    }

    fn trials(&self) -> Option<String> {
        Some(self.results.trials.len().to_string())
    }

    fn steps(&self) -> Option<String> {
        (!self.results.trials.is_empty()).then(|| self.results.done_count().to_string())
    }

    /// Formats a number of trials as a part of all of them.
    fn share(&self, count: usize) -> Option<String> {
        let of = self.results.trials.len();
        (of > 0).then(|| format!("{count} of {of}"))
    }

    fn mount_ms(&self) -> Option<String> {
        let mean = self.results.mount_time_mean()?;
        Some(format!("{:.1}", mean.as_secs_f64() * 1e3))
    }

    /// Describes the broken guarantees.
    fn broken(&self) -> Vec<String> {
        let mut all = Vec::new();
        for trial in &self.results.trials {
            let named = format!("{}, trial {}", self.label, trial.trial_index + 1);
            match &trial.mounted {
                Err(reason) => all.push(format!("{named}: not mounted again: {reason}")),
                Ok(mounted) => {
                    let broken = mounted.findings.named.iter();
                    all.extend(broken.map(|promise| format!("{named}: {promise}")));
                }
            }
        }
        let more_count = all.len().saturating_sub(LISTED_MAX);
        all.truncate(LISTED_MAX);
        if more_count > 0 {
            all.push(format!("{}: and more", self.label));
        }
        all
    }

    /// Quotes the kernel's messages during recovery, from the trial with the most.
    fn recovery_messages(&self) -> Option<String> {
        let lines = self.results.longest_recovery_messages();
        let more = match lines.len().saturating_sub(MESSAGES_MAX) {
            0 => String::new(),
            more_count => format!(" and {more_count} more"),
        };
        let quoted: Vec<String> = lines
            .iter()
            .take(MESSAGES_MAX)
            .map(|line| format!("`{line}`"))
            .collect();
        let kernel = "the kernel logged while mounting:";
        (!quoted.is_empty())
            .then(|| format!("{}: {kernel} {}{more}", self.label, quoted.join(", ")))
    }

    /// Quotes the first inconsistency that the file system's check program reported.
    fn first_inconsistency(&self) -> Option<String> {
        let (trial, output) = self.results.first_inconsistent()?;
        let first: Vec<&str> = output.lines().take(MESSAGES_MAX).map(str::trim).collect();
        let (label, number) = (self.label, trial.trial_index + 1);
        Some(format!("{label}, trial {number}: {}", first.join("; ")))
    }
}
