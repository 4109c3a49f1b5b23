//! Exchange of file news between processes that share a program, before each phase.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Weak};

use generate::program::{FileStates, MeetingReport, PhaseEnd, PhaseWaits};
use plan::program::{Act, Group, PhaseEndAction, ProgramPhase};

use super::ProgramRun;
use super::files::FileOwner;
use crate::agreement::{FileNews, MeetingId, PeerAgreement};

/// Maximum number of shared files whose sizes are reported again each time.
// Files that all workers extend are few. The sizes of a million files would be a long message.
const RESENT_MAX: u32 = 1024;

/// Existing files, as known to all processes.
#[derive(Debug, Default, Clone)]
pub(super) struct AgreedFiles {
    /// One bit per file.
    present: Vec<u64>,
    /// Reported sizes, in bytes, of files that are reported again when they have grown.
    bytes: BTreeMap<u32, u64>,
}

impl AgreedFiles {
    fn has(&self, file: u32) -> bool {
        let word = self.present.get(file as usize / 64).copied().unwrap_or(0);
        word >> (file % 64) & 1 == 1
    }

    fn note_bytes(&mut self, file: u32, bytes: u64) {
        self.bytes.insert(file, bytes);
    }

    fn set(&mut self, file: u32, is_present: bool) {
        let index = file as usize / 64;
        if index >= self.present.len() {
            self.present.resize(index + 1, 0);
        }
        let bit = 1 << (file % 64);
        match is_present {
            true => self.present[index] |= bit,
            false => {
                self.present[index] &= !bit;
                self.bytes.remove(&file);
            }
        }
    }
}

impl ProgramRun {
    /// Sets the agreement with other processes.
    pub(in crate::files) fn set_meeting(&mut self, meeting: Option<Arc<dyn PeerAgreement>>) {
        self.agreement = meeting;
    }

    /// End of a phase, for its workers in this process and in others.
    pub(super) fn phase_end(&self, phase: &ProgramPhase) -> Arc<PhaseEnd> {
        let own_count = self.own_count(phase);
        let Some(meeting) = self
            .agreement
            .clone()
            .filter(|_| phase.time_up == PhaseEndAction::Level)
        else {
            return Arc::new(PhaseEnd::new(own_count));
        };
        // The phase end owns the callback, so a strong reference back to it would never be dropped.
        Arc::new_cyclic(|end: &Weak<PhaseEnd>| {
            let end = end.clone();
            let announce = move |rounds| {
                let end = end.clone();
                let receive = move |all| {
                    if let Some(end) = end.upgrade() {
                        end.hear_of_others(all);
                    }
                };
                meeting.level(rounds, Box::new(receive));
            };
            PhaseEnd::with_others(own_count, Box::new(announce))
        })
    }

    /// Waits of a phase, for its workers in this process and in others.
    pub(super) fn phase_waits(&self, phase: &ProgramPhase) -> Arc<PhaseWaits> {
        let is_meeting = |group: &Group| group.any_act(&|act| matches!(act, Act::Meet(_)));
        let has_meetings = phase.groups.iter().any(is_meeting);
        let Some(agreement) = self.agreement.clone().filter(|_| has_meetings) else {
            let all = self.cell.workers.len() as u32;
            let workers = |group: &Group| group.workers.unwrap_or(all);
            return Arc::new(PhaseWaits::new(&self.program, phase, workers));
        };
        let stage = self.stage_count;
        // Processes share only phases with a single group, so the phase's workers are the group's.
        let own_count = self.own_count(phase);
        Arc::new_cyclic(|waits: &Weak<PhaseWaits>| {
            let waits = waits.clone();
            let report = move |meeting, report| {
                let id = MeetingId { stage, meeting };
                if report == MeetingReport::Left {
                    return agreement.leave_meeting(id);
                }
                let waits = waits.clone();
                let receive = move || {
                    if let Some(waits) = waits.upgrade() {
                        waits.hear_of_others(meeting);
                    }
                };
                agreement.meet(id, Box::new(receive));
            };
            PhaseWaits::with_others(&self.program, phase, |_| own_count, Box::new(report))
        })
    }

    /// Number of a phase's workers in this process.
    fn own_count(&self, phase: &ProgramPhase) -> u32 {
        let all = &self.cell.workers;
        let groups = phase.groups.iter();
        let count = groups.map(|group| group.workers.map_or(all.len(), |it| it as usize));
        let working = all.iter().take(count.sum());
        working.filter(|worker| self.cell.is_own(worker)).count() as u32
    }

    /// News of files here since the last exchange.
    pub(in crate::files) fn news(&mut self) -> Vec<FileNews> {
        let mut all = Vec::new();
        for (owner, states) in &self.states {
            let agreed = self.agreed.entry(*owner).or_default();
            let news = changes(owner, states, agreed);
            if !news.made.is_empty() || !news.removed.is_empty() {
                all.push(news);
            }
        }
        all
    }

    /// Applies news of files from other processes, as far as workers here use these files.
    pub(in crate::files) fn apply_news(&mut self, all: &[FileNews]) {
        let used = self.used_workers();
        for news in all {
            let is_used = news.worker.is_none_or(|worker| used.contains(&worker));
            let fileset = news.fileset as usize;
            if !is_used || fileset >= self.program.filesets.len() {
                continue;
            }
            let owner = FileOwner {
                fileset,
                worker: news.worker,
                target: news.target,
            };
            let states = Arc::clone(self.states_of(owner));
            let agreed = self.agreed.entry(owner).or_default();
            // Numbers from another process may be out of range.
            let most = states.count();
            for [first, count, bytes] in &news.made {
                for file in files(*first, *count, most) {
                    states.record_creation(file, *bytes);
                    agreed.set(file, true);
                    if grows(&owner, &states) {
                        agreed.note_bytes(file, states.bytes_of(file));
                    }
                }
            }
            for [first, count] in &news.removed {
                for file in files(*first, *count, most) {
                    states.record_removal(file);
                    agreed.set(file, false);
                }
            }
        }
    }

    /// Workers whose files the workers here use.
    fn used_workers(&self) -> BTreeSet<u32> {
        let all = &self.cell.workers;
        let mut used = BTreeSet::new();
        for group in self.program.groups() {
            let count = group_count(group, all.len());
            for (index, worker) in all.iter().take(count).enumerate() {
                if self.cell.is_own(worker) {
                    // A shifted group works on the files of other workers.
                    let owner = &all[(index + group.shift as usize) % count];
                    used.extend([worker.worker_index, owner.worker_index]);
                }
            }
        }
        used
    }
}

/// `true` if file sizes are reported again, because several workers may write to the same files.
fn grows(owner: &FileOwner, states: &FileStates) -> bool {
    owner.worker.is_none() && states.count() <= RESENT_MAX
}

fn group_count(group: &Group, all: usize) -> usize {
    let workers = group.workers.map_or(all, |workers| workers as usize);
    workers.clamp(1, all.max(1))
}

fn files(first: u64, count: u64, most: u32) -> impl Iterator<Item = u32> {
    let end = first.saturating_add(count).min(most.into());
    (first..end).filter_map(|file| u32::try_from(file).ok())
}

/// Changes since the last exchange; marks them as known to all processes.
fn changes(owner: &FileOwner, states: &FileStates, agreed: &mut AgreedFiles) -> FileNews {
    let mut news = FileNews {
        fileset: u32::try_from(owner.fileset).unwrap_or(u32::MAX),
        worker: owner.worker,
        target: owner.target,
        ..FileNews::default()
    };
    let grows = grows(owner, states);
    let mut next = 0;
    let present: Vec<u32> = states.present().collect();
    for file in present {
        for gone in next..file {
            remove(&mut news, agreed, gone);
        }
        next = file + 1;
        let bytes = states.bytes_of(file);
        let has_grown = grows && agreed.bytes.get(&file) != Some(&bytes);
        // Only changes since the last exchange: what other processes reported must not count as
        // made here.
        if !agreed.has(file) || has_grown {
            agreed.set(file, true);
            add(&mut news, file.into(), bytes);
        }
        if has_grown {
            agreed.note_bytes(file, bytes);
        }
    }
    for gone in next..states.count() {
        remove(&mut news, agreed, gone);
    }
    news
}

fn add(news: &mut FileNews, file: u64, bytes: u64) {
    match news.made.last_mut() {
        Some([first, count, known]) if *first + *count == file && *known == bytes => *count += 1,
        _ => news.made.push([file, 1, bytes]),
    }
}

fn remove(news: &mut FileNews, agreed: &mut AgreedFiles, file: u32) {
    if !agreed.has(file) {
        return;
    }
    agreed.set(file, false);
    match news.removed.last_mut() {
        Some([first, count]) if *first + *count == u64::from(file) => *count += 1,
        _ => news.removed.push([file.into(), 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_received_from_others_are_not_sent_back() {
        let owner = FileOwner {
            fileset: 0,
            worker: None,
            target: None,
        };
        let states = FileStates::new(20, true);
        let mut agreed = AgreedFiles::default();
        states.record_creation(3, 10);
        assert_eq!(changes(&owner, &states, &mut agreed).made, [[3, 1, 10]]);
        assert!(changes(&owner, &states, &mut agreed).made.is_empty());
        states.record_creation(3, 30);
        assert_eq!(changes(&owner, &states, &mut agreed).made, [[3, 1, 30]]);
        states.record_creation(5, 7);
        agreed.set(5, true);
        agreed.note_bytes(5, 7);
        states.record_removal(3);
        let news = changes(&owner, &states, &mut agreed);
        assert_eq!((news.made, news.removed), (Vec::new(), vec![[3, 1]]));
    }

    #[test]
    fn an_update_has_only_the_changes_since_the_last_one() {
        let owner = FileOwner {
            fileset: 1,
            worker: Some(7),
            target: None,
        };
        let states = FileStates::new(200, false);
        let mut agreed = AgreedFiles::default();
        for file in [0, 1, 2, 5, 130] {
            states.record_creation(file, u64::from(file / 100));
        }
        let news = changes(&owner, &states, &mut agreed);
        assert_eq!(news.made, [[0, 3, 0], [5, 1, 0], [130, 1, 1]]);
        assert!(news.removed.is_empty());
        states.record_removal(1);
        states.record_removal(2);
        states.record_removal(130);
        states.record_creation(6, 0);
        let news = changes(&owner, &states, &mut agreed);
        assert_eq!(
            (news.made, news.removed),
            (vec![[6, 1, 0]], vec![[1, 2], [130, 1]])
        );
        let none = changes(&owner, &states, &mut agreed);
        assert!(none.made.is_empty() && none.removed.is_empty());
    }
}
