//! Handles command lines that clap does not accept.

use clap::error::{ContextKind, ContextValue};
use units::{elide_long_words, printable};

use crate::failure::Exit;
use crate::other_tools::translate;
use crate::suggestions;
use crate::terminal::print_help;

/// Prints the mistake on the command line, or the requested help.
pub(crate) fn print_usage_error(mut error: clap::Error) -> Exit {
    let words = command_words();
    suggestions::amend(&mut error, &words);
    // `translate` follows `amend`, because its suggestions replace all others.
    translate(&mut error, &words);
    if !error.use_stderr() {
        print_help(&error);
        return Exit::Success;
    }
    show_arguments(&mut error);
    // clap would write to standard error without the filter.
    tell_text!("{}", error.render());
    Exit::Usage
}

/// Returns the words of the command line as text.
pub(crate) fn command_words() -> Vec<String> {
    // `args` would panic, because file names need not be UTF-8.
    let words = std::env::args_os();
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect()
}

/// Keeps each argument that an error quotes on a single line.
fn show_arguments(error: &mut clap::Error) {
    // A line break in an argument could otherwise forge a message.
    let text = |text: &String| printable(&elide_long_words(text)).into_owned();
    let shown = |(kind, value): (ContextKind, &ContextValue)| match value {
        ContextValue::String(it) => Some((kind, ContextValue::String(text(it)))),
        ContextValue::Strings(all) => {
            let all = all.iter().map(text).collect();
            Some((kind, ContextValue::Strings(all)))
        }
        // Tips quote arguments, too, with styles in between.
        ContextValue::StyledStrs(all) => {
            let all = all.iter().map(|it| text(&it.to_string()).into()).collect();
            Some((kind, ContextValue::StyledStrs(all)))
        }
        _ => None,
    };
    let shown: Vec<_> = error.context().filter_map(shown).collect();
    for (kind, value) in shown {
        error.insert(kind, value);
    }
}
