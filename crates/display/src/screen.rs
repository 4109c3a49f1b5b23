//! The full screen: what it shows of the state, and how that is drawn.

mod cells;
mod measuring;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Borders, Paragraph, Wrap};
use results::{RunEvent, Status};
use units::format;

use crate::Asked;
use crate::state::State;
use crate::terminal::Key;

/// Below this width, the list of cells gives way to the current figures.
const LIST_WIDTH_MIN: u16 = 60;
/// The last warnings take so many lines, frame included.
const WARNINGS_HEIGHT: u16 = 5;

/// The full screen: the run's state and what the user asked for.
#[derive(Debug, Clone, Default)]
pub struct Screen {
    state: State,
    no_color: bool,
}

impl Screen {
    /// A screen that knows nothing yet.
    #[must_use]
    pub fn new(no_color: bool) -> Self {
        Self {
            state: State::default(),
            no_color,
        }
    }

    /// What is known of the run.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Takes note of an event.
    pub fn take(&mut self, event: &RunEvent, now_ns: u64) {
        self.state.apply(event, now_ns);
    }

    /// Takes note of a key.
    pub fn press(&mut self, key: Key) -> Asked {
        match key {
            Key::Stop if self.state.stopping => Asked::StopNow,
            Key::Stop => {
                self.state.stopping = true;
                Asked::Stop
            }
        }
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
    let warnings_height = if state.warnings.is_empty() || frame.area().height < 20 {
        0
    } else {
        WARNINGS_HEIGHT
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
}

fn draw_top(frame: &mut Frame, area: Rect, screen: &Screen) {
    let state = screen.state();
    let done = state
        .cells
        .iter()
        .filter(|cell| cell.done.is_some())
        .count();
    let mut spans = vec![
        Span::styled("pgmeter", Style::new().add_modifier(Modifier::BOLD)),
        Span::raw(match state.is_open_ended {
            true => format!("  {done} cells done, more until they are precise"),
            false => format!("  {done} of {} cells done", state.cells.len()),
        }),
        Span::raw(format!("  {}", format::span(state.now_ns))),
    ];
    if state.warning_count > 0 {
        let text = format!("  warnings: {}", format::count(state.warning_count));
        spans.push(Span::styled(text, screen.style(Color::Yellow)));
    }
    spans.push(Span::raw(format!("  run {}", state.id)));
    frame.render_widget(Paragraph::new(Line::from(spans)), area);
}

fn draw_middle(frame: &mut Frame, area: Rect, screen: &Screen) {
    if area.width < LIST_WIDTH_MIN {
        measuring::draw(frame, area, screen);
        return;
    }
    let [left, right] =
        Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(area);
    cells::draw(frame, left, screen);
    measuring::draw(frame, right, screen);
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
    let text = match (state.finished, state.stopping) {
        (Some(Status::Complete), _) => "complete",
        (Some(Status::Interrupted), _) => "interrupted",
        (Some(Status::Failed), _) => "failed",
        (None, true) => "stopping: what was measured is kept; q again ends at once",
        (None, false) => "q or Ctrl-C: stop and keep what was measured",
    };
    let style = Style::new().add_modifier(Modifier::DIM);
    frame.render_widget(Paragraph::new(Line::styled(text, style)), area);
}
