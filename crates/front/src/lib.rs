//! Fronts: other programs' arguments and files as programs of work on files, and their texts as
//! functions of a record.
//!
//! A front is one line of the [table](FRONTS) and one folder, and nothing outside of them knows
//! its name. To add one, write
//!
//! - `arguments`: from a [`CommandLine`] to [`FrontWork`], or an [`ArgumentError`]. Whatever else
//!   it asks about (a file that an option names, the machine's memory) comes by the command line,
//!   whose [`FileAccess`] alone opens files and reads variables, so it is pure. What the original
//!   does and we do not is a [`Difference`], never silence. A
//!   `Grammar` of the module `options` reads a table of options.
//! - `file`, if the program has files of work: [`FileFront::detect`] knows one by its first bytes,
//!   [`FileFront::read`] makes the same [`FrontWork`] of it.
//! - `text`: a [`ClassicText`] of a [`FrontOrigin`], that is of the arguments as the plan
//!   remembers them. [`ClassicText::event`] is what is printed while things happen;
//!   [`ClassicText::end`] is what is printed behind, from the record alone, so that a stored run
//!   can be printed again. The programs with their labels are in the record's plan.
//!
//! A program that is talked to has a line in the table of [consoles](CONSOLES): it reads lines by a
//! [`Console`], and every run that they ask for is [`FrontWork`] of its own.
//!
//! A [`FrontWork`] has a cell for each program that is run, one after the other: [`cell`] makes
//! one, and whatever else a workload can say (engine, cache, workers, seed, content) is said in it.
//! Groups that do not say how many workers they have get as many as their cell says. The first of
//! a program's ways is that of calls which say none; a program has at least one.

mod acts;
mod bonnie;
mod command_line;
mod console;
mod create_remove;
mod cursor;
mod dbench;
mod figures;
mod file_access;
mod filebench;
pub mod fio;
mod front;
mod fs_mark;
#[cfg(test)]
mod hostile;
mod io500;
mod ior;
mod iozone;
mod lat_fs;
mod mdtest;
mod options;
mod postmark;
mod printed;
mod random;
mod recording;
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
mod windows;
mod work;

pub use command_line::CommandLine;
pub use console::{Console, ConsoleFront};
pub use description::classics::Refusal;
pub use file_access::{FILE_BYTES_MAX, FileAccess, FileScript, OfferedFiles};
pub use front::{ArgumentError, FileFront, Front};
pub use plan::FrontOrigin;
pub use postmark::{pool_text, pool_version};
pub use printed::{table_text, text};
pub use table::{CONSOLES, FRONTS, detect, find, find_console};
pub use text::{ClassicText, TableText};
pub use work::{Difference, DifferenceKind, FrontFile, FrontWork, MadePart, Placement, cell};
