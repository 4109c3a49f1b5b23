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
        let name = OsString::from(self.name);
        let words = std::iter::once(name).chain(ours_first(args));
        A::from_arg_matches(&command.try_get_matches_from(words)?)
    }
}

/// Options of ours that are taken wherever they stand; no original has an option of these names.
const ANYWHERE: [&str; 2] = ["--differences", "--no-db"];

/// The arguments with our options first, from before a `--`: users add them at the end.
fn ours_first(args: Vec<OsString>) -> Vec<OsString> {
    let end = args.iter().position(|it| it == "--").unwrap_or(args.len());
    let is_ours = |word: &&OsString| ANYWHERE.iter().any(|ours| *word == ours);
    let (options, rest) = args.split_at(end);
    let (ours, theirs): (Vec<_>, Vec<_>) = options.iter().partition(is_ours);
    let words = ours.into_iter().chain(theirs).chain(rest);
    words.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_options_are_found_wherever_they_stand() {
        let sorted = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect();
            let words = ours_first(words).into_iter();
            let words: Vec<String> = words.map(|it| it.into_string().unwrap()).collect();
            words.join(" ")
        };
        assert_eq!(sorted("-a --differences b"), "--differences -a b");
        assert_eq!(sorted("-a b --no-db"), "--no-db -a b");
        assert_eq!(sorted("-a -- --no-db"), "-a -- --no-db");
    }
}
