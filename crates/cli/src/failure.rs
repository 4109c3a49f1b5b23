//! Exit codes, and errors as people read them.

use std::fmt::{self, Write as _};
use std::process::ExitCode;

use description::reference::keys;
use plan::Diagnostic;
use units::printable_message;

use crate::foreign::key_of;

/// What the exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Measured, or done.
    Measured,
    /// Measured, but I/O or verification failed, or the run could not be stored or written.
    Failed,
    /// Usage or workload file.
    Usage,
    /// This system cannot run it.
    System,
    /// A comparison found a regression.
    Regression,
    /// A bug in pgmeter.
    Bug,
    /// Interrupted; what was measured so far is in the record.
    Interrupted,
    /// As the program that was stood in for says.
    Classic(u8),
}

impl Exit {
    /// The number that the process ends with.
    pub const fn code(self) -> u8 {
        match self {
            Self::Measured => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::System => 3,
            Self::Regression => 4,
            Self::Bug => 70,
            Self::Interrupted => 130,
            Self::Classic(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// Why the command ends early.
#[derive(Debug)]
pub(crate) struct Failure {
    pub exit: Exit,
    text: String,
}

impl Failure {
    /// A message without a place in a file.
    pub fn new(exit: Exit, message: impl fmt::Display, help: Option<String>) -> Self {
        let mut text = format!("error: {}", printable_message(&message.to_string()));
        if let Some(help) = help {
            // Writing to a string does not fail.
            let _ = write!(text, "\nhelp: {}", printable_message(&help));
        }
        Self { exit, text }
    }

    /// What another process of this program said was wrong, as it said it.
    pub fn quoted(exit: Exit, text: String) -> Self {
        Self { exit, text }
    }

    /// This system does not do what is needed.
    pub fn system(what: impl fmt::Display, source: &std::io::Error) -> Self {
        Self::new(Exit::System, format!("{what}: {source}"), None)
    }

    /// The same failure with its helps in other words.
    pub fn with_helps(mut self, reword: impl Fn(&str) -> String) -> Self {
        let lines = self
            .text
            .lines()
            .map(|line| match line.strip_prefix("help: ") {
                Some(help) => format!("help: {}", reword(help)),
                None => line.to_owned(),
            });
        self.text = lines.collect::<Vec<_>>().join("\n");
        self
    }

    /// It was measured all the same; `help` says where it is.
    pub fn of_measured(mut self, help: &str) -> Self {
        self.exit = Exit::Failed;
        let _ = write!(self.text, "\nhelp: {help}");
        self
    }

    /// What must not happen did.
    pub fn bug() -> Self {
        let help = "please report it with the command and the workload file";
        Self::new(Exit::Bug, "this is a bug in pgmeter", Some(help.to_owned()))
    }

    /// The message, with its help.
    pub fn text(&self) -> &str {
        self.text.trim_end()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

impl From<Diagnostic> for Failure {
    fn from(mut diagnostic: Diagnostic) -> Self {
        explain_foreign_key(&mut diagnostic);
        Self {
            exit: Exit::Usage,
            text: diagnostic.to_string(),
        }
    }
}

/// Where another program's word stands in the place of a key, the help says what it is called here.
fn explain_foreign_key(diagnostic: &mut Diagnostic) {
    let unknown = diagnostic.message.strip_prefix("unknown key `");
    let Some(word) = unknown.and_then(|rest| rest.strip_suffix('`')) else {
        return;
    };
    // A key of the same name in another table is a better guess.
    let is_elsewhere = diagnostic.help.as_ref();
    let is_elsewhere = is_elsewhere.is_some_and(|help| {
        let is_known = help.starts_with("it is `");
        is_known || help.contains(" belongs ")
    });
    let Some(path) = key_of(word).filter(|_| !is_elsewhere) else {
        return;
    };
    let key = keys().into_iter().find(|key| key.path() == path);
    diagnostic.help = key.map(|key| format!("it is `{path}` here: {}", key.sentence()));
}

impl From<run::RunError> for Failure {
    fn from(error: run::RunError) -> Self {
        let help = error.help();
        let exit = match error {
            run::RunError::Panicked { .. } => Exit::Bug,
            run::RunError::File { .. } => Exit::Failed,
            _ => Exit::System,
        };
        Self::new(exit, error, help)
    }
}

impl From<crew::CrewError> for Failure {
    fn from(error: crew::CrewError) -> Self {
        let help = error.help();
        let exit = match error {
            crew::CrewError::Hosts { .. } => Exit::Usage,
            _ => Exit::System,
        };
        Self::new(exit, error, help)
    }
}

impl From<network::NetworkError> for Failure {
    fn from(error: network::NetworkError) -> Self {
        use network::NetworkError as E;
        let help = error.help();
        let exit = match error {
            E::Reachable { .. } | E::Connections { .. } | E::TokenFile { .. } => Exit::Usage,
            _ => Exit::System,
        };
        Self::new(exit, error, help)
    }
}

impl From<mpi::MpiError> for Failure {
    fn from(error: mpi::MpiError) -> Self {
        let help = error.help();
        Self::new(Exit::System, error, help)
    }
}

impl From<web::WebError> for Failure {
    fn from(error: web::WebError) -> Self {
        use web::WebError as E;
        let help = error.help();
        let exit = match error {
            E::Store(error) => return error.into(),
            E::Reachable { .. }
            | E::BadHost { .. }
            | E::Token { .. }
            | E::Root { .. }
            | E::Device { .. } => Exit::Usage,
            _ => Exit::System,
        };
        Self::new(exit, error, help)
    }
}

impl From<store::StoreError> for Failure {
    fn from(error: store::StoreError) -> Self {
        use store::StoreError as E;
        let help = error.help();
        let exit = match error {
            E::IsLab { .. }
            | E::NoSuchLab { .. }
            | E::NoSuchRun { .. }
            | E::Ambiguous { .. }
            | E::Running { .. }
            | E::BadTag { .. }
            | E::Unreadable(_)
            | E::BadRecord { .. }
            | E::OtherRun { .. } => Exit::Usage,
            _ => Exit::System,
        };
        Self::new(exit, error, help)
    }
}

impl From<target::TargetError> for Failure {
    fn from(error: target::TargetError) -> Self {
        let help = Some(error.help());
        Self::new(Exit::System, error, help)
    }
}
