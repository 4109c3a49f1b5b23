//! The table of what was kept.

use lab::Choice;
use lab::recovery::{Findings, Mounted, recovery_lines};
use results::{LabColumn, LabRecord, LabSection, LabTrial, LabWords, Timestamp};
use units::Bytes;

use super::{Held, Trials, Tried};

/// So many broken promises are named for each file system.
const NAMED_MAX: usize = 10;
/// So many words of the kernel are quoted for each file system.
const SAID_MAX: usize = 4;

/// A row: its label, and what each column has.
type Row = (&'static str, Vec<Option<String>>);
/// A count: what the table calls it, what records call it, and how it is read off what was found.
type Count = (&'static str, &'static str, fn(&Findings) -> u64);

const PROMISED: [Count; 9] = [
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

const BEYOND: [Count; 9] = [
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

/// What one file system came to.
struct Column<'a> {
    tried: Vec<&'a Tried>,
    mounted: Vec<&'a Mounted>,
    sum: Findings,
    kind: &'a str,
    label: &'a str,
}

/// All trials as a record, file systems in columns.
pub(super) fn record(trials: &Trials, held: &Held, start: LabRecord) -> LabRecord {
    let columns: Vec<Column> = (0..trials.choices.len())
        .map(|index| Column::of(trials, held, index))
        .collect();
    let described = columns.iter().zip(&held.described);
    let described = described.map(|(column, described)| {
        let described = described.clone();
        LabColumn {
            name: column.label.to_owned(),
            behind: described.unwrap_or_else(|| "not made".to_owned()),
        }
    });
    let broken = columns.iter().flat_map(Column::broken);
    let counts = |counts: &[Count]| -> Vec<Row> {
        let row = |(label, _, of): &Count| {
            let words = columns.iter().map(|column| column.count(*of));
            (*label, words.collect())
        };
        counts.iter().map(row).collect()
    };
    let mut promised = vec![
        row(&columns, "trials", Column::trials),
        row(&columns, "steps done", Column::steps),
    ];
    promised.extend(counts(&PROMISED));
    let recovery = [
        row(&columns, "mounted again, trials", Column::mounted_again),
        row(&columns, "mount, ms (of a guest)", Column::mount_ms),
        row(
            &columns,
            "recovery did something, trials",
            Column::recovered,
        ),
        row(&columns, "unmounted, trials", Column::unmounted),
        row(
            &columns,
            "consistent afterwards, trials",
            Column::consistent,
        ),
    ];
    let sections = [
        section("Promised by `fsync`", promised),
        section("Beyond what was promised", counts(&BEYOND)),
        section("Recovery", recovery.into()),
    ];
    let said = columns.iter().flat_map(Column::said);
    let doubts = columns.iter().filter_map(Column::inconsistent);
    LabRecord {
        finished_at: Some(Timestamp::now()),
        title: "What file systems keep when their kernel is killed".to_owned(),
        remarks: remarks(trials),
        columns: described.collect(),
        alarms: held.alarms.iter().cloned().chain(broken).collect(),
        sections: sections.into(),
        trials: held.tried.iter().map(|it| trial(trials, it)).collect(),
        notes: held
            .notes
            .iter()
            .cloned()
            .chain(said)
            .chain(doubts)
            .collect(),
        ..start
    }
}

/// A trial for other programs.
fn trial(trials: &Trials, tried: &Tried) -> LabTrial {
    let mounted = tried.mounted.as_ref().ok();
    let kind = kind(&trials.choices[tried.choice_index]);
    let counts = mounted.into_iter().flat_map(|it| {
        let all = PROMISED.iter().chain(&BEYOND);
        all.map(|(_, name, of)| ((*name).to_owned(), of(&it.findings)))
    });
    LabTrial {
        column_index: u32::try_from(tried.choice_index).unwrap_or(u32::MAX),
        trial_index: tried.trial_index,
        done_count: tried.done_count,
        mount_ns: mounted.map(|it| u64::try_from(it.elapsed.as_nanos()).unwrap_or(u64::MAX)),
        not_mounted: tried.mounted.as_ref().err().cloned(),
        not_unmounted: mounted.and_then(|it| it.not_unmounted.clone()),
        has_recovered: mounted.map(|it| !recovery_lines(kind, &it.said).is_empty()),
        is_consistent: tried.fsck.as_ref().map(Result::is_ok),
        counts: counts.collect(),
        broken: mounted.map_or_else(Vec::new, |it| it.findings.named.clone()),
    }
}

/// The type that the kernel knows a file system by.
fn kind(choice: &Choice) -> &'static str {
    choice.entry().map_or("", |entry| entry.types[0])
}

fn section(heading: &str, rows: Vec<Row>) -> LabSection {
    let words = rows.into_iter().map(|(label, values)| LabWords {
        label: label.to_owned(),
        values,
    });
    LabSection {
        heading: heading.to_owned(),
        words: words.collect(),
        ..LabSection::default()
    }
}

fn row<'a>(
    columns: &[Column<'a>],
    label: &'static str,
    of: fn(&Column<'a>) -> Option<String>,
) -> Row {
    (label, columns.iter().map(of).collect())
}

/// What a trial came to, in a line.
pub(super) fn in_short(tried: &Tried) -> String {
    let killed = format!("killed after {} steps", tried.done_count);
    match &tried.mounted {
        Err(reason) => format!("{killed}, and not mounted again: {reason}"),
        Ok(mounted) => {
            let findings = &mounted.findings;
            format!(
                "{killed}; {} of {} promised files intact",
                findings.intact_count, findings.promised_count
            )
        }
    }
}

fn remarks(trials: &Trials) -> Vec<String> {
    let guests = format!(
        "each on an image in User-mode Linux {} with {} of memory, seed {}; the kernel is killed \
         and loses its memory, the device keeps what it was given",
        trials.host.kernel.release,
        Bytes(trials.host.memory_bytes),
        trials.args.seed
    );
    let control = "a control: nothing was synced although the check assumes it was, so losses must \
                   be found";
    let control = trials.args.no_fsync.then(|| control.to_owned());
    control.into_iter().chain([guests]).collect()
}

impl<'a> Column<'a> {
    fn of(trials: &'a Trials, held: &'a Held, choice_index: usize) -> Self {
        let choice = &trials.choices[choice_index];
        let is_it = |tried: &&Tried| tried.choice_index == choice_index;
        let tried: Vec<&Tried> = held.tried.iter().filter(is_it).collect();
        let mounted = tried.iter().filter_map(|tried| tried.mounted.as_ref().ok());
        let mounted: Vec<&Mounted> = mounted.collect();
        let mut sum = Findings::default();
        for mounted in &mounted {
            sum += &mounted.findings;
        }
        Self {
            tried,
            mounted,
            sum,
            kind: kind(choice),
            label: &choice.label,
        }
    }

    /// A count, where anything could be looked at.
    fn count(&self, of: fn(&Findings) -> u64) -> Option<String> {
        (!self.mounted.is_empty()).then(|| of(&self.sum).to_string())
    }

    fn trials(&self) -> Option<String> {
        Some(self.tried.len().to_string())
    }

    fn steps(&self) -> Option<String> {
        let sum: u64 = self.tried.iter().map(|it| u64::from(it.done_count)).sum();
        (!self.tried.is_empty()).then(|| sum.to_string())
    }

    /// So many trials of all of them.
    fn share(&self, count: usize) -> Option<String> {
        let of = self.tried.len();
        (of > 0).then(|| format!("{count} of {of}"))
    }

    fn mounted_again(&self) -> Option<String> {
        self.share(self.mounted.len())
    }

    fn mount_ms(&self) -> Option<String> {
        let count = self.mounted.len();
        let sum: f64 = self.mounted.iter().map(|it| it.elapsed.as_secs_f64()).sum();
        (count > 0).then(|| format!("{:.1}", sum / count as f64 * 1e3))
    }

    fn recovered(&self) -> Option<String> {
        let has = |it: &&&Mounted| !recovery_lines(self.kind, &it.said).is_empty();
        self.share(self.mounted.iter().filter(has).count())
    }

    fn unmounted(&self) -> Option<String> {
        let has = |it: &&&Mounted| it.not_unmounted.is_none();
        self.share(self.mounted.iter().filter(has).count())
    }

    fn consistent(&self) -> Option<String> {
        let mut all = self.tried.iter().filter_map(|tried| tried.fsck.as_ref());
        let count = all.clone().filter(|fsck| fsck.is_ok()).count();
        all.next().and_then(|_| self.share(count))
    }

    /// What was not as promised, in words.
    fn broken(&self) -> Vec<String> {
        let mut all = Vec::new();
        for tried in &self.tried {
            let trial = format!("{}, trial {}", self.label, tried.trial_index + 1);
            match &tried.mounted {
                Err(reason) => all.push(format!("{trial}: not mounted again: {reason}")),
                Ok(mounted) => {
                    let named = mounted.findings.named.iter();
                    all.extend(named.map(|what| format!("{trial}: {what}")));
                }
            }
        }
        let more_count = all.len().saturating_sub(NAMED_MAX);
        all.truncate(NAMED_MAX);
        if more_count > 0 {
            all.push(format!("{}: and more", self.label));
        }
        all
    }

    /// What the kernel said of the recovery, in the trial in which it said most.
    fn said(&self) -> Option<String> {
        let lines = |it: &&&Mounted| recovery_lines(self.kind, &it.said).len();
        let most = self.mounted.iter().max_by_key(lines)?;
        let lines = recovery_lines(self.kind, &most.said);
        let more = match lines.len().saturating_sub(SAID_MAX) {
            0 => String::new(),
            more_count => format!(" and {more_count} more"),
        };
        let quoted: Vec<String> = lines
            .iter()
            .take(SAID_MAX)
            .map(|line| format!("`{line}`"))
            .collect();
        let kernel = "the kernel logged while mounting:";
        (!quoted.is_empty())
            .then(|| format!("{}: {kernel} {}{more}", self.label, quoted.join(", ")))
    }

    /// What the file system's program found first.
    fn inconsistent(&self) -> Option<String> {
        let mut all = self.tried.iter().filter_map(|tried| {
            let said = tried.fsck.as_ref()?.as_ref().err()?;
            Some((tried.trial_index + 1, said))
        });
        let (trial, said) = all.next()?;
        let first: Vec<&str> = said.lines().take(SAID_MAX).map(str::trim).collect();
        Some(format!(
            "{}, trial {trial}: {}",
            self.label,
            first.join("; ")
        ))
    }
}
