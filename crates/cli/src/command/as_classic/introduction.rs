//! Help of all emulated programs, and pgmeter's own options, which precede the program's options.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches};

/// Contents of the help text.
pub(super) struct ProgramHelp<'a> {
    /// The name of the program.
    pub name: &'static str,
    /// One-line description of the program.
    pub title: &'static str,
    /// Explains where output goes, where files are created, and that the run is stored.
    pub details: &'a str,
    /// The program's own options.
    pub usage: &'static str,
}

impl ProgramHelp<'_> {
    /// Parses pgmeter's own options; the rest belongs to the program.
    ///
    /// # Errors
    /// For an unknown option; also for a request for help, with the help text.
    pub fn read<A: CommandFactory + FromArgMatches>(
        &self,
        args: Vec<OsString>,
    ) -> Result<A, clap::Error> {
        // The title is capitalized for lists of programs.
        let (first, rest) = self.title.split_at(1);
        let about = format!(
            "Emulate {}, which {}{rest}",
            self.name,
            first.to_lowercase()
        );
        let command = A::command()
            .name(self.name)
            .about(&about)
            .long_about(format!("{about}\n\n{}", self.details))
            .after_help(self.usage);
        // clap takes the first word for the program's name.
        let name = OsString::from(self.name);
        let words = std::iter::once(name).chain(move_own_options_first(args));
        A::from_arg_matches(&command.try_get_matches_from(words)?)
    }
}

/// Options of pgmeter that are accepted in any position. No original program has options of these
/// names.
const GLOBAL_OPTIONS: [&str; 2] = ["--differences", "--no-db"];

/// Moves pgmeter's options before a `--` to the front, because users tend to append them.
fn move_own_options_first(args: Vec<OsString>) -> Vec<OsString> {
    let end = args.iter().position(|it| it == "--").unwrap_or(args.len());
    let is_own = |word: &&OsString| GLOBAL_OPTIONS.iter().any(|option| *word == option);
    let (options, rest) = args.split_at(end);
    let (ours, theirs): (Vec<_>, Vec<_>) = options.iter().partition(is_own);
    let words = ours.into_iter().chain(theirs).chain(rest);
    words.cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_options_are_found_anywhere_on_the_line() {
        let sorted = |line: &str| {
            let words = line.split(' ').map(OsString::from).collect();
            let words = move_own_options_first(words).into_iter();
            let words: Vec<String> = words.map(|it| it.into_string().unwrap()).collect();
            words.join(" ")
        };
        assert_eq!(sorted("-a --differences b"), "--differences -a b");
        assert_eq!(sorted("-a b --no-db"), "--no-db -a b");
        assert_eq!(sorted("-a -- --no-db"), "-a -- --no-db");
    }
}
