//! The last warnings.

use ratatui::style::{Color, Modifier};
use ratatui::text::{Line, Span};
use units::wrap;

use super::Screen;
use crate::line::cut;

/// On lower screens, only the number of warnings is shown.
const HEIGHT_MIN: usize = 20;
/// A screen has at least this many times the lines of its warnings.
const SHARE: usize = 8;
const MARK: &str = "! ";

/// Maximum number of lines for warnings on a screen of this height.
pub fn lines_max(height: usize) -> usize {
    match height < HEIGHT_MIN {
        true => 0,
        false => height / SHARE,
    }
}

/// The newest warnings that fit, newest first.
pub fn lines<'a>(screen: &Screen, width: usize, lines_max: usize) -> Vec<Line<'a>> {
    if lines_max == 0 {
        return Vec::new();
    }
    let style = screen.style(Color::Yellow).add_modifier(Modifier::BOLD);
    let room = width.saturating_sub(MARK.len());
    let mut lines = Vec::new();
    for message in screen.state.warnings.iter().rev() {
        let mut wrapped = wrap(message, room);
        let free = lines_max - lines.len();
        if wrapped.len() > free {
            // The newest one is cut rather than hidden.
            if !lines.is_empty() {
                break;
            }
            let rest = wrapped.split_off(free - 1).join(" ");
            wrapped.push(cut(&rest, room));
        }
        let marks = std::iter::once(MARK).chain(std::iter::repeat("  "));
        let marked = marks.zip(wrapped);
        lines.extend(
            marked.map(|(mark, text)| Line::from(vec![Span::styled(mark, style), Span::raw(text)])),
        );
    }
    lines
}
