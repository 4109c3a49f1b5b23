//! Which work on files several processes can share, and what they must know of each other for it.

use super::{
    Act, Copies, FileNames, FilesetPlan, Group, Order, Pick, Program, ProgramPart, ProgramPhase,
    Quota, Share, Turn, Until,
};

impl Program {
    /// Whether workers meet in directories, or work on what others made: processes that share it
    /// must then see the same directories, and hear of each other between its phases.
    #[must_use]
    pub fn needs_others(&self) -> bool {
        let is_common = |set: &FilesetPlan| set.copies == Copies::One;
        let is_shifted = |group: &Group| group.shift > 0;
        self.filesets.iter().any(is_common) || self.groups().any(is_shifted)
    }

    /// Why processes that share nothing but directories cannot share it; none where they can.
    ///
    /// No two workers may then want the same file at the same time, and whatever ends one follows
    /// from what it does; `is_counted` says that each has its own share of a number of rounds.
    #[must_use]
    pub fn shared_flaw(&self, is_counted: bool) -> Option<&'static str> {
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
        phases.find_map(|phase| self.phase_flaw(phase, is_counted))
    }

    fn phase_flaw(&self, phase: &ProgramPhase, is_counted: bool) -> Option<&'static str> {
        if phase.groups.len() > 1 {
            return Some("several groups of workers work at the same time");
        }
        if phase.first_done.is_some() {
            return Some("its workers end each other");
        }
        let mut groups = phase.groups.iter();
        groups.find_map(|group| self.group_flaw(group, is_counted && !phase.is_hidden))
    }

    fn group_flaw(&self, group: &Group, is_counted: bool) -> Option<&'static str> {
        if group.spawn.is_some() {
            return Some("it starts programs");
        }
        if group.trace.is_some() {
            return Some("its recorded calls do not go with a plan");
        }
        let is_of_all = |quota: &Quota| quota.of == Share::Group;
        if !is_counted && group.quotas.iter().any(is_of_all) {
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
        let is_told = |pick: &Pick| matches!(pick.order, Order::Listed(_));
        if group.picks().any(is_told) {
            return Some("the order of its files does not go with a plan");
        }
        let set = |index: u8| self.filesets.get(usize::from(index));
        let is_alone = group.workers == Some(1);
        let collides = |pick: &Pick| {
            let is_common = set(pick.fileset).is_some_and(|it| it.copies == Copies::One);
            let is_apart = pick.turn == Turn::Slice || matches!(pick.order, Order::Index(_));
            pick.turn == Turn::Shared || is_common && !is_apart && !is_alone
        };
        let walks = group.any_act(&|act| matches!(act, Act::Walk(_)));
        if group.picks().any(collides) || walks && !is_alone {
            return Some("its workers work on the same files");
        }
        let is_listed = |index: &u8| {
            let names = set(*index).map(|it| &it.names);
            matches!(names, Some(FileNames::Listed(_)))
        };
        if group.filesets().iter().any(is_listed) {
            return Some("the names of its files do not go with a plan");
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
    use crate::program::{Call, Ending, FileOperation, Measure, On, Tokens, Which};

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
        assert_eq!(creating(|_| {}).shared_flaw(false), None);
        type Change = fn(&mut Program);
        let changes: [Change; 4] = [
            |it| it.tokens.push(Tokens::default()),
            |it| group(it).body.push(Act::Meet(0)),
            |it| it.phases_mut()[0].first_done = Some(Ending::Stop),
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
            assert!(creating(change).shared_flaw(false).is_some());
        }
        let common = |it: &mut Program| it.filesets[0].copies = Copies::One;
        assert!(creating(common).shared_flaw(false).is_some());
        let alone = |it: &mut Program| {
            common(it);
            group(it).workers = Some(1);
        };
        assert!(creating(alone).shared_flaw(false).is_none() && creating(alone).needs_others());
        assert!(!creating(|_| {}).needs_others());
    }
}
