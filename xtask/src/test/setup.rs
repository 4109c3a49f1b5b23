//! Prepares the system for all tests, as far as permitted.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

/// A program and the Debian package that contains it.
type Program = (&'static str, &'static str);

/// Programs that tests and benchmarks run.
const PROGRAMS: &[Program] = &[
    ("fio", "fio"),
    ("mkfs.xfs", "xfsprogs"),
    ("mkfs.btrfs", "btrfs-progs"),
    ("mkfs.ext4", "e2fsprogs"),
    ("fusermount3", "fuse3"),
    ("losetup", "mount"),
    ("tmux", "tmux"),
    ("strace", "strace"),
    ("jq", "jq"),
    ("dbench", "dbench"),
    ("fs_mark", "fsmark"),
    ("bonnie++", "bonnie++"),
    ("linux.uml", "user-mode-linux"),
    ("mkfs.nilfs2", "nilfs-tools"),
    ("mkfs.f2fs", "f2fs-tools"),
    ("mkfs.vfat", "dosfstools"),
    ("objcopy", "binutils"),
    ("dpkg-shlibdeps", "dpkg-dev"),
    ("xz", "xz-utils"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
];

/// Programs of the browser lane. They are large and not in every distribution, so they are
/// installed separately.
const BROWSER: &[Program] = &[("chromium", "chromium"), ("node", "nodejs"), ("npm", "npm")];

/// Launchers of two MPI libraries, which can be installed at the same time.
const MPI: &[Program] = &[("mpirun.openmpi", "openmpi-bin"), ("mpirun.mpich", "mpich")];

/// Installs missing programs if possible, removes remains of killed tests, and returns notes for
/// the user.
pub fn prepare() -> Vec<String> {
    let mut notes = Vec::new();
    let swept_count = end_to_end::sweep();
    if swept_count > 0 {
        notes.push(format!(
            "removed {swept_count} directories that killed tests had left"
        ));
    }
    notes.extend(
        [PROGRAMS, BROWSER, MPI]
            .into_iter()
            .filter_map(install_missing),
    );
    notes
}

/// Installs the missing ones of these programs, if possible.
fn install_missing(programs: &[Program]) -> Option<String> {
    let missing = missing_packages(programs);
    if missing.is_empty() {
        return None;
    }
    let list = missing.join(" ");
    Some(if !is_root() {
        format!("note: not root, so `{list}` is not installed; its tests are skipped")
    } else if !is_on_path("apt-get") {
        format!("note: no apt-get, so `{list}` is not installed; its tests are skipped")
    } else if let Err(reason) = install(&missing) {
        format!("note: `{list}` cannot be installed ({reason}); its tests are skipped")
    } else {
        format!("installed {list}")
    })
}

fn missing_packages(programs: &[Program]) -> Vec<&'static str> {
    let missing = programs.iter().filter(|(name, _)| !is_on_path(name));
    // A package may contain several of them.
    let packages: BTreeSet<&str> = missing.map(|(_, package)| *package).collect();
    packages.into_iter().collect()
}

/// `true` if the program can be started by its name.
pub fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // An ordinary user's `PATH` lacks them, but mkfs programs are there.
    let system = ["/usr/sbin", "/sbin"].map(Into::into);
    std::env::split_paths(&path)
        .chain(system)
        .any(|directory| directory.join(program).is_file())
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    // The owner of a process's directory in /proc is the effective user.
    std::fs::metadata(Path::new("/proc/self")).is_ok_and(|metadata| metadata.uid() == 0)
}

fn install(packages: &[&str]) -> Result<(), String> {
    // Packages of an old list may no longer be on the server.
    apt_get(&["update", "-q"])?;
    let options = ["install", "-q", "-y", "--no-install-recommends"];
    apt_get(&[&options[..], packages].concat())
}

fn apt_get(arguments: &[&str]) -> Result<(), String> {
    let status = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("apt-get {}: {status}", arguments[0])),
        Err(error) => Err(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_looked_for_on_the_path() {
        assert!(is_on_path("sh"));
        assert!(!is_on_path("pgmeter-no-such-program"));
    }
}
