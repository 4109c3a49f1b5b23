//! The packaged program, laid out so that what a run executes lies together.
//!
//! The kernel maps a program by 64 KiB around what is touched. Where the functions of a run lie
//! scattered among all others, nearly all of the program counts as memory of the process; where
//! they are one piece, a fifth of it does. Cargo calls this as its linker: it links, has the
//! program tell which functions it executes, and links again in their order.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::executed::{Function, executed, functions};
use super::{run_tool, tree};
use crate::error::Failure;
use crate::workspace;

/// What is run: one access specification at depth, short, with a file to be filled before.
const WORKLOAD: &str = r#"size = "4 MiB"
iodepth = 128
run_time = "500ms"
ramp_time = "100ms"

[[access_spec]]
line = [{ size = 4096, read = 67, random = 100 }]
"#;

/// What tells, beside the linker, why a program could not be laid out.
const REFUSAL: &str = "layout-refused";

/// Builds the program by a profile, laid out where programs may be traced, and returns its path.
///
/// # Errors
/// It cannot be built.
pub fn program(profile: &str) -> Result<PathBuf, Failure> {
    let this = std::env::current_exe().map_err(Failure::start("xtask"))?;
    // Its name tells rustc that it takes a compiler's arguments.
    let linker = this.with_file_name("layout-cc");
    let script = format!("#!/bin/sh\nexec '{}' link \"$@\"\n", this.display());
    fs::write(&linker, script).map_err(Failure::file(&linker))?;
    tree::set_mode(&linker, 0o755)?;
    let linker = format!("-Clinker={}", linker.display());
    let arguments = [
        &["rustc", "--profile", profile, "--locked"][..],
        &["--package", "pgmeter", "--bin", "pgmeter", "--", &linker],
    ];
    let program = workspace::built(&arguments.concat(), "pgmeter")?;
    if let Ok(reason) = fs::read_to_string(this.with_file_name(REFUSAL)) {
        println!("not laid out, so that it takes more memory: {reason}");
    }
    Ok(program)
}

/// Links as `cc` does with these arguments, and again with what is executed first in front.
///
/// # Errors
/// The program cannot be linked.
pub fn link(arguments: &[String]) -> Result<(), Failure> {
    let place = arguments.iter().position(|it| it == "-o");
    let Some(output) = place.and_then(|place| arguments.get(place + 1)) else {
        return Err(Failure::Usage("a linker is told where to link to".into()));
    };
    let output = Path::new(output);
    let this = std::env::current_exe().map_err(Failure::start("xtask"))?;
    let refusal = this.with_file_name(REFUSAL);
    // The last link's, which stands as long as its program.
    let _ = fs::remove_file(&refusal);
    let linker = linker_directory()?;
    let link_with = |options: &[OsString]| {
        let mut command = Command::new("cc");
        command.args([OsStr::new("-fuse-ld=lld"), &linker]);
        run_tool(command.args(arguments).args(options)).map(drop)
    };
    link_with(&[])?;
    let order = output.with_extension("order");
    if let Err(refused) = write_order(output, &order) {
        return fs::write(&refusal, refused.to_string()).map_err(Failure::file(&refusal));
    }
    let mut by_order = OsString::from("-Wl,--symbol-ordering-file=");
    by_order.push(&order);
    let mut options = vec![by_order, "-Wl,--no-warn-symbol-ordering".into()];
    // Relocations, all of which are read at each start, have a megabyte otherwise.
    options.push("-Wl,-z,pack-relative-relocs".into());
    link_with(&options)?;
    // A C library before glibc 2.36 does not know them.
    if run_tool(Command::new(output).arg("--version")).is_ok() {
        return Ok(());
    }
    options.pop();
    link_with(&options)
}

/// Where the linker is that rustc has with it, which knows such orders.
fn linker_directory() -> Result<OsString, Failure> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let printed = run_tool(Command::new(rustc).args(["--print", "target-libdir"]))?;
    let libraries = PathBuf::from(OsStr::from_bytes(printed.trim_ascii()));
    let mut option = OsString::from("-B");
    option.push(libraries.with_file_name("bin").join("gcc-ld"));
    Ok(option)
}

/// Writes the names of the functions that the program executes, in their order.
fn write_order(program: &Path, order: &Path) -> Result<(), Failure> {
    let scratch = program.with_extension("scratch");
    let scratch = super::emptied(&scratch)?;
    let workload = scratch.join("layout.toml");
    fs::write(&workload, WORKLOAD).map_err(Failure::file(&workload))?;
    let known = functions(program)?;
    let path = |name: &str| scratch.join(name).to_string_lossy().into_owned();
    let (workload, target) = (path("layout.toml"), path(""));
    let (store, page) = (path("layout.db"), path("layout.html"));
    let run = ["run", &workload, "--target", &target];
    // What every run needs comes first, and the store and the page behind it.
    let runs = [
        [&run[..], &["--no-db", "--no-html"]].concat(),
        [&run[..], &["--db", &store, "--html", &page]].concat(),
        vec!["check", &workload],
    ];
    let mut called: Vec<&Function> = Vec::new();
    let mut is_called = HashSet::new();
    for arguments in runs {
        for function in executed(program, &arguments, &known)? {
            if is_called.insert(function.offset) {
                called.push(function);
            }
        }
    }
    let names: Vec<&str> = called.iter().map(|it| it.name.as_str()).collect();
    fs::write(order, names.join("\n") + "\n").map_err(Failure::file(order))?;
    fs::remove_dir_all(&scratch).map_err(Failure::file(&scratch))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its functions are called the other way round than they are written.
    const SOURCE: &str = r#"
__attribute__((noinline)) void never(void) { __asm__(""); }
__attribute__((noinline)) void second(void) { __asm__(""); }
__attribute__((noinline)) void first(void) { __asm__(""); }
int main(int count, char **words) {
    first();
    second();
    if (count > 1000) never();
    return 0;
}
"#;

    #[test]
    fn what_is_executed_lies_in_front_in_its_order() {
        let scratch = end_to_end::Scratch::new().expect("a directory can be made");
        let source = scratch.path().join("program.c");
        let program = scratch.path().join("program");
        fs::write(&source, SOURCE).expect("a file can be written");
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let arguments = [
            "-O1".to_owned(),
            "-ffunction-sections".to_owned(),
            "-o".to_owned(),
            path(&program),
            path(&source),
        ];
        link(&arguments).expect("a compiler and its linker are there");
        if !program.with_extension("order").exists() {
            let this = std::env::current_exe().expect("this is a program");
            let reason = fs::read_to_string(this.with_file_name(REFUSAL)).expect("it says why");
            assert!(reason.contains("EPERM"), "{reason}");
            end_to_end::skip!("nobody may trace here: {reason}");
        }
        let functions = functions(&program).expect("it has its symbols");
        let place = |name: &str| functions.iter().position(|it| it.name == name);
        let (first, second, never) = (place("first"), place("second"), place("never"));
        assert!(
            first.is_some() && first < second && second < never,
            "{functions:?}"
        );
        assert!(link(&[path(&source)]).is_err(), "nobody said where to");
    }
}
