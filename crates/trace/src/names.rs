//! Names of devices, files and processes, each stored once.

use std::collections::HashMap;
use std::sync::Arc;

/// Limits that bound the memory of a hostile trace.
const NAMES_MAX: usize = 1 << 17;
const TOTAL_BYTES_MAX: usize = 12 << 20;
const NAME_BYTES_MAX: usize = 4096;

/// Number of a name in [`TraceNames`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct NameId(u32);

impl NameId {
    /// No name was recorded.
    pub const UNKNOWN: Self = Self(0);
    /// Stands for all names after the limit was reached.
    pub const OVERFLOW: Self = Self(1);

    /// The number, in the order of first use.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The name with this index.
    pub(crate) fn of(index: usize) -> Self {
        u32::try_from(index).map_or(Self::OVERFLOW, Self)
    }
}

/// Names of a trace.
#[derive(Debug)]
pub struct TraceNames {
    texts: Vec<Arc<[u8]>>,
    ids: HashMap<Arc<[u8]>, NameId>,
    /// The last name: most rows repeat it, and comparing is cheaper than hashing.
    last: NameId,
    total_bytes: usize,
}

impl Default for TraceNames {
    fn default() -> Self {
        let texts: Vec<Arc<[u8]>> = vec![b"".as_slice().into(), b"(other names)".as_slice().into()];
        Self {
            texts,
            ids: HashMap::new(),
            last: NameId::UNKNOWN,
            total_bytes: 0,
        }
    }
}

impl TraceNames {
    /// The text of a name. It comes from the trace, so make it printable before printing.
    #[must_use]
    pub fn text(&self, id: NameId) -> String {
        String::from_utf8_lossy(self.bytes(id)).into_owned()
    }

    /// The bytes of a name.
    #[must_use]
    pub fn bytes(&self, id: NameId) -> &[u8] {
        self.texts.get(id.0 as usize).map_or(b"", |text| text)
    }

    /// Number of names, including the two that are always there.
    pub(crate) fn count(&self) -> usize {
        self.texts.len()
    }

    /// `true` if the limit of names is reached; further ones count as [`NameId::OVERFLOW`].
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.texts.len() >= NAMES_MAX || self.total_bytes >= TOTAL_BYTES_MAX
    }

    /// The number of a name, which is added if it is new.
    pub(crate) fn id(&mut self, name: &[u8]) -> NameId {
        let name = &name[..name.len().min(NAME_BYTES_MAX)];
        if self.bytes(self.last) == name {
            return self.last;
        }
        if name.is_empty() {
            return NameId::UNKNOWN;
        }
        let id = match self.ids.get(name) {
            Some(id) => *id,
            None if self.is_full() => return NameId::OVERFLOW,
            None => self.add(name),
        };
        self.last = id;
        id
    }

    fn add(&mut self, name: &[u8]) -> NameId {
        let id = NameId::of(self.texts.len());
        let text: Arc<[u8]> = name.into();
        self.total_bytes += name.len();
        self.texts.push(Arc::clone(&text));
        self.ids.insert(text, id);
        id
    }
}
