//! Names of files by number.

use std::io::Write;

use plan::program::FilePool;

use super::{PoolDirectory, PoolFile};

/// Names of the form `LOCATION/sSUBDIRECTORY/NUMBER`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolNames {
    /// Each location with a final slash; a single empty prefix if there are none.
    prefixes: Vec<Vec<u8>>,
}

impl PoolNames {
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

    /// Writes a file's name to `name`, reusing its memory.
    pub fn file(&self, file: PoolFile, name: &mut Vec<u8>) {
        self.start(file.directory, name);
        if let Some(index) = file.directory.subdirectory_index {
            push_subdirectory(name, index);
            name.push(b'/');
        }
        push_number(name, file.number);
    }

    /// Writes a subdirectory's name to `name`, reusing its memory.
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
