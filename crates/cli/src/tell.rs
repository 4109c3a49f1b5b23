//! What is said beside results, on standard error.

use std::fmt::Arguments;
use std::io::Write;

/// Says a line. Where nobody reads it any more, nothing is said, and what is done goes on.
macro_rules! tell {
    ($($part:tt)*) => { $crate::tell::line(format_args!($($part)*)) };
}

/// As `tell!`, without a line's end.
macro_rules! tell_text {
    ($($part:tt)*) => { $crate::tell::text(format_args!($($part)*)) };
}

pub(crate) fn line(line: Arguments) {
    text(format_args!("{line}\n"));
}

pub(crate) fn text(text: Arguments) {
    // There is no other place to complain in.
    let _ = std::io::stderr().write_fmt(text);
}
