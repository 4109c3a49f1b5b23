//! Programs that do not come from tables.

use plan::program::{Group, Program};
use plan::{Diagnostic, FrontOrigin};

/// A program converted from another program's arguments or file.
#[derive(Debug, Clone, PartialEq)]
pub struct ConvertedProgram {
    /// Source of the conversion.
    pub origin: FrontOrigin,
    /// The converted program.
    pub program: Program,
    /// `true` if its files lie among a user's other files. As in the original programs, there is no
    /// check beforehand whether they fit.
    pub is_in_place: bool,
    /// `true` if all data read is compared with the data written.
    pub is_checked: bool,
    /// Helps in the other program's words.
    pub own_helps: OwnHelps,
}

impl ConvertedProgram {
    /// A program in a work directory, whose data is not checked and which no front converted.
    #[must_use]
    pub fn of(program: Program) -> Self {
        Self {
            origin: FrontOrigin::default(),
            program,
            is_in_place: false,
            is_checked: false,
            own_helps: OwnHelps::default(),
        }
    }

    /// Sets the number of workers that work at the same time. If every group has its own number,
    /// all are multiplied, because their proportions are part of the work; otherwise the groups
    /// without a number get the requested one when they are planned.
    ///
    /// # Errors
    /// If the number is not a multiple of the program's own.
    pub(crate) fn set_workers(&mut self, wanted: u32) -> Result<(), Diagnostic> {
        let mut phases = self.program.phases_mut();
        // Hidden phases prepare files for all workers.
        phases.retain(|phase| !phase.is_hidden);
        let mut groups = phases.iter().flat_map(|phase| &phase.groups);
        if groups.any(|group| group.workers.is_none()) {
            return Ok(());
        }
        let counts = phases
            .iter()
            .map(|phase| phase.groups.iter().map(Group::worker_count).sum());
        let most = counts.max().unwrap_or(0).max(1);
        if !wanted.is_multiple_of(most) {
            let message = format!(
                "`workers` is {wanted}, but there are {most}, and they can only be multiplied"
            );
            return Err(Diagnostic::error("", message).help(format!("use a multiple of {most}")));
        }
        for group in phases.into_iter().flat_map(|phase| &mut phase.groups) {
            let multiplied = group.worker_count().saturating_mul(wanted / most);
            group.workers = Some(multiplied);
        }
        Ok(())
    }
}

/// A part of a help of pgmeter, with another program's own help that replaces the whole help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnHelps(pub &'static [(&'static str, &'static str)]);

impl OwnHelps {
    /// The own help that replaces `help`, if there is one.
    #[must_use]
    pub fn find(self, help: &str) -> Option<&'static str> {
        let mut all = self.0.iter();
        all.find(|(part, _)| help.contains(part)).map(|it| it.1)
    }

    /// The help of a program's check in the other program's words. Without an own help, it is empty
    /// if it names keys of workload files, which the user did not write.
    pub(crate) fn reword(self, help: String) -> String {
        match self.find(&help) {
            Some(own) => own.to_owned(),
            None if help.contains('`') => String::new(),
            None => help,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helps_with_keys_of_workload_files_are_replaced_or_left_out() {
        let own = OwnHelps(&[("`piece = ", "use a smaller `-t`")]);
        let reword = |help: &str| own.reword(help.to_owned());
        assert_eq!(reword("write `piece = \"1MiB\"`"), "use a smaller `-t`");
        assert_eq!(reword("write a `count` in that range"), "");
        assert_eq!(reword("use a smaller size"), "use a smaller size");
    }
}
