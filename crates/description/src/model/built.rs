//! Programs that do not come from tables.

use plan::FrontOrigin;
use plan::program::Program;

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
}
