//! The progress line. On a narrow terminal, the name and the most important parts stay.

use results::Phase;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use units::{format, wrap};

use crate::current::{CurrentCell, Preparation};
use crate::left::{TimeLeft, time_left};
use crate::state::RunState;

/// Parts with at most this priority are dropped to keep everything on one line.
const OPTIONAL_PRIORITY_MAX: u8 = 6;
/// On narrower terminals, a name is cut because wrapping would fill the screen.
const WRAP_WIDTH_MIN: usize = 8;
/// Blanks between two parts.
const GAP: &str = "  ";

/// The state of a run as one line of at most `width` columns, or as several if the name needs them.
#[must_use]
pub fn live_lines(state: &RunState, width: usize) -> Vec<String> {
    let line = match (&state.preparation, &state.current) {
        _ if state.cleanup.is_some() => removing(state),
        (Some(preparation), _) => preparing(state, preparation),
        (None, Some(current)) => measuring(state, current),
        (None, None) => LiveLine::of("starting"),
    };
    line.with_cluster(state).with_alerts(state).fit(width)
}

/// A part of a line: its priority (the lowest is dropped first) and its text.
type LinePart = (u8, String);

/// A progress line before it is fitted to a width.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LiveLine {
    /// Position in the run, such as `[3/12] `.
    pub position: String,
    /// Full description of the current activity.
    pub long: String,
    /// Short name for narrow lines.
    pub name: String,
    /// Suffix of the short name.
    pub tag: String,
    /// The optional parts.
    pub parts: Vec<LinePart>,
}

impl LiveLine {
    /// A line with only the current activity.
    pub fn of(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            long: name.clone(),
            name,
            ..Self::default()
        }
    }

    /// Adds the number of processes and their hosts, if there is more than one process.
    fn with_cluster(mut self, state: &RunState) -> Self {
        self.parts
            .extend(state.cluster.clone().map(|cluster| (1, cluster)));
        self
    }

    /// Adds a pending stop or the number of warnings.
    fn with_alerts(mut self, state: &RunState) -> Self {
        if state.stopping {
            self.parts.push((9, "stopping".to_owned()));
        } else if state.warning_count > 0 {
            self.parts
                .push((1, counted(state.warning_count, "warning")));
        }
        self
    }

    /// Fits the line into `width` columns. If it is still too wide without its optional parts, the
    /// name and the parts are on separate lines.
    pub fn fit(mut self, width: usize) -> Vec<String> {
        let full = format!("{}{}", self.position, self.long);
        // Only if everything fits: otherwise, the short name leaves more room for results.
        if full.width() + parts_width(&self.parts) <= width {
            return vec![joined(full, &self.parts)];
        }
        if width < WRAP_WIDTH_MIN {
            return vec![self.fit_one(width)];
        }
        let title = self.title();
        let parts = self.parts.clone();
        self.shrink(width.saturating_sub(title.width()), OPTIONAL_PRIORITY_MAX);
        if title.width() + parts_width(&self.parts) <= width {
            return vec![joined(title, &self.parts)];
        }
        let mut lines = match full.width() <= width {
            true => vec![full],
            false => wrap(&title, width),
        };
        let most_important = parts.iter().max_by_key(|part| part.0).cloned();
        self.parts = parts;
        // No blanks precede the first part.
        self.shrink(width + GAP.len(), u8::MAX);
        match (self.parts.is_empty(), most_important) {
            (true, Some((_, text))) => lines.extend(wrap(&text, width)),
            (true, None) => {}
            (false, _) => lines.push(joined(String::new(), &self.parts).trim_start().to_owned()),
        }
        lines
    }

    /// Fits the line into `width` columns: drops parts by priority, then cuts the name.
    pub fn fit_one(mut self, width: usize) -> String {
        let title = self.title();
        self.shrink(width.saturating_sub(title.width()), u8::MAX);
        cut(&joined(title, &self.parts), width)
    }

    /// The position and the short name.
    fn title(&self) -> String {
        let blank = if self.tag.is_empty() { "" } else { " " };
        [&self.position, &self.name, blank, &self.tag].concat()
    }

    /// Drops the least important parts, up to `priority_max`, until the others fit into `room`.
    fn shrink(&mut self, room: usize, priority_max: u8) {
        while parts_width(&self.parts) > room {
            let droppable = self.parts.iter().enumerate();
            let droppable = droppable.filter(|(_, part)| part.0 <= priority_max);
            let Some((index, _)) = droppable.min_by_key(|(_, part)| part.0) else {
                return;
            };
            self.parts.remove(index);
        }
    }
}

/// Width of the parts and of the blanks before them.
fn parts_width(parts: &[LinePart]) -> usize {
    parts.iter().map(|(_, text)| GAP.len() + text.width()).sum()
}

fn joined(title: String, parts: &[LinePart]) -> String {
    parts
        .iter()
        .fold(title, |line, (_, text)| line + GAP + text)
}

fn preparing(state: &RunState, preparation: &Preparation) -> LiveLine {
    let mut line = LiveLine::of(format!("prepare {}", preparation.target));
    if let Some(share) = preparation.share() {
        line.parts.push((8, format!("{:.0} %", share * 100.0)));
        let done = format::size(preparation.done_bytes);
        let all = format::size(preparation.total_bytes);
        line.parts.push((3, format!("{done} of {all}")));
    }
    if let Some(rate) = preparation.bytes_per_second(state.now_ns) {
        line.parts.push((5, format::bandwidth(rate)));
    }
    if let Some(left_ns) = preparation.left_ns(state.now_ns) {
        line.parts
            .push((6, format!("{} left", format::span(left_ns))));
        let total_left = time_left(state);
        line.parts
            .extend(total_left.map(|left| (7, format!("{} in all", left.text()))));
    }
    line
}

fn removing(state: &RunState) -> LiveLine {
    let Some(cleanup) = &state.cleanup else {
        return LiveLine::default();
    };
    let mut line = LiveLine::of(format!("remove {}", cleanup.target));
    line.parts.push((8, counted(cleanup.removed, "file")));
    line
}

fn measuring(state: &RunState, current: &CurrentCell) -> LiveLine {
    let index = current.index as usize;
    let row = state.cells.get(index);
    let tag = row.map(|row| row.tag.clone()).filter(|it| !it.is_empty());
    // Without a row, the full description is the name and contains the round.
    let round = current.round.clone().filter(|_| row.is_some());
    let tag: Vec<String> = tag.into_iter().chain(round).collect();
    LiveLine {
        position: format!("[{}] ", state.place(index)),
        long: current.description.clone(),
        name: row.map_or_else(|| current.description.clone(), |row| row.name.clone()),
        tag: tag.join(" "),
        parts: figures(current, time_left(state).map(TimeLeft::text)),
    }
}

/// The parts with a cell's current results and the remaining time of the run.
pub fn figures(current: &CurrentCell, left: Option<String>) -> Vec<LinePart> {
    let Some(phase) = &current.phase else {
        return left.map(|left| (6, left)).into_iter().collect();
    };
    // The end of the run matters more than the end of this cell.
    let time_worth = if left.is_some() { 3 } else { 8 };
    let mut parts = vec![
        (time_worth, time(current, phase)),
        (7, format!("{} {}", format::iops(current.iops), unit(phase))),
        (5, format::bandwidth(current.bytes_per_second)),
    ];
    let p99 = current.p99_ns.map(format::latency_ns);
    parts.extend(p99.map(|p99| (4, format!("p99 {p99}"))));
    parts.extend(left.map(|left| (6, left)));
    // Errors must stay visible on any terminal; their absence need not.
    let errors_worth = if current.errors > 0 { 9 } else { 0 };
    parts.push((errors_worth, counted(current.errors, "error")));
    parts
}

/// Elapsed and total time of the phase, with the phase's name unless it is measured time.
fn time(current: &CurrentCell, phase: &Phase) -> String {
    let elapsed = format::span(current.elapsed_ns);
    let time = match current.total_ns {
        0 => elapsed,
        total_ns => format!("{elapsed}/{}", format::span(total_ns)),
    };
    match phase {
        Phase::Measure => time,
        other => format!("{} {time}", other.name()),
    }
}

/// Unit of the rate.
pub fn unit(phase: &Phase) -> &'static str {
    match phase {
        // Operations on whole files: neither system calls nor the transactions of the program.
        Phase::Classic(_) => "op/s",
        _ => "IOPS",
    }
}

/// `1 error`, `2 errors`.
pub fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", format::count(count))
}

/// Cuts `text` to at most `limit` columns and marks the cut with an ellipsis.
pub fn cut(text: &str, limit: usize) -> String {
    if text.width() <= limit {
        return text.to_owned();
    }
    let mut cut = String::new();
    // One column for the ellipsis.
    let mut used = 1;
    for character in text.chars() {
        used += character.width().unwrap_or(0);
        if used > limit {
            break;
        }
        cut.push(character);
    }
    if limit > 0 {
        cut.push('…');
    }
    cut
}

/// Like [`cut`], but keeps both ends of the text: long names often differ only at their ends.
pub fn cut_middle(text: &str, limit: usize) -> String {
    if text.width() <= limit || limit < 3 {
        return cut(text, limit);
    }
    // `cut` adds the ellipsis.
    let start = cut(text, limit.div_ceil(2));
    let room = limit - start.width();
    let mut end = text.len();
    let mut used = 0;
    for (index, character) in text.char_indices().rev() {
        used += character.width().unwrap_or(0);
        if used > room {
            break;
        }
        end = index;
    }
    start + &text[end..]
}
