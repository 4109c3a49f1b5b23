//! `as`: stands in for other programs, with their arguments, texts and habits.

mod clock;
mod console;
mod input;
mod postmark;

use std::ffi::OsString;
use std::path::Path;

use clap::ValueEnum;

use crate::args::{AsArgs, ClassicArg};
use crate::failure::{Exit, Failure};

/// The program to stand in for if this one was started under its name.
pub(crate) fn of_own_name() -> Option<AsArgs> {
    let mut args = std::env::args_os();
    let own_path = args.next()?;
    let classic = classic_of(Path::new(&own_path))?;
    let args: Vec<OsString> = args.collect();
    Some(AsArgs { classic, args })
}

fn classic_of(path: &Path) -> Option<ClassicArg> {
    let name = path.file_name()?.to_str()?;
    ClassicArg::from_str(name, false).ok()
}

/// Runs the program; at the second signal `at_once` is called.
pub(crate) fn run(args: AsArgs, at_once: fn() -> !) -> Result<Exit, Failure> {
    match args.classic {
        ClassicArg::Postmark => postmark::run(args.args, at_once),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_part_of_the_path_is_a_name() {
        let classic = |path| classic_of(Path::new(path));
        assert_eq!(classic("/usr/bin/postmark"), Some(ClassicArg::Postmark));
        assert_eq!(classic("postmark"), Some(ClassicArg::Postmark));
        assert_eq!(classic("/postmark/pgmeter"), None);
        assert_eq!(classic(""), None);
    }
}
