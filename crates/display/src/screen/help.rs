//! The help for the keys.

use ratatui::Frame;
use ratatui::layout::{Constraint, Flex, Layout, Rect};
use ratatui::text::Line;
use ratatui::widgets::{Block, Borders, Clear, Paragraph};

/// Short enough for the smallest terminals.
const KEYS: [(&str, &str); 6] = [
    ("s, Ctrl-C", "stop; again: end at once"),
    ("n", "skip to the next cell"),
    ("↑ ↓, k j", "select another cell"),
    ("Esc", "back to the current cell"),
    ("q", "leave; the run continues"),
    ("Ctrl-Z", "suspend; `fg` resumes"),
];
/// Width of the key column.
const KEY_WIDTH: usize = 11;
/// Width of the longest explanation, the key column and the frame.
const WIDTH: u16 = 38;

pub fn draw(frame: &mut Frame, area: Rect) {
    let height = u16::try_from(KEYS.len()).unwrap_or(u16::MAX) + 2;
    let [rows] = Layout::vertical([Constraint::Max(height)])
        .flex(Flex::Center)
        .areas(area);
    let [inside] = Layout::horizontal([Constraint::Max(WIDTH)])
        .flex(Flex::Center)
        .areas(rows);
    let lines = KEYS.map(|(key, does)| {
        let blanks = " ".repeat(KEY_WIDTH.saturating_sub(key.chars().count()));
        Line::from(format!("{key}{blanks}{does}"))
    });
    let block = Block::new().borders(Borders::ALL).title(" keys ");
    frame.render_widget(Clear, inside);
    frame.render_widget(Paragraph::new(lines.to_vec()).block(block), inside);
}
