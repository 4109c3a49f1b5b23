//! Terminals for the program: one that is recorded, and one with a shell in it.

use std::path::Path;
use std::process::Command;

use unicode_width::UnicodeWidthStr;

use crate::{Finished, FixtureError, finish, run_tool};

/// Runs a command on a terminal of so many columns, to its end; both outputs are in `stdout`, as
/// the terminal got them.
///
/// # Errors
/// `Unavailable` where `script` is not installed.
///
/// # Panics
/// When it hangs.
pub fn run_on_terminal(command: &Command, columns: usize) -> Result<Finished, FixtureError> {
    run_tool("script", &["--version"])?;
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let quoted: Vec<String> = words.map(|word| quoted(&word.to_string_lossy())).collect();
    let line = format!("stty cols {columns} rows 40; exec {}", quoted.join(" "));
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    script.env("TERM", "xterm-256color").env("SHELL", "/bin/sh");
    if let Some(directory) = command.get_current_dir() {
        script.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => script.env(name, value),
            None => script.env_remove(name),
        };
    }
    script.env("COLUMNS", columns.to_string());
    Ok(finish(&mut script))
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// The lines that a terminal shows of a text one after the other, without what moves its cursor or
/// colors it.
#[must_use]
pub fn shown_lines(text: &str) -> Vec<String> {
    let mut shown = String::new();
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        match character {
            // A control sequence ends with a letter.
            '\x1b' => {
                let is_end = |it: &char| it.is_ascii_alphabetic();
                let _ = characters.by_ref().find(is_end);
            }
            '\r' => shown.push('\n'),
            other => shown.push(other),
        }
    }
    shown.lines().map(str::to_owned).collect()
}

/// The lines of a text that a terminal of so many columns could not show as they are.
#[must_use]
pub fn too_wide(text: &str, columns: usize) -> Vec<String> {
    let lines = shown_lines(text).into_iter();
    let wide = lines.filter(|line| line.width() > columns);
    wide.filter(|line| !is_filled(line, columns)).collect()
}

/// `true` for lines that stay and the progress line as they are written: each is filled with blanks
/// to the end of the terminal's line, and the next one follows without a line break.
fn is_filled(line: &str, columns: usize) -> bool {
    let mut used = 0;
    let mut previous = ' ';
    for character in line.chars() {
        let is_start = used > 0 && used % columns == 0;
        // A word that is no longer than a line does not continue on the next one.
        if is_start && previous != ' ' && character != ' ' {
            return false;
        }
        used += character.to_string().width();
        previous = character;
    }
    used % columns == 0
}

/// A shell on a terminal of its own, which ends with this value.
pub struct Shell {
    socket: String,
}

impl Shell {
    /// In a directory, on a terminal of so many columns and rows.
    ///
    /// # Errors
    /// `Unavailable` where `tmux` is not installed.
    pub fn new(directory: &Path, (columns, rows): (u16, u16)) -> Result<Self, FixtureError> {
        let number = directory
            .to_string_lossy()
            .replace(|it: char| !it.is_alphanumeric(), "");
        let shell = Self {
            socket: format!("pgmeter-e2e-{}-{number}", std::process::id()),
        };
        let (columns, rows) = (columns.to_string(), rows.to_string());
        let size = ["new-session", "-d", "-x", &columns, "-y", &rows];
        let cwd = ["-c", &*directory.to_string_lossy()].map(str::to_owned);
        let config = ["-L", &shell.socket, "-f", "/dev/null"];
        let interactive = ["bash --norc --noprofile -i"];
        let cwd = cwd.each_ref().map(String::as_str);
        run_tool("tmux", &[&config[..], &size, &cwd, &interactive].concat())?;
        Ok(shell)
    }

    /// Has tmux do something; what it says.
    ///
    /// # Panics
    /// When it cannot.
    pub fn tmux(&self, arguments: &[&str]) -> String {
        run_tool("tmux", &[&["-L", &self.socket], arguments].concat()).expect("tmux does it")
    }

    /// Presses keys.
    pub fn press(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// What the terminal shows.
    #[must_use]
    pub fn text(&self) -> String {
        self.tmux(&["capture-pane", "-p"])
    }

    /// Whether the terminal shows a text.
    #[must_use]
    pub fn shows(&self, text: &str) -> bool {
        self.text().contains(text)
    }

    /// Whether a program has all of the terminal.
    #[must_use]
    pub fn is_full_screen(&self) -> bool {
        self.tmux(&["display-message", "-p", "#{alternate_on}"])
            .trim()
            == "1"
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = run_tool("tmux", &["-L", &self.socket, "kill-server"]);
    }
}
