//! Reads lines like the original.

use std::io::{self, BufRead};

/// Longest line in bytes, including its line break. The rest of a longer line is a new line.
pub(super) const LINE_BYTES_MAX: usize = 254;

/// The next line of a script or of the prompt; `None` at the end.
///
/// The last byte is always dropped, so a last line without a line break loses a character. A zero
/// byte ends the line.
///
/// # Errors
/// Reading the input fails; interruptions are retried.
pub fn next_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    while line.len() < LINE_BYTES_MAX {
        let available = match input.fill_buf() {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if available.is_empty() {
            break;
        }
        let room = available.len().min(LINE_BYTES_MAX - line.len());
        let line_break = available[..room].iter().position(|byte| *byte == b'\n');
        let taken = line_break.map_or(room, |at| at + 1);
        line.extend_from_slice(&available[..taken]);
        input.consume(taken);
        if line_break.is_some() {
            break;
        }
    }
    if line.is_empty() {
        return Ok(None);
    }
    // The original handles lines as C strings, which end at a zero byte.
    let zero = line.iter().position(|byte| *byte == 0);
    line.truncate(zero.unwrap_or(line.len()));
    line.pop();
    Ok(Some(line))
}
