//! Names made from numbers.

use std::io::Write;

use plan::program::FilePool;

use super::{PoolDirectory, PoolFile};

/// The rule that makes names: `LOCATION/sSUBDIRECTORY/NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    /// Every location with its slash; an empty prefix where none is set.
    prefixes: Vec<Vec<u8>>,
}

impl Names {
    /// The names of a run's files.
    #[must_use]
    pub fn new(settings: &FilePool) -> Self {
        let locations = settings.locations.iter();
        let mut prefixes: Vec<Vec<u8>> = locations
            .map(|location| match &location.directory[..] {
                [] => Vec::new(),
                name => [name, b"/"].concat(),
            })
            .collect();
        if prefixes.is_empty() {
            prefixes.push(Vec::new());
        }
        Self { prefixes }
    }

    /// Puts a file's name into `name`, which keeps its memory.
    pub fn file(&self, file: PoolFile, name: &mut Vec<u8>) {
        self.start(file.directory, name);
        if let Some(index) = file.directory.subdirectory_index {
            push_subdirectory(name, index);
            name.push(b'/');
        }
        push_number(name, file.number);
    }

    /// Puts a subdirectory's name into `name`, which keeps its memory.
    pub fn directory(&self, directory: PoolDirectory, name: &mut Vec<u8>) {
        self.start(directory, name);
        push_subdirectory(name, directory.subdirectory_index.unwrap_or(0));
    }

    fn start(&self, directory: PoolDirectory, name: &mut Vec<u8>) {
        name.clear();
        let prefix = self.prefixes.get(directory.location_index as usize);
        name.extend_from_slice(prefix.map_or(b"", |prefix| prefix));
    }
}

fn push_subdirectory(name: &mut Vec<u8>, index: u32) {
    name.push(b's');
    push_number(name, index);
}

fn push_number(name: &mut Vec<u8>, number: u32) {
    // Writing to memory cannot fail.
    let _ = write!(name, "{number}");
}
