//! `as postmark`: PostMark 1.53 on real files.

use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use clap::Parser;
use workload::postmark::{Compat, Session, play};

use super::clock::WallClock;
use super::console::RealConsole;
use crate::failure::{Exit, Failure, not_understood};
use crate::signals;

/// The configuration that is read where none is given.
const CONFIGURATION: &str = ".pmrc";

const COMMANDS: &str = "\
PostMark's own commands, one on each line of CONFIG or at the prompt:
  set size LOW HIGH          bytes of files (500 to 9999)
  set number N               files at the start (500)
  set transactions N         transactions (500)
  set seed N                 seed of the random numbers (42)
  set location DIR [WEIGHT]  where files are made; several share them by weight
  set subdirectories N       subdirectories of each location (0)
  set read N, set write N    bytes of a read and of a write (512)
  set buffering true|false   through C's standard I/O or not (true)
  set bias read N            reads against appends, 0 to 10, -1 for neither (5)
  set bias create N          creations against deletions, 0 to 10, -1 for neither (5)
  set report verbose|terse   form of the report (verbose)
  run [FILE], load FILE, show, help, quit";

/// Stand in for PostMark: reads CONFIG, then commands at a prompt.
#[derive(Debug, Parser)]
#[command(name = "postmark", disable_help_flag = true, after_help = COMMANDS)]
struct PostmarkArgs {
    /// The version to follow
    #[arg(long, value_name = "VERSION", value_parser = compat, default_value_t)]
    compat: Compat,
    /// Let lines that begin with `!` run a shell
    #[arg(long)]
    allow_shell: bool,
    /// For tests: read the clock from a file of seconds instead, one reading after the other
    #[arg(long, value_name = "FILE", hide = true)]
    times: Option<PathBuf>,
    /// Print help
    #[arg(long, short, action = clap::ArgAction::Help)]
    help: Option<bool>,
    /// A file of commands; by default `.pmrc`
    #[arg(value_name = "CONFIG")]
    configuration: Vec<OsString>,
}

fn compat(name: &str) -> Result<Compat, String> {
    let parsed = name.parse::<Compat>();
    parsed.map_err(|error| format!("{error}; {}", error.help()))
}

/// Plays the program to its end.
pub(super) fn run(args: Vec<OsString>, at_once: fn() -> !) -> Result<Exit, Failure> {
    let own_name = OsString::from("postmark");
    let args = match PostmarkArgs::try_parse_from([own_name].into_iter().chain(args)) {
        Ok(args) => args,
        Err(error) => return Ok(not_understood(error)),
    };
    let clock = clock(&args)?;
    let stop = signals::stop_flag(at_once)?;
    let mut console = RealConsole::new(clock, args.allow_shell, stop)?;
    // As the original has it, more than one argument is as good as none.
    let configuration = match &args.configuration[..] {
        [one] => one.as_bytes(),
        _ => CONFIGURATION.as_bytes(),
    };
    play(&mut Session::new(args.compat), &mut console, configuration);
    console.finish()
}

fn clock(args: &PostmarkArgs) -> Result<WallClock, Failure> {
    let Some(path) = &args.times else {
        return Ok(WallClock::System);
    };
    let refused = |reason: String| {
        let message = format!("cannot read times from `{}`: {reason}", path.display());
        let help = Some("give seconds between commas, such as `1000,1002`".to_owned());
        Failure::new(Exit::Usage, message, help)
    };
    let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
    WallClock::told(&text).map_err(|error| refused(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(args: &[&str]) -> Result<PostmarkArgs, clap::Error> {
        PostmarkArgs::try_parse_from(std::iter::once(&"postmark").chain(args))
    }

    #[test]
    fn options_stand_before_the_configuration() {
        let args = parsed(&["--compat", "1.14", "--allow-shell", "my.pm"]).unwrap();
        assert_eq!((args.compat, args.allow_shell), (Compat::V1_14, true));
        assert_eq!(args.configuration, ["my.pm"]);
        assert_eq!(parsed(&[]).unwrap().compat, Compat::V1_53);
    }

    #[test]
    fn versions_that_are_not_known_are_refused() {
        let error = parsed(&["--compat", "2.0"]).unwrap_err().to_string();
        assert!(error.contains("1.53"), "{error}");
    }
}
