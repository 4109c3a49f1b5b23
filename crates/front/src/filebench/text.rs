//! Output of filebench for a run.

use std::fmt::Display;

use generate::program::grown_trees;
use jiff::Timestamp;
use plan::program::{DirectoryTree, FileOperation, LabelMeaning, Program};
use results::{CellRecord, Phase, RunEvent, RunRecord};

use crate::windows::{label, mean_ms, sum_of_labels};
use crate::{ClassicText, FrontOrigin};

/// The text of a run, from the words that its plan remembers.
pub(super) fn of(origin: &FrontOrigin) -> Box<dyn ClassicText> {
    Box::new(FilebenchText {
        text_input: origin.arguments.clone(),
        ..FilebenchText::default()
    })
}

/// Lines that the plan keeps for the text, to be printed unchanged.
pub(super) fn remembered(echoes: &[String], processes: &[(String, u32)]) -> Vec<String> {
    let echoed = echoes.iter().map(|echo| format!("say {echo}"));
    // The original starts the last defined process first.
    let started = processes.iter().rev();
    let started = started.map(|(name, count)| format!("run Starting {count} {name} instances"));
    echoed.chain(started).collect()
}

#[derive(Default)]
struct FilebenchText {
    text_input: Vec<String>,
    /// Start of the run, set once the first lines are printed.
    started_at: Option<Timestamp>,
    is_running: bool,
}

impl ClassicText for FilebenchText {
    fn event(&mut self, event: &RunEvent) -> String {
        match event {
            RunEvent::Started { record } => self.beginning(record),
            RunEvent::Progress {
                phase: Phase::Measure,
                ..
            } => self.running(Some(Timestamp::now())),
            _ => String::new(),
        }
    }

    fn end(&mut self, record: &RunRecord) -> String {
        let mut text = self.beginning(record);
        for cell in &record.cells {
            text += &self.running(cell.started_at);
            self.is_running = false;
            let planned = record.plan.cell(cell.index);
            if let Some(program) = planned.and_then(plan::Cell::program) {
                let begin_s = seconds(self.started_at, cell.started_at);
                text += &figures(program, cell, begin_s);
            }
        }
        text
    }
}

impl FilebenchText {
    /// Remembered lines that begin with `kind`.
    fn remembered<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        let all = self.text_input.iter();
        all.filter_map(move |line| line.strip_prefix(kind))
    }

    /// The lines before the run, unless they were printed.
    fn beginning(&mut self, record: &RunRecord) -> String {
        if self.started_at.replace(record.started_at).is_some() {
            return String::new();
        }
        let first = record.plan.cells.first();
        let files = first.and_then(plan::Cell::program);
        let texts = self.remembered("say ");
        let texts = texts.chain(["Populating and pre-allocating filesets"]);
        let begin = "Filebench Version 1.5-alpha3\n".to_owned() + &lines(0.0, texts);
        begin + &lines(0.0, files.map(population_lines).unwrap_or_default())
    }

    /// The lines at the start of a cell, unless they were printed.
    fn running(&mut self, now: Option<Timestamp>) -> String {
        if std::mem::replace(&mut self.is_running, true) {
            return String::new();
        }
        let texts = ["Population and pre-allocation of filesets completed"].into_iter();
        let texts = texts.chain(self.remembered("run ")).chain(["Running..."]);
        lines(seconds(self.started_at, now), texts)
    }
}

fn lines(at_s: f64, texts: impl IntoIterator<Item = impl Display>) -> String {
    let texts = texts.into_iter();
    texts.map(|line| format!("{at_s:.3}: {line}\n")).collect()
}

fn seconds(begin: Option<Timestamp>, end: Option<Timestamp>) -> f64 {
    let both = begin.zip(end);
    both.map_or(0.0, |(begin, end)| end.duration_since(begin).as_secs_f64())
}

/// One line per fileset, last defined first. Single files have no directory width and no line.
fn population_lines(program: &Program) -> Vec<String> {
    let trees = grown_trees(program).unwrap_or_default();
    let sets = program.filesets.iter().zip(&trees).rev();
    let lines = sets.filter_map(|(set, tree)| {
        let (DirectoryTree::Grown(growth), Some(tree)) = (&set.tree, tree) else {
            return None;
        };
        let width = growth.width.mean();
        let (files, leaves, bytes) = match growth.of_directories {
            true => (0, set.count, 0),
            false => (set.count, 0, tree.sizes.iter().sum::<u64>()),
        };
        let line = format!(
            "{} populated: {files} files, avg. dir. width = {width:.0}, avg. dir. depth = {:.1}, \
             {leaves} leafdirs, {:.3}MB total size",
            set.name,
            growth.mean_depth(set.count),
            bytes as f64 / MEGABYTE,
        );
        (width > 0.0).then_some(line)
    });
    lines.collect()
}

const MEGABYTE: f64 = (1 << 20) as f64;

/// Results of a cell.
fn figures(program: &Program, cell: &CellRecord, begin_s: f64) -> String {
    let run_s = cell.run_time_ns as f64 / 1e9;
    let end_s = begin_s + run_s;
    let per_second = |amount: u64| amount as f64 / run_s.max(1e-9);
    // The original counts whole seconds.
    let took = format!("Run took {} seconds...", run_s as u64);
    let mut text = lines(end_s, [took.as_str(), "Per-Operation Breakdown"]);
    let mut calls = Vec::new();
    // The original lists the last defined flowop first.
    for (name, meaning) in program.labels.iter().zip(program.label_meanings()).rev() {
        let counted = label(cell, name).filter(|_| meaning != Some(LabelMeaning::Composite));
        let figures = counted.cloned().unwrap_or_default();
        let (count, mean_ms) = (figures.count, mean_ms(&figures));
        let (ops, mib) = (per_second(count), per_second(figures.bytes) / MEGABYTE);
        let [least_ms, most_ms] = [figures.min_ns, figures.max_ns].map(|ns| ns as f64 / 1e6);
        text += &format!(
            "{name:<20} {count}ops {ops:8.0}ops/s {mib:5.1}mb/s {mean_ms:8.3}ms/op \
             [{least_ms:.3}ms - {most_ms:5.3}ms]\n"
        );
        // Limits, waits and ends are not I/O, so the original's summary leaves them out.
        if let Some(LabelMeaning::Call(operation)) = meaning {
            calls.push((operation, figures));
        }
    }
    let all = sum_of_labels(calls.iter().map(|(_, figures)| figures));
    let [reads, writes] = [FileOperation::Read, FileOperation::Write].map(|operation| {
        let those = calls.iter().filter(|(it, _)| *it == operation);
        per_second(those.map(|(_, figures)| figures.count).sum())
    });
    let (count, ops, mean_ms) = (all.count, per_second(all.count), mean_ms(&all));
    let summary = format!(
        "IO Summary: {count:5} ops {ops:5.3} ops/s {reads:.0}/{writes:.0} rd/wr {:5.1}mb/s \
         {mean_ms:5.3}ms/op",
        per_second(all.bytes) / MEGABYTE,
    );
    text + &lines(end_s, [summary.as_str(), "Shutting down processes"])
}
