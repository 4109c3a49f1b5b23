//! A script as a program.

use std::collections::{BTreeMap, BTreeSet};

use description::model::ContentChoice;
use plan::program::{
    Access, Act, DirectoryTree, Ending, FILES_MAX, FILESETS_MAX, FilesetPlan, Group, Measure, Out,
    Program, ProgramPart, ProgramPhase, Share, TreeGrowth,
};
use plan::{Diagnostic, printable};

use super::script::{Entity, Kind, Read, Script, Value};
use super::text::remembered;
use crate::acts::{NS_PER_SECOND, described, fileset, number_of, numbered};
use crate::tokens::{Place, error};
use crate::work::writing;
use crate::{Difference, FrontWork, MadePart, cell};

/// How long a script runs that does not say it, in seconds.
const RUN_TIME_S: u64 = 60;
/// The longest time of a run, in seconds.
const RUN_TIME_S_MAX: u64 = 30 * 24 * 3600;
/// The most events of the generator in a second.
const EVENT_RATE_MAX: u32 = 1_000_000;
/// Bytes of a file whose size nobody says.
const SIZE_BYTES: u64 = 1024;
/// A thousand times the shape of the gamma law that widths are drawn by.
const GAMMA_PERMILLE: u32 = 1500;
/// Workers of a phase, at most.
const WORKERS_MAX: u32 = 1024;

/// What is written so far.
#[derive(Default)]
pub(super) struct Writer {
    /// Its filesets are those that the script defines, then those that stand for the directories
    /// of others.
    pub program: Program,
    /// How the files of the defined filesets are opened.
    pub access: Vec<Access>,
    /// Where tokens are put, and whether who puts has to wait.
    pub put: BTreeMap<usize, (Place, bool)>,
    /// Events of the generator in a second; 0 for none.
    pub event_rate: u32,
    /// What is left of the script: what it says, and what is done otherwise.
    pub script: Script,
    pub thread: Thread,
}

/// The thread that is written.
#[derive(Default)]
pub(super) struct Thread {
    pub group: Group,
    /// The label of the flowop that is written.
    pub label: u8,
    /// How often the flowops are to be written out, so that slots take turns; 0 for once.
    pub turns: usize,
    /// Which of these it is.
    pub turn: usize,
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
    Turn(u8, u32),
    /// Of calls on names, which leave nothing open.
    Named,
}

/// What a script of that name stands for.
pub(super) fn work(mut script: Script, name: &str) -> Read<FrontWork> {
    let mut whole = std::mem::take(&mut script.whole);
    whole.settle(&script.variables)?;
    let mut writer = Writer {
        event_rate: whole.number("rate", EVENT_RATE_MAX, 0)?,
        script,
        ..Writer::default()
    };
    writer.program.ways = vec![described(Access::ReadWrite, false, false)];
    // Where files are to lie in the original.
    let mut paths = BTreeSet::new();
    for set in whole.inner.iter().filter(|it| it.kind != Kind::Process) {
        writer.define(set)?;
        paths.extend(set.text("path")?);
    }
    let mut groups = Vec::new();
    let mut started = Vec::new();
    for process in whole.inner.iter().filter(|it| it.kind == Kind::Process) {
        let instances = process.number("instances", WORKERS_MAX, 1)?;
        started.push((process.needed("name")?, instances));
        for thread in &process.inner {
            groups.push(writer.group(thread, instances)?);
        }
    }
    if groups.is_empty() {
        let error = Diagnostic::error("", "the script has no thread, so there is nothing to run");
        return Err(error.help("add a `define process` with a `thread` in it"));
    }
    writer.make_room()?;
    let mode = writer.script.mode.as_str();
    // Without a time, scripts run for a minute, or until files run out where the mode says so.
    let time_s = match whole.number("run", RUN_TIME_S_MAX, 0)? {
        0 if matches!(mode, "alldone" | "firstdone") => None,
        0 => Some(RUN_TIME_S),
        seconds => Some(seconds),
    };
    let phase = ProgramPhase {
        name: "run".to_owned(),
        before: std::mem::take(&mut writer.script.before),
        time_ns: time_s.map(|it| it * NS_PER_SECOND),
        // Quotas end it for all, as a lack of files does.
        first_done: (mode != "alldone").then_some(Ending::Stop),
        groups,
        ..ProgramPhase::default()
    };
    writer.program.parts.push(ProgramPart::Phase(phase));
    if whole.get("run").is_none() {
        writer.script.note(None, "a script without `run`");
    }
    let mut differences = writer.script.differences;
    let directory = paths.pop_first().unwrap_or_else(|| ".".to_owned());
    differences.extend(paths.iter().map(|other| {
        let what = format!("`path={}`", printable(other));
        Difference::differs(&what, "all files lie below the same directory")
    }));
    Ok(FrontWork {
        differences,
        remembered: remembered(&writer.script.echoes, &started),
        made: MadePart::All,
        ..FrontWork::below(
            directory,
            // Threads write from memory that the original has cleared.
            vec![writing(ContentChoice::Zero, cell(name, writer.program))],
        )
    })
}

impl Writer {
    /// Adds what a script defines.
    pub(super) fn define(&mut self, set: &Entity) -> Read<()> {
        let plan = set.fileset()?;
        if self.program.filesets.len() >= FILESETS_MAX {
            let message = format!("there are more than {FILESETS_MAX} filesets");
            return Err(set.error(message, "define fewer"));
        }
        if self.program.filesets.iter().any(|it| it.name == plan.name) {
            let message = format!("`{}` is defined twice", printable(&plan.name));
            return Err(set.error(message, "give one of them another name"));
        }
        self.program.filesets.push(plan);
        let access = match (set.flag("readonly")?, set.flag("writeonly")?) {
            (true, _) => Access::Read,
            (false, true) => Access::Write,
            (false, false) => Access::ReadWrite,
        };
        self.access.push(access);
        Ok(())
    }

    /// What stands for the directories of a fileset's tree.
    pub(super) fn directories_of(&mut self, of: u8) -> u8 {
        let tree = DirectoryTree::DirectoriesOf { fileset: of };
        let of = &self.program.filesets[usize::from(of)];
        let name = format!("directories of {}", of.name);
        let plan = FilesetPlan {
            names: numbered("in each ", 8),
            tree,
            ..fileset(&name, &of.path, "", of.count)
        };
        number_of(&mut self.program.filesets, plan)
    }

    fn group(&mut self, thread: &Entity, processes: u32) -> Read<Group> {
        let name = thread.needed("name")?;
        let workers = processes * thread.number("instances", WORKERS_MAX, 1)?;
        if workers > WORKERS_MAX || workers == 0 {
            let message = format!("`{}` has {workers} threads", printable(&name));
            let help = format!("use 1 to {WORKERS_MAX} threads");
            return Err(thread.error(message, help));
        }
        // Once to learn what is closed in the end, and how many slots take turns.
        self.acts(&thread.inner, "", 0)?;
        let learned = std::mem::take(&mut self.thread);
        self.thread.closed = learned.closed;
        self.thread.group = Group {
            name,
            workers: Some(workers),
            out: match self.script.mode.as_str() {
                "alldone" => Out::EndWorker,
                _ => Out::EndPhase,
            },
            ..Group::default()
        };
        for turn in 0..learned.turns.max(1) {
            self.thread.turn = turn;
            let acts = self.acts(&thread.inner, "", 0)?;
            self.thread.group.body.extend(acts);
        }
        let mut group = std::mem::take(&mut self.thread).group;
        discount_opens(&mut group);
        Ok(group)
    }

    /// What is counted under the label of the flowop; nothing if nothing is done.
    pub(super) fn step(&self, acts: Vec<Act>) -> Option<Act> {
        (!acts.is_empty()).then_some(Act::Step(self.thread.label, acts))
    }
}

/// Takes the files that are opened before the measurement off the counts that end a thread: the
/// original counts them, after the flowops have been done at least once.
fn discount_opens(group: &mut Group) {
    let opens = group.enter.len() as u64;
    let workers = u64::from(group.workers.unwrap_or(1));
    for quota in &mut group.quotas {
        if quota.what == Measure::Calls {
            let opens = match quota.of {
                Share::Each => opens,
                Share::Group => opens * workers,
            };
            quota.count = quota.count.saturating_sub(opens).max(1);
        }
    }
}

impl Entity {
    fn fileset(&self) -> Read<FilesetPlan> {
        let name = self.needed("name")?;
        let is_plain = !name.contains('/') && name != "." && name != "..";
        if !is_plain || name.is_empty() || name.len() > 255 || name.chars().any(char::is_control) {
            let message = format!("`{}` cannot be a directory's name", printable(&name));
            let help = "name it without slashes, and say where it lies by `path`";
            return Err(self.error(message, help));
        }
        let number = |name, otherwise| self.number(name, FILES_MAX, otherwise);
        let leaf_count = number("leafdirs", 0)?;
        let file_count = number("entries", u32::from(self.kind == Kind::File))?;
        if (file_count == 0) == (leaf_count == 0) {
            let message = match leaf_count {
                0 => format!("`{name}` has no entries"),
                _ => format!("`{name}` has both files and leaf directories"),
            };
            return Err(self.error(message, "write one of `entries` and `leafdirs`"));
        }
        if let Some(depth) = self.attributes.get("dirdepthrv") {
            let message = "depths are drawn by `dirgamma` alone here";
            return Err(error(depth.place, message, "leave `dirdepthrv` out"));
        }
        let is_gamma = |law: &Entity| law.get("type").is_some_and(|it| it.shown() == "cvar-gamma");
        let growth = TreeGrowth {
            width: self.amount("dirwidth", 0)?,
            gamma_permille: number("dirgamma", GAMMA_PERMILLE)?,
            // The original draws these from the generator that its trees grow by.
            is_size_of_tree: matches!(self.get("size"), Some(Value::Random(law)) if is_gamma(law)),
            of_directories: leaf_count > 0,
        };
        Ok(FilesetPlan {
            names: numbered("", 8),
            tree: DirectoryTree::Grown(growth),
            size: self.amount("size", SIZE_BYTES)?,
            present_permille: match self.get("prealloc").map(Value::shown).as_deref() {
                // Where it stands alone.
                Some("true") => 1000,
                Some("false") => 0,
                _ => self.number("prealloc", 100, 0)? * 10,
            },
            ..fileset(&name, &name, "", file_count + leaf_count)
        })
    }
}
