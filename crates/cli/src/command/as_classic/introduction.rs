//! What all stand-ins say of themselves, and their options before those of the program.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

/// What the help of a stand-in says.
pub(super) struct Introduction<'a> {
    /// The name of the program.
    pub name: &'static str,
    /// What it is, in one line.
    pub title: &'static str,
    /// Where its text comes to, where files lie, and what becomes of the run.
    pub promise: &'a str,
    /// The program's own options.
    pub usage: &'static str,
}

impl Introduction<'_> {
    /// Our options, with those of the program behind them.
    ///
    /// # Errors
    /// An option that is not known; the help where it was asked for.
    pub fn read<A: CommandFactory + FromArgMatches>(
        &self,
        args: Vec<OsString>,
    ) -> Result<A, clap::Error> {
        let about = format!("Stand in for {}: {}", self.name, self.title);
        let command = A::command()
            .name(self.name)
            .about(&about)
            .long_about(format!("{about}\n\n{}", self.promise))
            .after_help(self.usage);
        let words = std::iter::once(OsString::from(self.name)).chain(args);
        A::from_arg_matches(&command.try_get_matches_from(words)?)
    }
}
