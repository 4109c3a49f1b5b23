//! A tree of files in memory, for file systems of known behavior. Knows nothing of FUSE.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// The root directory's number.
pub const ROOT: u64 = 1;

/// Why the store refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// There is no such file.
    Missing,
    /// The name is taken.
    Exists,
    /// A directory is wanted.
    NotDirectory,
    /// A file is wanted.
    IsDirectory,
    /// The directory has entries.
    NotEmpty,
    /// The capacity is used up.
    Full,
}

/// A file or a directory.
#[derive(Debug)]
pub struct Node {
    /// Permission bits.
    pub mode: u16,
    /// What it holds.
    pub content: Content,
}

/// What a node holds.
#[derive(Debug)]
pub enum Content {
    /// Bytes.
    File(Vec<u8>),
    /// Names with the numbers of their nodes.
    Directory(BTreeMap<OsString, u64>),
}

/// All files.
#[derive(Debug)]
pub struct Store {
    nodes: BTreeMap<u64, Node>,
    last_number: u64,
    used_bytes: u64,
    capacity_bytes: u64,
}

impl Store {
    /// An empty tree for at most `capacity_bytes` of content.
    pub fn new(capacity_bytes: u64) -> Store {
        let root = Node {
            mode: 0o755,
            content: Content::Directory(BTreeMap::new()),
        };
        Store {
            nodes: BTreeMap::from([(ROOT, root)]),
            last_number: ROOT,
            used_bytes: 0,
            capacity_bytes,
        }
    }

    /// Capacity and free space, in bytes.
    pub fn space(&self) -> (u64, u64) {
        (
            self.capacity_bytes,
            self.capacity_bytes.saturating_sub(self.used_bytes),
        )
    }

    /// A node by its number.
    pub fn node(&self, number: u64) -> Result<&Node, Refusal> {
        self.nodes.get(&number).ok_or(Refusal::Missing)
    }

    /// Sets permission bits.
    pub fn set_mode(&mut self, number: u64, mode: u16) -> Result<(), Refusal> {
        self.nodes.get_mut(&number).ok_or(Refusal::Missing)?.mode = mode;
        Ok(())
    }

    /// The number behind a name.
    pub fn lookup(&self, parent: u64, name: &OsStr) -> Result<u64, Refusal> {
        self.entries(parent)?
            .get(name)
            .copied()
            .ok_or(Refusal::Missing)
    }

    /// The entries of a directory.
    pub fn entries(&self, parent: u64) -> Result<&BTreeMap<OsString, u64>, Refusal> {
        match &self.node(parent)?.content {
            Content::Directory(entries) => Ok(entries),
            Content::File(_) => Err(Refusal::NotDirectory),
        }
    }

    /// Makes an empty file.
    pub fn create(&mut self, parent: u64, name: &OsStr, mode: u16) -> Result<u64, Refusal> {
        self.add(
            parent,
            name,
            Node {
                mode,
                content: Content::File(Vec::new()),
            },
        )
    }

    /// Makes an empty directory.
    pub fn make_directory(&mut self, parent: u64, name: &OsStr, mode: u16) -> Result<u64, Refusal> {
        self.add(
            parent,
            name,
            Node {
                mode,
                content: Content::Directory(BTreeMap::new()),
            },
        )
    }

    fn add(&mut self, parent: u64, name: &OsStr, node: Node) -> Result<u64, Refusal> {
        let number = self.last_number + 1;
        let entries = self.entries_mut(parent)?;
        if entries.contains_key(name) {
            return Err(Refusal::Exists);
        }
        entries.insert(name.to_owned(), number);
        self.nodes.insert(number, node);
        self.last_number = number;
        Ok(number)
    }

    fn entries_mut(&mut self, parent: u64) -> Result<&mut BTreeMap<OsString, u64>, Refusal> {
        match &mut self.nodes.get_mut(&parent).ok_or(Refusal::Missing)?.content {
            Content::Directory(entries) => Ok(entries),
            Content::File(_) => Err(Refusal::NotDirectory),
        }
    }

    /// Removes a file's name and content; requests on an open file then find it missing.
    pub fn unlink(&mut self, parent: u64, name: &OsStr) -> Result<(), Refusal> {
        let number = self.lookup(parent, name)?;
        match &self.node(number)?.content {
            Content::Directory(_) => return Err(Refusal::IsDirectory),
            Content::File(bytes) => self.used_bytes -= bytes.len() as u64,
        }
        self.forget(parent, name, number)
    }

    /// Removes an empty directory.
    pub fn remove_directory(&mut self, parent: u64, name: &OsStr) -> Result<(), Refusal> {
        let number = self.lookup(parent, name)?;
        if !self.entries(number)?.is_empty() {
            return Err(Refusal::NotEmpty);
        }
        self.forget(parent, name, number)
    }

    fn forget(&mut self, parent: u64, name: &OsStr, number: u64) -> Result<(), Refusal> {
        self.entries_mut(parent)?.remove(name);
        self.nodes.remove(&number);
        Ok(())
    }

    /// Moves a name; a file of the new name is replaced.
    pub fn rename(&mut self, from: (u64, &OsStr), to: (u64, &OsStr)) -> Result<(), Refusal> {
        let number = self.lookup(from.0, from.1)?;
        match self.lookup(to.0, to.1) {
            Ok(same) if same == number => return Ok(()),
            Ok(_) => self.unlink(to.0, to.1)?,
            Err(Refusal::Missing) => {}
            Err(refusal) => return Err(refusal),
        }
        self.entries_mut(from.0)?.remove(from.1);
        self.entries_mut(to.0)?.insert(to.1.to_owned(), number);
        Ok(())
    }

    /// A file's bytes from `offset_bytes`, at most `size`; fewer at its end.
    pub fn read(&self, number: u64, offset_bytes: u64, size: usize) -> Result<Vec<u8>, Refusal> {
        let Content::File(bytes) = &self.node(number)?.content else {
            return Err(Refusal::IsDirectory);
        };
        let start = usize::try_from(offset_bytes)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let end = start.saturating_add(size).min(bytes.len());
        Ok(bytes[start..end].to_vec())
    }

    /// Writes at an offset; a gap before it reads as zeros.
    pub fn write(&mut self, number: u64, offset_bytes: u64, data: &[u8]) -> Result<(), Refusal> {
        let end_bytes = offset_bytes.saturating_add(data.len() as u64);
        if self.size(number)? < end_bytes {
            self.resize(number, end_bytes)?;
        }
        let start = usize::try_from(offset_bytes).map_err(|_| Refusal::Full)?;
        if let Content::File(bytes) =
            &mut self.nodes.get_mut(&number).ok_or(Refusal::Missing)?.content
        {
            bytes[start..start + data.len()].copy_from_slice(data);
        }
        Ok(())
    }

    /// A file's size in bytes; 0 for a directory.
    pub fn size(&self, number: u64) -> Result<u64, Refusal> {
        match &self.node(number)?.content {
            Content::File(bytes) => Ok(bytes.len() as u64),
            Content::Directory(_) => Ok(0),
        }
    }

    /// Sets a file's size; new bytes are zeros.
    pub fn resize(&mut self, number: u64, size_bytes: u64) -> Result<(), Refusal> {
        let old_bytes = self.size(number)?;
        let used_bytes = (self.used_bytes - old_bytes).saturating_add(size_bytes);
        if size_bytes > old_bytes && used_bytes > self.capacity_bytes {
            return Err(Refusal::Full);
        }
        let size = usize::try_from(size_bytes).map_err(|_| Refusal::Full)?;
        match &mut self.nodes.get_mut(&number).ok_or(Refusal::Missing)?.content {
            Content::File(bytes) => bytes.resize(size, 0),
            Content::Directory(_) => return Err(Refusal::IsDirectory),
        }
        self.used_bytes = used_bytes;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> &OsStr {
        OsStr::new(text)
    }

    #[test]
    fn what_is_written_is_read() {
        let mut store = Store::new(1 << 20);
        let file = store.create(ROOT, name("a"), 0o644).unwrap();
        store.write(file, 3, b"def").unwrap();
        assert_eq!(store.read(file, 0, 100).unwrap(), b"\0\0\0def");
        assert_eq!(store.read(file, 4, 1).unwrap(), b"e");
        assert_eq!(store.read(file, u64::MAX, 9).unwrap(), b"");
    }

    #[test]
    fn space_is_counted_and_given_back() {
        let mut store = Store::new(100);
        let file = store.create(ROOT, name("a"), 0o644).unwrap();
        store.write(file, 0, &[1; 60]).unwrap();
        assert_eq!(store.space(), (100, 40));
        assert_eq!(store.write(file, 60, &[1; 41]), Err(Refusal::Full));
        store.resize(file, 10).unwrap();
        assert_eq!(store.space(), (100, 90));
        store.unlink(ROOT, name("a")).unwrap();
        assert_eq!(store.space(), (100, 100));
        assert_eq!(store.read(file, 0, 1), Err(Refusal::Missing));
    }

    #[test]
    fn offsets_near_the_end_of_numbers_are_refused() {
        let mut store = Store::new(100);
        let file = store.create(ROOT, name("a"), 0o644).unwrap();
        assert_eq!(store.write(file, u64::MAX - 1, &[1; 4]), Err(Refusal::Full));
    }

    #[test]
    fn names_are_unique_and_directories_must_be_empty() {
        let mut store = Store::new(100);
        let directory = store.make_directory(ROOT, name("d"), 0o755).unwrap();
        store.create(directory, name("a"), 0o644).unwrap();
        assert_eq!(
            store.create(directory, name("a"), 0o644),
            Err(Refusal::Exists)
        );
        assert_eq!(
            store.remove_directory(ROOT, name("d")),
            Err(Refusal::NotEmpty)
        );
        assert_eq!(store.unlink(ROOT, name("d")), Err(Refusal::IsDirectory));
        store.unlink(directory, name("a")).unwrap();
        store.remove_directory(ROOT, name("d")).unwrap();
        assert_eq!(store.lookup(ROOT, name("d")), Err(Refusal::Missing));
    }

    #[test]
    fn renaming_replaces() {
        let mut store = Store::new(100);
        let first = store.create(ROOT, name("a"), 0o644).unwrap();
        store.create(ROOT, name("b"), 0o644).unwrap();
        store.rename((ROOT, name("a")), (ROOT, name("b"))).unwrap();
        assert_eq!(store.lookup(ROOT, name("b")), Ok(first));
        assert_eq!(store.lookup(ROOT, name("a")), Err(Refusal::Missing));
        store.rename((ROOT, name("b")), (ROOT, name("b"))).unwrap();
        assert_eq!(store.lookup(ROOT, name("b")), Ok(first));
    }
}
