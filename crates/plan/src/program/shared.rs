//! Which programs several processes can share, and whether they must coordinate.

use super::{
    Act, AmountScope, Call, FileFilter, FileNames, FileOperation, FileSharing, FilesetPlan,
    FilesetSharing, Group, Pick, PickOrder, Program, ProgramPart, ProgramPhase, Quota, RoundsEnd,
};

impl Program {
    /// `true` if workers share directories, or use files that others created. Processes that share
    /// such a program must see the same directories, and coordinate between its phases.
    #[must_use]
    pub fn needs_coordination(&self) -> bool {
        let is_common = |set: &FilesetPlan| set.copies == FilesetSharing::One;
        let is_shifted = |group: &Group| group.shift > 0;
        self.filesets.iter().any(is_common) || self.groups().any(is_shifted)
    }

    /// Why processes that share only directories cannot share the program; `None` if they can.
    ///
    /// No two workers may need the same file at the same time, and the end of each worker must not
    /// depend on the others. With `is_counted`, each worker has its own share of a number of
    /// rounds.
    #[must_use]
    pub fn shared_flaw(&self, is_counted: bool) -> Option<&'static str> {
        if !self.tokens.is_empty() {
            return Some("its workers wait for each other's tokens");
        }
        if self.pool.as_deref().is_some_and(|pool| pool.is_shared) {
            return Some("its workers share one pool of files");
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
            return Some("its recorded calls are not part of the plan");
        }
        let is_of_all = |quota: &Quota| quota.of == AmountScope::Group;
        if !is_counted && group.quotas.iter().any(is_of_all) {
            return Some("its workers depend on what the others do");
        }
        let waits = |act: &Act| match act {
            // Processes report arrivals at meetings to each other, but no tokens.
            Act::Put { .. } | Act::Take { .. } => true,
            // Cards are not part of a stored plan.
            Act::Deal(_) => true,
            _ => false,
        };
        if group.any_act(&waits) {
            return Some("its workers wait for each other's tokens");
        }
        let is_explicit = |pick: &Pick| matches!(pick.order, PickOrder::Listed(_));
        if group.picks().any(is_explicit) {
            return Some("the order of its files is not part of the plan");
        }
        let set = |index: u8| self.filesets.get(usize::from(index));
        let is_alone = group.workers == Some(1);
        let (only_reads, keeps_all) = (self.only_reads(group), self.keeps_all(group));
        let collides = |pick: &Pick| {
            let is_common = set(pick.fileset).is_some_and(|it| it.copies == FilesetSharing::One);
            // Slices do not overlap. A file that is picked by its number is shared on purpose, as
            // the single file of IOR is.
            let is_apart =
                pick.turn == FileSharing::Slice || matches!(pick.order, PickOrder::Index(_));
            // Whatever exists, each worker goes through all names.
            let takes_all = pick.which == FileFilter::Any && keeps_all;
            let is_harmless = is_apart || is_alone || only_reads || takes_all;
            pick.turn == FileSharing::Shared || is_common && !is_harmless
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
            return Some("the names of its files are not part of the plan");
        }
        None
    }

    /// `true` if the group changes no file, so that any number of workers can use the same one.
    fn only_reads(&self, group: &Group) -> bool {
        let calls = group.calls();
        calls.iter().all(|call| match call.operation {
            FileOperation::Open => {
                let mode = self.ways.get(usize::from(call.way));
                mode.is_none_or(|it| !it.is_truncating)
            }
            FileOperation::Read
            | FileOperation::Stat
            | FileOperation::Getxattr
            | FileOperation::Close => true,
            _ => false,
        })
    }

    /// `true` if the group removes no file, and creates only files that may exist already.
    fn keeps_all(&self, group: &Group) -> bool {
        let takes_existing = |call: &Call| {
            let mode = self.ways.get(usize::from(call.way));
            mode.is_some_and(|it| it.takes_existing && !it.is_truncating)
        };
        let calls = group.calls();
        calls.iter().all(|call| match call.operation {
            FileOperation::Create => takes_existing(call),
            FileOperation::Write | FileOperation::Fsync | FileOperation::Close => true,
            _ => false,
        })
    }
}

fn has_known_end(part: &ProgramPart) -> bool {
    match part {
        ProgramPart::Phase(_) => true,
        ProgramPart::Rounds { until, parts } => {
            matches!(until, RoundsEnd::Times(_)) && parts.iter().all(has_known_end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::samples::{call, fileset, pick};
    use crate::program::{CallObject, Measure, OpenModePlan, PhaseEndAction, Tokens};

    fn creating(change: impl FnOnce(&mut Program)) -> Program {
        let create = Act::Call(call(
            FileOperation::Create,
            CallObject::Name(pick(0, FileFilter::Absent)),
        ));
        let close = Act::Call(Call::new(FileOperation::Close, CallObject::Handle));
        let group = Group {
            body: vec![create, close],
            ..Group::default()
        };
        let mut set = fileset("f", 10);
        set.copies = FilesetSharing::PerWorker;
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
    fn workers_with_their_own_files_can_run_in_any_process() {
        assert_eq!(creating(|_| {}).shared_flaw(false), None);
        type Change = fn(&mut Program);
        let meeting = |it: &mut Program| group(it).body.push(Act::Meet(0));
        assert_eq!(creating(meeting).shared_flaw(false), None);
        let changes: [Change; 3] = [
            |it| it.tokens.push(Tokens::default()),
            |it| it.phases_mut()[0].first_done = Some(PhaseEndAction::Stop),
            |it| {
                let of = AmountScope::Group;
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
        let common = |it: &mut Program| it.filesets[0].copies = FilesetSharing::One;
        assert!(creating(common).shared_flaw(false).is_some());
        let alone = |it: &mut Program| {
            common(it);
            group(it).workers = Some(1);
        };
        assert!(
            creating(alone).shared_flaw(false).is_none() && creating(alone).needs_coordination()
        );
        assert!(!creating(|_| {}).needs_coordination());
    }

    #[test]
    fn workers_that_only_read_share_their_files() {
        let reading = |change: fn(&mut Program)| {
            let flaw = creating(|it| {
                it.filesets[0].copies = FilesetSharing::One;
                it.ways = vec![OpenModePlan::default()];
                let open = call(
                    FileOperation::Open,
                    CallObject::Name(pick(0, FileFilter::Present)),
                );
                group(it).body[0] = Act::Call(open);
                change(it);
            });
            flaw.shared_flaw(false)
        };
        let files = Some("its workers work on the same files");
        assert_eq!(reading(|_| {}), None);
        let write = |it: &mut Program| {
            let write = Call::new(FileOperation::Write, CallObject::Handle);
            group(it).body.insert(1, Act::Call(write));
        };
        assert_eq!(reading(write), files);
        assert_eq!(reading(|it| it.ways[0].is_truncating = true), files);
    }

    #[test]
    fn workers_share_files_that_all_of_them_create() {
        let flaw = |takes_existing: bool, more: Option<FileOperation>| {
            let program = creating(|it| {
                it.filesets[0].copies = FilesetSharing::One;
                it.ways = vec![OpenModePlan {
                    takes_existing,
                    ..OpenModePlan::default()
                }];
                let create = call(
                    FileOperation::Create,
                    CallObject::Name(pick(0, FileFilter::Any)),
                );
                group(it).body[0] = Act::Call(create);
                let more = more.map(|it| Act::Call(Call::new(it, CallObject::Handle)));
                group(it).body.extend(more);
            });
            program.shared_flaw(false)
        };
        assert_eq!(flaw(true, None), None);
        assert!(flaw(false, None).is_some());
        assert!(flaw(true, Some(FileOperation::Truncate)).is_some());
    }
}
