//! Converts fs_mark to a program, and back.

use super::{FsMarkPlan, Subdirectories, SyncMethod};
use plan::program::{
    Access, Act, AmountScope, Call, CallObject, DirectoryTree, FileFilter, FileNames,
    FileOperation, FileSharing, FilesetPlan, FilesetSharing, Group, Law, MovedBytes, OnFailure,
    OpenModePlan, Pick, PickOrder, Program, ProgramPart, ProgramPhase, RoundsEnd, StampedNames,
};
use plan::program::{Measure, Quota};

/// Labels: syncs of files that are opened again, and calls that must be counted apart from those or
/// from calls in the window.
const FSYNC: u8 = 0;
const CLOSE: u8 = 1;
const UNLINK: u8 = 2;
/// Name of the phase that creates files.
const CREATE: &str = "create";
/// Name of the phase that syncs all file systems.
pub const SYNC_ALL: &str = "sync all";
/// Name of the phase that opens files again and syncs them.
pub const SYNC: &str = "sync";
/// Name of the phase that removes files.
pub const REMOVE: &str = "remove";
/// Ways in which files are created and opened again.
const CREATE_MODE: u8 = 0;
const READ_MODE: u8 = 1;

impl FsMarkPlan {
    /// Each iteration as several phases. The threads wait for each other between phases, so that
    /// each phase has its own rate.
    #[must_use]
    pub fn program(&self) -> Program {
        let method = self.sync_method;
        let mut phases = vec![self.phase(CREATE, self.making(false))];
        if method.has_sync() {
            // `sync` covers all file systems, so one worker calls it once.
            let sync = Call::new(FileOperation::Sync, CallObject::Handle);
            let mut phase = self.phase(SYNC_ALL, vec![Act::Call(sync)]);
            phase.groups[0].workers = Some(1);
            phase.groups[0].quotas = vec![once()];
            phases.push(phase);
        }
        if let Some(order) = reopen_order(method) {
            let is_first = matches!(order, PickOrder::Index(_));
            let mut phase = self.phase(SYNC, vec![synced(order)]);
            // `-S 2` opens only the first file again.
            phase.groups[0].quotas = is_first.then(once).into_iter().collect();
            phases.push(phase);
        }
        if !self.is_kept {
            phases.push(self.phase(REMOVE, vec![removed(None)]));
        }
        let until = match self.until_full {
            true => RoundsEnd::Full,
            false => RoundsEnd::Times(self.iterations),
        };
        let mode = |name: &str| OpenModePlan {
            name: name.to_owned(),
            makes_directory: self.is_directory_made,
            ..OpenModePlan::default()
        };
        self.of_phases(until, phases, mode("make"))
    }

    /// Each iteration as one phase, which the threads run independently and which ends before the
    /// files are removed. The first failed call ends the run.
    #[must_use]
    pub fn program_of_threads(&self) -> Program {
        let mut phase = self.phase(
            "files",
            self.making(reopen_order(self.sync_method).is_some()),
        );
        let group = &mut phase.groups[0];
        group.failed = OnFailure::EndRun;
        if self.sync_method.has_sync() {
            let sync = Call::new(FileOperation::Sync, CallObject::Handle);
            // Within the window, because fs_mark counts these syncs in its files per second.
            group.last.push(Act::Call(sync));
        }
        let all = Law::fixed(self.file_count.into());
        match reopen_order(self.sync_method) {
            Some(order @ PickOrder::Index(_)) => group.last.push(synced(order)),
            Some(order) => group
                .last
                .push(Act::Times(all.clone(), vec![synced(order)])),
            None => {}
        }
        if !self.is_kept {
            // After the window, because fs_mark leaves `unlink` out of its files per second.
            let unlink = removed(Some(UNLINK));
            group.leave.push(Act::Times(all, vec![unlink]));
        }
        // fs_mark checks the free space before each loop, not before the first one for all.
        let until = RoundsEnd::Fitting {
            times: (!self.until_full).then_some(self.iterations),
            bytes: self.iteration_bytes(),
        };
        let making = OpenModePlan {
            name: "make".to_owned(),
            makes_directory: self.is_directory_made,
            // fs_mark opens with O_CREAT, O_RDWR, O_TRUNC and mode 0666, and calls `write` without
            // an offset.
            permissions: 0o666,
            is_truncating: true,
            seeks: true,
            ..OpenModePlan::default()
        };
        self.of_phases(until, vec![phase], making)
    }

    fn of_phases(
        &self,
        until: RoundsEnd,
        phases: Vec<ProgramPhase>,
        making: OpenModePlan,
    ) -> Program {
        let (directories, each) = match self.subdirectories {
            Subdirectories::None => (0, None),
            Subdirectories::RoundRobin { count, each_count } => (count, Some(each_count)),
            Subdirectories::ByTime { count } => (count, None),
        };
        let files = FilesetPlan {
            name: "files".to_owned(),
            path: String::new(),
            copies: FilesetSharing::PerWorker,
            count: self.file_count,
            names: FileNames::Stamped(StampedNames {
                length: self.name_length,
                random_length: self.random_length,
                directories,
                each,
            }),
            tree: DirectoryTree::Flat,
            size: Law::fixed(self.size_bytes),
            present_permille: 0,
        };
        let reading = OpenModePlan {
            name: "read".to_owned(),
            access: Access::Read,
            // All ways under one handle must treat the file offset alike.
            seeks: making.seeks,
            ..OpenModePlan::default()
        };
        Program {
            labels: ["fsync", "close", "unlink"].map(str::to_owned).to_vec(),
            filesets: vec![files],
            ways: vec![making, reading],
            parts: vec![ProgramPart::Rounds {
                until,
                parts: phases.into_iter().map(ProgramPart::Phase).collect(),
            }],
            ..Program::default()
        }
    }

    fn phase(&self, name: &str, body: Vec<Act>) -> ProgramPhase {
        let group = Group {
            name: "threads".to_owned(),
            workers: Some(self.thread_count),
            body,
            ..Group::default()
        };
        ProgramPhase {
            name: name.to_owned(),
            groups: vec![group],
            ..ProgramPhase::default()
        }
    }

    /// Acts that create, write and close a file. If files are closed a second time, this close is
    /// counted under its own label.
    fn making(&self, is_close_counted: bool) -> Vec<Act> {
        let opened = |operation| Call::new(operation, CallObject::Handle);
        let create = Call {
            way: CREATE_MODE,
            ..Call::new(
                FileOperation::Create,
                CallObject::Name(picked(FileFilter::Absent, PickOrder::Next)),
            )
        };
        let write = Call {
            bytes: MovedBytes::Law(Law::fixed(self.size_bytes)),
            piece_bytes: self.write_bytes,
            ..opened(FileOperation::Write)
        };
        let fsync = (self.sync_method == SyncMethod::Fsync).then(|| opened(FileOperation::Fsync));
        let close = Call {
            label: is_close_counted.then_some(CLOSE),
            ..opened(FileOperation::Close)
        };
        let calls = [create, write].into_iter().chain(fsync).chain([close]);
        calls.map(Act::Call).collect()
    }

    /// The settings from which a program of either form was made; `None` for other programs.
    #[must_use]
    pub fn of_program(program: &Program) -> Option<Self> {
        let [files] = program.filesets.as_slice() else {
            return None;
        };
        let FileNames::Stamped(names) = &files.names else {
            return None;
        };
        let [ProgramPart::Rounds { until, .. }] = program.parts.as_slice() else {
            return None;
        };
        let group = program.groups().next()?;
        let calls: Vec<&Call> = program.groups().flat_map(Group::calls).collect();
        let has = |operation| calls.iter().any(|call| call.operation == operation);
        let find = |operation| calls.iter().find(|call| call.operation == operation);
        let (iterations, until_full) = match until {
            RoundsEnd::Times(times) => (*times, false),
            RoundsEnd::Fitting { times, .. } => (times.unwrap_or(1), times.is_none()),
            RoundsEnd::Full => (1, true),
            RoundsEnd::Spent { .. } | RoundsEnd::Sampled { .. } => return None,
        };
        // Only files to be synced are opened; creating is another operation.
        let order = find(FileOperation::Open).and_then(|call| match &call.on {
            CallObject::Name(pick) => Some(&pick.order),
            _ => None,
        });
        Some(Self {
            thread_count: group.worker_count(),
            file_count: files.count,
            size_bytes: files.size.always()?,
            write_bytes: find(FileOperation::Write)?.piece_bytes,
            sync_method: match (order, has(FileOperation::Sync)) {
                (Some(PickOrder::Index(_)), _) => SyncMethod::SyncFirst,
                (Some(PickOrder::Back), false) => SyncMethod::PostReverse,
                (Some(PickOrder::Back), true) => SyncMethod::SyncPostReverse,
                (Some(_), false) => SyncMethod::Post,
                (Some(_), true) => SyncMethod::SyncPost,
                (None, _) if has(FileOperation::Fsync) => SyncMethod::Fsync,
                (None, _) => SyncMethod::None,
            },
            subdirectories: match (names.directories, names.each) {
                (0, _) => Subdirectories::None,
                (count, Some(each_count)) => Subdirectories::RoundRobin { count, each_count },
                (count, None) => Subdirectories::ByTime { count },
            },
            name_length: names.length,
            random_length: names.random_length,
            iterations,
            is_kept: !has(FileOperation::Unlink),
            until_full,
            is_directory_made: program.ways.first()?.makes_directory,
        })
    }
}

/// The order in which files are opened again to be synced; `None` if they are not.
const fn reopen_order(method: SyncMethod) -> Option<PickOrder> {
    match method {
        SyncMethod::None | SyncMethod::Fsync => None,
        SyncMethod::SyncFirst => Some(PickOrder::Index(0)),
        SyncMethod::PostReverse | SyncMethod::SyncPostReverse => Some(PickOrder::Back),
        SyncMethod::Post | SyncMethod::SyncPost => Some(PickOrder::Next),
    }
}

const fn picked(filter: FileFilter, order: PickOrder) -> Pick {
    Pick {
        fileset: 0,
        which: filter,
        order,
        turn: FileSharing::Own,
    }
}

/// Acts that open, sync and close a file again, counted as one step.
fn synced(order: PickOrder) -> Act {
    let open = Call {
        way: READ_MODE,
        ..Call::new(
            FileOperation::Open,
            CallObject::Name(picked(FileFilter::Present, order)),
        )
    };
    let opened = |operation| Call::new(operation, CallObject::Handle);
    let calls = [
        open,
        opened(FileOperation::Fsync),
        opened(FileOperation::Close),
    ];
    Act::Step(FSYNC, calls.map(Act::Call).to_vec())
}

fn removed(label: Option<u8>) -> Act {
    let pick = picked(FileFilter::Present, PickOrder::Next);
    Act::Call(Call {
        label,
        ..Call::new(FileOperation::Unlink, CallObject::Name(pick))
    })
}

const fn once() -> Quota {
    Quota {
        what: Measure::Rounds,
        count: 1,
        of: AmountScope::Each,
    }
}
