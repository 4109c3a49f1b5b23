//! Open files of the traced processes: paths and positions that calls leave out.

use std::borrow::Cow;
use std::collections::HashMap;

use super::call::{CallText, descriptor, signed, string};
use crate::event::{CallKind, TracedCall, TracedOpen};
use crate::names::{NameId, TraceNames};

/// Limit of memory. Descriptors beyond it stay unknown.
const DESCRIPTORS_MAX: usize = 1 << 14;

/// Open files of all processes.
#[derive(Debug, Default)]
pub(super) struct TracedDescriptors {
    /// Table of descriptors by thread; threads of one process share a table. Threads that are
    /// missing share table 0.
    tables: HashMap<u32, u32>,
    table_count: u32,
    /// Index of a description by table and descriptor; duplicates share it.
    descriptors: HashMap<(u32, i64), usize>,
    descriptions: Vec<OpenDescription>,
    /// Working directories by table, as far as calls show them.
    directories: HashMap<u32, Vec<u8>>,
}

/// An open file description.
#[derive(Debug, Clone, Copy)]
struct OpenDescription {
    path: NameId,
    /// `None` if unknown, as after an append.
    position_bytes: Option<u64>,
    is_append: bool,
}

/// Where a call has its offset.
enum OffsetSource {
    /// The position of the file, which the call moves.
    Position,
    /// Number of the argument.
    Argument(usize),
}

impl TracedDescriptors {
    /// Adds the file and the offset to a call, and follows its effect.
    pub(super) fn follow(
        &mut self,
        text: &CallText<'_>,
        call: &mut TracedCall,
        names: &mut TraceNames,
    ) {
        match call.kind {
            CallKind::Open => self.open(text, call, names),
            CallKind::Close => {
                call.file = self.file_of(text.argument(0), call.thread, names);
                if let Some(number) = descriptor(text.argument(0)).0
                    && call.result == Some(0)
                {
                    self.descriptors.remove(&(self.table(call.thread), number));
                }
            }
            CallKind::Read | CallKind::Write => self.transfer(text, call, names),
            CallKind::Seek => {
                call.file = self.file_of(text.argument(0), call.thread, names);
                let position = call.result.and_then(|it| u64::try_from(it).ok());
                let found = self.description(text.argument(0), call.thread);
                // A failed call leaves the position, and `_llseek` returns it elsewhere.
                if let Some(description) = found
                    && call.result != Some(-1)
                {
                    let is_returned = text.name == b"lseek";
                    description.position_bytes = position.filter(|_| is_returned);
                }
            }
            CallKind::Other => {
                if takes_path(text.name) {
                    let path = self.path(text, 0, call.thread);
                    call.file = names.id(&path.unwrap_or_default());
                }
                self.other(text, call);
            }
            _ => {
                let first = text.argument(0);
                call.file = match self.path(text, 0, call.thread) {
                    Some(path) => names.id(&path),
                    None => self.file_of(first, call.thread, names),
                };
                if call.kind == CallKind::Rename {
                    let begin = if string(first).is_some() { 1 } else { 2 };
                    let second = self.path(text, begin, call.thread);
                    call.second_file = second.map(|path| names.id(&path)).unwrap_or_default();
                }
                if matches!(text.name, b"truncate" | b"ftruncate") {
                    let size = signed(text.argument(1));
                    call.offset_bytes = size.and_then(|it| u64::try_from(it).ok());
                }
            }
        }
    }

    /// The path in the argument `first` or, after a directory, in the next one. A relative path
    /// becomes an absolute one if the directory is known.
    fn path<'a>(
        &mut self,
        text: &CallText<'a>,
        first: usize,
        thread: u32,
    ) -> Option<Cow<'a, [u8]>> {
        if let Some(path) = string(text.argument(first)) {
            return Some(match self.directories.get(&self.table(thread)) {
                Some(directory) => below(directory, path),
                None => Cow::Borrowed(path),
            });
        }
        let path = string(text.argument(first + 1))?;
        let (number, directory) = descriptor(text.argument(first));
        let Some(directory) = directory else {
            return Some(Cow::Borrowed(path));
        };
        // Without a number, it is the working directory.
        if number.is_none() && self.directories.len() < DESCRIPTORS_MAX {
            self.directories
                .insert(self.table(thread), directory.to_owned());
        }
        Some(below(directory, path))
    }

    fn table(&self, thread: u32) -> u32 {
        self.tables.get(&thread).copied().unwrap_or(0)
    }

    fn description(&mut self, argument: &[u8], thread: u32) -> Option<&mut OpenDescription> {
        let number = descriptor(argument).0?;
        let index = self.descriptors.get(&(self.table(thread), number))?;
        self.descriptions.get_mut(*index)
    }

    /// The path of a descriptor, from `-y` or from the call that opened it; unknown if it is no
    /// file.
    fn file_of(&mut self, argument: &[u8], thread: u32, names: &mut TraceNames) -> NameId {
        if let Some(path) = descriptor(argument).1 {
            return match is_file(path) {
                true => names.id(path),
                false => NameId::UNKNOWN,
            };
        }
        self.description(argument, thread)
            .map(|it| it.path)
            .unwrap_or_default()
    }

    fn open(&mut self, text: &CallText<'_>, call: &mut TracedCall, names: &mut TraceNames) {
        let path = self.path(text, 0, call.thread);
        // With `-y`, the returned path is absolute and without links.
        let path = text
            .result_path
            .map(Cow::Borrowed)
            .or(path)
            .unwrap_or_default();
        if !is_other_object(&path) {
            call.file = names.id(&path);
        }
        call.open = open_flags(text);
        let Some(number) = call.result.filter(|number| *number >= 0) else {
            return;
        };
        let is_append = text.has_flag(b"O_APPEND");
        self.add(
            (self.table(call.thread), number),
            OpenDescription {
                path: call.file,
                position_bytes: (!is_append).then_some(0),
                is_append,
            },
        );
    }

    fn add(&mut self, key: (u32, i64), description: OpenDescription) {
        if self.descriptors.len() >= DESCRIPTORS_MAX {
            return;
        }
        if self.descriptions.len() >= 2 * DESCRIPTORS_MAX {
            self.compact();
        }
        self.descriptors.insert(key, self.descriptions.len());
        self.descriptions.push(description);
    }

    /// Drops the descriptions of closed files.
    fn compact(&mut self) {
        let mut moved: HashMap<usize, usize> = HashMap::new();
        let mut kept = Vec::new();
        for index in self.descriptors.values_mut() {
            *index = *moved.entry(*index).or_insert_with(|| {
                kept.push(self.descriptions[*index]);
                kept.len() - 1
            });
        }
        self.descriptions = kept;
    }

    fn transfer(&mut self, text: &CallText<'_>, call: &mut TracedCall, names: &mut TraceNames) {
        let first = text.argument(0);
        call.file = self.file_of(first, call.thread, names);
        let source = match text.name {
            b"pread" | b"pread64" | b"pwrite" | b"pwrite64" | b"preadv" | b"pwritev"
            | b"preadv2" | b"pwritev2" => OffsetSource::Argument(3),
            _ => OffsetSource::Position,
        };
        let is_write = call.kind == CallKind::Write;
        let length_bytes = call.length_bytes;
        match source {
            OffsetSource::Argument(index) => {
                let offset = signed(text.argument(index));
                // -1 stands for the position in `preadv2`.
                call.offset_bytes = offset.and_then(|it| u64::try_from(it).ok());
            }
            OffsetSource::Position => {
                if let Some(description) = self.description(first, call.thread)
                    && !(is_write && description.is_append)
                {
                    call.offset_bytes = description.position_bytes;
                    let end = description
                        .position_bytes
                        .map(|it| it.saturating_add(length_bytes));
                    description.position_bytes = end;
                }
            }
        }
    }

    /// Calls that duplicate descriptors or make processes.
    fn other(&mut self, text: &CallText<'_>, call: &TracedCall) {
        let Some(result) = call.result.filter(|result| *result >= 0) else {
            return;
        };
        match text.name {
            b"dup" | b"dup2" | b"dup3" => self.duplicate(text, call.thread, result),
            b"fcntl" | b"fcntl64" if text.has_flag(b"F_DUPFD") => {
                self.duplicate(text, call.thread, result);
            }
            b"chdir" if self.directories.len() < DESCRIPTORS_MAX => {
                if let Some(path) = self.path(text, 0, call.thread) {
                    let path = path.into_owned();
                    self.directories.insert(self.table(call.thread), path);
                }
            }
            b"clone" | b"clone3" | b"fork" | b"vfork" => {
                let Ok(child) = u32::try_from(result) else {
                    return;
                };
                let parent = self.table(call.thread);
                let is_shared = text.has_flag(b"CLONE_FILES");
                let table = if is_shared { parent } else { self.copy(parent) };
                if self.tables.len() < DESCRIPTORS_MAX {
                    self.tables.insert(child, table);
                }
            }
            _ => {}
        }
    }

    fn duplicate(&mut self, text: &CallText<'_>, thread: u32, result: i64) {
        let table = self.table(thread);
        let number = descriptor(text.argument(0)).0;
        let index = number.and_then(|number| self.descriptors.get(&(table, number)));
        if let Some(index) = index.copied()
            && self.descriptors.len() < DESCRIPTORS_MAX
        {
            self.descriptors.insert((table, result), index);
        }
    }

    /// A new process has a copy of its parent's table, whose descriptions both share.
    fn copy(&mut self, parent: u32) -> u32 {
        self.table_count += 1;
        let table = self.table_count;
        let of_parent = self
            .descriptors
            .iter()
            .filter(|((owner, _), _)| *owner == parent);
        let copies: Vec<_> = of_parent
            .map(|((_, number), index)| ((table, *number), *index))
            .collect();
        if self.descriptors.len() + copies.len() <= DESCRIPTORS_MAX {
            self.descriptors.extend(copies);
        }
        table
    }
}

/// The path below the directory, unless it is absolute.
fn below<'a>(directory: &[u8], path: &'a [u8]) -> Cow<'a, [u8]> {
    match path {
        [b'/', ..] => Cow::Borrowed(path),
        [] => Cow::Owned(directory.to_owned()),
        _ => Cow::Owned([directory, b"/", path].concat()),
    }
}

fn open_flags(text: &CallText<'_>) -> TracedOpen {
    let begin = match text.name {
        b"creat" => TracedOpen::CREATE.with(TracedOpen::TRUNCATE),
        _ => TracedOpen::default(),
    };
    let flag = |word: &[u8]| match word {
        b"O_CREAT" => TracedOpen::CREATE,
        b"O_TRUNC" => TracedOpen::TRUNCATE,
        b"O_DIRECTORY" => TracedOpen::DIRECTORY,
        b"O_SYNC" | b"O_DSYNC" => TracedOpen::SYNC,
        b"O_DIRECT" => TracedOpen::DIRECT,
        _ => TracedOpen::default(),
    };
    // Flags follow the path; `openat2` has them in braces, after `flags=`.
    let arguments = (1..4).map(|index| text.argument(index));
    let words = arguments.flat_map(|it| it.split(|byte| b"|{}=, ".contains(byte)));
    words.fold(begin, |flags, word| flags.with(flag(word)))
}

/// `true` for calls without an own kind that take the path of a file.
fn takes_path(name: &[u8]) -> bool {
    let prefixes: [&[u8]; 6] = [
        b"access",
        b"faccessat",
        b"readlink",
        b"chmod",
        b"chown",
        b"exec",
    ];
    prefixes.iter().any(|prefix| name.starts_with(prefix))
}

/// Pipes and sockets of `-y` have no path, and terminals no offsets.
fn is_file(path: &[u8]) -> bool {
    path.starts_with(b"/") && !is_other_object(path)
}

fn is_other_object(path: &[u8]) -> bool {
    let prefixes: [&[u8]; 6] = [
        b"/dev/pts/",
        b"/dev/tty",
        b"/dev/null",
        b"/proc/",
        b"/sys/",
        b"/dev/ptmx",
    ];
    path.is_empty() || prefixes.iter().any(|prefix| path.starts_with(prefix))
}
