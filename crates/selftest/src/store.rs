//! A tree of files in memory, for file systems of known behavior. Knows nothing of FUSE.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Number of the root directory.
pub const ROOT: u64 = 1;

/// Reason for a refused operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreRefusal {
    /// No such file or directory.
    Missing,
    /// The name already exists.
    Exists,
    /// The operation needs a directory.
    NotDirectory,
    /// The operation needs a file.
    IsDirectory,
    /// The directory has entries.
    NotEmpty,
    /// The capacity is exhausted.
    Full,
}

/// A file or a directory.
#[derive(Debug)]
pub struct Node {
    /// Permission bits.
    pub mode: u16,
    /// File data or directory entries.
    pub content: NodeContent,
}

/// Content of a file or directory.
#[derive(Debug)]
pub enum NodeContent {
    /// Bytes.
    File(Vec<u8>),
    /// Names, with the numbers of their nodes.
    // The map is sorted, so that offsets of `readdir` mean the same in successive calls.
    Directory(BTreeMap<OsString, u64>),
}

/// The tree of files and directories.
#[derive(Debug)]
pub struct MemoryStore {
    nodes: BTreeMap<u64, Node>,
    last_number: u64,
    used_bytes: u64,
    capacity_bytes: u64,
}

impl MemoryStore {
    /// Creates an empty tree for at most `capacity_bytes` of file data.
    pub fn new(capacity_bytes: u64) -> MemoryStore {
        let root = Node {
            mode: 0o755,
            content: NodeContent::Directory(BTreeMap::new()),
        };
        MemoryStore {
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

    /// Finds a node by its number.
    pub fn node(&self, number: u64) -> Result<&Node, StoreRefusal> {
        self.nodes.get(&number).ok_or(StoreRefusal::Missing)
    }

    /// Sets permission bits.
    pub fn set_mode(&mut self, number: u64, mode: u16) -> Result<(), StoreRefusal> {
        self.nodes
            .get_mut(&number)
            .ok_or(StoreRefusal::Missing)?
            .mode = mode;
        Ok(())
    }

    /// Number of the node with this name.
    pub fn lookup(&self, parent: u64, name: &OsStr) -> Result<u64, StoreRefusal> {
        self.entries(parent)?
            .get(name)
            .copied()
            .ok_or(StoreRefusal::Missing)
    }

    /// Entries of a directory.
    pub fn entries(&self, parent: u64) -> Result<&BTreeMap<OsString, u64>, StoreRefusal> {
        match &self.node(parent)?.content {
            NodeContent::Directory(entries) => Ok(entries),
            NodeContent::File(_) => Err(StoreRefusal::NotDirectory),
        }
    }

    /// Creates an empty file and returns its number.
    pub fn create(&mut self, parent: u64, name: &OsStr, mode: u16) -> Result<u64, StoreRefusal> {
        self.add(
            parent,
            name,
            Node {
                mode,
                content: NodeContent::File(Vec::new()),
            },
        )
    }

    /// Creates an empty directory and returns its number.
    pub fn make_directory(
        &mut self,
        parent: u64,
        name: &OsStr,
        mode: u16,
    ) -> Result<u64, StoreRefusal> {
        self.add(
            parent,
            name,
            Node {
                mode,
                content: NodeContent::Directory(BTreeMap::new()),
            },
        )
    }

    fn add(&mut self, parent: u64, name: &OsStr, node: Node) -> Result<u64, StoreRefusal> {
        // Numbers are never reused: the kernel may still know a removed file by its old number.
        let number = self.last_number + 1;
        let entries = self.entries_mut(parent)?;
        if entries.contains_key(name) {
            return Err(StoreRefusal::Exists);
        }
        entries.insert(name.to_owned(), number);
        self.nodes.insert(number, node);
        self.last_number = number;
        Ok(number)
    }

    fn entries_mut(&mut self, parent: u64) -> Result<&mut BTreeMap<OsString, u64>, StoreRefusal> {
        match &mut self
            .nodes
            .get_mut(&parent)
            .ok_or(StoreRefusal::Missing)?
            .content
        {
            NodeContent::Directory(entries) => Ok(entries),
            NodeContent::File(_) => Err(StoreRefusal::NotDirectory),
        }
    }

    /// Removes a file and its data. Later requests on an open handle fail with
    /// [`StoreRefusal::Missing`].
    pub fn unlink(&mut self, parent: u64, name: &OsStr) -> Result<(), StoreRefusal> {
        let number = self.lookup(parent, name)?;
        match &self.node(number)?.content {
            NodeContent::Directory(_) => return Err(StoreRefusal::IsDirectory),
            NodeContent::File(bytes) => self.used_bytes -= bytes.len() as u64,
        }
        self.forget(parent, name, number)
    }

    /// Removes an empty directory.
    pub fn remove_directory(&mut self, parent: u64, name: &OsStr) -> Result<(), StoreRefusal> {
        let number = self.lookup(parent, name)?;
        if !self.entries(number)?.is_empty() {
            return Err(StoreRefusal::NotEmpty);
        }
        self.forget(parent, name, number)
    }

    fn forget(&mut self, parent: u64, name: &OsStr, number: u64) -> Result<(), StoreRefusal> {
        self.entries_mut(parent)?.remove(name);
        self.nodes.remove(&number);
        Ok(())
    }

    /// Renames or moves an entry; replaces an existing file at the new name.
    pub fn rename(&mut self, from: (u64, &OsStr), to: (u64, &OsStr)) -> Result<(), StoreRefusal> {
        let number = self.lookup(from.0, from.1)?;
        match self.lookup(to.0, to.1) {
            // rename(2) does nothing if both names are the same file. Unlinking the new name would
            // lose it.
            Ok(same) if same == number => return Ok(()),
            Ok(_) => self.unlink(to.0, to.1)?,
            Err(StoreRefusal::Missing) => {}
            Err(refusal) => return Err(refusal),
        }
        self.entries_mut(from.0)?.remove(from.1);
        self.entries_mut(to.0)?.insert(to.1.to_owned(), number);
        Ok(())
    }

    /// Reads up to `size` bytes at `offset_bytes`; fewer at the end of the file.
    pub fn read(
        &self,
        number: u64,
        offset_bytes: u64,
        size: usize,
    ) -> Result<Vec<u8>, StoreRefusal> {
        let NodeContent::File(bytes) = &self.node(number)?.content else {
            return Err(StoreRefusal::IsDirectory);
        };
        let start = usize::try_from(offset_bytes)
            .unwrap_or(usize::MAX)
            .min(bytes.len());
        let end = start.saturating_add(size).min(bytes.len());
        Ok(bytes[start..end].to_vec())
    }

    /// Writes at an offset; a gap between the old end and the offset reads as zeros.
    pub fn write(
        &mut self,
        number: u64,
        offset_bytes: u64,
        data: &[u8],
    ) -> Result<(), StoreRefusal> {
        let end_bytes = offset_bytes.saturating_add(data.len() as u64);
        // `resize` checks the capacity, so the slice below is within the file.
        if self.size(number)? < end_bytes {
            self.resize(number, end_bytes)?;
        }
        let start = usize::try_from(offset_bytes).map_err(|_| StoreRefusal::Full)?;
        if let NodeContent::File(bytes) = &mut self
            .nodes
            .get_mut(&number)
            .ok_or(StoreRefusal::Missing)?
            .content
        {
            bytes[start..start + data.len()].copy_from_slice(data);
        }
        Ok(())
    }

    /// A file's size in bytes; 0 for a directory.
    pub fn size(&self, number: u64) -> Result<u64, StoreRefusal> {
        match &self.node(number)?.content {
            NodeContent::File(bytes) => Ok(bytes.len() as u64),
            NodeContent::Directory(_) => Ok(0),
        }
    }

    /// Sets a file's size; new bytes are zeros.
    pub fn resize(&mut self, number: u64, size_bytes: u64) -> Result<(), StoreRefusal> {
        let old_bytes = self.size(number)?;
        let used_bytes = (self.used_bytes - old_bytes).saturating_add(size_bytes);
        if size_bytes > old_bytes && used_bytes > self.capacity_bytes {
            return Err(StoreRefusal::Full);
        }
        let size = usize::try_from(size_bytes).map_err(|_| StoreRefusal::Full)?;
        match &mut self
            .nodes
            .get_mut(&number)
            .ok_or(StoreRefusal::Missing)?
            .content
        {
            NodeContent::File(bytes) => bytes.resize(size, 0),
            NodeContent::Directory(_) => return Err(StoreRefusal::IsDirectory),
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
    fn reads_return_the_written_bytes() {
        let mut store = MemoryStore::new(1 << 20);
        let file = store.create(ROOT, name("a"), 0o644).unwrap();
        store.write(file, 3, b"def").unwrap();
        assert_eq!(store.read(file, 0, 100).unwrap(), b"\0\0\0def");
        assert_eq!(store.read(file, 4, 1).unwrap(), b"e");
        assert_eq!(store.read(file, u64::MAX, 9).unwrap(), b"");
    }

    #[test]
    fn used_space_is_counted_and_freed() {
        let mut store = MemoryStore::new(100);
        let file = store.create(ROOT, name("a"), 0o644).unwrap();
        store.write(file, 0, &[1; 60]).unwrap();
        assert_eq!(store.space(), (100, 40));
        assert_eq!(store.write(file, 60, &[1; 41]), Err(StoreRefusal::Full));
        store.resize(file, 10).unwrap();
        assert_eq!(store.space(), (100, 90));
        store.unlink(ROOT, name("a")).unwrap();
        assert_eq!(store.space(), (100, 100));
        assert_eq!(store.read(file, 0, 1), Err(StoreRefusal::Missing));
    }

    #[test]
    fn offsets_near_the_largest_number_are_refused() {
        let mut store = MemoryStore::new(100);
        let file = store.create(ROOT, name("a"), 0o644).unwrap();
        assert_eq!(
            store.write(file, u64::MAX - 1, &[1; 4]),
            Err(StoreRefusal::Full)
        );
    }

    #[test]
    fn names_are_unique_and_directories_must_be_empty() {
        let mut store = MemoryStore::new(100);
        let directory = store.make_directory(ROOT, name("d"), 0o755).unwrap();
        store.create(directory, name("a"), 0o644).unwrap();
        assert_eq!(
            store.create(directory, name("a"), 0o644),
            Err(StoreRefusal::Exists)
        );
        assert_eq!(
            store.remove_directory(ROOT, name("d")),
            Err(StoreRefusal::NotEmpty)
        );
        assert_eq!(
            store.unlink(ROOT, name("d")),
            Err(StoreRefusal::IsDirectory)
        );
        store.unlink(directory, name("a")).unwrap();
        store.remove_directory(ROOT, name("d")).unwrap();
        assert_eq!(store.lookup(ROOT, name("d")), Err(StoreRefusal::Missing));
    }

    #[test]
    fn renaming_replaces_an_existing_name() {
        let mut store = MemoryStore::new(100);
        let first = store.create(ROOT, name("a"), 0o644).unwrap();
        store.create(ROOT, name("b"), 0o644).unwrap();
        store.rename((ROOT, name("a")), (ROOT, name("b"))).unwrap();
        assert_eq!(store.lookup(ROOT, name("b")), Ok(first));
        assert_eq!(store.lookup(ROOT, name("a")), Err(StoreRefusal::Missing));
        store.rename((ROOT, name("b")), (ROOT, name("b"))).unwrap();
        assert_eq!(store.lookup(ROOT, name("b")), Ok(first));
    }
}
