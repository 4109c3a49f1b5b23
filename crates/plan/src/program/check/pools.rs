//! Checks the parts of a pool.

use super::super::{FilePool, PoolPart, Program};
use super::InvalidProgram;

/// A pool goes through all of its parts once, in order, each alone in its phase.
pub(super) fn check(program: &Program) -> Result<(), InvalidProgram> {
    let phases = program.phases().into_iter();
    let users = phases.filter(|phase| phase.groups.iter().any(|group| group.pool.is_some()));
    let mut parts = Vec::new();
    for phase in users {
        if phase.groups.len() > 1 {
            let message = format!("`{}` has groups that do not use the pool", phase.name);
            return Err(InvalidProgram::new(message, "put them into another phase"));
        }
        parts.extend(phase.groups.iter().filter_map(|group| group.pool));
    }
    let pool = program.pool.as_deref();
    if parts == pool.map_or(Vec::new(), FilePool::parts) {
        return Ok(());
    }
    let message = "the parts of the pool are not in order, each once";
    let help = "make its directories, fill it, do its transactions, and empty it";
    Err(InvalidProgram::new(message, help))
}

impl FilePool {
    /// The parts of the pool, in order.
    #[must_use]
    pub fn parts(&self) -> Vec<PoolPart> {
        let directories = self.subdirectories_count() > 0;
        let directories = directories.then_some(PoolPart::MakeDirectories);
        let others = [PoolPart::Fill, PoolPart::Transact, PoolPart::Empty];
        directories.into_iter().chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ProgramPart;

    fn program(pool: FilePool) -> Program {
        Program::of_pool(pool, None)
    }

    #[test]
    fn a_pool_program_has_all_its_parts() {
        let flat = program(FilePool::default());
        assert_eq!(flat.check().map(|()| flat.parts.len()).ok(), Some(3));
        let deep = program(FilePool {
            subdirectories: 2,
            ..FilePool::default()
        });
        assert_eq!(deep.check().map(|()| deep.parts.len()).ok(), Some(4));
    }

    #[test]
    fn missing_swapped_or_extra_parts_are_refused() {
        let mut swapped = program(FilePool::default());
        swapped.parts.swap(0, 1);
        assert!(swapped.check().is_err());
        let mut cut = program(FilePool::default());
        cut.parts.pop();
        assert!(cut.check().is_err());
        let mut without = program(FilePool::default());
        without.pool = None;
        assert!(without.check().is_err());
        let mut merged = program(FilePool::default());
        let [ProgramPart::Phase(first), ProgramPart::Phase(second), _] = &mut merged.parts[..]
        else {
            panic!("{:?}", merged.parts);
        };
        first.groups.append(&mut second.groups);
        assert!(merged.check().is_err());
    }
}
