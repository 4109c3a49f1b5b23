//! Meetings of the workers of several processes within a stage.

use std::collections::{BTreeMap, BTreeSet};

use plan::program::MEETINGS_MAX;
use run::MeetingId;

/// Processes whose workers have arrived at a meeting, or will not arrive any more.
#[derive(Debug, Default)]
struct MeetingRanks {
    arrived: BTreeSet<u32>,
    left: BTreeSet<u32>,
}

/// Meetings of the current stage, and of the next one if processes already prepare it.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    ranks: BTreeMap<MeetingId, MeetingRanks>,
}

impl Meetings {
    /// `true` if a program can have the meeting.
    pub fn is_valid(meeting: MeetingId) -> bool {
        usize::from(meeting.meeting) < MEETINGS_MAX
    }

    /// All workers of a process have arrived at a meeting.
    pub fn arrive(&mut self, rank: u32, meeting: MeetingId) {
        self.of(meeting).arrived.insert(rank);
    }

    /// No worker of a process will arrive at a meeting any more.
    pub fn leave(&mut self, rank: u32, meeting: MeetingId) {
        let ranks = self.of(meeting);
        ranks.arrived.remove(&rank);
        ranks.left.insert(rank);
    }

    /// A process is done or lost.
    pub fn remove(&mut self, rank: u32) {
        for ranks in self.ranks.values_mut() {
            ranks.arrived.remove(&rank);
        }
    }

    /// A meeting at which all of the `working` processes have arrived, unless they have left it.
    /// Workers may meet there again.
    pub fn take_complete(&mut self, working: &BTreeSet<u32>) -> Option<MeetingId> {
        let is_complete = |ranks: &MeetingRanks| {
            let is_awaited =
                |rank: &u32| !ranks.arrived.contains(rank) && !ranks.left.contains(rank);
            !ranks.arrived.is_empty() && !working.iter().any(is_awaited)
        };
        let (meeting, ranks) = self.ranks.iter_mut().find(|(_, it)| is_complete(it))?;
        ranks.arrived.clear();
        Some(*meeting)
    }

    fn of(&mut self, meeting: MeetingId) -> &mut MeetingRanks {
        // A process enters a stage only after all others have ended the one before the last. So
        // the leader keeps two stages, however many a process reports.
        let oldest = meeting.stage.saturating_sub(1);
        self.ranks
            .retain(|known, _| (oldest..=meeting.stage.saturating_add(1)).contains(&known.stage));
        self.ranks.entry(meeting).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn meeting(stage: u64, meeting: u8) -> MeetingId {
        MeetingId { stage, meeting }
    }

    #[test]
    fn a_meeting_is_complete_when_all_working_processes_have_arrived_or_left() {
        let working = BTreeSet::from([0, 1, 2]);
        let mut meetings = Meetings::default();
        let id = meeting(4, 1);
        assert_eq!(meetings.take_complete(&working), None);
        meetings.leave(2, id);
        for _ in 0..2 {
            meetings.arrive(0, id);
            assert_eq!(meetings.take_complete(&working), None);
            meetings.arrive(1, id);
            assert_eq!(meetings.take_complete(&working), Some(id));
            assert_eq!(meetings.take_complete(&working), None, "only once");
        }
        // A process that has left takes nobody with it.
        meetings.leave(0, id);
        meetings.leave(1, id);
        assert_eq!(meetings.take_complete(&working), None);
    }

    #[test]
    fn a_lost_process_is_not_awaited() {
        let mut meetings = Meetings::default();
        let id = meeting(0, 0);
        meetings.arrive(0, id);
        meetings.arrive(1, id);
        meetings.remove(1);
        assert_eq!(meetings.take_complete(&BTreeSet::from([0])), Some(id));
    }

    #[test]
    fn meetings_of_earlier_stages_are_forgotten() {
        let mut meetings = Meetings::default();
        for stage in 0..100 {
            meetings.arrive(0, meeting(stage, 0));
        }
        assert_eq!(meetings.ranks.len(), 2);
    }
}
