//! Fronts read other programs' arguments and files as programs of file operations. They also print
//! those programs' output from a record.
//!
//! A front is one line of the [table](FRONTS) and one folder; no other code knows its name. To add
//! one, write
//!
//! - `arguments`: from a [`CommandLine`] to [`FrontWork`], or an [`ArgumentError`]. All other input
//!   (a file that an option names, the machine's memory) comes from the command line. Only its
//!   [`FileAccess`] opens files and reads variables, so the function is pure. Every deviation from
//!   the original is reported as a [`OriginalDifference`]. A `Grammar` of the module `options`
//!   reads a table of options.
//! - `file`, if the program has workload files: [`FileFront::detect`] recognizes one by its first
//!   bytes, and [`FileFront::read`] returns the same [`FrontWork`]. A program that only has files
//!   gets a line in the table of files, next to pgmeter's own kinds.
//! - `text`: a [`ClassicText`] of a [`FrontOrigin`], which holds the arguments that the plan
//!   remembers. [`ClassicText::event`] prints during the run. [`ClassicText::end`] prints the rest
//!   from the record alone, so a stored run can be printed again. The record's plan contains the
//!   programs with their labels.
//!
//! An interactive program has a line in the table of [consoles](CONSOLES). It reads lines through a
//! [`Console`], and each run that they request is separate [`FrontWork`].
//!
//! A [`FrontWork`] has one cell per program, and the cells run one after the other. [`cell`] makes
//! one. It is a workload, so it can also set engine, cache, workers, seed and content. Groups
//! without a number of workers use the cell's number. A program has at least one way of opening,
//! and calls that name none use the first.

mod acts;
mod bonnie;
mod command_line;
mod console;
mod create_remove;
mod cursor;
mod dbench;
mod figures;
mod file;
mod file_access;
mod filebench;
pub mod fio;
mod front;
mod fs_mark;
mod getopt;
#[cfg(test)]
mod hostile_names;
pub mod icf;
mod io500;
mod ior;
mod iozone;
mod lat_fs;
mod mdtest;
mod options;
mod others;
mod postmark;
mod printed;
mod random;
#[cfg(test)]
mod repeated_tests;
mod rows;
mod scanning;
mod smallfile;
mod space;
mod table;
#[cfg(test)]
mod tests;
mod text;
mod tokens;
mod usage;
mod windows;
mod work;
mod workload_file;

pub use command_line::CommandLine;
pub use console::{Console, ConsoleFront};
pub use file::{FileFront, FrontFile, LoadOptions};
pub use file_access::{AllowedDirectories, FILE_BYTES_MAX, FileAccess, VirtualFiles};
pub use front::{ArgumentError, Front, Refusal, SemaphoreTask};
pub use plan::FrontOrigin;
pub use postmark::{pool_text, pool_version};
pub use printed::{table_text, text};
pub use table::{CONSOLES, FRONTS, detect, file_kinds, find, find_console, load};
pub use text::{ClassicText, TableText};
pub use work::{CreateMissing, DifferenceKind, FilePlacement, FrontWork, OriginalDifference, cell};
