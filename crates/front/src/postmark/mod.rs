//! PostMark 1.53: its console, whose runs become programs, and its report.

mod console;
mod failures;
mod language;
mod options;
mod report;
#[cfg(test)]
mod tests;
mod text;
mod work;

use crate::{ConsoleFront, FileFront};

pub use text::{pool_text, pool_version};

const NAME: &str = "postmark";

/// Console of PostMark 1.53.
pub const CONSOLE: ConsoleFront = ConsoleFront {
    name: NAME,
    title: "Runs transactions on many small files, as on a mail or news server",
    usage: include_str!("usage.txt"),
    run: console::play,
    text: text::of,
    difference_table: "\
              files that exist already|they are not changed, and creating one of them fails\n\
              lines that begin with `!`|they run a shell only with `--allow-shell`\n",
};

/// PostMark scripts as a kind of workload file.
pub const SCRIPT: FileFront = FileFront {
    name: NAME,
    kind: "PostMark script",
    detect: language::looks_like_script,
    extensions: &[".pm"],
    read: language::read,
};
