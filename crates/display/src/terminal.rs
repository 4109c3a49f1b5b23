//! The terminal as a full screen: taken, drawn on, and always given back.

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

use crate::keys::Key;
use crate::screen::{Screen, draw};

/// The width where the terminal does not tell.
const WIDTH_DEFAULT: usize = 80;

/// How wide the terminal is, in columns.
pub fn width() -> usize {
    match terminal::size() {
        Ok((width, _)) if width > 0 => usize::from(width),
        _ => WIDTH_DEFAULT,
    }
}

/// Says a line. Whoever closed the pipe wants no lines; the run goes on.
pub fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(line));
}

/// What a full screen has of the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// There is no full screen.
    None,
    Taken,
    /// Taken again, so that all of it has to be drawn.
    TakenAgain,
    /// Given back until the process goes on in the foreground.
    Lent,
}

/// Signals come to the process, not to a value of [`Terminal`]; who draws holds the lock.
static HOLD: Mutex<Hold> = Mutex::new(Hold::None);

fn hold() -> MutexGuard<'static, Hold> {
    HOLD.lock().unwrap_or_else(PoisonError::into_inner)
}

type PanicHook = Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>;

/// The terminal as a full screen; given back when dropped and before a panic is told.
pub struct Terminal {
    inner: ratatui::Terminal<CrosstermBackend<Stderr>>,
    hook_before: PanicHook,
}

impl std::fmt::Debug for Terminal {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Terminal").finish_non_exhaustive()
    }
}

impl Terminal {
    /// Takes the terminal.
    pub fn enter() -> io::Result<Self> {
        let mut hold = hold();
        take()?;
        // From here on, an early return must give the terminal back.
        let result = Self::on_taken();
        match result {
            Ok(_) => *hold = Hold::Taken,
            Err(_) => give_back(),
        }
        result
    }

    fn on_taken() -> io::Result<Self> {
        let inner = ratatui::Terminal::new(CrosstermBackend::new(io::stderr()))?;
        let hook_before: PanicHook = Arc::from(panic::take_hook());
        let hook = Arc::clone(&hook_before);
        panic::set_hook(Box::new(move |info| {
            give_back();
            hook(info);
        }));
        Ok(Self { inner, hook_before })
    }

    /// The keys pressed since the last call; does not wait.
    pub fn keys(&mut self) -> Vec<Key> {
        let mut keys = Vec::new();
        if *hold() == Hold::Lent || !is_in_foreground() {
            return keys;
        }
        while event::poll(Duration::ZERO).unwrap_or(false) {
            let Ok(event) = event::read() else { break };
            keys.extend(meaning(&event));
        }
        keys
    }

    /// Draws the screen; a terminal that cannot be drawn on disturbs nothing.
    pub fn draw(&mut self, screen: &Screen) {
        let mut hold = hold();
        if !is_in_foreground() {
            return;
        }
        take_again(&mut hold);
        match *hold {
            Hold::None | Hold::Lent => return,
            Hold::Taken => {}
            Hold::TakenAgain => {
                let _ = self.inner.clear();
                *hold = Hold::Taken;
            }
        }
        let _ = self.inner.draw(|frame| draw(frame, screen));
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let before = std::mem::replace(&mut *hold(), Hold::None);
        if before != Hold::Lent {
            give_back();
        }
        // While a thread panics, hooks cannot be changed; its own has given the terminal back.
        if !std::thread::panicking() {
            let hook = Arc::clone(&self.hook_before);
            panic::set_hook(Box::new(move |info| hook(info)));
        }
    }
}

/// Takes the terminal, as it is by now.
fn take() -> io::Result<()> {
    enable_raw_mode()?;
    keep_signals();
    let entered = execute!(io::stderr(), EnterAlternateScreen, Hide);
    if entered.is_err() {
        give_back();
    }
    entered
}

/// Gives the terminal back if a full screen has it, and calls `stop`, which stops the process.
/// Nothing is drawn until that returns; [`resume`] takes the terminal again.
pub fn lend_while_stopped(stop: impl FnOnce()) {
    let mut hold = hold();
    lend(&mut hold);
    stop();
}

/// Takes the terminal again for a full screen, after the process was stopped in whatever way: the
/// shell has used it meanwhile. In the background this waits for the foreground.
pub fn resume() {
    let mut hold = hold();
    if !is_in_foreground() {
        return;
    }
    lend(&mut hold);
    take_again(&mut hold);
}

fn lend(hold: &mut Hold) {
    if matches!(*hold, Hold::Taken | Hold::TakenAgain) {
        give_back();
        *hold = Hold::Lent;
    }
}

fn take_again(hold: &mut Hold) {
    if *hold == Hold::Lent && take().is_ok() {
        *hold = Hold::TakenAgain;
    }
}

/// Whether the terminal is this process's to change: in the background that would stop it.
fn is_in_foreground() -> bool {
    match tcgetpgrp(io::stdin()) {
        Ok(group) => group == rustix::process::getpgrp(),
        Err(_) => true,
    }
}

/// Lets Ctrl-C and Ctrl-Z stay signals, so that they work even while no event comes.
fn keep_signals() {
    let stdin = io::stdin();
    if let Ok(mut attributes) = tcgetattr(&stdin) {
        attributes.local_modes |= LocalModes::ISIG;
        let _ = tcsetattr(&stdin, OptionalActions::Now, &attributes);
    }
}

/// Gives the terminal back if the full screen has it, for a process that ends at once.
pub fn restore_terminal() {
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

fn meaning(event: &Event) -> Option<Key> {
    let Event::Key(key) = event else { return None };
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => Some(Key::Stop),
        _ if control => None,
        KeyCode::Char('s' | 'S') => Some(Key::Stop),
        KeyCode::Char('n' | 'N') => Some(Key::Next),
        KeyCode::Char('q' | 'Q') => Some(Key::Leave),
        KeyCode::Char('?' | 'h' | 'H') => Some(Key::Help),
        KeyCode::Up | KeyCode::Char('k') => Some(Key::Up),
        KeyCode::Down | KeyCode::Char('j') => Some(Key::Down),
        KeyCode::Esc => Some(Key::Back),
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
            (KeyCode::Char('s'), none, Some(Key::Stop)),
            (KeyCode::Char('c'), control, Some(Key::Stop)),
            (KeyCode::Char('c'), none, None),
            (KeyCode::Char('q'), none, Some(Key::Leave)),
            (KeyCode::Char('q'), control, None),
            (KeyCode::Char('n'), none, Some(Key::Next)),
            (KeyCode::Char('?'), KeyModifiers::SHIFT, Some(Key::Help)),
            (KeyCode::Down, none, Some(Key::Down)),
            (KeyCode::Esc, none, Some(Key::Back)),
        ] {
            assert_eq!(meaning(&key(code, modifiers)), wanted, "{code:?}");
        }
        assert_eq!(meaning(&Event::FocusLost), None);
    }
}
