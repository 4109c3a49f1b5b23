//! Where open files are read and written, by all calls on them alike.

use super::super::{Group, Program, Way, Where};
use super::ProgramFlaw;

impl Program {
    /// A way in which a group opens files under a handle, the first that it names.
    #[must_use]
    pub fn way_of(&self, group: &Group, handle: u8) -> Option<&Way> {
        let calls = group.calls().into_iter();
        let mut opens = calls.filter(|call| call.operation.opens() && call.handle == handle);
        self.ways.get(usize::from(opens.next()?.way))
    }
}

/// Where a file stands is known when all that opens, reads and writes it goes by that.
pub(super) fn check(program: &Program, group: &Group) -> Result<(), ProgramFlaw> {
    for call in group.calls() {
        let Some(way) = program.way_of(group, call.handle) else {
            continue;
        };
        let own = program.ways.get(usize::from(call.way)).unwrap_or(way);
        let is_other = own.seeks != way.seeks || own.unit_bytes != way.unit_bytes;
        if call.operation.opens() && is_other {
            let message = format!(
                "the ways `{}` and `{}` under one handle seek and divide requests differently",
                way.name, own.name
            );
            let help =
                "write the same `seek` and `unit` in both, or give one a `handle` of its own";
            return Err(ProgramFlaw::new(message, help));
        }
        if way.unit_bytes > 0 && call.operation.moves() && call.place != Where::Here {
            let message = format!(
                "`{}` by the way `{}` goes elsewhere in the file, but `unit` goes on where it \
                 stands",
                call.operation.name(),
                way.name
            );
            return Err(ProgramFlaw::new(message, "leave `at` or `unit` out"));
        }
    }
    Ok(())
}
