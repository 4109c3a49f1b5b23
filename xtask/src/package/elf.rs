//! The program's file: its symbols, and the C library that it requires.

use std::ffi::OsStr;
use std::fmt;
use std::path::Path;
use std::process::Command;

use super::platform::sysroot;
use super::tree;
use crate::error::Failure;
use crate::tool::run_tool;

/// Libraries that every system with the GNU C library has.
const C_LIBRARY: [&str; 6] = ["libc", "libm", "libdl", "libpthread", "librt", "ld-linux"];

/// A version of the GNU C library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlibcVersion(pub u32, pub u32);

impl fmt::Display for GlibcVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}.{}", self.0, self.1)
    }
}

/// Copies `program` to `stripped`, and its symbols to `symbols`. gdb and perf find them by a link.
pub fn strip(program: &Path, stripped: &Path, symbols: &Path) -> Result<(), Failure> {
    run_tool(
        objcopy()?
            .args(["--only-keep-debug", "--compress-debug-sections=zlib"])
            .args([program, symbols]),
    )?;
    run_tool(
        objcopy()?
            .args(["--strip-unneeded", "--remove-section=.comment"])
            .args([program, stripped]),
    )?;
    let (directory, name) = (symbols.parent(), symbols.file_name());
    let name = name.map(OsStr::to_string_lossy).unwrap_or_default();
    run_tool(
        objcopy()?
            // The link holds a name without a directory, and objcopy reads the file for its
            // checksum.
            .current_dir(directory.unwrap_or(symbols))
            .arg(format!("--add-gnu-debuglink={name}"))
            .arg(stripped),
    )?;
    tree::set_mode(stripped, 0o755)?;
    // The symbols file is not executable.
    tree::set_mode(symbols, 0o644)
}

/// The compiler's `objcopy`, which also knows other architectures, or else that of binutils.
fn objcopy() -> Result<Command, Failure> {
    let sysroot = sysroot()?;
    let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let own = sysroot.join(format!("lib/rustlib/{host}/bin/rust-objcopy"));
    if !own.is_file() {
        return Ok(Command::new("objcopy"));
    }
    let mut command = Command::new(own);
    // Its library is with the compiler's, where the linker does not look.
    command.env("LD_LIBRARY_PATH", sysroot.join("lib"));
    Ok(command)
}

/// Files of the system that a program cannot start without.
#[derive(Debug)]
pub struct SystemNeeds {
    /// Lowest version of the GNU C library that has all required symbols.
    pub glibc: GlibcVersion,
    /// Libraries that are not part of the C library.
    pub other_libraries: Vec<String>,
}

/// Reads from a program's file what it needs.
pub fn system_needs(program: &Path) -> Result<SystemNeeds, Failure> {
    let readelf = |option: &str| -> Result<String, Failure> {
        let text = run_tool(
            Command::new("readelf")
                .args([option, "--wide"])
                .arg(program),
        )?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    };
    let dynamic = readelf("--dynamic")?;
    let others = needed(&dynamic).filter(|name| !is_c_library(name));
    let glibc = newest(&readelf("--version-info")?).ok_or_else(|| Failure::Output {
        program: "readelf --version-info".to_owned(),
        message: "it names no version of glibc".to_owned(),
    })?;
    Ok(SystemNeeds {
        glibc,
        other_libraries: others.map(str::to_owned).collect(),
    })
}

/// Names of the libraries that the dynamic section lists.
fn needed(dynamic: &str) -> impl Iterator<Item = &str> {
    let lines = dynamic.lines().filter(|line| line.contains("(NEEDED)"));
    lines.filter_map(|line| line.split(['[', ']']).nth(1))
}

fn is_c_library(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name);
    C_LIBRARY.contains(&stem) || stem.starts_with("ld-linux-")
}

/// The newest version of glibc in the version information of a program.
fn newest(version_info: &str) -> Option<GlibcVersion> {
    let words = version_info.split_whitespace();
    let versions = words.filter_map(|word| {
        let (major, minor) = word.strip_prefix("GLIBC_")?.split_once('.')?;
        // Early versions have a third number, which no later version has.
        let minor = minor.split('.').next()?;
        Some(GlibcVersion(major.parse().ok()?, minor.parse().ok()?))
    });
    versions.max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_compared_as_numbers() {
        let text = "\
            0x0010:   Name: GLIBC_2.9  Flags: none  Version: 3\n\
            0x0020:   Name: GLIBC_2.17  Flags: none  Version: 2\n\
            0x0030:   Name: GLIBC_2.2.5  Flags: none  Version: 4\n";
        assert_eq!(newest(text), Some(GlibcVersion(2, 17)));
        assert_eq!(newest("nothing"), None);
    }

    #[test]
    fn other_libraries_than_the_c_library_are_found() {
        let text = "\
            0x1 (NEEDED)  Shared library: [libgcc_s.so.1]\n\
            0x1 (NEEDED)  Shared library: [libc.so.6]\n\
            0x1 (NEEDED)  Shared library: [ld-linux-x86-64.so.2]\n\
            0xe (SONAME)  Library soname: [libother.so]\n";
        let others: Vec<&str> = needed(text).filter(|name| !is_c_library(name)).collect();
        assert_eq!(others, ["libgcc_s.so.1"]);
    }
}
