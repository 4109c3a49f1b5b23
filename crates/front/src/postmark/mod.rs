//! PostMark 1.53: its console, the runs that it is asked for as programs, and its report.

mod console;
mod failures;
mod options;
mod report;
#[cfg(test)]
mod tests;
mod text;
mod work;

use crate::ConsoleFront;

pub use text::{pool_text, pool_version};

const NAME: &str = "postmark";

/// PostMark 1.53.
pub const CONSOLE: ConsoleFront = ConsoleFront {
    name: NAME,
    title: "NetApp's small-file benchmark",
    usage: include_str!("usage.txt"),
    play: console::play,
    text: text::of,
    differs: "files that exist already|they are left alone, and creating one of them fails\n\
              lines that begin with `!`|they run a shell only with `--allow-shell`\n",
};
