//! The full screen: its state, and how it is drawn.

mod cells;
mod chosen;
mod help;
mod measuring;
mod strips;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};
use results::{RunEvent, Status};
use units::format;

use crate::UserRequest;
use crate::keys::PressedKey;
use crate::left::{TimeLeft, time_left};
use crate::line::{LiveLine, counted, cut};
use crate::state::RunState;

/// On narrower terminals, the list of cells is hidden.
const LIST_WIDTH_MIN: u16 = 60;
/// Lines for the last warnings, including the frame.
const WARNINGS_HEIGHT: u16 = 3;
/// On lower terminals, warnings are hidden.
const WARNED_HEIGHT_MIN: u16 = 20;

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
    let state = screen.state();
    let warnings_height = match state.warnings.is_empty() {
        false if frame.area().height >= WARNED_HEIGHT_MIN => WARNINGS_HEIGHT,
        _ => 0,
    };
    let [top, middle, warnings, bottom] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Fill(1),
        Constraint::Length(warnings_height),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    draw_top(frame, top, screen);
    draw_middle(frame, middle, screen);
    draw_warnings(frame, warnings, screen);
    draw_bottom(frame, bottom, screen);
    if screen.shows_help {
        help::draw(frame, middle);
    }
}

fn draw_top(frame: &mut Frame, area: Rect, screen: &Screen) {
    let state = screen.state();
    let done = state.cells.iter().filter(|cell| cell.done.is_some());
    let done = done.count();
    let cells = match (state.is_open_ended, &state.current) {
        // Repetitions are still added, so nobody knows the total.
        (true, _) => format!("{done} cells done, more until results are precise"),
        (false, Some(current)) => format!("[{}]", state.place(current.index as usize)),
        (false, None) => format!("{} cells", state.cells.len()),
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

fn draw_middle(frame: &mut Frame, area: Rect, screen: &Screen) {
    let (list, figures) = match area.width < LIST_WIDTH_MIN {
        true => (None, area),
        false => {
            let halves = [Constraint::Percentage(45), Constraint::Percentage(55)];
            let [left, right] = Layout::horizontal(halves).areas(area);
            (Some(left), right)
        }
    };
    if let Some(list) = list {
        cells::draw(frame, list, screen);
    }
    match screen.selected {
        Some(index) => chosen::draw(frame, figures, screen, index),
        None => measuring::draw(frame, figures, screen),
    }
}

fn draw_warnings(frame: &mut Frame, area: Rect, screen: &Screen) {
    let block = Block::new().borders(Borders::TOP).title(" warnings ");
    let lines: Vec<Line> = screen
        .state()
        .warnings
        .iter()
        // Newest first, because few lines fit.
        .rev()
        .take(usize::from(area.height.saturating_sub(1)))
        .map(|message| Line::styled(message.as_str(), screen.style(Color::Yellow)))
        .collect();
    frame.render_widget(
        Paragraph::new(lines).wrap(Wrap { trim: true }).block(block),
        area,
    );
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
