//! Complete paths, looked up again by every request.

use std::ffi::CStr;
use std::path::{Component, Path};

use super::COMPONENT_BYTES_MAX;
use super::rule::file_name_error;
use crate::EngineError;

/// Longest path, with the final zero byte (`PATH_MAX`).
const PATH_BYTES_MAX: usize = 4096;

/// Paths from one directory, each with the path of its parent, in one block of memory.
#[derive(Debug)]
pub(super) struct Paths {
    /// Zero-terminated texts.
    bytes: Vec<u8>,
    entries: Vec<PathEntry>,
}

#[derive(Debug, Clone, Copy)]
struct PathEntry {
    path: TextSpan,
    parent: TextSpan,
}

/// Position of a text, without its zero byte.
#[derive(Debug, Clone, Copy)]
struct TextSpan {
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
            paths.entries.push(PathEntry { path, parent });
        }
        Ok(paths)
    }

    fn put(&mut self, text: &str) -> Result<TextSpan, EngineError> {
        let start = u32::try_from(self.bytes.len());
        let start = start.map_err(|_| file_name_error("", "the list is longer than 4 GiB"))?;
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
        // At most 4095 bytes, as `parts` has checked.
        let length = text.len() as u16;
        Ok(TextSpan { start, length })
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
    fn text(&self, text: TextSpan) -> &CStr {
        let start = text.start as usize;
        let bytes = &self.bytes[start..=start + usize::from(text.length)];
        // SAFETY: `put` wrote a zero byte after the text, and `parts` rejects zero bytes in it.
        unsafe { CStr::from_bytes_with_nul_unchecked(bytes) }
    }
}

/// Joins components to a path; without components it is `.`.
fn joined(parts: &[&str]) -> String {
    match parts {
        [] => ".".to_owned(),
        parts => parts.join("/"),
    }
}

/// Splits a path that stays under its location into components.
fn parts(name: &str) -> Result<Vec<&str>, EngineError> {
    let mut parts = Vec::new();
    if name.len() >= PATH_BYTES_MAX {
        return Err(file_name_error(name, "it is longer than 4095 bytes"));
    }
    if name.is_empty() {
        return Err(file_name_error(name, "it is empty"));
    }
    if name.contains('\0') {
        return Err(file_name_error(name, "it contains a slash or a zero byte"));
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
        return Err(file_name_error(name, "it is longer than 255 bytes"));
    }
    Ok(parts)
}
