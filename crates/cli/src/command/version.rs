//! `--version -v`: shows how this program was built, and what this machine supports.

use std::ffi::OsStr;
use std::fmt::Write as _;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use storage::{Health, check_io_uring, check_mpi};

use crate::args::{EngineArg, file_kinds, programs};
use crate::failure::{CliError, Exit};
use crate::terminal::{one_line, print};

/// Returns `true` if the arguments request verbose output, in any order. clap stops parsing at
/// `--version`, so it does not see them all.
pub(crate) fn is_verbose<'a>(mut arguments: impl Iterator<Item = &'a OsStr>) -> bool {
    arguments.any(|argument| {
        ["-v", "--verbose", "-Vv", "-vV"]
            .iter()
            .any(|word| argument == *word)
    })
}

/// Prints the facts that a bug report should include.
pub(crate) fn version() -> Result<Exit, CliError> {
    let mut text = format!("pgmeter {}\n", env!("CARGO_PKG_VERSION"));
    let mut line = |name: &str, value: &str| {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "{name:10}{}", one_line(&value));
    };
    if let Some(commit) = option_env!("PGMETER_COMMIT") {
        line("commit", commit);
    }
    let build = if cfg!(debug_assertions) {
        "debug, which is slow: not for measurements"
    } else {
        "release"
    };
    line("build", &format!("{build}, {}", std::env::consts::ARCH));
    line("features", &format!("engines {}", names_of::<EngineArg>()));
    line("", &format!("workload files {}", names(file_kinds())));
    line("", &format!("stands in for {}", names(programs())));
    if cfg!(feature = "parquet") {
        line("", "reports as Parquet");
    }
    let system = rustix::system::uname();
    let kernel = [system.sysname(), system.release(), system.machine()];
    line(
        "kernel",
        &kernel.map(|word| word.to_string_lossy()).join(" "),
    );
    line("io_uring", &check_io_uring().detail);
    let mpi = check_mpi();
    let is_found = mpi.status == Health::Ok;
    line("libmpi", if is_found { &mpi.detail } else { "not found" });
    print(text)?;
    Ok(Exit::Success)
}

/// Lists the possible values of an argument.
fn names_of<T: ValueEnum>() -> String {
    names(T::value_variants().iter().filter_map(T::to_possible_value))
}

fn names(values: impl IntoIterator<Item = PossibleValue>) -> String {
    let names = values.into_iter().map(|value| value.get_name().to_owned());
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbose_works_before_and_after_version() {
        let is_verbose = |line: &str| is_verbose(line.split(' ').map(OsStr::new));
        for line in ["--version -v", "-v --version", "-V --verbose", "-Vv", "-vV"] {
            assert!(is_verbose(line), "{line}");
        }
        assert!(!is_verbose("--version"));
    }

    #[test]
    fn arguments_are_listed_as_users_type_them() {
        assert!(names_of::<EngineArg>().starts_with("io_uring, psync"));
        let programs = names(programs());
        assert!(
            programs.contains("lat_fs") && programs.contains("mdtest"),
            "{programs}"
        );
    }
}
