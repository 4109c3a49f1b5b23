//! Calls as text, in the form of strace, which other programs read, too.

use std::ffi::OsString;
use std::fmt::Write as _;

use super::table::{CallArgument, RecordedCall};
use super::tracee::Tracee;

const OPEN_FLAGS: &[(i32, &str)] = &[
    (libc::O_WRONLY, "O_WRONLY"),
    (libc::O_RDWR, "O_RDWR"),
    (libc::O_CREAT, "O_CREAT"),
    (libc::O_EXCL, "O_EXCL"),
    (libc::O_TRUNC, "O_TRUNC"),
    (libc::O_APPEND, "O_APPEND"),
    (libc::O_NONBLOCK, "O_NONBLOCK"),
    (libc::O_DIRECT, "O_DIRECT"),
    (libc::O_DIRECTORY, "O_DIRECTORY"),
    (libc::O_NOFOLLOW, "O_NOFOLLOW"),
    (libc::O_CLOEXEC, "O_CLOEXEC"),
    // It includes the bit of O_DSYNC.
    (libc::O_SYNC, "O_SYNC"),
    (libc::O_DSYNC, "O_DSYNC"),
];
const CLONE_FLAGS: &[(i32, &str)] = &[
    (libc::CLONE_VM, "CLONE_VM"),
    (libc::CLONE_FS, "CLONE_FS"),
    (libc::CLONE_FILES, "CLONE_FILES"),
    (libc::CLONE_VFORK, "CLONE_VFORK"),
    (libc::CLONE_THREAD, "CLONE_THREAD"),
];
const FCNTL_COMMANDS: &[(i32, &str)] = &[
    (libc::F_DUPFD, "F_DUPFD"),
    (libc::F_DUPFD_CLOEXEC, "F_DUPFD_CLOEXEC"),
    (libc::F_GETFD, "F_GETFD"),
    (libc::F_SETFD, "F_SETFD"),
    (libc::F_GETFL, "F_GETFL"),
    (libc::F_SETFL, "F_SETFL"),
    (libc::F_GETLK, "F_GETLK"),
    (libc::F_SETLK, "F_SETLK"),
    (libc::F_SETLKW, "F_SETLKW"),
];

/// The call with its arguments, without the closing parenthesis: `read(3</tmp/a>, ""..., 4096`.
pub(super) fn start(call: &RecordedCall, values: [u64; 6], tracee: &Tracee) -> String {
    let mut text = format!("{}(", call.name);
    for (index, (argument, value)) in call.arguments.iter().zip(values).enumerate() {
        if index > 0 {
            text.push_str(", ");
        }
        push(&mut text, *argument, value, tracee);
    }
    text
}

fn push(text: &mut String, argument: CallArgument, value: u64, tracee: &Tracee) {
    // The kernel looks at the lower 32 bits of descriptors, flags and commands.
    let lower = value as i32;
    match argument {
        CallArgument::Descriptor if lower == libc::AT_FDCWD => {
            text.push_str("AT_FDCWD");
            push_path(text, tracee.working_directory());
        }
        CallArgument::Descriptor => push_descriptor(text, i64::from(lower), tracee),
        CallArgument::Path => match tracee.string(value) {
            Some(path) => {
                text.push('"');
                push_escaped(text, &path, b"\"\\");
                text.push('"');
            }
            None => push_number(text, format_args!("{value:#x}")),
        },
        CallArgument::Data => text.push_str("\"\"..."),
        CallArgument::Number => push_number(text, format_args!("{}", value.cast_signed())),
        CallArgument::Hexadecimal => push_number(text, format_args!("{value:#x}")),
        CallArgument::OpenFlags => {
            // Reading alone has no bit.
            if lower & libc::O_ACCMODE == 0 {
                text.push_str("O_RDONLY|");
            }
            push_flags(text, lower, OPEN_FLAGS);
        }
        CallArgument::CloneFlags => push_flags(text, lower, CLONE_FLAGS),
        CallArgument::CloneFlagsAt => {
            push_flags(text, tracee.number(value).unwrap_or(0) as i32, CLONE_FLAGS);
        }
        CallArgument::FcntlCommand => {
            match FCNTL_COMMANDS.iter().find(|(number, _)| *number == lower) {
                Some((_, name)) => text.push_str(name),
                None => push_number(text, format_args!("{lower}")),
            }
        }
    }
}

/// A descriptor with its path, as of `strace -y`.
pub(super) fn push_descriptor(text: &mut String, number: i64, tracee: &Tracee) {
    push_number(text, format_args!("{number}"));
    push_path(text, tracee.path_of(number));
}

fn push_path(text: &mut String, path: Option<OsString>) {
    if let Some(path) = path {
        text.push('<');
        push_escaped(text, path.as_encoded_bytes(), b"<>\\");
        text.push('>');
    }
}

fn push_number(text: &mut String, number: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(number);
}

fn push_flags(text: &mut String, mut flags: i32, names: &[(i32, &str)]) {
    let start = text.len();
    for (bits, name) in names {
        if *bits != 0 && flags & bits == *bits {
            flags &= !bits;
            text.push_str(name);
            text.push('|');
        }
    }
    match flags {
        0 if text.len() > start || text.ends_with('|') => {
            text.pop();
        }
        rest => push_number(text, format_args!("{rest:#x}")),
    }
}

/// Other bytes than printable ASCII become octal numbers, as do `special` ones.
fn push_escaped(text: &mut String, bytes: &[u8], special: &[u8]) {
    for byte in bytes {
        match byte {
            b' '..=b'~' if !special.contains(byte) => text.push(char::from(*byte)),
            _ => push_number(text, format_args!("\\{byte:03o}")),
        }
    }
}

/// The result of a call, from the closing parenthesis: `) = 3</tmp/a> <0.000012>`.
pub(super) fn end(call: &RecordedCall, result: i64, duration_ns: u64, tracee: &Tracee) -> String {
    let mut text = String::from(") = ");
    match result {
        // The kernel returns errors as negative numbers down to -4095.
        -4095..=-1 => {
            let errno = nix::errno::Errno::from_raw(i32::try_from(-result).unwrap_or_default());
            push_number(&mut text, format_args!("-1 {errno:?} ({})", errno.desc()));
        }
        _ if call.returns_descriptor() => push_descriptor(&mut text, result, tracee),
        _ => push_number(&mut text, format_args!("{result}")),
    }
    let (seconds, ns) = (duration_ns / 1_000_000_000, duration_ns % 1_000_000_000);
    push_number(&mut text, format_args!(" <{seconds}.{ns:09}>"));
    text
}

/// Lines of a trace.
pub(super) struct TraceLines<W: std::io::Write> {
    output: W,
    /// Bytes written.
    pub(super) size_bytes: u64,
}

impl<W: std::io::Write> TraceLines<W> {
    pub(super) fn new(output: W) -> Self {
        Self {
            output,
            size_bytes: 0,
        }
    }

    /// Writes a line: thread, time since the epoch, and text.
    pub(super) fn write(
        &mut self,
        thread: i32,
        time_ns: u64,
        parts: [&str; 2],
    ) -> std::io::Result<()> {
        let (seconds, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
        let [first, second] = parts;
        let line = format!("{thread} {seconds}.{ns:09} {first}{second}\n");
        self.size_bytes += line.len() as u64;
        self.output.write_all(line.as_bytes())
    }

    pub(super) fn flush(&mut self) -> std::io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(value: i32) -> String {
        let mut text = String::new();
        let tracee = Tracee(nix::unistd::Pid::this());
        push(&mut text, CallArgument::OpenFlags, value as u64, &tracee);
        text
    }

    #[test]
    fn flags_are_named_and_unknown_bits_are_numbers() {
        assert_eq!(flags(libc::O_RDONLY), "O_RDONLY");
        assert_eq!(
            flags(libc::O_RDONLY | libc::O_CLOEXEC),
            "O_RDONLY|O_CLOEXEC"
        );
        assert_eq!(flags(libc::O_RDWR | libc::O_CREAT), "O_RDWR|O_CREAT");
        assert_eq!(flags(libc::O_WRONLY | libc::O_SYNC), "O_WRONLY|O_SYNC");
        assert_eq!(flags(libc::O_WRONLY | libc::O_DSYNC), "O_WRONLY|O_DSYNC");
        assert_eq!(flags(libc::O_WRONLY | 1 << 30), "O_WRONLY|0x40000000");
    }

    #[test]
    fn paths_are_escaped_so_that_a_line_stays_one_line() {
        let mut text = String::new();
        push_escaped(&mut text, b"a\"\n\xc3\\<", b"\"\\");
        assert_eq!(text, "a\\042\\012\\303\\134<");
    }

    #[test]
    fn descriptors_have_their_paths() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap().join("a>b");
        let file = std::fs::File::create(&path).unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&file);
        let mut text = String::new();
        push_descriptor(&mut text, number.into(), &Tracee(nix::unistd::Pid::this()));
        let wanted = format!("{number}<{}>", path.display()).replace("a>b", "a\\076b");
        assert_eq!(text, wanted);
    }
}
