//! Exit codes, and error messages for users.

use std::fmt::{self, Write as _};
use std::process::ExitCode;

use description::reference::keys;
use plan::Diagnostic;
use units::printable_message;

use crate::other_tools::key_of;

/// Exit status of pgmeter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Success,
    /// The measurement was done, but I/O or verification failed, or the run could not be stored or
    /// written.
    Failed,
    /// Mistake on the command line or in a workload file.
    Usage,
    /// This system cannot run the request.
    System,
    /// A comparison found a regression.
    Regression,
    /// A bug in pgmeter.
    Bug,
    /// Interrupted; the record has the results so far.
    Interrupted,
    /// Exit code of an emulated program.
    Classic(u8),
}

impl Exit {
    /// Returns the exit code of the process.
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::System => 3,
            Self::Regression => 4,
            // `EX_SOFTWARE` in `sysexits.h` has this value.
            Self::Bug => 70,
            // Shells report 128 plus the number of the signal, here SIGINT.
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

/// An error that ends the command.
#[derive(Debug)]
pub(crate) struct CliError {
    pub exit: Exit,
    text: String,
}

impl CliError {
    /// Creates a message without a location in a file.
    pub fn new(exit: Exit, message: impl fmt::Display, help: Option<String>) -> Self {
        let mut text = format!("error: {}", printable_message(&message.to_string()));
        if let Some(help) = help {
            // Writing to a `String` cannot fail.
            let _ = write!(text, "\nhelp: {}", printable_message(&help));
        }
        Self { exit, text }
    }

    /// Passes on the error text of another pgmeter process unchanged.
    pub fn quoted(exit: Exit, text: String) -> Self {
        Self { exit, text }
    }

    /// Reports a system call that failed.
    pub fn system(context: impl fmt::Display, source: &std::io::Error) -> Self {
        Self::new(Exit::System, format!("{context}: {source}"), None)
    }

    /// Returns the same error with reworded help lines.
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

    /// Marks the measurement itself as done; `help` says where the results are.
    pub fn after_measurement(mut self, help: &str) -> Self {
        self.exit = Exit::Failed;
        let _ = write!(self.text, "\nhelp: {help}");
        self
    }

    /// Reports a violated invariant.
    pub fn bug() -> Self {
        let help = "please report it with the command and the workload file";
        Self::new(Exit::Bug, "this is a bug in pgmeter", Some(help.to_owned()))
    }

    /// Returns the message with its help.
    pub fn text(&self) -> &str {
        self.text.trim_end()
    }
}

impl fmt::Display for CliError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.text())
    }
}

impl From<Diagnostic> for CliError {
    fn from(mut diagnostic: Diagnostic) -> Self {
        explain_foreign_key(&mut diagnostic);
        Self {
            exit: Exit::Usage,
            text: diagnostic.to_string(),
        }
    }
}

/// Explains a term of another program that is used as a key: the help gives the key of pgmeter.
fn explain_foreign_key(diagnostic: &mut Diagnostic) {
    let unknown = diagnostic.message.strip_prefix("unknown key `");
    let Some(word) = unknown.and_then(|rest| rest.strip_suffix('`')) else {
        return;
    };
    // A key of the same name in another table is a better suggestion.
    let is_explained = diagnostic.help.as_ref();
    let is_explained = is_explained.is_some_and(|help| {
        let is_known = help.starts_with("it is `");
        is_known || help.contains(" belongs ")
    });
    let Some(path) = key_of(word).filter(|_| !is_explained) else {
        return;
    };
    if diagnostic.file.is_empty() && path.starts_with("access_spec.line.") {
        let help = "edit the requests in the workload file, or describe a workload in options: \
                    `pgmeter run --rw randread --bs 4k`";
        diagnostic.help = Some(help.to_owned());
        return;
    }
    let key = keys().into_iter().find(|key| key.path() == path);
    diagnostic.help = key.map(|key| format!("it is `{path}` here: {}", key.sentence()));
}

impl From<run::RunError> for CliError {
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

impl From<cluster::ClusterError> for CliError {
    fn from(error: cluster::ClusterError) -> Self {
        let help = error.help();
        let exit = match error {
            cluster::ClusterError::Hosts { .. } => Exit::Usage,
            _ => Exit::System,
        };
        Self::new(exit, error, help)
    }
}

impl From<network::NetworkError> for CliError {
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

impl From<mpi::MpiError> for CliError {
    fn from(error: mpi::MpiError) -> Self {
        let help = error.help();
        Self::new(Exit::System, error, help)
    }
}

impl From<web::WebError> for CliError {
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

impl From<store::StoreError> for CliError {
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
            | E::DuplicateId { .. } => Exit::Usage,
            _ => Exit::System,
        };
        Self::new(exit, error, help)
    }
}

impl From<record::RecordError> for CliError {
    fn from(error: record::RecordError) -> Self {
        use record::RecordError as E;
        let help = Some(error.help().to_owned());
        let exit = match error {
            E::Missing { .. }
            | E::NoProgram { .. }
            | E::NotADevice { .. }
            | E::NoDevice { .. }
            | E::NoRequests { .. }
            | E::OutputOnDevice { .. } => Exit::Usage,
            E::Output { .. } => Exit::Failed,
            _ => Exit::System,
        };
        Self::new(exit, error, help)
    }
}

impl From<storage::TargetError> for CliError {
    fn from(error: storage::TargetError) -> Self {
        let help = Some(error.help());
        Self::new(Exit::System, error, help)
    }
}
