//! A script as a program.

use std::collections::{BTreeMap, BTreeSet};

use workload::program::{Access, Act, Ending, Group, Out, Program, ProgramPart, ProgramPhase};
use workload::{Diagnostic, printable};

use super::script::{Entity, Kind, Read, Script};
use super::text::remembered;
use crate::acts::{NS_PER_SECOND, described, number_of};
use crate::tokens::Place;
use crate::{Difference, FrontWork, cell};

/// How long a script runs that does not say it, in seconds.
const RUN_TIME_S: u64 = 60;
/// The longest time of a run, in seconds.
const RUN_TIME_S_MAX: u64 = 30 * 24 * 3600;
/// The most events of the generator in a second.
const EVENT_RATE_MAX: u64 = 1_000_000;
/// Workers of a phase, at most.
const WORKERS_MAX: u64 = 1024;

/// What is written so far.
#[derive(Default)]
pub(super) struct Writer {
    /// Its filesets are those that the script defines, then those that stand for the directories
    /// of others.
    pub program: Program,
    /// How the files of the defined filesets are opened.
    pub access: Vec<Access>,
    /// Where files are to lie in the original.
    pub paths: BTreeSet<String>,
    /// How many of the tokens may lie there before who puts has to wait.
    pub taken: BTreeMap<usize, u32>,
    /// Where tokens are put, and whether who puts has to wait.
    pub put: BTreeMap<usize, (Place, bool)>,
    /// Events of the generator in a second; 0 for none.
    pub event_rate: u64,
    /// What is done otherwise than in the original, by line.
    pub differences: Vec<Difference>,
    pub thread: Thread,
}

/// The thread that is written.
#[derive(Default)]
pub(super) struct Thread {
    pub group: Group,
    /// The label of the flowop that is written.
    pub label: u8,
    /// How often the flowops are written out, so that slots take turns; at least once.
    pub turns: u32,
    /// Which of these it is.
    pub turn: u32,
    /// The slots that registers stand for.
    pub registers: Vec<Slot>,
    /// Where a file is open.
    pub open: BTreeSet<Slot>,
    /// What a flowop closes, so that it is opened anew each time.
    pub closed: BTreeSet<Slot>,
    /// Whose files are or were last open.
    pub filesets: BTreeMap<Slot, u8>,
    /// The last slot without a number.
    pub last: Option<Slot>,
}

/// A descriptor of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Slot {
    /// By its number, `fd=`.
    Numbered(u8),
    /// That of a fileset, where no number is said.
    Of(u8),
    /// One of several of a fileset that take turns, `opennext`.
    Turn(u8, u8),
    /// Of calls on names, which leave nothing open.
    Named,
}

/// What a script of that name stands for.
pub(super) fn work(mut script: Script, name: &str) -> Read<FrontWork> {
    let whole = &mut script.whole;
    whole.settle(&script.variables)?;
    let mut writer = Writer {
        differences: script.differences,
        event_rate: whole.number("rate", EVENT_RATE_MAX, 0)?,
        ..Writer::default()
    };
    let way = described(Access::ReadWrite, false, false);
    writer.program.ways.push(way);
    let (processes, sets): (Vec<_>, Vec<_>) =
        whole.inner.iter().partition(|it| it.kind == Kind::Process);
    for set in sets {
        writer.define(set)?;
    }
    let mode = whole.text("mode")?.unwrap_or_default();
    let is_all_done = mode == "alldone";
    let mut groups = Vec::new();
    let mut started = Vec::new();
    for process in processes {
        let instances = process.number("instances", WORKERS_MAX, 1)?;
        started.push((process.needed("name")?, instances));
        for thread in &process.inner {
            groups.push(writer.group(thread, instances, is_all_done)?);
        }
    }
    if groups.is_empty() {
        let error = Diagnostic::error("", "the script has no thread, so there is nothing to run");
        return Err(error.help("add a `define process` with a `thread` in it"));
    }
    writer.make_room()?;
    // Without a time, scripts run for a minute, or until files run out where the mode says so.
    let time_s = match whole.number("run", RUN_TIME_S_MAX, 0)? {
        0 if matches!(mode.as_str(), "alldone" | "firstdone") => None,
        0 => Some(RUN_TIME_S),
        seconds => Some(seconds),
    };
    let phase = ProgramPhase {
        name: "run".to_owned(),
        time_ns: time_s.map(|it| it * NS_PER_SECOND),
        // Quotas end it for all, as a lack of files does.
        first_done: (!is_all_done).then_some(Ending::Stop),
        groups,
        ..ProgramPhase::default()
    };
    writer.program.parts.push(ProgramPart::Phase(phase));
    let mut differences = writer.differences;
    if !whole.attributes.contains_key("run") {
        differences.extend(difference("a script without `run`"));
    }
    let mut paths = writer.paths.iter();
    let directory = paths.next().map_or(".", String::as_str);
    differences.extend(paths.map(|other| {
        let what = format!("`path={}`", printable(other));
        Difference::differs(&what, "all files lie below the same directory")
    }));
    Ok(FrontWork {
        differences,
        remembered: remembered(&script.echoes, &started),
        ..FrontWork::below(directory, vec![cell(name, writer.program)])
    })
}

/// What is always done otherwise, or changes nothing, if it is something of that kind.
pub(super) fn difference(what: &str) -> Option<Difference> {
    let mut known = Difference::listed(include_str!("differences.txt"));
    known.find(|it| it.what == what)
}

impl Writer {
    fn group(&mut self, thread: &Entity, processes: u64, is_all_done: bool) -> Read<Group> {
        let name = thread.needed("name")?;
        let workers = processes * thread.number("instances", WORKERS_MAX, 1)?;
        if workers > WORKERS_MAX || workers == 0 {
            let message = format!("`{}` has {workers} threads", printable(&name));
            let help = format!("use 1 to {WORKERS_MAX} threads");
            return Err(thread.error(message, help));
        }
        self.thread = Thread::default();
        self.thread.group = Group {
            name,
            // At most 1024.
            workers: Some(workers as u32),
            out: match is_all_done {
                true => Out::EndWorker,
                false => Out::EndPhase,
            },
            ..Group::default()
        };
        // Once to learn what is closed in the end, and how many slots take turns.
        self.acts(&thread.inner, "", 0)?;
        self.thread.group.enter.clear();
        self.thread.open.clear();
        self.thread.filesets.clear();
        self.thread.last = None;
        for turn in 0..self.thread.turns.max(1) {
            self.thread.turn = turn;
            let acts = self.acts(&thread.inner, "", 0)?;
            self.thread.group.body.extend(acts);
        }
        Ok(std::mem::take(&mut self.thread.group))
    }

    /// What is counted under the label of the flowop; nothing if nothing is done.
    pub(super) fn step(&self, acts: Vec<Act>) -> Option<Act> {
        (!acts.is_empty()).then_some(Act::Step(self.thread.label, acts))
    }

    /// Tells once for each line what is done otherwise.
    pub(super) fn differs(&mut self, op: &Entity, what: &str) {
        if let Some(difference) = difference(what) {
            number_of(&mut self.differences, difference.at(op.place.line));
        }
    }
}
