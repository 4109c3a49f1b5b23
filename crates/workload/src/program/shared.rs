//! Which work on files several processes can share.

use super::{
    Act, Copies, Ending, FileNames, Group, Order, Pick, Program, ProgramPart, ProgramPhase, Share,
    Turn, Until,
};
use super::{On, Quota};

impl Program {
    /// Why processes that share nothing but directories cannot share it; none where they can.
    ///
    /// Each worker then has files of its own, and whatever ends it follows from what it does.
    #[must_use]
    pub fn shared_flaw(&self) -> Option<&'static str> {
        if !self.tokens.is_empty() {
            return Some("its workers wait for each other");
        }
        if self.pool.as_deref().is_some_and(|pool| pool.is_shared) {
            return Some("its workers have one pool of files together");
        }
        let mut parts = self.parts.iter();
        if parts.any(|part| !has_known_end(part)) {
            return Some("how often it is repeated depends on what one process measures");
        }
        let mut phases = self.phases().into_iter();
        phases.find_map(|phase| self.phase_flaw(phase))
    }

    fn phase_flaw(&self, phase: &ProgramPhase) -> Option<&'static str> {
        if phase.groups.len() > 1 {
            return Some("several groups of workers work at the same time");
        }
        let leveled = [Some(phase.time_up), phase.first_done];
        if phase.first_done.is_some() || leveled.contains(&Some(Ending::Level)) {
            return Some("its workers end each other");
        }
        phase.groups.iter().find_map(|group| self.group_flaw(group))
    }

    fn group_flaw(&self, group: &Group) -> Option<&'static str> {
        if group.spawn.is_some() {
            return Some("it starts programs");
        }
        let is_of_all = |quota: &Quota| quota.of == Share::Group;
        if group.shift > 0 || group.quotas.iter().any(is_of_all) {
            return Some("its workers depend on what the others do");
        }
        let waits = |act: &Act| match act {
            Act::Put { .. } | Act::Take { .. } | Act::Meet(_) => true,
            // Cards do not go with a plan.
            Act::Deal(_) => true,
            _ => false,
        };
        if group.any_act(&waits) {
            return Some("its workers wait for each other");
        }
        let picks = || {
            let calls = group.calls().into_iter();
            calls.flat_map(|call| {
                let named = match &call.on {
                    On::Name(pick) => Some(pick),
                    On::Handle | On::Same | On::Directory => None,
                };
                named.into_iter().chain(&call.second)
            })
        };
        let is_told = |pick: &Pick| matches!(pick.order, Order::Listed(_));
        if picks().any(is_told) {
            return Some("the order of its files does not go with a plan");
        }
        let takes_turns = |pick: &Pick| pick.turn == Turn::Shared;
        let is_common = |index: &u8| {
            let set = self.filesets.get(usize::from(*index));
            set.is_some_and(|set| {
                set.copies == Copies::One || matches!(set.names, FileNames::Listed(_))
            })
        };
        if picks().any(takes_turns) || group.filesets().iter().any(is_common) {
            return Some("its workers work on the same files");
        }
        None
    }
}

fn has_known_end(part: &ProgramPart) -> bool {
    match part {
        ProgramPart::Phase(_) => true,
        ProgramPart::Rounds { until, parts } => {
            matches!(until, Until::Times(_)) && parts.iter().all(has_known_end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::samples::{call, fileset, pick};
    use crate::program::{Call, FileOperation, Measure, Tokens, Which};

    fn creating(change: impl FnOnce(&mut Program)) -> Program {
        let create = Act::Call(call(
            FileOperation::Create,
            On::Name(pick(0, Which::Absent)),
        ));
        let close = Act::Call(Call::new(FileOperation::Close, On::Handle));
        let group = Group {
            body: vec![create, close],
            ..Group::default()
        };
        let mut set = fileset("f", 10);
        set.copies = Copies::PerWorker;
        let mut program = Program {
            filesets: vec![set],
            parts: vec![ProgramPart::Phase(ProgramPhase {
                groups: vec![group],
                ..ProgramPhase::default()
            })],
            ..Program::default()
        };
        change(&mut program);
        program
    }

    fn group(program: &mut Program) -> &mut Group {
        let phase = program.phases_mut().into_iter().next();
        &mut phase.expect("a phase").groups[0]
    }

    #[test]
    fn workers_with_files_of_their_own_can_be_anywhere() {
        assert_eq!(creating(|_| {}).shared_flaw(), None);
        type Change = fn(&mut Program);
        let changes: [Change; 6] = [
            |it| it.filesets[0].copies = Copies::One,
            |it| it.tokens.push(Tokens::default()),
            |it| group(it).shift = 1,
            |it| group(it).body.push(Act::Meet(0)),
            |it| it.phases_mut()[0].time_up = Ending::Level,
            |it| {
                let of = Share::Group;
                let quota = Quota {
                    what: Measure::Rounds,
                    count: 1,
                    of,
                };
                group(it).quotas.push(quota);
            },
        ];
        for change in changes {
            assert!(creating(change).shared_flaw().is_some());
        }
    }
}
