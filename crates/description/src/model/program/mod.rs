//! Work on many files in tables of the workload's own: filesets, ways, phases, rounds.
//!
//! What stands here are names; numbers take their place when it is resolved to a program.

mod act;
mod amount;
mod fileset;
mod law;
mod phase;
mod pick;
mod tokens;

pub use act::{ActChoice, ActTable, ActWord, BranchTable};
pub use amount::{AmountChoice, PlaceChoice, PlaceTable};
pub use fileset::{FilesetTable, GrownTable, NestedTable, WayTable};
pub use law::{BandTable, LawChoice, LawTable, LawUnit, Mean};
pub use phase::{BeforeChoice, GroupTable, PhaseTable, RoundsTable};
pub use pick::PickChoice;
pub use tokens::TokensTable;
