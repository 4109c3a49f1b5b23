//! Waits for other processes: the semaphores, and the phases that wait.

use std::path::PathBuf;

use plan::program::{PhasePreparation, Program, ProgramPart};

use super::options::{BonnieOptions, PhaseWait};
use super::phases::{LARGE_FILE_PHASES, SMALL_FILE_PHASES};
use crate::SemaphoreTask;

/// Key of the original's semaphores, so that its processes and pgmeter's wait for each other.
const SEMAPHORE_KEY: i32 = 4711;
/// One semaphore for each phase.
const SEMAPHORES: u16 = (LARGE_FILE_PHASES.len() + SMALL_FILE_PHASES.len()) as u16;

/// Makes each measured phase wait for other processes, as the last thing before it starts.
pub(super) fn add(program: &mut Program, waiting: PhaseWait) {
    let names: Vec<&str> = [LARGE_FILE_PHASES, SMALL_FILE_PHASES].concat();
    for part in &mut program.parts {
        let ProgramPart::Phase(phase) = part else {
            continue;
        };
        // Phases that only remove files have no number in the original.
        if let Some(index) = names.iter().position(|it| *it == phase.name) {
            let number = index as u16;
            phase.before.push(match waiting {
                PhaseWait::Semaphores => PhasePreparation::Semaphore {
                    key: SEMAPHORE_KEY,
                    number,
                },
                PhaseWait::Prompt => PhasePreparation::Prompt { number },
            });
        }
    }
}

/// The directory to work in, which only one process may use. The original's processes wait for
/// each other in a common directory, so these get their own directories in it.
pub(super) fn directory(options: &BonnieOptions) -> PathBuf {
    let directory = PathBuf::from(&options.directory);
    match options.waiting {
        Some(_) => directory.join(format!("Bonnie.{}", std::process::id())),
        None => directory,
    }
}

/// Creates semaphores for this number of processes, or removes them if it is negative.
pub(super) fn semaphores(processes: i32) -> SemaphoreTask {
    let processes = u16::try_from(processes).ok();
    SemaphoreTask {
        key: SEMAPHORE_KEY,
        count: SEMAPHORES,
        processes,
        text: match processes {
            Some(count) => format!("Creating semaphore for {count} procs.\n"),
            None => "Semaphore removed.\n".to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::draws::BonnieRandom;
    use super::super::phases::program;
    use super::*;

    #[test]
    fn each_measured_phase_has_its_own_number() {
        let line = ["-r", "0", "-s", "1", "-n", "1", "-f", "-y", "s"].map(str::to_owned);
        let options = BonnieOptions::read(&line, 0).unwrap();
        let mut program = program(&options, &BonnieRandom::new(&options, Vec::new()));
        add(&mut program, options.waiting.unwrap());
        assert!(program.check().is_ok(), "{:?}", program.check());
        let last = |phase: &plan::program::ProgramPhase| phase.before.last().copied();
        let phases = program.phases().into_iter();
        let numbers: Vec<u16> = phases
            .filter_map(|phase| match last(phase)? {
                PhasePreparation::Semaphore { key: 4711, number } => Some(number),
                other => panic!("{}: {other:?}", phase.name),
            })
            .collect();
        // The phases of single bytes, 0 and 3, are skipped.
        assert_eq!(numbers, [1, 2, 4, 5, 6, 7, 8, 9, 10, 11]);
        let created = semaphores(3);
        assert_eq!((created.count, created.processes), (12, Some(3)));
        assert_eq!(semaphores(-1).processes, None);
    }
}
