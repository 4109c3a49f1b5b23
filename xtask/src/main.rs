//! Developer commands.
//!
//! `cargo xtask test [LANE...]`, `cargo xtask tidy`, `cargo xtask docs [--check | --site]`,
//! `cargo xtask bench engine|guard|accuracy|classics|postmark|network|statistics [OPTION...]`,
//! `cargo xtask fuzz [TARGET...]`, `cargo xtask package`, `cargo xtask release [prepare VERSION]`.

mod bench;
mod docs;
mod error;
mod fuzz;
mod markdown;
mod package;
mod test;
mod tidy;
mod tool;
mod workspace;

use std::process::ExitCode;

use error::Failure;

const USAGE: &str = "usage: cargo xtask COMMAND

  test [LANE...]           run every check, or the lanes named; the last line counts them
  tidy                     check the house rules
  docs [--check]           regenerate the generated documents, or only compare them
  docs --site              write the documentation as a site with search
  bench engine             pgmeter, fio and a bare loop, interleaved
  bench guard              pgmeter and a bare loop: cached reads, time per request
  bench accuracy           pgmeter on targets of known speed
  bench classics           pgmeter, fs_mark, IOzone and bare loops in C
  bench postmark           pgmeter and Debian's PostMark
  bench network            requests and replies over loopback and a bare loop
  bench statistics         rates reached, a target against itself, detection of a slowdown
  bench traces             reading of traces from a pipe: speed and memory
  fuzz [TARGET...]         fuzz the parsers; --seconds N for each
  package                  a .deb, a tarball, a wheel, debug symbols and checksums
  release                  packages of all kinds for all platforms, from a commit
  release prepare VERSION  set the version, and give its changes a section
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        // The count of tests must stay the last line of the output.
        Err(Failure::TestsFailed) => ExitCode::FAILURE,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<(), Failure> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["test", lanes @ ..] => test::run(lanes),
        ["tidy"] => tidy::run(),
        ["docs"] => docs::write(),
        ["docs", "--check"] => docs::check(),
        ["docs", "--site"] => docs::write_site(),
        ["bench", name, options @ ..] => bench::run(name, options),
        ["fuzz", options @ ..] => fuzz::run(options),
        ["package"] => package::run(),
        ["release"] => package::release(),
        ["release", "prepare", version] => package::prepare(version),
        [] | ["help" | "--help" | "-h"] => {
            print!("{USAGE}");
            Ok(())
        }
        _ => Err(Failure::Usage(format!(
            "unknown command `{}`\n\n{USAGE}",
            words.join(" ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_command_shows_the_usage() {
        let failure = run(&["tset".to_owned()]).unwrap_err().to_string();
        assert!(failure.contains("unknown command `tset`"), "{failure}");
        assert!(failure.contains("cargo xtask COMMAND"), "{failure}");
    }
}
