//! Detects from the environment whether an MPI launcher started this process.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

/// The environment variable that names the library to open.
pub const LIBRARY_VARIABLE: &str = "PGMETER_LIBMPI";

/// A program that starts ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun` of Open MPI.
    OpenMpi,
    /// `mpirun` or `mpiexec` of MPICH, Intel MPI and other MPICH derivatives.
    Hydra,
    /// `srun` of Slurm.
    Slurm,
    /// Another launcher that uses PMI or PMIx.
    Other,
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenMpi => "Open MPI",
            Self::Hydra => "Hydra of MPICH or Intel MPI",
            Self::Slurm => "Slurm's `srun`",
            Self::Other => "a launcher with PMI",
        })
    }
}

/// Launch parameters that the launcher passed in the environment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    launcher: Launcher,
    ranks_count: Option<usize>,
    rank: Option<usize>,
    library: Option<PathBuf>,
}

impl Launch {
    /// Reads this process's environment; `None` if no launcher started the process.
    ///
    /// A child process of a rank inherits the rank's environment but is not a rank itself.
    #[must_use]
    pub fn from_environment() -> Option<Launch> {
        Launch::from_variables(|name| std::env::var_os(name))
    }

    /// Reads the variables through `lookup`; `None` if no launcher set any.
    ///
    /// Some launchers start their daemons through another launcher, whose variables are then set
    /// too. An `mpirun` within Slurm therefore takes precedence over Slurm.
    pub fn from_variables(lookup: impl Fn(&str) -> Option<OsString>) -> Option<Launch> {
        let number = |name: &&str| lookup(name)?.to_str()?.trim().parse::<usize>().ok();
        let first = |names: &[&str]| names.iter().find_map(number);
        let launcher = launcher(|name| lookup(name).is_some_and(|value| !value.is_empty()))?;
        let (counts, ranks): (&[&str], &[&str]) = match launcher {
            Launcher::OpenMpi => (&["OMPI_COMM_WORLD_SIZE"], &["OMPI_COMM_WORLD_RANK"]),
            Launcher::Slurm => (
                &["PMI_SIZE", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
                &["SLURM_PROCID"],
            ),
            Launcher::Hydra | Launcher::Other => (&["PMI_SIZE"], &["PMI_RANK", "PMIX_RANK"]),
        };
        Some(Launch {
            launcher,
            ranks_count: first(counts).filter(|count| *count > 0),
            rank: first(ranks),
            library: lookup(LIBRARY_VARIABLE)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from),
        })
    }

    /// Launcher of this process.
    #[must_use]
    pub fn launcher(&self) -> Launcher {
        self.launcher
    }

    /// Number of ranks according to the launcher; `None` if the launcher does not set it. A single
    /// rank has no peer and needs no library.
    #[must_use]
    pub fn rank_count(&self) -> Option<usize> {
        self.ranks_count
    }

    /// Rank of this process according to the launcher, from 0; `None` if the launcher does not set
    /// it. Unlike MPI's own rank, it is correct even with the wrong library, which makes every
    /// process rank 0. So the process with rank 0 here can report the error for all.
    #[must_use]
    pub fn rank(&self) -> Option<usize> {
        self.rank
    }

    /// Path of the library that the user named in `PGMETER_LIBMPI`.
    #[must_use]
    pub fn library(&self) -> Option<&Path> {
        self.library.as_deref()
    }
}

fn launcher(is_set: impl Fn(&str) -> bool) -> Option<Launcher> {
    const HYDRA: [&str; 3] = ["HYDI_CONTROL_FD", "I_MPI_HYDRA_UUID", "MPI_LOCALNRANKS"];
    const OTHER: [&str; 4] = ["PMI_SIZE", "PMI_RANK", "PMI_FD", "PMIX_RANK"];
    // Open MPI also sets PMIx variables, so it is checked first.
    if is_set("OMPI_COMM_WORLD_SIZE") {
        return Some(Launcher::OpenMpi);
    }
    let has_pmi = OTHER.into_iter().any(&is_set);
    if has_pmi && HYDRA.into_iter().any(&is_set) {
        return Some(Launcher::Hydra);
    }
    // A batch script outside of `srun` has a `SLURM_PROCID` too, but it is not a task of a step.
    if is_set("SLURM_PROCID") && (has_pmi || is_set("SLURM_STEP_NUM_TASKS")) {
        return Some(Launcher::Slurm);
    }
    has_pmi.then_some(Launcher::Other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch(variables: &[(&str, &str)]) -> Option<Launch> {
        let find = |name: &str| variables.iter().find(|variable| variable.0 == name);
        Launch::from_variables(|name| find(name).map(|variable| variable.1.into()))
    }

    fn detected(variables: &[(&str, &str)]) -> Option<(Launcher, Option<usize>, Option<usize>)> {
        launch(variables).map(|it| (it.launcher(), it.rank_count(), it.rank()))
    }

    const BATCH: [(&str, &str); 4] = [
        ("SLURM_JOB_ID", "12"),
        ("SLURM_NTASKS", "64"),
        ("SLURM_PROCID", "0"),
        ("SLURM_TASK_PID", "7"),
    ];

    #[test]
    fn without_a_launcher_there_is_no_launch() {
        assert_eq!(launch(&[]), None);
        assert_eq!(launch(&[(LIBRARY_VARIABLE, "libmpi.so.40")]), None);
        assert_eq!(launch(&[("MPI_LOCALNRANKS", "4")]), None);
        assert_eq!(launch(&[("OMPI_COMM_WORLD_SIZE", "")]), None);
    }

    #[test]
    fn open_mpi_is_recognized_by_its_own_variables() {
        let variables = [
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("PMIX_RANK", "3"),
        ];
        assert_eq!(
            detected(&variables),
            Some((Launcher::OpenMpi, Some(4), Some(3)))
        );
    }

    #[test]
    fn hydra_is_recognized_by_pmi_and_its_own_variable() {
        for own in ["HYDI_CONTROL_FD", "I_MPI_HYDRA_UUID", "MPI_LOCALNRANKS"] {
            let variables = [("PMI_SIZE", "8"), ("PMI_RANK", "0"), (own, "5")];
            assert_eq!(
                detected(&variables),
                Some((Launcher::Hydra, Some(8), Some(0)))
            );
        }
    }

    #[test]
    fn a_batch_script_is_not_a_launch() {
        assert_eq!(launch(&BATCH), None);
        assert_eq!(launch(&BATCH[..2]), None);
        let interactive = [("SLURM_NTASKS", "4"), ("SLURM_STEP_NUM_TASKS", "4")];
        assert_eq!(launch(&interactive), None);
    }

    #[test]
    fn srun_is_a_launch_with_the_size_of_its_step() {
        let step = [
            ("SLURM_STEP_NUM_TASKS", "4"),
            ("SLURM_PROCID", "2"),
            BATCH[1],
        ];
        assert_eq!(detected(&step), Some((Launcher::Slurm, Some(4), Some(2))));
        let old = [("PMI_FD", "5"), ("SLURM_PROCID", "2"), BATCH[1]];
        assert_eq!(detected(&old), Some((Launcher::Slurm, Some(64), Some(2))));
    }

    #[test]
    fn an_mpirun_within_slurm_is_the_launcher() {
        let open_mpi = [("OMPI_COMM_WORLD_SIZE", "4"), ("PMIX_RANK", "1")];
        let variables = [&BATCH[..], &open_mpi].concat();
        assert_eq!(launch(&variables).unwrap().launcher(), Launcher::OpenMpi);
        let hydra = [("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "2")];
        let variables = [&BATCH[..], &hydra].concat();
        assert_eq!(detected(&variables), Some((Launcher::Hydra, Some(4), None)));
    }

    #[test]
    fn an_unknown_launcher_may_omit_the_number_of_ranks() {
        let variables = [("PMIX_RANK", "1")];
        assert_eq!(detected(&variables), Some((Launcher::Other, None, Some(1))));
        let none = [("PMI_SIZE", "0"), ("PMI_RANK", "x")];
        assert_eq!(detected(&none), Some((Launcher::Other, None, None)));
    }

    #[test]
    fn the_library_variable_names_the_library() {
        let with = |path| launch(&[("PMI_SIZE", "2"), (LIBRARY_VARIABLE, path)]).unwrap();
        assert_eq!(
            with("/opt/libmpi.so").library(),
            Some(Path::new("/opt/libmpi.so"))
        );
        assert_eq!(with("").library(), None);
    }
}
