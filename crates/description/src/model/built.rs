//! Programs that were not written as tables.

use plan::FrontOrigin;
use plan::program::Program;

/// A program that another program's arguments or file stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct BuiltProgram {
    /// Where it comes from.
    pub origin: FrontOrigin,
    /// What is done.
    pub program: Program,
    /// Whether its files lie among those of others: as with programs of old, nobody looks
    /// beforehand whether there is room for them.
    pub is_in_place: bool,
    /// Whether all that is read is compared with what was written.
    pub is_checked: bool,
}
