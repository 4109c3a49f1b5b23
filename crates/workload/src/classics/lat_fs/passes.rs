//! Version 1.6: passes over the same files until a budget is used up; the best counts.

/// The best passes of a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Best {
    /// Files of a pass.
    pub file_count: u32,
    /// The shortest time of a pass that created.
    pub create_ns: u64,
    /// The shortest time of a pass that removed.
    pub remove_ns: u64,
}

/// The passes of one size.
///
/// While [`Passes::wants_more`], all files are created, then all are removed, and both times are
/// told by [`Passes::add`]. There is at least one pass, and the budget is looked at between
/// passes only.
#[derive(Debug, Clone)]
pub struct Passes {
    budget_ns: u64,
    used_ns: u64,
    best: Best,
    count: u64,
}

impl Passes {
    /// No pass so far.
    #[must_use]
    pub const fn new(file_count: u32, budget_ns: u64) -> Self {
        Self {
            budget_ns,
            used_ns: 0,
            best: Best {
                file_count,
                create_ns: u64::MAX,
                remove_ns: u64::MAX,
            },
            count: 0,
        }
    }

    /// Whether there is another pass: the budget is not yet exceeded.
    #[must_use]
    pub const fn wants_more(&self) -> bool {
        self.used_ns <= self.budget_ns
    }

    /// Takes the times of a pass.
    pub fn add(&mut self, create_ns: u64, remove_ns: u64) {
        // A pass without any time would repeat forever.
        let pass_ns = create_ns.saturating_add(remove_ns).max(1);
        self.used_ns = self.used_ns.saturating_add(pass_ns);
        self.best.create_ns = self.best.create_ns.min(create_ns);
        self.best.remove_ns = self.best.remove_ns.min(remove_ns);
        self.count += 1;
    }

    /// The best so far, none before the first pass.
    #[must_use]
    pub const fn best(&self) -> Option<Best> {
        if self.count == 0 {
            return None;
        }
        Some(self.best)
    }

    /// Passes so far.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
}
