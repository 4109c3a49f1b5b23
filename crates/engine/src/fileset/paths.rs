//! Names with their whole way, looked up anew each time.

use std::ffi::CStr;
use std::path::{Component, Path};

use super::COMPONENT_BYTES_MAX;
use super::rule::impossible;
use crate::EngineError;

/// Longest way to a file, with the zero byte at its end (`PATH_MAX`).
const PATH_BYTES_MAX: usize = 4096;

/// Ways from one directory, each with that to the directory it ends in, in one piece of memory.
#[derive(Debug)]
pub(super) struct Paths {
    /// Texts that end with a zero byte.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    path: Text,
    parent: Text,
}

/// Where a text is, its zero byte left out.
#[derive(Debug, Clone, Copy)]
struct Text {
    start: u32,
    length: u16,
}

impl Paths {
    pub(super) fn new(names: &[String]) -> Result<Self, EngineError> {
        let mut paths = Self {
            bytes: Vec::new(),
            entries: Vec::with_capacity(names.len()),
        };
        for name in names {
            let parts = parts(name)?;
            let parents = &parts[..parts.len().saturating_sub(1)];
            let path = paths.put(&joined(&parts))?;
            let parent = paths.put(&joined(parents))?;
            paths.entries.push(Entry { path, parent });
        }
        Ok(paths)
    }

    fn put(&mut self, text: &str) -> Result<Text, EngineError> {
        let start = u32::try_from(self.bytes.len());
        let start = start.map_err(|_| impossible("", "the list is longer than 4 GiB"))?;
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        let length = text.len() as u16;
        Ok(Text { start, length })
    }

    pub(super) fn count(&self) -> u32 {
        self.entries.len() as u32
    }

    #[inline]
    pub(super) fn path(&self, index: u32) -> Option<&CStr> {
        Some(self.text(self.entries.get(index as usize)?.path))
    }

    #[inline]
    pub(super) fn parent(&self, index: u32) -> Option<&CStr> {
        Some(self.text(self.entries.get(index as usize)?.parent))
    }

    #[inline]
    fn text(&self, text: Text) -> &CStr {
        let start = text.start as usize;
        let bytes = &self.bytes[start..=start + usize::from(text.length)];
        // SAFETY: `put` wrote a zero byte behind it, and `parts` let none into it.
        unsafe { CStr::from_bytes_with_nul_unchecked(bytes) }
    }
}

/// A way of these components; where there are none it is the directory itself.
fn joined(parts: &[&str]) -> String {
    match parts {
        [] => ".".to_owned(),
        parts => parts.join("/"),
    }
}

/// The components of a way that stays beneath.
fn parts(name: &str) -> Result<Vec<&str>, EngineError> {
    let mut parts = Vec::new();
    if name.len() >= PATH_BYTES_MAX {
        return Err(impossible(name, "it is longer than 4095 bytes"));
    }
    if name.is_empty() {
        return Err(impossible(name, "it is empty"));
    }
    if name.contains('\0') {
        return Err(impossible(name, "it has a slash or a zero byte in it"));
    }
    for component in Path::new(name).components() {
        match component {
            Component::Normal(part) => parts.extend(part.to_str()),
            Component::CurDir => {}
            _ => {
                return Err(EngineError::NotBeneath {
                    name: name.to_owned(),
                });
            }
        }
    }
    if parts.iter().any(|part| part.len() > COMPONENT_BYTES_MAX) {
        return Err(impossible(name, "it is longer than 255 bytes"));
    }
    Ok(parts)
}
