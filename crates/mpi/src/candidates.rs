//! Candidates for the launcher's MPI library, best first.

use std::fs;
use std::path::{Path, PathBuf};

use crate::launch::{Launch, Launcher};

/// Programs that start ranks on their node, by the file name that `/proc` shows.
// In this order: Open MPI 4, Open MPI 5, MPICH and Intel MPI, Slurm.
const DAEMONS: [&str; 7] = [
    "orterun",
    "orted",
    "prterun",
    "prte",
    "prted",
    "hydra_pmi_proxy",
    "slurmstepd",
];
/// Longest chain of ancestors that is searched: only a few scripts run between a rank and its
/// launcher.
const ANCESTORS_COUNT_MAX: usize = 16;

/// Libraries to try, in order. The dynamic linker searches its own path for names without `/`.
///
/// A library that the user named is the only candidate. Otherwise the libraries next to the
/// launcher, whose program is in `launcher_directory`, come before the system's. With the library
/// of another launcher, each rank would be alone in its own world.
#[must_use]
pub fn candidates(launch: &Launch, launcher_directory: Option<&Path>) -> Vec<PathBuf> {
    if let Some(library) = launch.library() {
        return vec![library.to_path_buf()];
    }
    let names = names(launch.launcher());
    // The launcher is in `PREFIX/bin`, and its library in `PREFIX/lib` or `lib64`. This finds
    // modules, Python wheels and Spack installations without `LD_LIBRARY_PATH`.
    let nearby = launcher_directory
        .and_then(Path::parent)
        .into_iter()
        .flat_map(|prefix| ["lib", "lib64"].map(|name| prefix.join(name)));
    let nearby = nearby.flat_map(|directory| names.iter().map(move |name| directory.join(name)));
    nearby.chain(names.iter().map(PathBuf::from)).collect()
}

/// File names with their major versions; other major versions have other constants.
fn names(launcher: Launcher) -> &'static [&'static str] {
    match launcher {
        Launcher::OpenMpi => &["libmpi.so.40"],
        // Debian's file of MPICH is `libmpich.so.12`.
        Launcher::Hydra => &["libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12"],
        // These launchers do not show which library they belong to.
        Launcher::Slurm | Launcher::Other => &[
            "libmpi_abi.so.1",
            "libmpi.so.40",
            "libmpi.so.12",
            "libmpich.so.12",
            "libmpi_cray.so.12",
        ],
    }
}

/// Directory of the program that started this process: the nearest ancestor known to start ranks,
/// because scripts may run in between, or else the parent. `None` if `/proc` does not show it, for
/// example for a process of another user.
#[must_use]
pub fn launcher_directory() -> Option<PathBuf> {
    let parent = std::os::unix::process::parent_id();
    let ancestors = std::iter::successors(Some(parent), |process| parent_of(*process));
    let programs: Vec<Option<PathBuf>> = ancestors
        .take(ANCESTORS_COUNT_MAX)
        .map(|process| fs::read_link(format!("/proc/{process}/exe")).ok())
        .collect();
    program_of_launcher(&programs)?
        .parent()
        .map(Path::to_path_buf)
}

fn program_of_launcher(programs: &[Option<PathBuf>]) -> Option<&Path> {
    let is_daemon = |program: &&Path| {
        let name = program.file_name().unwrap_or_default();
        DAEMONS.iter().any(|daemon| name == *daemon)
    };
    let daemon = programs
        .iter()
        .flatten()
        .map(PathBuf::as_path)
        .find(is_daemon);
    daemon.or_else(|| programs.first()?.as_deref())
}

fn parent_of(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let parent = status.lines().find_map(|line| line.strip_prefix("PPid:"))?;
    // The first process of a PID namespace has parent 0, which has no directory in `/proc`.
    parent.trim().parse().ok().filter(|parent| *parent != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(variables: &[(&str, &str)]) -> Launch {
        let find = |name: &str| variables.iter().find(|variable| variable.0 == name);
        Launch::from_variables(|name| find(name).map(|variable| variable.1.into())).unwrap()
    }

    fn paths(launch: &Launch, directory: Option<&str>) -> Vec<String> {
        let found = candidates(launch, directory.map(Path::new));
        found
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    }

    #[test]
    fn a_named_library_is_the_only_candidate() {
        let named = launch(&[("PMI_SIZE", "4"), ("PGMETER_LIBMPI", "/x/libmpi.so")]);
        assert_eq!(paths(&named, Some("/opt/mpich/bin")), ["/x/libmpi.so"]);
    }

    #[test]
    fn libraries_near_the_launcher_come_before_those_of_the_system() {
        let open_mpi = launch(&[("OMPI_COMM_WORLD_SIZE", "4")]);
        assert_eq!(
            paths(&open_mpi, Some("/opt/ompi/bin")),
            [
                "/opt/ompi/lib/libmpi.so.40",
                "/opt/ompi/lib64/libmpi.so.40",
                "libmpi.so.40"
            ]
        );
        let hydra = launch(&[("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "4")]);
        let found = paths(&hydra, Some("/opt/mpich/bin"));
        assert_eq!(found.len(), 9);
        assert_eq!(found[0], "/opt/mpich/lib/libmpi_abi.so.1");
        assert_eq!(found[2], "/opt/mpich/lib/libmpich.so.12");
        assert_eq!(
            found[6..],
            ["libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12"]
        );
    }

    #[test]
    fn without_a_known_launcher_all_names_are_tried() {
        let slurm = launch(&[("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "4")]);
        let found = paths(&slurm, None);
        assert_eq!(found.len(), 5);
        assert_eq!(found[..2], ["libmpi_abi.so.1", "libmpi.so.40"]);
    }

    #[test]
    fn a_script_between_launcher_and_rank_is_passed_over() {
        let programs = ["/usr/bin/bash", "/opt/bin/prterun", "/usr/bin/orterun"];
        let programs = programs.map(|path| Some(PathBuf::from(path)));
        assert_eq!(
            program_of_launcher(&programs),
            Some(Path::new("/opt/bin/prterun"))
        );
        let plain = [
            Some(PathBuf::from("/usr/bin/jsrun")),
            None,
            programs[0].clone(),
        ];
        assert_eq!(
            program_of_launcher(&plain),
            Some(Path::new("/usr/bin/jsrun"))
        );
        assert_eq!(program_of_launcher(&[None, programs[0].clone()]), None);
    }

    #[test]
    fn the_parent_of_this_process_is_found() {
        let process = std::process::id();
        assert_eq!(
            parent_of(process),
            Some(std::os::unix::process::parent_id())
        );
        assert!(launcher_directory().is_none_or(|directory| directory.is_absolute()));
    }
}
