//! The full screen: what it shows of the state, and how that is drawn.

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

use crate::Asked;
use crate::keys::Key;
use crate::left::{TimeLeft, time_left};
use crate::line::{LiveLine, counted, cut};
use crate::state::State;

/// Below this width, the list of cells gives way to the current figures.
const LIST_WIDTH_MIN: u16 = 60;
/// The last warnings take so many lines, frame included.
const WARNINGS_HEIGHT: u16 = 3;
/// Below this height there is no room for them.
const WARNED_HEIGHT_MIN: u16 = 20;

/// The full screen: the run's state and what the user asked for.
#[derive(Debug, Clone, Default)]
pub struct Screen {
    state: State,
    no_color: bool,
    /// The cell that the user looks at; none for the one that is being measured.
    chosen: Option<usize>,
    shows_help: bool,
    is_left: bool,
}

impl Screen {
    /// A screen that knows nothing yet.
    #[must_use]
    pub fn new(no_color: bool) -> Self {
        Self {
            no_color,
            ..Self::default()
        }
    }

    /// What is known of the run.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Whether the user wants the run to go on without it.
    #[must_use]
    pub fn is_left(&self) -> bool {
        self.is_left
    }

    /// What is known of the run, for whoever shows it from now on.
    pub(crate) fn take_state(&mut self) -> State {
        std::mem::take(&mut self.state)
    }

    pub(crate) fn note_stopping(&mut self) {
        self.state.stopping = true;
    }

    /// Takes note of an event.
    pub fn take(&mut self, event: &RunEvent, now_ns: u64) {
        self.state.apply(event, now_ns);
    }

    /// Takes note of a key.
    pub fn press(&mut self, key: Key) -> Asked {
        let closes_help = std::mem::take(&mut self.shows_help);
        match key {
            Key::Stop if self.state.stopping => return Asked::StopNow,
            Key::Stop => {
                self.state.stopping = true;
                return Asked::Stop;
            }
            Key::Next if self.is_measuring() => return Asked::Next,
            Key::Next => {}
            Key::Leave if closes_help => {}
            Key::Leave => self.is_left = true,
            Key::Help => self.shows_help = !closes_help,
            Key::Up => self.choose(|index, _| index.saturating_sub(1)),
            Key::Down => self.choose(|index, last| (index + 1).min(last)),
            Key::Back => self.chosen = None,
        }
        Asked::Nothing
    }

    fn is_measuring(&self) -> bool {
        let state = &self.state;
        state.current.is_some() && state.preparation.is_none() && state.finished.is_none()
    }

    fn choose(&mut self, next: impl Fn(usize, usize) -> usize) {
        let Some(last) = self.state.cells.len().checked_sub(1) else {
            return;
        };
        let chosen = next(self.chosen.unwrap_or(self.current_index()), last);
        // Whoever comes back to what goes on stays with it.
        self.chosen = (chosen != self.current_index()).then_some(chosen);
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
        (true, _) => format!("{done} cells done, more until they are precise"),
        (false, Some(current)) => format!("[{}]", state.place(current.index as usize)),
        (false, None) => format!("{} cells", state.cells.len()),
    };
    let mut line = LiveLine::of("pgmeter");
    let left = time_left(state).map(TimeLeft::text);
    line.parts.push((7, cells));
    line.parts.extend(left.map(|left| (6, left)));
    line.parts.push((3, format::span(state.now_ns)));
    line.parts.extend(state.crew.clone().map(|crew| (4, crew)));
    if state.warning_count > 0 {
        line.parts
            .push((5, counted(state.warning_count, "warning")));
    }
    if !state.id.is_empty() {
        line.parts.push((1, format!("run {}", state.id)));
    }
    let text = line.fit(usize::from(area.width));
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
    match screen.chosen {
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
    let texts: &[&str] = match (state.finished, state.stopping) {
        (Some(Status::Complete), _) => &["complete"],
        (Some(Status::Interrupted), _) => &["interrupted"],
        (Some(Status::Failed), _) => &["failed"],
        (None, true) => &[
            "stopping: what was measured is kept; s again ends at once",
            "stopping; s again ends at once",
        ],
        (None, false) => &[
            "? help   s stop, keep what was measured   n next cell   ↑↓ look at a cell   q leave",
            "? help   s stop   n next cell   ↑↓ look at a cell   q leave the screen",
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
