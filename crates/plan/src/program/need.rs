//! Space that the files of a program take.

mod extent;
mod rounds;

use extent::MeanExtent;
pub(super) use rounds::rounds_of;

use super::{
    Act, Call, CallObject, CallPosition, FileOperation, FilePath, FilesetPlan, FilesetSharing,
    Group, Law, MovedBytes, Program, ProgramPart, RoundsEnd, Spawn,
};

/// Smallest space of a non-empty file in bytes; most file systems have blocks of this size.
const BLOCK_BYTES: f64 = 4096.0;
/// Upper bound of the speed of any file system, in bytes per nanosecond: 16 GB/s.
const BYTES_PER_NS_MAX: u64 = 16;
/// Allowed distance of a sum of random sizes from its expected value, in standard deviations.
const SIGMAS: f64 = 3.0;

/// Space that the files of a program take at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RequiredSpace {
    /// Estimated maximum in bytes; for phases that end by time, the space of one round.
    pub bytes: u64,
    /// As `bytes`, with one round of phases that only time ends. Their files may become as large as
    /// the time allows.
    pub firm_bytes: u64,
    /// As `bytes`, with all rounds of phases that end by time, if their number is limited. The
    /// phases may end before.
    pub max_bytes: u64,
    /// `true` if files grow during a whole phase, so that the space cannot be known beforehand.
    pub is_growing: bool,
}

impl Program {
    /// The bytes that its files take at the same time, on all targets together.
    #[must_use]
    pub fn space_needed(&self) -> RequiredSpace {
        if self.uses_existing_files() {
            return RequiredSpace::default();
        }
        let all = self.space_with(TimedPhases::AllRounds);
        let firm = self.space_with(TimedPhases::OneRound);
        RequiredSpace {
            firm_bytes: firm.bytes,
            max_bytes: all.bytes,
            ..self.space_with(TimedPhases::OneLimitedRound)
        }
    }

    fn space_with(&self, timed: TimedPhases) -> RequiredSpace {
        let mut growth = SpaceEstimate {
            program: self,
            timed_phases: timed,
            is_timed: false,
            files: vec![FilesetSpace::default(); self.filesets.len()],
            is_growing: false,
        };
        growth.parts(&self.parts, 1.0);
        // A renamed file keeps its size in the other set. A chain of renames is no longer than the
        // number of sets; at most four steps are followed.
        for _ in 0..self.filesets.len().min(4) {
            growth.carry();
        }
        let sets = self.filesets.iter().zip(&growth.files);
        let bytes = sets.enumerate().map(|(index, (fileset, grown))| {
            let copies = f64::from(self.copies_of(index));
            copies * grown.fileset_bytes(fileset)
        });
        let bytes = bytes.sum::<f64>() as u64 + self.trace_bytes() + self.pool_bytes();
        RequiredSpace {
            bytes,
            firm_bytes: bytes,
            max_bytes: bytes,
            is_growing: growth.is_growing,
        }
    }

    /// The bytes that the files of recorded calls take.
    fn trace_bytes(&self) -> u64 {
        let traces = self.groups().filter_map(|group| {
            let space_bytes = group.trace.as_ref()?.space_bytes;
            Some(space_bytes.saturating_mul(group.worker_count().into()))
        });
        traces.sum()
    }

    /// Number of copies of a fileset: the workers that use it if each has its own, else 1.
    fn copies_of(&self, fileset: usize) -> u32 {
        if self.filesets[fileset].copies == FilesetSharing::One {
            return 1;
        }
        let uses = |group: &&Group| {
            let mut calls = group.calls().into_iter();
            calls.any(|call| {
                let first = match &call.on {
                    CallObject::Name(pick) => Some(pick),
                    _ => None,
                };
                let mut picks = first.into_iter().chain(&call.second);
                picks.any(|pick| usize::from(pick.fileset) == fileset)
            })
        };
        let users = self.groups().filter(uses);
        users.map(Group::worker_count).max().unwrap_or(0)
    }
}

/// Rounds that count of a phase that ends by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TimedPhases {
    OneRound,
    /// One if the number of its rounds is limited too, else all.
    OneLimitedRound,
    AllRounds,
}

/// Space of the files of a set.
#[derive(Debug, Clone, Default)]
struct FilesetSpace {
    /// Size of a file.
    extent: MeanExtent,
    /// Bytes appended to files of the set, all together.
    appended: f64,
    is_created: bool,
    /// Files created in one round of phases that end by time.
    created_in_round: f64,
    /// Upper bound for all files, if the duration of samples determines their number.
    max_bytes: Option<f64>,
    /// Sets whose files are renamed to files of this one.
    rename_sources: Vec<usize>,
}

impl FilesetSpace {
    fn fileset_bytes(&self, fileset: &FilesetPlan) -> f64 {
        let files = match self.is_created {
            true => f64::from(fileset.count),
            false => {
                let present = f64::from(fileset.present_count());
                (present + self.created_in_round).min(f64::from(fileset.count))
            }
        };
        let extent = match fileset.present_count() {
            0 => self.extent,
            _ => self.extent.larger(MeanExtent::of(&fileset.size)),
        };
        let drift = SIGMAS * (extent.variance * files).sqrt();
        let expected = files * allocated_bytes(extent) + drift;
        let most = (extent.max / BLOCK_BYTES).ceil() * BLOCK_BYTES * files;
        // 0 times infinity is NaN.
        let most = if most.is_nan() { f64::INFINITY } else { most };
        let sampled = self.max_bytes.map_or(f64::INFINITY, |bytes| {
            // No file is larger than a sample of one file.
            bytes + allocated_bytes(extent)
        });
        expected.min(most).min(sampled) + self.appended
    }
}

/// Space of a file in whole blocks: half a block more on average if sizes are random; this adds a
/// whole one.
fn allocated_bytes(extent: MeanExtent) -> f64 {
    match () {
        () if extent.mean <= 0.0 => 0.0,
        () if extent.variance > 0.0 => extent.mean + BLOCK_BYTES,
        () => (extent.mean / BLOCK_BYTES).ceil() * BLOCK_BYTES,
    }
}

/// State of a register on a path through the acts.
#[derive(Debug, Clone, Copy, Default)]
struct RegisterOnPath {
    fileset: Option<usize>,
    /// Whether this open created the file.
    is_new: bool,
    /// Number of times that the open was done.
    times: f64,
    /// Whether it is opened in each round of an unknown number of rounds.
    is_per_round: bool,
    /// Position of the next write.
    position: MeanExtent,
}

struct SpaceEstimate<'a> {
    program: &'a Program,
    timed_phases: TimedPhases,
    /// Whether the current phase counts as one round only.
    is_timed: bool,
    files: Vec<FilesetSpace>,
    is_growing: bool,
}

impl SpaceEstimate<'_> {
    fn parts(&mut self, parts: &[ProgramPart], times: f64) {
        for part in parts {
            match part {
                ProgramPart::Phase(phase) => {
                    let is_timed = phase.time_ns.is_some();
                    for group in &phase.groups {
                        self.group(group, is_timed, times);
                    }
                }
                ProgramPart::Rounds { until, parts } => match until {
                    RoundsEnd::Times(count) => self.parts(parts, times * f64::from(*count)),
                    RoundsEnd::Spent { .. } | RoundsEnd::Full => self.parts(parts, times),
                    // The run checks the space before each of these rounds.
                    RoundsEnd::Fitting { .. } => {}
                    RoundsEnd::Sampled {
                        least_ns, fileset, ..
                    } => {
                        self.parts(parts, times);
                        self.assume_sampled_files(usize::from(*fileset), *least_ns);
                    }
                },
            }
        }
    }

    /// Assumes as many files as can be written within the time of a sample; the last file may
    /// exceed it.
    fn assume_sampled_files(&mut self, fileset: usize, least_ns: u64) {
        let bytes = least_ns.saturating_mul(BYTES_PER_NS_MAX) as f64;
        let most = &mut self.files[fileset].max_bytes;
        *most = Some(most.unwrap_or(0.0).max(bytes));
    }

    fn spawn(&mut self, spawn: &Spawn) {
        let grown = &mut self.files[usize::from(spawn.pick.fileset)];
        grown.is_created |= spawn.command.makes();
        let written = MeanExtent::of(&Law::fixed(spawn.command.bytes()));
        grown.extent = grown.extent.larger(written);
    }

    fn carry(&mut self) {
        for to in 0..self.files.len() {
            for from in self.files[to].rename_sources.clone() {
                let fileset = &self.program.filesets[from];
                let mut extent = self.files[from].extent;
                if fileset.present_count() > 0 {
                    extent = extent.larger(MeanExtent::of(&fileset.size));
                }
                self.files[to].extent = self.files[to].extent.larger(extent);
            }
        }
    }

    fn group(&mut self, group: &Group, is_timed: bool, times: f64) {
        if let Some(spawn) = &group.spawn {
            self.spawn(spawn);
        }
        let rounds = rounds_of(self.program, group);
        self.is_timed = is_timed
            && match self.timed_phases {
                TimedPhases::OneRound => true,
                // If only time ends a phase, the number of its files limits what it creates.
                TimedPhases::OneLimitedRound => rounds.is_some(),
                TimedPhases::AllRounds => false,
            };
        let rounds = rounds.filter(|_| !self.is_timed);
        let mut pass = SpacePass {
            estimate: self,
            workers: f64::from(group.worker_count()),
            registers: Vec::new(),
            is_endless: false,
        };
        pass.acts(&group.enter, times);
        pass.acts(&group.first, times);
        pass.is_endless = rounds.is_none();
        pass.acts(&group.body, times * rounds.unwrap_or(1.0));
        pass.is_endless = false;
        pass.acts(&group.last, times);
        pass.acts(&group.leave, times);
        self.is_timed = false;
    }

    /// Records that workers create files of a set.
    fn make(&mut self, fileset: usize, workers: f64) {
        let grown = &mut self.files[fileset];
        match self.is_timed {
            true => grown.created_in_round = grown.created_in_round.max(workers),
            false => grown.is_created = true,
        }
    }
}

/// One worker's path through its acts.
struct SpacePass<'a, 'b> {
    estimate: &'a mut SpaceEstimate<'b>,
    workers: f64,
    registers: Vec<RegisterOnPath>,
    /// Whether the number of repetitions is unknown.
    is_endless: bool,
}

impl SpacePass<'_, '_> {
    fn acts(&mut self, acts: &[Act], times: f64) {
        for act in acts {
            if let Act::Call(call) = act {
                self.call(call, times);
            }
            let often = act.frequencies(self.estimate.program);
            for (acts, often) in act.lists().into_iter().zip(often) {
                self.acts(acts, times * often);
            }
        }
    }

    fn call(&mut self, call: &Call, times: f64) {
        let index = usize::from(call.handle);
        if self.registers.len() <= index {
            self.registers.resize(index + 1, RegisterOnPath::default());
        }
        if let CallObject::Name(pick) = &call.on {
            self.registers[index].fileset = Some(pick.fileset.into());
        }
        let opened = &mut self.registers[index];
        if call.operation.opens() {
            opened.is_new = call.operation == FileOperation::Create;
            opened.times = times;
            opened.is_per_round = self.is_endless;
            opened.position = MeanExtent::default();
        }
        let fileset = opened.fileset;
        if let (true, Some(fileset)) = (call.operation.makes(), fileset) {
            self.estimate.make(fileset, self.workers);
        }
        if let Some(second) = &call.second {
            let to = usize::from(second.fileset);
            self.estimate.make(to, self.workers);
            if call.operation != FileOperation::Symlink {
                self.estimate.files[to].rename_sources.extend(fileset);
            }
            if call.operation == FileOperation::Rename {
                self.registers[index].fileset = Some(to);
            }
        }
        if matches!(
            call.operation,
            FileOperation::Write | FileOperation::Truncate
        ) {
            self.write(call, times);
        }
    }

    fn write(&mut self, call: &Call, times: f64) {
        let index = usize::from(call.handle);
        let amount = self.amount(call);
        let opened = &mut self.registers[index];
        let Some(fileset) = opened.fileset else {
            return;
        };
        let is_left_open = self.is_endless && !opened.is_per_round;
        let repeated = match opened.times > 0.0 {
            true => (times / opened.times).max(1.0),
            false => 1.0,
        };
        let all = amount.times(repeated);
        let is_truncating = call.operation == FileOperation::Truncate;
        let end = match &call.place {
            _ if is_truncating => amount,
            CallPosition::Here => {
                opened.position = opened.position.plus(all);
                opened.position
            }
            CallPosition::End if opened.is_new => {
                opened.position = opened.position.plus(all);
                opened.position
            }
            CallPosition::End => {
                let grown = &mut self.estimate.files[fileset];
                grown.appended += amount.mean * times * self.workers;
                self.estimate.is_growing |= self.is_endless;
                return;
            }
            CallPosition::At(offset) => MeanExtent::exactly(*offset as f64).plus(amount),
            CallPosition::Along(FilePath::Blocks { .. }) => {
                MeanExtent::exactly(self.blocks_reach(&call.place, amount, repeated))
            }
            // Up to the size in the fileset, and at most all bytes that are written.
            CallPosition::Random { .. } | CallPosition::Along(_) | CallPosition::Dealt { .. } => {
                let full = MeanExtent::of(&self.estimate.program.filesets[fileset].size);
                let is_round = !self.is_endless || self.estimate.is_timed;
                match all.mean < full.mean && is_round {
                    true => all,
                    false => full,
                }
            }
            // It overwrites bytes that are already counted.
            CallPosition::Same => return,
        };
        let is_continued =
            matches!(call.place, CallPosition::Here | CallPosition::End) && !is_truncating;
        let is_timed = self.estimate.is_timed;
        self.estimate.is_growing |= is_left_open && (is_continued || is_timed);
        let grown = &mut self.estimate.files[fileset];
        grown.extent = grown.extent.larger(end);
    }

    /// End of the last worker's blocks after this number of calls, each of which writes `amount`.
    /// In a single round, the gaps between the workers take no space.
    fn blocks_reach(&self, place: &CallPosition, amount: MeanExtent, call_count: f64) -> f64 {
        let CallPosition::Along(FilePath::Blocks {
            block_bytes,
            stride_bytes,
            each_bytes,
            block_count,
        }) = place
        else {
            return 0.0;
        };
        let per_block = (*block_bytes as f64 / amount.mean.max(1.0)).max(1.0);
        let blocks = (call_count / per_block).ceil().max(1.0);
        let blocks = match *block_count {
            0 => blocks,
            most => blocks.min(most as f64),
        };
        let begin = *each_bytes as f64 * (self.workers - 1.0).max(0.0);
        let reach = begin + (blocks - 1.0) * *stride_bytes as f64 + *block_bytes as f64;
        match self.estimate.is_timed {
            true => reach.min(amount.mean * call_count * self.workers),
            false => reach,
        }
    }

    /// Number of bytes that a call writes.
    fn amount(&self, call: &Call) -> MeanExtent {
        let size_under = |handle: u8| {
            let fileset = self.registers.get(usize::from(handle))?.fileset?;
            Some(MeanExtent::of(
                &self.estimate.program.filesets[fileset].size,
            ))
        };
        match &call.bytes {
            MovedBytes::Law(law) => MeanExtent::of(law),
            MovedBytes::Rest => MeanExtent::default(),
            MovedBytes::Size => size_under(call.handle).unwrap_or_default(),
            MovedBytes::SizeOf { handle } => size_under(*handle).unwrap_or_default(),
        }
    }
}
