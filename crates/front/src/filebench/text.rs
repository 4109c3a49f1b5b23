//! What filebench prints of a run.

use std::fmt::Write as _;

use generate::program::{GrownTree, grown_trees};
use jiff::Timestamp;
use results::{CellRecord, LabelFigures, Phase, RunEvent, RunRecord};
use workload::program::{
    Act, Call, DirectoryTree, FileOperation, FilesetPlan, Program, TreeGrowth,
};

use crate::{ClassicText, FrontOrigin};

/// What is printed of a script with these words remembered.
pub(super) fn of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    Box::new(Text {
        remembered: origin.arguments.clone(),
        started_at: None,
        is_running: false,
    })
}

/// What a plan keeps for the text: lines that are printed as they are.
pub(super) fn remembered(echoes: &[String], processes: &[(String, u64)]) -> Vec<String> {
    let said = echoes.iter().map(|echo| format!("say {echo}"));
    // What was defined last is started first.
    let started = processes.iter().rev();
    let started = started.map(|(name, count)| format!("run Starting {count} {name} instances"));
    said.chain(started).collect()
}

struct Text {
    remembered: Vec<String>,
    /// When the run began, where its beginning is printed.
    started_at: Option<Timestamp>,
    is_running: bool,
}

impl ClassicText for Text {
    fn event(&mut self, event: &RunEvent) -> String {
        match event {
            RunEvent::Started { record } => {
                self.started_at = Some(record.started_at);
                self.beginning(record)
            }
            RunEvent::Progress {
                phase: Phase::Measure,
                ..
            } if !self.is_running => {
                self.is_running = true;
                let now = Some(Timestamp::now());
                self.running(self.started_at.map_or(0.0, |begin| seconds(begin, now)))
            }
            _ => String::new(),
        }
    }

    fn end(&mut self, record: &RunRecord) -> String {
        let mut text = match self.started_at {
            Some(_) => String::new(),
            None => self.beginning(record),
        };
        for cell in &record.cells {
            let begin_s = seconds(record.started_at, cell.started_at);
            if !std::mem::take(&mut self.is_running) {
                text += &self.running(begin_s);
            }
            let planned = record.plan.cells.iter().find(|it| it.index == cell.index);
            if let Some(program) = planned.and_then(|it| it.files.as_ref()) {
                let run_s = cell.run_time_ns as f64 / 1e9;
                let figures = Figures {
                    program,
                    cell,
                    run_s,
                    end_s: begin_s + run_s,
                };
                text += &figures.text();
            }
        }
        text
    }
}

impl Text {
    /// Remembered lines of a kind.
    fn lines<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        let all = self.remembered.iter();
        all.filter_map(move |line| line.strip_prefix(kind))
    }

    fn beginning(&self, record: &RunRecord) -> String {
        let mut text = "Filebench Version 1.5-alpha3\n".to_owned();
        let mut say = |line: &str| push(&mut text, 0.0, line);
        self.lines("say ").for_each(&mut say);
        say("Populating and pre-allocating filesets");
        let files = record
            .plan
            .cells
            .first()
            .and_then(|cell| cell.files.as_ref());
        if let Some(program) = files {
            populated(program).iter().for_each(|line| say(line));
        }
        text
    }

    fn running(&self, at_s: f64) -> String {
        let mut text = String::new();
        push(
            &mut text,
            at_s,
            "Population and pre-allocation of filesets completed",
        );
        self.lines("run ")
            .for_each(|line| push(&mut text, at_s, line));
        push(&mut text, at_s, "Running...");
        text
    }
}

fn push(text: &mut String, at_s: f64, line: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{at_s:.3}: {line}");
}

fn seconds(begin: Timestamp, end: Option<Timestamp>) -> f64 {
    end.map_or(0.0, |end| end.duration_since(begin).as_secs_f64())
}

/// A line for each fileset, what was defined last first.
fn populated(program: &Program) -> Vec<String> {
    let trees = grown_trees(program).unwrap_or_default();
    let sets = program.filesets.iter().zip(&trees).rev();
    let lines = sets.filter_map(|(set, tree)| match (&set.tree, tree) {
        (DirectoryTree::Grown(growth), Some(tree)) => of_tree(set, growth, tree),
        _ => None,
    });
    lines.collect()
}

/// Of single files, which have no width, nothing is told.
fn of_tree(set: &FilesetPlan, growth: &TreeGrowth, tree: &GrownTree) -> Option<String> {
    let width = growth.width.mean();
    let (files, leaves, bytes) = match growth.of_directories {
        true => (0, set.count, 0),
        false => (set.count, 0, tree.sizes.iter().sum::<u64>()),
    };
    (width > 0.0).then(|| {
        format!(
            "{} populated: {files} files, avg. dir. width = {width:.0}, avg. dir. depth = {:.1}, \
             {leaves} leafdirs, {:.3}MB total size",
            set.name,
            growth.mean_depth(set.count),
            bytes as f64 / MEGABYTE,
        )
    })
}

const MEGABYTE: f64 = (1 << 20) as f64;

/// The figures of a cell.
struct Figures<'a> {
    program: &'a Program,
    cell: &'a CellRecord,
    run_s: f64,
    end_s: f64,
}

impl Figures<'_> {
    fn text(&self) -> String {
        let mut text = String::new();
        // Whole seconds, as the original counts them.
        let took = format!("Run took {} seconds...", self.run_s as u64);
        push(&mut text, self.end_s, &took);
        push(&mut text, self.end_s, "Per-Operation Breakdown");
        let none = LabelFigures::default();
        let mut sum = LabelFigures::default();
        let (mut reads, mut writes) = (0, 0);
        for (index, label) in self.program.labels.iter().enumerate().rev() {
            let kind = self.kind(index);
            let counted = self
                .counted(label)
                .filter(|_| kind != Some(Kind::Composite));
            let figures = counted.unwrap_or(&none);
            text += &self.line(label, figures);
            if let Some(Kind::Call(operation)) = kind {
                sum.count += figures.count;
                sum.bytes += figures.bytes;
                sum.sum_ns += figures.sum_ns;
                reads += u64::from(operation == FileOperation::Read) * figures.count;
                writes += u64::from(operation == FileOperation::Write) * figures.count;
            }
        }
        let summary = format!(
            "IO Summary: {:5} ops {:5.3} ops/s {:.0}/{:.0} rd/wr {:5.1}mb/s {:5.3}ms/op",
            sum.count,
            self.per_second(sum.count as f64),
            self.per_second(reads as f64),
            self.per_second(writes as f64),
            self.per_second(sum.bytes as f64 / MEGABYTE),
            mean_ms(&sum),
        );
        push(&mut text, self.end_s, &summary);
        push(&mut text, self.end_s, "Shutting down processes");
        text
    }

    fn counted(&self, label: &str) -> Option<&LabelFigures> {
        let labels = &self.cell.phase_figures.as_ref()?.labels;
        labels.iter().find(|it| it.label == label)
    }

    fn line(&self, label: &str, figures: &LabelFigures) -> String {
        let ms = |ns: u64| ns as f64 / 1e6;
        format!(
            "{label:<20} {}ops {:8.0}ops/s {:5.1}mb/s {:8.3}ms/op [{:.3}ms - {:5.3}ms]\n",
            figures.count,
            self.per_second(figures.count as f64),
            self.per_second(figures.bytes as f64 / MEGABYTE),
            mean_ms(figures),
            ms(figures.min_ns),
            ms(figures.max_ns),
        )
    }

    fn per_second(&self, amount: f64) -> f64 {
        amount / self.run_s.max(1e-9)
    }

    /// What a label stands for. What is opened first for another call counts as that.
    fn kind(&self, label: usize) -> Option<Kind> {
        let groups = self.program.groups();
        let lists: Vec<&[Act]> = groups
            .flat_map(|group| [&*group.enter, &*group.body])
            .collect();
        let find = |is_open: bool| {
            let mut lists = lists.iter();
            lists.find_map(|acts| kind_in(acts, label, is_open))
        };
        find(false).or_else(|| find(true))
    }
}

fn mean_ms(figures: &LabelFigures) -> f64 {
    figures.sum_ns as f64 / 1e6 / figures.count.max(1) as f64
}

/// What a label stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A call, of the class that the summary is of.
    Call(FileOperation),
    /// Several flowops, which are counted by themselves.
    Composite,
    /// Whatever else takes time.
    Other,
}

fn kind_in(acts: &[Act], label: usize, is_open: bool) -> Option<Kind> {
    acts.iter().find_map(|act| match act {
        Act::Call(Call {
            operation,
            label: Some(it),
            ..
        }) if usize::from(*it) == label && (*operation == FileOperation::Open) == is_open => {
            Some(Kind::Call(*operation))
        }
        Act::Step(it, acts) if usize::from(*it) == label => Some(of_step(acts)),
        act => {
            let mut lists = act.lists().into_iter();
            lists.find_map(|acts| kind_in(acts, label, is_open))
        }
    })
}

/// A composite is what has labels inside.
fn of_step(acts: &[Act]) -> Kind {
    match acts.first() {
        Some(Act::Call(Call {
            operation,
            label: None,
            ..
        })) => Kind::Call(*operation),
        Some(Act::Think(_) | Act::Burn(_) | Act::Put { .. } | Act::Take { .. }) => Kind::Other,
        _ => Kind::Composite,
    }
}
