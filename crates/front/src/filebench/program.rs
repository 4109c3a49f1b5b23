//! Converts a script to a program.

use std::collections::{BTreeMap, BTreeSet};

use description::model::{ContentChoice, OwnHelps};
use plan::program::{
    Access, Act, AmountScope, Call, DirectoryTree, FILES_MAX, FILESETS_MAX, FileOperation,
    FilesetPlan, Group, Measure, OnNoFile, PhaseEndAction, Program, ProgramPart, ProgramPhase,
    TreeGrowth,
};
use plan::{Diagnostic, printable};

use super::script::{Entity, EntityKind, Read, Script, ScriptValue};
use super::text::remembered;
use crate::acts::{NS_PER_SECOND, described, fileset, number_of, numbered};
use crate::tokens::SourcePosition;
use crate::work::writing;
use crate::{CreateMissing, FrontWork, OriginalDifference, cell};

/// Run time of a script that sets none, in seconds.
const RUN_TIME_S: u64 = 60;
/// Longest run time, in seconds.
const RUN_TIME_S_MAX: u64 = 30 * 24 * 3600;
/// Highest rate of the event generator, per second.
const EVENT_RATE_MAX: u32 = 1_000_000;
/// Default size of a file, in bytes.
const SIZE_BYTES: u64 = 1024;
/// Default shape of the gamma distribution of directory widths, times 1000.
const GAMMA_PERMILLE: u32 = 1500;
/// Largest number of workers in a phase.
const WORKERS_MAX: u32 = 1024;

/// Helps in the words of the original.
const OWN_HELPS: OwnHelps = OwnHelps(&[
    (
        "`present = ",
        "add `prealloc` to it, or create its files first",
    ),
    ("as `present`", "use a smaller `prealloc`"),
    (
        "own `handle`",
        "close the file before it with `closefile`, or use another `fd`",
    ),
]);

/// The program written so far, and the writer's state.
#[derive(Default)]
pub(super) struct ProgramWriter {
    /// The program. Its filesets are those that the script defines, then those that stand for other
    /// filesets' directories.
    pub program: Program,
    /// Access mode of the defined filesets' files.
    pub access: Vec<Access>,
    /// Tokens that a flowop puts: position of the flowop, and `true` if it blocks when there is no
    /// room.
    pub put_tokens: BTreeMap<usize, (SourcePosition, bool)>,
    /// Events of the generator per second; 0 for none.
    pub event_rate: u32,
    /// The rest of the script, including the differences found.
    pub script: Script,
    pub thread: ScriptThread,
}

/// The thread that is being written.
#[derive(Default)]
pub(super) struct ScriptThread {
    pub group: Group,
    /// Label of the current flowop.
    pub label: u8,
    /// Number of slots that take turns, so that flowops are written once per slot; 0 for none.
    pub turn_count: usize,
    /// Current turn, from 0.
    pub turn: usize,
    /// Slot of each register.
    pub registers: Vec<DescriptorSlot>,
    /// Slots with an open file.
    pub open: BTreeSet<DescriptorSlot>,
    /// Slots that a flowop closes, so they are opened again each time.
    pub closed: BTreeSet<DescriptorSlot>,
    /// Fileset of the file that is or was last open in a slot.
    pub filesets: BTreeMap<DescriptorSlot, u8>,
    /// The slot last used without a number.
    pub last: Option<DescriptorSlot>,
}

/// A file descriptor of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DescriptorSlot {
    /// The descriptor with this number, `fd=`.
    Numbered(u8),
    /// The descriptor of a fileset, if the flowop gives no number.
    Fileset(u8),
    /// One of a fileset's descriptors that take turns, `opennext`.
    Rotating(u8, u32),
    /// For calls on names, which leave no file open.
    ByName,
}

/// Converts a script with this name to work.
pub(super) fn work(mut script: Script, name: &str) -> Read<FrontWork> {
    let mut root = std::mem::take(&mut script.root);
    root.settle(&script.variables)?;
    let mut writer = ProgramWriter {
        event_rate: root.number("rate", EVENT_RATE_MAX, 0)?,
        script,
        ..ProgramWriter::default()
    };
    writer.program.ways = vec![described(Access::ReadWrite, false, false)];
    // Directories of the files in the original.
    let mut paths = BTreeSet::new();
    let (processes, sets): (Vec<_>, Vec<_>) = root
        .children
        .iter()
        .partition(|it| it.kind == EntityKind::Process);
    let mut flaws = Vec::new();
    for set in sets {
        flaws.extend(writer.define(set).err());
        paths.extend(set.text("path")?);
    }
    // Without one of the filesets, the flowops that use it would also be refused.
    refuse_all(flaws)?;
    let (groups, started) = writer.groups(&processes)?;
    if groups.is_empty() {
        let error = Diagnostic::error("", "the script has no thread, so there is nothing to run");
        return Err(error.help("add a `define process` with a `thread` in it"));
    }
    writer.make_room()?;
    let mode = writer.script.mode.as_str();
    let time_ns = run_time_ns(&root, mode)?;
    let may_stop_early = !matches!(mode, "alldone" | "firstdone") && groups.iter().any(may_end);
    let phase = ProgramPhase {
        name: "run".to_owned(),
        before: std::mem::take(&mut writer.script.preparations),
        time_ns,
        // Quotas end the phase for all workers, as running out of files does.
        first_done: (mode != "alldone").then_some(PhaseEndAction::Stop),
        groups,
        ..ProgramPhase::default()
    };
    writer.program.parts.push(ProgramPart::Phase(phase));
    if may_stop_early {
        writer.script.note(None, "an end before the run time");
    }
    if root.get("run").is_none() {
        writer.script.note(None, "a script without `run`");
    }
    let mut differences = writer.script.differences;
    let directory = paths.pop_first().unwrap_or_else(|| ".".to_owned());
    differences.extend(paths.iter().map(|other| {
        let subject = format!("`path={}`", printable(other));
        OriginalDifference::differs(&subject, "all files are below the same directory")
    }));
    Ok(FrontWork {
        differences,
        text_input: remembered(&writer.script.echoes, &started),
        create_missing: CreateMissing::All,
        own_helps: OWN_HELPS,
        ..FrontWork::below(
            directory,
            // The threads' buffers are zeroed memory in the original.
            vec![writing(ContentChoice::Zero, cell(name, writer.program))],
        )
    })
}

/// Names of processes, each with its number of instances.
type ProcessCounts = Vec<(String, u32)>;

/// All errors together, if there are any.
fn refuse_all(flaws: Vec<Diagnostic>) -> Read<()> {
    Diagnostic::all(flaws).map_or(Ok(()), Err)
}

impl ProgramWriter {
    /// The groups of all threads, and each process with its number of instances.
    fn groups(&mut self, processes: &[&Entity]) -> Read<(Vec<Group>, ProcessCounts)> {
        let (mut groups, mut started) = (Vec::new(), Vec::new());
        let mut flaws = Vec::new();
        for process in processes {
            let instances = process.number("instances", WORKERS_MAX, 1)?;
            started.push((process.needed("name")?, instances));
            for thread in &process.children {
                match self.group(thread, instances) {
                    Ok(group) => groups.push(group),
                    Err(flaw) => flaws.push(flaw),
                }
            }
        }
        refuse_all(flaws)?;
        Ok((groups, started))
    }

    /// Adds a fileset that the script defines.
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

    /// Index of the fileset that stands for the directories of fileset `of`.
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
        // Both factors are at most 1024, so the product fits.
        let workers = processes * thread.number("instances", WORKERS_MAX, 1)?;
        if workers > WORKERS_MAX || workers == 0 {
            let message = format!("`{}` has {workers} threads", printable(&name));
            let help = format!("use 1 to {WORKERS_MAX} threads");
            return Err(thread.error(message, help));
        }
        // A first pass finds which slots are closed later, and how many slots take turns.
        // It may leave labels, ways, tokens and notes, because the second pass adds only new ones.
        self.acts(&thread.children, "", 0)?;
        let learned = std::mem::take(&mut self.thread);
        self.thread.closed = learned.closed;
        self.thread.group = Group {
            name,
            workers: Some(workers),
            // Without a file left, `alldone` ends only this thread; the other modes end the run.
            out: match self.script.mode.as_str() {
                "alldone" => OnNoFile::EndWorker,
                _ => OnNoFile::EndPhase,
            },
            ..Group::default()
        };
        for turn in 0..learned.turn_count.max(1) {
            self.thread.turn = turn;
            let acts = self.acts(&thread.children, "", 0)?;
            self.thread.group.body.extend(acts);
        }
        let mut group = std::mem::take(&mut self.thread).group;
        discount_opens(&mut group);
        Ok(group)
    }

    /// Counts acts under the label of the current flowop; `None` without acts.
    pub(super) fn step(&self, acts: Vec<Act>) -> Option<Act> {
        (!acts.is_empty()).then_some(Act::Step(self.thread.label, acts))
    }
}

/// Run time of a script in nanoseconds; `None` if only its files or limits end it.
fn run_time_ns(root: &Entity, mode: &str) -> Read<Option<u64>> {
    // Without a run time, a script runs for 60 s, or until its files run out if `mode` says so.
    let time_s = match root.number("run", RUN_TIME_S_MAX, 0)? {
        0 if matches!(mode, "alldone" | "firstdone") => None,
        0 => Some(RUN_TIME_S),
        seconds => Some(seconds),
    };
    Ok(time_s.map(|it| it * NS_PER_SECOND))
}

/// `true` if a limit or a lack of files may end the group.
fn may_end(group: &Group) -> bool {
    use FileOperation::{Create, Mkdir, Rmdir, Unlink};
    let uses_up = |it: &&Call| matches!(it.operation, Create | Mkdir | Rmdir | Unlink);
    !group.quotas.is_empty() || group.calls().iter().any(uses_up)
}

/// Subtracts the opens before the measurement from quotas of calls, since the original counts them.
/// At least one call is left.
fn discount_opens(group: &mut Group) {
    let opens = group.enter.len() as u64;
    let workers = u64::from(group.workers.unwrap_or(1));
    for quota in &mut group.quotas {
        if quota.what == Measure::Calls {
            let opens = match quota.of {
                AmountScope::Each => opens,
                AmountScope::Group => opens * workers,
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
            let help = "use a name without slashes, and set its directory with `path`";
            return Err(self.error(message, help));
        }
        let number = |name, otherwise| self.number(name, FILES_MAX, otherwise);
        let leaf_count = number("leafdirs", 0)?;
        let file_count = number("entries", u32::from(self.kind == EntityKind::File))?;
        if (file_count == 0) == (leaf_count == 0) {
            let message = match leaf_count {
                0 => format!("`{name}` has no entries"),
                _ => format!("`{name}` has both files and leaf directories"),
            };
            return Err(self.error(message, "write one of `entries` and `leafdirs`"));
        }
        let is_gamma = |size: &ScriptValue| match size {
            ScriptValue::Random(law) => {
                law.get("type").is_some_and(|it| it.shown() == "cvar-gamma")
            }
            _ => false,
        };
        let growth = TreeGrowth {
            width: self.amount("dirwidth", 0)?,
            gamma_permille: number("dirgamma", GAMMA_PERMILLE)?,
            // The original draws these sizes from the same generator as its directory tree.
            is_size_of_tree: self.get("size").is_some_and(is_gamma),
            of_directories: leaf_count > 0,
        };
        Ok(FilesetPlan {
            names: numbered("", 8),
            tree: DirectoryTree::Grown(growth),
            size: self.amount("size", SIZE_BYTES)?,
            present_permille: match self.get("prealloc").map(ScriptValue::shown).as_deref() {
                // `prealloc` without a value means all files.
                Some("true") => 1000,
                Some("false") => 0,
                _ => self.number("prealloc", 100, 0)? * 10,
            },
            ..fileset(&name, &name, "", file_count + leaf_count)
        })
    }
}
