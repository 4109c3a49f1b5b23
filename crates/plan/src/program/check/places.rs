//! Checks that all calls on an open file agree on how positions are handled.

use super::super::{CallPosition, Group, OpenModePlan, Program};
use super::InvalidProgram;

impl Program {
    /// The way in which a group opens files under a handle: the first one that it names.
    #[must_use]
    pub fn way_of(&self, group: &Group, handle: u8) -> Option<&OpenModePlan> {
        let calls = group.calls().into_iter();
        let mut opens = calls.filter(|call| call.operation.opens() && call.handle == handle);
        self.ways.get(usize::from(opens.next()?.way))
    }
}

/// The file offset is only known if all calls that open, read and write the file use the same way.
pub(super) fn check(program: &Program, group: &Group) -> Result<(), InvalidProgram> {
    for call in group.calls() {
        let Some(mode) = program.way_of(group, call.handle) else {
            continue;
        };
        let own = program.ways.get(usize::from(call.way)).unwrap_or(mode);
        let is_other = own.seeks != mode.seeks || own.unit_bytes != mode.unit_bytes;
        if call.operation.opens() && is_other {
            let message = format!(
                "the ways `{}` and `{}` under one handle seek and divide requests differently",
                mode.name, own.name
            );
            let help = "write the same `seek` and `unit` in both, or give one its own `handle`";
            return Err(InvalidProgram::new(message, help));
        }
        if mode.unit_bytes > 0 && call.operation.moves() && call.place != CallPosition::Here {
            let message = format!(
                "`{}` by the way `{}` uses its own position in the file, but `unit` needs the \
                 file offset",
                call.operation.name(),
                mode.name
            );
            return Err(InvalidProgram::new(message, "leave `at` or `unit` out"));
        }
    }
    Ok(())
}
