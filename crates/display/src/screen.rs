//! The full screen: its state, and how it is drawn.

mod cells;
mod chosen;
mod grid;
mod heat;
mod help;
mod layout;
mod operations;
mod panel;
mod scale;
mod strips;
mod warnings;

use std::borrow::Cow;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;
use results::{RunEvent, Status};
use unicode_width::UnicodeWidthStr;
use units::format;

use crate::UserRequest;
use crate::current::CellHistory;
use crate::keys::PressedKey;
use crate::left::{TimeLeft, time_left};
use crate::line::{LiveLine, counted, cut, cut_middle};
use crate::state::RunState;

use grid::ItemList;
use layout::SectionHeights;
use panel::ScreenPanel;

/// The full screen: the run's state and the user's selection.
#[derive(Debug, Clone, Default)]
pub struct Screen {
    state: RunState,
    no_color: bool,
    /// The cell selected by the user; `None` for the cell that is being measured.
    selected: Option<usize>,
    shows_help: bool,
    is_left: bool,
}

impl Screen {
    /// An empty screen.
    #[must_use]
    pub fn new(no_color: bool) -> Self {
        Self {
            no_color,
            ..Self::default()
        }
    }

    /// State of the run.
    #[must_use]
    pub fn state(&self) -> &RunState {
        &self.state
    }

    /// `true` if the user left the screen; the run continues.
    #[must_use]
    pub fn is_left(&self) -> bool {
        self.is_left
    }

    /// Moves the state out, for the display that takes over.
    pub(crate) fn take_state(&mut self) -> RunState {
        std::mem::take(&mut self.state)
    }

    pub(crate) fn note_stopping(&mut self) {
        self.state.stopping = true;
    }

    /// Processes an event.
    pub fn take(&mut self, event: &RunEvent, now_ns: u64) {
        self.state.apply(event, now_ns);
    }

    /// Processes a key.
    pub fn press(&mut self, key: PressedKey) -> UserRequest {
        // Any key closes the help; `q` then does nothing else.
        let closes_help = std::mem::take(&mut self.shows_help);
        match key {
            PressedKey::Stop if self.state.stopping => return UserRequest::StopNow,
            PressedKey::Stop => {
                self.state.stopping = true;
                return UserRequest::Stop;
            }
            // Later cells need a complete preparation, so only a cell can be skipped.
            PressedKey::Next if self.is_measuring() => return UserRequest::Next,
            PressedKey::Next => {}
            PressedKey::Leave if closes_help => {}
            PressedKey::Leave => self.is_left = true,
            PressedKey::Help => self.shows_help = !closes_help,
            PressedKey::Up => self.choose(|index, _| index.saturating_sub(1)),
            PressedKey::Down => self.choose(|index, last| (index + 1).min(last)),
            PressedKey::Back => self.selected = None,
        }
        UserRequest::None
    }

    fn is_measuring(&self) -> bool {
        let state = &self.state;
        state.current.is_some() && state.preparation.is_none() && state.finished.is_none()
    }

    fn choose(&mut self, next: impl Fn(usize, usize) -> usize) {
        let Some(last) = self.state.cells.len().checked_sub(1) else {
            return;
        };
        let chosen = next(self.selected.unwrap_or(self.current_index()), last);
        // If the user moves back to the current cell, the selection follows the run again.
        self.selected = (chosen != self.current_index()).then_some(chosen);
    }

    fn current_index(&self) -> usize {
        let current = self.state.current.as_ref();
        current.map_or(0, |current| current.index as usize)
    }

    /// History of the current activity, empty before the first.
    fn history(&self) -> Cow<'_, CellHistory> {
        let state = &self.state;
        let prepared = state.preparation.as_ref().map(|it| &it.history);
        let current = state.current.as_ref().map(|it| &it.history);
        prepared
            .or(current)
            .map_or_else(Cow::default, Cow::Borrowed)
    }

    fn style(&self, color: Color) -> Style {
        if self.no_color {
            Style::new()
        } else {
            Style::new().fg(color)
        }
    }
}

/// Draws the screen on a frame of any size.
pub fn draw(frame: &mut Frame, screen: &Screen) {
    let area = frame.area();
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    let panel = ScreenPanel::of(screen, width, height);
    let operations = last_operations(screen, width, height);
    let list = cells::list(screen);
    let wanted = SectionHeights {
        panel: panel.height(),
        charts: usize::from(strips::STRIPS_HEIGHT_MIN),
        operations: operations.len(),
        cells: list.as_ref().map_or(0, |list| cells_height(list, area)),
        warnings: warnings::lines(screen, width, warnings::lines_max(height)).len(),
    };
    let heights = SectionHeights::shared(height, &wanted);
    let length = |lines: usize| Constraint::Length(u16::try_from(lines).unwrap_or(u16::MAX));
    let areas = Layout::vertical([
        length(1),
        length(heights.panel),
        Constraint::Fill(1),
        length(heights.operations),
        length(heights.cells),
        length(heights.warnings),
        length(usize::from(height > 1)),
    ]);
    let [top, above, charts, middle, cells, below, bottom] = areas.areas(area);
    draw_top(frame, top, screen);
    panel.draw(frame, above, screen);
    if heights.charts > 0 {
        strips::draw(frame, charts, screen, &screen.history());
    }
    frame.render_widget(Paragraph::new(operations), middle);
    if let Some(list) = list {
        draw_cells(frame, cells, screen, &list);
    }
    let warnings = warnings::lines(screen, width, heights.warnings);
    frame.render_widget(Paragraph::new(warnings), below);
    draw_bottom(frame, bottom, screen);
    if screen.shows_help {
        help::draw(frame, area);
    }
}

/// A line with a title that separates two sections.
fn rule<'a>(title: &str, width: usize) -> Line<'a> {
    let title = format!(" {} ", cut_middle(title, width.saturating_sub(2)));
    let line = "─".repeat(width.saturating_sub(title.width()));
    Line::from(vec![
        Span::styled(title, Style::new().add_modifier(Modifier::BOLD)),
        Span::styled(line, Style::new().add_modifier(Modifier::DIM)),
    ])
}

/// The lines of a section, below a title if there are several.
fn titled<'a>(title: &str, width: usize, mut lines: Vec<Line<'a>>) -> Vec<Line<'a>> {
    if lines.len() > 1 {
        lines.insert(0, rule(title, width));
    }
    lines
}

fn last_operations<'a>(screen: &Screen, width: usize, height: usize) -> Vec<Line<'a>> {
    let current = screen.state.current.as_ref();
    let current = current.filter(|_| screen.state.preparation.is_none());
    let interval = current.and_then(|current| current.interval.as_ref());
    let lines = interval.map(|it| operations::lines(it, width, height / 4));
    titled("operations", width, lines.unwrap_or_default())
}

/// Lines for the list and, if it has several rows, its title.
fn cells_height(list: &ItemList, area: Rect) -> usize {
    let rows = cells::rows_wanted(list, usize::from(area.width), usize::from(area.height));
    rows + usize::from(rows > 1)
}

fn draw_cells(frame: &mut Frame, area: Rect, screen: &Screen, list: &ItemList) {
    let (width, height) = (usize::from(area.width), usize::from(area.height));
    // Two lines are needed more for cells than for a title.
    let has_title = height > 2;
    let shape = list.shape(width, height - usize::from(has_title));
    let lines = cells::lines(screen, &shape);
    let lines = match has_title {
        true => titled("cells", width, lines),
        false => lines,
    };
    frame.render_widget(Paragraph::new(lines), area);
}

fn draw_top(frame: &mut Frame, area: Rect, screen: &Screen) {
    let state = screen.state();
    let done = state.cells.iter().filter(|cell| cell.done.is_some());
    let done = done.count();
    let cells = match (state.is_open_ended, &state.current) {
        // Repetitions are still added, so nobody knows the total.
        (true, _) => format!("{done} cells done, more until results are precise"),
        (false, Some(current)) => format!("[{}]", state.place(current.index as usize)),
        (false, None) => counted(state.cells.len() as u64, "cell"),
    };
    let mut line = LiveLine::of("pgmeter");
    let left = time_left(state).map(TimeLeft::text);
    line.parts.push((7, cells));
    line.parts.extend(left.map(|left| (6, left)));
    line.parts.push((3, format::span(state.now_ns)));
    line.parts
        .extend(state.cluster.clone().map(|cluster| (4, cluster)));
    if state.warning_count > 0 {
        line.parts
            .push((5, counted(state.warning_count, "warning")));
    }
    if !state.id.is_empty() {
        line.parts.push((1, format!("run {}", state.id)));
    }
    let text = line.fit_one(usize::from(area.width));
    let style = Style::new().add_modifier(Modifier::BOLD);
    frame.render_widget(Paragraph::new(Line::styled(text, style)), area);
}

fn draw_bottom(frame: &mut Frame, area: Rect, screen: &Screen) {
    let state = screen.state();
    // From the longest to the shortest; the first one that fits is shown.
    let texts: &[&str] = match (state.finished, state.stopping) {
        (Some(Status::Complete), _) => &["complete"],
        (Some(Status::Interrupted), _) => &["interrupted"],
        (Some(Status::Failed), _) => &["failed"],
        (None, true) => &[
            "stopping: results so far are kept; s again ends at once",
            "stopping; s again ends at once",
        ],
        (None, false) => &[
            "? help   s stop and keep results so far   n next cell   ↑↓ select a cell   q leave",
            "? help   s stop   n next cell   ↑↓ select a cell   q leave the screen",
            "? help  s stop  n next  ↑↓ cell  q leave",
            "? help  s stop",
        ],
    };
    let width = usize::from(area.width);
    let fitting = texts.iter().find(|text| text.chars().count() <= width);
    let text = cut(fitting.or(texts.last()).copied().unwrap_or_default(), width);
    let style = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(Paragraph::new(Line::styled(text, style)), area);
}
