//! Runs the fuzz targets, built with coverage counters on the stable toolchain.

use std::path::Path;
use std::process::Command;

use crate::error::Failure;
use crate::workspace;

/// All fuzz targets.
const TARGETS: [&str; 12] = [
    "command_lines",
    "cluster",
    "dbench",
    "filebench",
    "fio",
    "icf",
    "network",
    "postmark",
    "programs",
    "toml",
    "recordings",
    "traces",
];
/// Default number of seconds per target.
const SECONDS: u64 = 60;
/// Build flags for libFuzzer: counters, their tables, and operands of comparisons.
const FLAGS: [&str; 7] = [
    "--cfg=fuzzing",
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=1",
];

/// Runs the targets named in `options`, or all; `--seconds N` sets the time per target.
pub fn run(options: &[&str]) -> Result<(), Failure> {
    let (targets, seconds) = parse(options)?;
    build()?;
    for target in targets {
        println!("\nfuzzing {target} for {seconds} s");
        fuzz(target, seconds)?;
    }
    Ok(())
}

fn parse(options: &[&str]) -> Result<(Vec<&'static str>, u64), Failure> {
    let mut targets = Vec::new();
    let mut seconds = SECONDS;
    let mut options = options.iter();
    while let Some(option) = options.next() {
        if *option == "--seconds" {
            let value = options.next().and_then(|value| value.parse().ok());
            let invalid = || Failure::Usage("`--seconds` needs a number".to_owned());
            // libFuzzer takes 0 as no limit.
            seconds = value.filter(|seconds| *seconds > 0).ok_or_else(invalid)?;
        } else if let Some(target) = TARGETS.iter().find(|target| *target == option) {
            targets.push(*target);
        } else {
            let choices = TARGETS.join("`, `");
            return Err(Failure::Usage(format!(
                "unknown target `{option}`; there are `{choices}`"
            )));
        }
    }
    if targets.is_empty() {
        targets = TARGETS.to_vec();
    }
    Ok((targets, seconds))
}

/// Platform of the host. Naming it explicitly keeps the flags away from build scripts.
fn platform() -> Result<String, Failure> {
    let output = Command::new("rustc")
        .arg("-vV")
        .output()
        .map_err(Failure::start("rustc"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let host = text
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .map(str::to_owned);
    host.ok_or_else(|| Failure::Output {
        program: "rustc -vV".to_owned(),
        message: text,
    })
}

fn build() -> Result<(), Failure> {
    let status = workspace::cargo()
        .args(["build", "--release", "--manifest-path", "fuzz/Cargo.toml"])
        .args(["--target", &platform()?])
        // A separate directory: other flags would rebuild everything each time.
        .env("CARGO_TARGET_DIR", workspace::root().join("fuzz/target"))
        .env("RUSTFLAGS", FLAGS.join(" "))
        .status()
        .map_err(Failure::start("cargo"))?;
    ended("cargo build", status)
}

/// Compiles the fuzz targets without linking or running them.
///
/// They are a separate workspace, so no other check notices that a change broke them.
pub fn check() -> Result<(), Failure> {
    let mut command = workspace::cargo();
    command.args(["check", "--manifest-path", "fuzz/Cargo.toml"]);
    // Nothing is linked, so libFuzzer need not be compiled, which takes a C++ compiler. Any file
    // that exists will do; with a missing one, cargo would run the build script every time.
    let stand_in = workspace::root().join("fuzz/Cargo.toml");
    command.env("CUSTOM_LIBFUZZER_PATH", stand_in);
    // Without this, cargo would check all dependencies again below `fuzz`.
    if std::env::var_os("CARGO_TARGET_DIR").is_none() {
        command.env("CARGO_TARGET_DIR", workspace::root().join("target"));
    }
    let status = command.status().map_err(Failure::start("cargo"))?;
    ended("cargo check", status)
}

fn fuzz(target: &str, seconds: u64) -> Result<(), Failure> {
    let home = workspace::root().join("fuzz");
    let corpus = home.join("corpus").join(target);
    let artifacts = home.join("artifacts").join(target);
    for directory in [&corpus, &artifacts] {
        std::fs::create_dir_all(directory).map_err(Failure::file(directory))?;
    }
    let program = home
        .join("target")
        .join(platform()?)
        .join("release")
        .join(target);
    let mut command = Command::new(&program);
    // The first directory is the corpus that libFuzzer writes to; the following ones are only read.
    command.current_dir(&home).arg(&corpus);
    // The repository's workloads serve as seeds.
    let seeds = ["workloads", "examples"].map(|it| workspace::root().join(it));
    command.args(seeds.iter().filter(|it| Path::new(it).is_dir()));
    command.arg(format!("-max_total_time={seconds}"));
    // A long timeout, because an input may request millions of names, which is slow in this build.
    command.args(["-timeout=60", "-rss_limit_mb=2048", "-print_final_stats=1"]);
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    let status = command.status().map_err(Failure::start(target))?;
    ended(target, status)
}

fn ended(program: &str, status: std::process::ExitStatus) -> Result<(), Failure> {
    if status.success() {
        return Ok(());
    }
    Err(Failure::Program {
        program: program.to_owned(),
        message: status.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_targets_run_unless_some_are_named() {
        assert_eq!(parse(&[]).unwrap(), (TARGETS.to_vec(), SECONDS));
        assert_eq!(
            parse(&["icf", "--seconds", "600"]).unwrap(),
            (vec!["icf"], 600)
        );
    }

    #[test]
    fn unknown_targets_and_times_are_refused() {
        assert!(
            parse(&["ifc"])
                .unwrap_err()
                .to_string()
                .contains("unknown target `ifc`")
        );
        assert!(parse(&["--seconds"]).is_err());
        assert!(parse(&["--seconds", "0"]).is_err());
    }

    #[test]
    fn every_target_is_declared() {
        let manifest = workspace::read(&workspace::root(), Path::new("fuzz/Cargo.toml")).unwrap();
        for target in TARGETS {
            assert!(
                manifest.contains(&format!("name = \"{target}\"")),
                "{target}"
            );
        }
    }
}
