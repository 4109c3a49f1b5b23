//! Progress of an activity with several parts: a progress line, and one permanent line per
//! completed part.

use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use results::RunEvent;
use units::printable;

use crate::left::TimeLeft;
use crate::line::{LiveLine, figures};
use crate::output::{bar_of, print_permanent_line, update_progress_line};
use crate::state::RunState;
use crate::{DisplayKind, TerminalFacts, terminal};

/// A planned part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedPart {
    /// Short description.
    pub description: String,
    /// Number of its kind; parts of one kind take about equally long.
    pub kind: usize,
}

/// Shows the progress of an activity with several parts on standard error.
///
/// Without a terminal, it prints only the lines of completed parts.
#[derive(Debug)]
pub struct PartsDisplay {
    bar: Option<ProgressBar>,
    is_silent: bool,
    parts: Vec<ExpectedPart>,
    /// Duration of each part; `None` until it is done.
    durations: Vec<Option<Duration>>,
    /// The current part, with its start.
    current: Option<(usize, Instant)>,
    /// The current step of the part.
    step: String,
    /// State of the run in this step.
    run: RunState,
}

impl PartsDisplay {
    /// Creates a display of the requested kind, or of the nearest kind that standard error
    /// supports.
    #[must_use]
    pub fn new(kind: DisplayKind, surroundings: TerminalFacts) -> Self {
        Self {
            bar: bar_of(kind, surroundings),
            is_silent: kind == DisplayKind::None,
            parts: Vec::new(),
            durations: Vec::new(),
            current: None,
            step: String::new(),
            run: RunState::default(),
        }
    }

    /// Sets the planned parts, in their order.
    pub fn expect(&mut self, parts: Vec<ExpectedPart>) {
        self.durations = vec![None; parts.len()];
        self.parts = parts;
    }

    /// Starts a part.
    pub fn begin(&mut self, index: usize) {
        self.current = Some((index, Instant::now()));
        self.step("");
    }

    /// Shows a step of the current part.
    pub fn step(&mut self, step: &str) {
        step.clone_into(&mut self.step);
        // Each step may have its own run.
        self.run = RunState::default();
        self.show();
    }

    /// Shows an event of the run in the current step.
    pub fn on_event(&mut self, event: &RunEvent) {
        let since = self.current.map(|(_, since)| since.elapsed());
        let now_ns = since.map_or(0, |since| since.as_nanos());
        self.run
            .apply(event, u64::try_from(now_ns).unwrap_or(u64::MAX));
        self.show();
    }

    /// Ends the current part and prints a permanent line with its outcome.
    pub fn done(&mut self, outcome: &str) {
        let Some((index, since)) = self.current.take() else {
            return;
        };
        let took = since.elapsed();
        if let Some(slot) = self.durations.get_mut(index) {
            *slot = Some(took);
        }
        // All parts are padded to the longest name, so that their outcomes are aligned.
        let width = self
            .parts
            .iter()
            .map(|part| columns(&part.description))
            .max();
        let description = self
            .parts
            .get(index)
            .map_or("", |part| part.description.as_str());
        let blanks = " ".repeat(width.unwrap_or(0).saturating_sub(columns(description)));
        let line = LiveLine {
            position: self.place(index),
            long: format!("{description}{blanks}"),
            name: description.to_owned(),
            tag: String::new(),
            parts: vec![(9, outcome.to_owned()), (1, seconds(took))],
        };
        self.say(&line.fit(self.width()).join("\n"));
    }

    /// Shows a detail of the current step: in the progress line, or as a plain line without a
    /// terminal.
    pub fn tell(&mut self, detail: &str) {
        match self.bar {
            Some(_) => self.step(detail),
            None => self.say(detail),
        }
    }

    /// Hides the progress line while `write` prints something else.
    pub fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    /// Prints permanent lines.
    pub fn say(&self, text: &str) {
        for line in text.lines().filter(|_| !self.is_silent) {
            match &self.bar {
                Some(bar) => print_permanent_line(bar, line),
                None => terminal::say(line),
            }
        }
    }

    /// Removes the progress line. Later messages are printed as plain lines.
    pub fn end(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn width(&self) -> usize {
        match &self.bar {
            Some(_) => terminal::width(),
            // Lines for pipes are not cut: the width of the reader is unknown.
            None => usize::MAX,
        }
    }

    /// `[ 3/12] `, equally wide for all parts.
    fn place(&self, index: usize) -> String {
        let count = self.parts.len().to_string();
        let number = index + 1;
        format!("[{number:>width$}/{count}] ", width = count.len())
    }

    fn show(&self) {
        let Some(bar) = &self.bar else { return };
        update_progress_line(bar, &self.line().fit(terminal::width()));
    }

    fn line(&self) -> LiveLine {
        let left = self.left().map(TimeLeft::text);
        let Some((index, since)) = self.current else {
            return LiveLine::of(self.step.as_str());
        };
        let description = self
            .parts
            .get(index)
            .map_or("", |part| part.description.as_str());
        let mut line = LiveLine {
            position: self.place(index),
            ..LiveLine::of(description)
        };
        match &self.run.current {
            Some(current) => line.parts = figures(current, left),
            None => {
                let step = Some(self.step.clone()).filter(|step| !step.is_empty());
                line.parts.extend(step.map(|step| (8, step)));
                line.parts.push((3, seconds(since.elapsed())));
                line.parts.extend(left.map(|left| (6, left)));
            }
        }
        line
    }

    /// Estimated remaining time of all parts, from completed parts; `None` before the first is
    /// done.
    fn left(&self) -> Option<TimeLeft> {
        let (index, since) = self.current?;
        let mut left = Duration::ZERO;
        for (other_index, part) in self.parts.iter().enumerate().skip(index) {
            let expected = self.expected(part.kind)?;
            left += match other_index == index {
                true => expected.saturating_sub(since.elapsed()),
                false => expected,
            };
        }
        Some(TimeLeft {
            ns: u64::try_from(left.as_nanos()).unwrap_or(u64::MAX),
            is_at_most: false,
        })
    }

    /// Expected duration of a part: the mean of completed parts of its kind, or of all kinds.
    fn expected(&self, kind: usize) -> Option<Duration> {
        let mean = |is_wanted: &dyn Fn(&ExpectedPart) -> bool| {
            let known = self.parts.iter().zip(&self.durations);
            let took = known.filter(|it| is_wanted(it.0)).filter_map(|it| *it.1);
            let (sum, count) = took.fold((Duration::ZERO, 0), |(sum, count), it| {
                (sum + it, count + 1)
            });
            sum.checked_div(count)
        };
        mean(&|part| part.kind == kind).or_else(|| mean(&|_| true))
    }
}

fn columns(text: &str) -> usize {
    use unicode_width::UnicodeWidthStr;
    printable(text).width()
}

fn seconds(span: Duration) -> String {
    format!("{:.1} s", span.as_secs_f64())
}

impl Drop for PartsDisplay {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(names: &[(&str, usize)]) -> PartsDisplay {
        let surroundings = TerminalFacts {
            is_terminal: false,
            is_dumb: false,
            no_color: true,
        };
        let mut parts = PartsDisplay::new(DisplayKind::None, surroundings);
        let all = names.iter().map(|(what, kind)| ExpectedPart {
            description: (*what).to_owned(),
            kind: *kind,
        });
        parts.expect(all.collect());
        parts
    }

    #[test]
    fn time_left_is_estimated_from_parts_of_the_same_kind() {
        let mut parts = parts(&[("a", 0), ("b", 1), ("a", 0), ("b", 1)]);
        parts.begin(0);
        assert_eq!(parts.left(), None);
        parts.durations[0] = Some(Duration::from_secs(100));
        parts.durations[1] = Some(Duration::from_secs(1000));
        parts.begin(2);
        let left = parts.left().unwrap();
        assert!(
            (1098..=1100).contains(&(left.ns / 1_000_000_000)),
            "{left:?}"
        );
        assert_eq!(left.text(), "~18 min left");
    }

    #[test]
    fn the_line_shows_the_part_and_its_current_step() {
        let mut parts = parts(&[("ext4: create-remove", 0), ("xfs: create-remove", 0)]);
        parts.begin(1);
        parts.step("make the file system");
        let line = parts.line();
        assert_eq!(
            line.clone().fit(40),
            ["[2/2] xfs: create-remove", "make the file system  0.0 s"]
        );
        let wide = line.fit(100);
        assert!(
            wide[0].starts_with("[2/2] xfs: create-remove  make the file system  0.0 s"),
            "{wide:?}"
        );
    }
}
