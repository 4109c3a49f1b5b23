//! The terminal as a full screen: entered, drawn on, and always restored.

use std::io::{self, Stderr, Write};
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crossterm::cursor::{Hide, Show};
use crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use crossterm::execute;
use crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::backend::CrosstermBackend;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};
use units::printable;

use crate::keys::PressedKey;
use crate::screen::{Screen, draw};

/// Assumed width if the terminal does not report one.
const WIDTH_DEFAULT: usize = 80;

/// Width of the terminal, in columns.
pub fn width() -> usize {
    match terminal::size() {
        // A pseudo-terminal whose size was never set reports 0.
        Ok((width, _)) if width > 0 => usize::from(width),
        _ => WIDTH_DEFAULT,
    }
}

/// Prints a line on standard error. Errors are ignored: a closed pipe must not stop the run.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// State of the terminal with respect to the full screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScreenState {
    /// No full screen.
    None,
    Active,
    /// Entered again, so the next draw must redraw everything.
    Resumed,
    /// Restored until the process continues in the foreground.
    Suspended,
}

/// A static, because signal handling needs it and has no [`Terminal`]. Drawing holds the lock.
static SCREEN: Mutex<ScreenState> = Mutex::new(ScreenState::None);

fn hold() -> MutexGuard<'static, ScreenState> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

type PanicHook = Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// The terminal as a full screen; restored when dropped and before a panic message is printed.
pub struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Stderr>>,
    previous_hook: PanicHook,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Terminal").finish_non_exhaustive()
    }
}

impl Terminal {
    /// Switches the terminal to the full screen.
    pub fn enter() -> io::Result<Self> {
        // Held until the end, so that Ctrl-Z cannot release a screen that is only half entered.
        let mut hold = hold();
        take()?;
        // From here on, an early return must restore the terminal.
        let result = Self::with_panic_hook();
        match result {
            Ok(_) => *hold = ScreenState::Active,
            Err(_) => give_back(),
        }
        result
    }

    fn with_panic_hook() -> io::Result<Self> {
        let inner = ratatui::Terminal::new(CrosstermBackend::new(io::stderr()))?;
        let hook_before: PanicHook = Arc::from(panic::take_hook());
        let hook = Arc::clone(&hook_before);
        panic::set_hook(Box::new(move |info| {
            give_back();
            hook(info);
        }));
        Ok(Self {
            inner,
            previous_hook: hook_before,
        })
    }

    /// Keys pressed since the last call; does not wait.
    pub fn keys(&mut self) -> Vec<PressedKey> {
        let mut keys = Vec::new();
        // Reading the terminal in the background would stop this process (SIGTTIN).
        if *hold() == ScreenState::Suspended || !is_in_foreground() {
            return keys;
        }
        while event::poll(Duration::ZERO).unwrap_or(false) {
            let Ok(event) = event::read() else { break };
            keys.extend(meaning(&event));
        }
        keys
    }

    /// Draws the screen. Write errors are ignored, so that they do not disturb the run.
    pub fn draw(&mut self, screen: &Screen) {
        let mut hold = hold();
        if !is_in_foreground() {
            return;
        }
        take_again(&mut hold);
        match *hold {
            ScreenState::None | ScreenState::Suspended => return,
            ScreenState::Active => {}
            ScreenState::Resumed => {
                let _ = self.inner.clear();
                *hold = ScreenState::Active;
            }
        }
        let _ = self.inner.draw(|frame| draw(frame, screen));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let before = std::mem::replace(&mut *hold(), ScreenState::None);
        // A suspended terminal is restored already, and may belong to the shell now.
        if before != ScreenState::Suspended {
            give_back();
        }
        // A panicking thread cannot change hooks. Its hook has already restored the terminal.
        if !std::thread::panicking() {
            let hook = Arc::clone(&self.previous_hook);
            panic::set_hook(Box::new(move |info| hook(info)));
        }
    }
}

/// Switches the terminal to raw mode and the alternate screen.
fn take() -> io::Result<()> {
    enable_raw_mode()?;
    keep_signals();
    let entered = execute!(io::stderr(), EnterAlternateScreen, Hide);
    if entered.is_err() {
        give_back();
    }
    entered
}

/// Restores the terminal if the full screen has it, then calls `stop`, which stops the process.
/// Nothing is drawn until `stop` returns; [`resume`] enters the full screen again.
pub fn release_while_stopped(stop: impl FnOnce()) {
    let mut hold = hold();
    release(&mut hold);
    stop();
}

/// Enters the full screen again after the process was stopped, by any signal: the shell has used
/// the terminal meanwhile. In the background, the next draw in the foreground does this.
pub fn resume() {
    let mut hold = hold();
    if !is_in_foreground() {
        return;
    }
    // After SIGSTOP, which cannot be caught, the full screen was not left. Leaving it now makes
    // `take_again` enter it again.
    release(&mut hold);
    take_again(&mut hold);
}

fn release(hold: &mut ScreenState) {
    if matches!(*hold, ScreenState::Active | ScreenState::Resumed) {
        give_back();
        *hold = ScreenState::Suspended;
    }
}

fn take_again(hold: &mut ScreenState) {
    if *hold == ScreenState::Suspended && take().is_ok() {
        *hold = ScreenState::Resumed;
    }
}

/// `true` if this process may change the terminal: in the background, that would stop the process.
fn is_in_foreground() -> bool {
    match tcgetpgrp(io::stdin()) {
        Ok(group) => group == rustix::process::getpgrp(),
        // Without a terminal on standard input, there is no foreground group to compare with.
        Err(_) => true,
    }
}

/// Keeps Ctrl-C and Ctrl-Z as signals, so that they work even if no event arrives.
fn keep_signals() {
    let stdin = io::stdin();
    if let Ok(mut attributes) = tcgetattr(&stdin) {
        // `enable_raw_mode` has cleared it, as `cfmakeraw` does (`termios(3)`).
        attributes.local_modes |= LocalModes::ISIG;
        let _ = tcsetattr(&stdin, OptionalActions::Now, &attributes);
    }
}

/// Restores the terminal if the full screen has it, for a process that exits immediately.
pub fn restore_terminal() {
    // Without the lock, because a process that exits must not wait for a drawing thread.
    if terminal::is_raw_mode_enabled().unwrap_or(false) {
        give_back();
    }
}

fn give_back() {
    let mut stderr = io::stderr();
    let _ = execute!(stderr, LeaveAlternateScreen, Show);
    let _ = stderr.flush();
    let _ = disable_raw_mode();
}

fn meaning(event: &Event) -> Option<PressedKey> {
    let Event::Key(key) = event else { return None };
    // Some terminals also report when a key is released.
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(PressedKey::Stop),
        _ if control => None,
        KeyCode::Char('s' | 'S') => Some(PressedKey::Stop),
        KeyCode::Char('n' | 'N') => Some(PressedKey::Next),
        KeyCode::Char('q' | 'Q') => Some(PressedKey::Leave),
        KeyCode::Char('?' | 'h' | 'H') => Some(PressedKey::Help),
        KeyCode::Up | KeyCode::Char('k') => Some(PressedKey::Up),
        KeyCode::Down | KeyCode::Char('j') => Some(PressedKey::Down),
        KeyCode::Esc => Some(PressedKey::Back),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crossterm::event::KeyEvent;

    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn keys_mean_what_the_help_says() {
        let none = KeyModifiers::NONE;
        let control = KeyModifiers::CONTROL;
        for (code, modifiers, wanted) in [
            (KeyCode::Char('s'), none, Some(PressedKey::Stop)),
            (KeyCode::Char('c'), control, Some(PressedKey::Stop)),
            (KeyCode::Char('c'), none, None),
            (KeyCode::Char('q'), none, Some(PressedKey::Leave)),
            (KeyCode::Char('q'), control, None),
            (KeyCode::Char('n'), none, Some(PressedKey::Next)),
            (
                KeyCode::Char('?'),
                KeyModifiers::SHIFT,
                Some(PressedKey::Help),
            ),
            (KeyCode::Down, none, Some(PressedKey::Down)),
            (KeyCode::Esc, none, Some(PressedKey::Back)),
        ] {
            assert_eq!(meaning(&key(code, modifiers)), wanted, "{code:?}");
        }
        assert_eq!(meaning(&Event::FocusLost), None);
    }
}
