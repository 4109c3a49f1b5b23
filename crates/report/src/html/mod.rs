//! Building blocks of pages. Each page is a single HTML file that needs no network and no web
//! fonts. It supports dark and light mode, print and phones.
//!
//! Rust code determines all texts and the contents of charts. The page's script draws the charts
//! with [uPlot], and reveals other parts on demand. Without the script, tables are still visible,
//! except on pages with many cells.
//!
//! [uPlot]: https://github.com/leeoniya/uPlot

mod bar;
mod command;
pub(crate) mod compressed;
mod sentence;
mod shell;
mod table;

pub(crate) use bar::{BarInterval, axis_max, bar, within_run_note};
pub(crate) use command::{again, command_block, command_line};
pub(crate) use compressed::{opening, waiting};
pub(crate) use sentence::sentence;
pub(crate) use shell::shell;
pub use shell::{page_charts, page_policy, page_style, site_policy, small_page};
pub(crate) use table::{below_heading, frame, pairs, pairs_below_heading, plain, table};
