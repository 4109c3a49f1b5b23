//! Reads the results of other programs, recognized by their content.
//!
//! A reader takes the numbers that the program printed, in base units. It does not touch a file,
//! and it does not derive what the text does not state. A text that ends early or has an unexpected
//! line is refused with that line.

mod bonnie;
mod dbench;
mod draft;
mod elbencho;
mod figures;
mod fio;
mod fs_mark;
mod io500;
mod iometer;
mod ior;
mod iozone;
mod json;
mod mdtest;
mod phoronix;
mod postmark;
mod smallfile;
mod source;
mod sysbench;
mod table;

pub use table::{ImportFormat, formats, programs, read, recognize};
