//! The command line in IOR's syntax: an option's value may follow its letter directly or after `=`.

use plan::program::PersistentRole;

use crate::options::{
    EqualsSyntax, Grammar, LetterSyntax, OptionRow, WrittenValue, act, all_of, at_least, attached,
    escaped, flag, idle, idle_value, number, posix_or_dummy, read, refused, refused_value,
    rule_out, text, unknown_option_message,
};

/// Parsed options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MdtestOptions {
    /// Total number of items of each rank.
    pub items: u32,
    pub items_per_directory: u32,
    pub depth: u32,
    pub branches: u32,
    pub is_leaves_only: bool,
    pub iterations: u32,
    pub ranks: u32,
    /// Directories for the trees, separated by `@`.
    pub directory: String,
    pub has_directories: bool,
    pub has_files: bool,
    pub is_unique: bool,
    /// `true` if all ranks create and use the same files.
    pub is_shared: bool,
    pub phases: MdtestPhases,
    pub write_bytes: u64,
    pub read_bytes: u64,
    pub is_synced: bool,
    /// `true` if the original creates files by mknod.
    pub makes_nodes: bool,
    pub syncs_phases: bool,
    pub stride: u32,
    /// Seed of the random order of stat; `None` for sequential order.
    pub random_seed: Option<u32>,
    pub stonewall_seconds: u32,
    /// File to write at the end, with the number of files that each rank created.
    pub stonewall_file: Option<String>,
    pub delay_seconds: u32,
    pub tables: MdtestTables,
    pub is_direct: bool,
    /// `true` for the interface that does no I/O.
    pub is_dummy: bool,
    /// First and last number of ranks for which everything is repeated; 0 for all ranks.
    pub first_ranks: u32,
    pub last_ranks: u32,
    /// Step from one number of ranks to the next.
    pub ranks_step: u32,
    /// `true` if the data that is read is compared with the data that was written.
    pub checks_read: bool,
    /// Number from which the data of kept files follows, so that later commands can compare it; 0
    /// for none.
    pub signature: u32,
    /// `true` if each new file is read and compared before it is closed.
    pub checks_written: bool,
    /// Options that have no effect.
    pub without_effect: Vec<String>,
}

/// The phases to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct MdtestPhases {
    pub create: bool,
    pub stat: bool,
    pub read: bool,
    pub remove: bool,
    pub rename: bool,
}

/// The tables to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum MdtestTables {
    #[default]
    Rates,
    Times,
    Both,
}

impl MdtestPhases {
    const ALL: Self = Self {
        create: true,
        stat: true,
        read: true,
        remove: true,
        rename: true,
    };
}

pub(super) const GRAMMAR: Grammar<MdtestOptions> = Grammar {
    equals: EqualsSyntax::All,
    letters: LetterSyntax::Flags,
    unknown: |it| match it.word.starts_with('-') && !it.word.starts_with("--") {
        true => unknown_option_message(&escaped(it.name)),
        false => unknown_option_message(&escaped(it.word)),
    },
    format: escaped,
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

const OPTIONS: &[OptionRow<MdtestOptions>] = &[
    read("-n", |it, value| count(&mut it.items, value)),
    read("-I", |it, value| count(&mut it.items_per_directory, value)),
    number("-z", |it| &mut it.depth),
    number("-b", |it| &mut it.branches),
    number("-i", |it| &mut it.iterations),
    text("-d", |it| &mut it.directory),
    read("-w", |it, value| put_size(&mut it.write_bytes, value)),
    read("-e", |it, value| put_size(&mut it.read_bytes, value)),
    number("-N", |it| &mut it.stride),
    number("-W", |it| &mut it.stonewall_seconds),
    number("-p", |it| &mut it.delay_seconds),
    number("--ranks", |it| &mut it.ranks),
    number("--random-seed", |it| it.random_seed.get_or_insert(1)),
    attached("-R", |it, value| {
        let seed = value.map_or(Ok(1), WrittenValue::number)?;
        it.random_seed = Some(seed);
        Ok(())
    }),
    read("-a", |it, value| {
        it.is_dummy = posix_or_dummy(value)?;
        Ok(())
    }),
    flag("-D", |it| &mut it.has_directories),
    flag("-F", |it| &mut it.has_files),
    flag("-C", |it| &mut it.phases.create),
    flag("-T", |it| &mut it.phases.stat),
    flag("-E", |it| &mut it.phases.read),
    flag("-r", |it| &mut it.phases.remove),
    flag("-U", |it| &mut it.phases.rename),
    flag("-L", |it| &mut it.is_leaves_only),
    flag("-u", |it| &mut it.is_unique),
    flag("-y", |it| &mut it.is_synced),
    flag("-Y", |it| &mut it.syncs_phases),
    act("-P", |it| it.tables = MdtestTables::Both),
    act("-Z", |it| it.tables = MdtestTables::Times),
    idle("-v -t --print-all-procs --warningAsErrors"),
    idle_value("-V"),
    number("-f", |it| &mut it.first_ranks),
    number("-l", |it| &mut it.last_ranks),
    number("-s", |it| &mut it.ranks_step),
    text("-x", |it| it.stonewall_file.get_or_insert_default()),
    refused_value("-B", "lets phases overlap"),
    refused("-c", "has rank 0 make the items of all"),
    flag("-k", |it| &mut it.makes_nodes),
    flag("-S", |it| &mut it.is_shared),
    number("-G", |it| &mut it.signature),
    idle_value("--dataPacketType"),
    flag("-X --verify-read", |it| &mut it.checks_read),
    flag("--posix.odirect", |it| &mut it.is_direct),
    flag("--verify-write", |it| &mut it.checks_written),
    refused("-g", "sets layouts of Lustre"),
];

impl MdtestOptions {
    /// Parses the arguments.
    ///
    /// # Errors
    /// An option is unknown or not supported, or values do not fit together.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            branches: 1,
            iterations: 1,
            ranks: 1,
            ranks_step: 1,
            directory: ".".to_owned(),
            ..Self::default()
        };
        GRAMMAR.read(arguments, start)?.complete()
    }

    /// Resolves defaults and dependent numbers, in the order of the original.
    fn complete(mut self) -> Result<Self, String> {
        if self.phases == MdtestPhases::default() {
            self.phases = MdtestPhases::ALL;
        }
        if !self.has_directories && !self.has_files {
            (self.has_directories, self.has_files) = (true, true);
        }
        self.has_directories &= !self.is_shared;
        let branches = self.branches;
        if self.stonewall_seconds > 0 && branches > 1 {
            return Err(format!(
                "`-W` needs a branching factor of 1, and `-b` is {branches}"
            ));
        }
        let is_twice = self.items > 0 && self.items_per_directory > 0;
        let is_uneven = is_twice && !self.items.is_multiple_of(self.items_per_directory);
        let is_deep = is_twice && self.depth > 0;
        self.complete_ranks();
        let is_backwards = self.first_ranks > self.last_ranks;
        let is_others = self.last_ranks > self.ranks;
        let is_torn = self.is_shared && self.is_unique;
        let checks_shared = self.is_shared && self.checks();
        let reads_made = self.phases.create && self.phases.read;
        let reads_more = reads_made && self.read_bytes > self.write_bytes;
        let flaws = rule_out(&[
            (
                is_twice && self.is_unique,
                "only one of `-n` and `-I` can be given with `-u`",
            ),
            (is_uneven, "`-n` must be a multiple of `-I`"),
            (
                is_deep,
                "several trees with subdirectories are not supported; leave `-n` or `-z` out",
            ),
            (is_backwards, "`-f` must be at most `-l`"),
            (is_others, "`-l` must be at most the number of ranks"),
            (is_torn, "only one of `-u` and `-S` can be given"),
            (
                checks_shared,
                "`-X` and `--verify-write` are not supported with `-S`",
            ),
            (
                self.makes_nodes && self.write_bytes > 0,
                "only one of `-k` and `-w` can be given",
            ),
            (reads_more, "read bytes must be at most write bytes"),
        ]);
        let checks = [flaws, self.check_kept_trees(), self.check_directories()];
        all_of(checks.into_iter().filter_map(Result::err))?;
        at_least(&[
            ("-b", self.branches.into(), 1),
            ("-i", self.iterations.into(), 1),
            ("--ranks", self.ranks.into(), 1),
            ("-s", self.ranks_step.into(), 1),
        ])?;
        self.count_items()
    }

    fn complete_ranks(&mut self) {
        // Without `-l`, the original ignores `-f`.
        if self.last_ranks == 0 {
            (self.first_ranks, self.last_ranks) = (self.ranks, self.ranks);
        }
        self.first_ranks = self.first_ranks.max(1);
    }

    /// Checks what trees of other commands can be used for.
    fn check_kept_trees(&self) -> Result<(), String> {
        let are_kept = self.lasting().is_some();
        let is_repeated = self.first_ranks < self.last_ranks;
        let is_known = self.signature > 0 || self.is_dummy;
        rule_out(&[
            (
                are_kept && is_repeated,
                "`-f` and `-l` need trees that the command creates and removes",
            ),
            (
                self.checks_read && !self.phases.create && !is_known,
                "without `-C`, `-X` compares only data that an earlier command wrote with `-G`; \
                 give both commands the same number, such as `-G 27`",
            ),
            // Data of files that may be renamed follows from another rule.
            (
                are_kept && self.signature > 0 && self.phases.rename,
                "`-G` is not supported with `-U` and trees that stay; use a command for each",
            ),
        ])
    }

    /// Checks several directories, which only trees of single ranks can use.
    fn check_directories(&self) -> Result<(), String> {
        let count = self.directories().count();
        let has_several = count > 1;
        rule_out(&[
            (
                self.directories().any(str::is_empty),
                "a directory of `-d` has no name",
            ),
            (
                has_several && !self.is_unique,
                "several directories in `-d`, separated by `@`, need one tree per rank; add `-u`",
            ),
            (
                has_several && self.stride > 0,
                "`-N` is not supported with several directories in `-d`; leave one of them out",
            ),
            (
                has_several && count > self.ranks as usize,
                "`-d` has more directories than there are ranks",
            ),
            (
                has_several && self.lasting().is_some(),
                "several directories in `-d` need trees that the command creates and removes",
            ),
        ])
    }

    fn count_items(mut self) -> Result<Self, String> {
        if self.tree_count() > 1 {
            return Ok(self);
        }
        let (nodes, leaves) = self
            .nodes()
            .zip(self.branches.checked_pow(self.depth))
            .ok_or("the tree has more directories than 32 bits can number")?;
        let filled = if self.is_leaves_only { leaves } else { nodes };
        if self.items_per_directory == 0 {
            // Each directory holds the same number of items, so a remainder is dropped.
            self.items_per_directory = self.items / filled;
        }
        let items = self.items_per_directory.checked_mul(filled);
        self.items = items.ok_or("there are more items than 32 bits can number")?;
        let has_tree_phase = self.phases.create || self.phases.remove;
        match self.items {
            0 if !has_tree_phase => {
                Err("there are no items; set their number per rank with `-n`".to_owned())
            }
            _ => Ok(self),
        }
    }

    /// `true` if the data of kept files follows from the signature.
    pub(super) fn leaves_known_data(&self) -> bool {
        let is_left = self.lasting() == Some(PersistentRole::Leaves);
        is_left && self.signature > 0 && self.write_bytes > 0
    }

    /// Directories for the trees, which the ranks use in turn.
    pub(super) fn directories(&self) -> impl Iterator<Item = &str> {
        self.directory.split('@')
    }

    /// `true` if any data is compared.
    pub(super) const fn checks(&self) -> bool {
        self.checks_read || self.checks_written
    }

    /// The numbers of ranks for which everything is repeated.
    pub(super) fn rank_counts(&self) -> impl Iterator<Item = u32> {
        let step = usize::try_from(self.ranks_step).unwrap_or(usize::MAX);
        (self.first_ranks..=self.last_ranks).step_by(step.max(1))
    }

    /// Role of trees that outlast the command; `None` if the command creates and removes all trees.
    pub(super) const fn lasting(&self) -> Option<PersistentRole> {
        match (self.phases.create, self.phases.remove) {
            (true, true) => None,
            (true, false) if self.is_dummy => None,
            (true, false) => Some(PersistentRole::Leaves),
            (false, false) => Some(PersistentRole::Finds),
            (false, true) => Some(PersistentRole::Removes),
        }
    }

    /// `true` if an earlier command created the trees.
    pub(super) const fn finds_trees(&self) -> bool {
        !self.phases.create
    }

    fn nodes(&self) -> Option<u32> {
        if self.branches == 1 {
            return self.depth.checked_add(1);
        }
        (0..=self.depth).try_fold(0_u32, |sum, level| {
            sum.checked_add(self.branches.checked_pow(level)?)
        })
    }

    /// Number of trees: `-n` divided by `-I` if both are given.
    pub(super) const fn tree_count(&self) -> u32 {
        match self.items_per_directory {
            each if each > 0 && self.depth == 0 && self.items > each => self.items / each,
            _ => 1,
        }
    }

    /// Number of directories in all trees.
    pub(super) fn node_count(&self) -> u32 {
        self.nodes().unwrap_or(1).saturating_mul(self.tree_count())
    }

    /// Number of the first item. With `-L`, inner directories have no items but count as if they
    /// had.
    pub(super) fn first_item(&self) -> u32 {
        if self.tree_count() > 1 {
            return 0;
        }
        let leaves = self.branches.saturating_pow(self.depth);
        let first_leaf = self.node_count().saturating_sub(leaves);
        match self.is_leaves_only {
            true => first_leaf.saturating_mul(self.items_per_directory),
            false => 0,
        }
    }
}

/// Parses a size with a unit up to `g`, the largest of the original.
fn put_size(to: &mut u64, value: &WrittenValue<'_>) -> Result<(), String> {
    *to = match value.text.ends_with(['t', 'T']) {
        true => return Err(value.not("a number")),
        false => value.size()?,
    };
    Ok(())
}

fn count(to: &mut u32, value: &WrittenValue<'_>) -> Result<(), String> {
    let mut wide = 0;
    put_size(&mut wide, value)?;
    let WrittenValue { option, .. } = value;
    let narrow = u32::try_from(wide);
    *to = narrow.map_err(|_| format!("`{option} {wide}` is more than 32 bits can number"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<MdtestOptions, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        MdtestOptions::read(&words)
    }

    #[test]
    fn values_may_be_joined_or_separate_and_flags_may_be_joined() {
        let options = read("-n=100 -FC -i 3 -w 4k --random-seed=7 -d /x").unwrap();
        assert_eq!((options.items, options.iterations), (100, 3));
        assert!(options.has_files && !options.has_directories && options.phases.create);
        assert!(!options.phases.stat);
        assert_eq!((options.write_bytes, options.random_seed), (4096, Some(7)));
        assert_eq!(options.directory, "/x");
    }

    #[test]
    fn items_are_spread_over_the_tree_as_in_the_original() {
        let counted = |line: &str| {
            let options = read(line).unwrap();
            let MdtestOptions {
                items,
                items_per_directory,
                ..
            } = options;
            (
                items,
                items_per_directory,
                options.node_count(),
                options.first_item(),
            )
        };
        assert_eq!(counted("-n 1000"), (1000, 1000, 1, 0));
        assert_eq!(counted("-z 2 -b 3 -I 20"), (260, 20, 13, 0));
        assert_eq!(counted("-z 2 -b 3 -n 100"), (91, 7, 13, 0));
        assert_eq!(counted("-z 2 -b 3 -n 100 -L"), (99, 11, 13, 44));
        assert_eq!(counted("-z 3 -n 10 -L"), (10, 10, 4, 30));
        assert_eq!(counted("-n 100 -I 10"), (100, 10, 10, 0));
        assert_eq!(counted("-n 100 -I 10 -L"), (100, 10, 10, 0));
        assert_eq!(counted("-n 10 -I 10"), (10, 10, 1, 0));
        assert_eq!(counted("-W 2"), (0, 0, 1, 0));
    }

    #[test]
    fn all_refused_options_are_listed_together() {
        let refused = read("-n 5 -g --quick 7 -c -b x").unwrap_err();
        let lines: Vec<&str> = refused.lines().collect();
        assert_eq!(lines.len(), 4, "{refused}");
        for (line, part) in lines.iter().zip(["`-g`", "`--quick`", "`-c`", "`-b x`"]) {
            assert!(line.contains(part), "{refused}");
        }
        let refused = read("-n 5 -b 0 -i 0").unwrap_err();
        assert_eq!(refused.lines().count(), 2, "{refused}");
    }

    #[test]
    fn a_seed_may_be_joined_to_its_flag() {
        assert_eq!(read("-n 5 -R").unwrap().random_seed, Some(1));
        assert_eq!(read("-n 5 -R=7").unwrap().random_seed, Some(7));
    }

    #[test]
    fn written_data_is_compared_on_request() {
        let checks = |line: &str| {
            let options = read(line).unwrap();
            (
                options.checks_written,
                options.checks_read,
                options.checks(),
            )
        };
        assert_eq!(checks("-n 5 -w 10"), (false, false, false));
        assert_eq!(checks("-n 5 -w 10 --verify-write"), (true, false, true));
        assert_eq!(checks("-n 5 -w 10 -X"), (false, true, true));
    }

    #[test]
    fn unsupported_options_are_refused_by_name() {
        for (line, part) in [
            ("-T", "no item"),
            ("-n 5 -f 2 -l 1", "`-f` must be at most `-l`"),
            ("-n 5 -l 2", "`-l` must be at most the number of ranks"),
            ("-n 5 -S -w 9 --verify-write", "`--verify-write`"),
            ("-n 5 -S -u", "only one of `-u` and `-S`"),
            ("-n 5 --ranks 2 -f 1 -l 2 -C", "creates and removes"),
            ("-n 10 -I 5 -u", "only one of"),
            ("-n 11 -I 5", "must be a multiple"),
            ("-n 10 -I 5 -z 1", "subdirectories"),
            (
                "-n x",
                "`-n x` is not a number with an optional unit: `k`, `m`, `g` or `t`",
            ),
            ("-n", "needs a value"),
            ("-n 5 -q", "no option `-q`"),
            ("-n 5 --quick", "no option `--quick`"),
            ("-n 5 -k -w 9", "only one of `-k` and `-w`"),
            ("-n 5 -c", "`-c`"),
            (
                "-n 5 -E -X",
                "give both commands the same number, such as `-G 27`",
            ),
            ("-n 5 -a MPIIO", "MPIIO"),
            ("-n 5 -e 10", "read bytes"),
            ("-n 50 -W 5 -b 2", "`-W`"),
            ("-n 5 -C -U -w 9 -G 1", "use a command for each"),
            ("-n 5 -d a@b --ranks 2", "add `-u`"),
            ("-n 5 -d a@b --ranks 2 -u -N 1", "`-N` is not supported"),
            ("-n 5 -d a@b -u", "more directories than there are ranks"),
            ("-n 5 -d a@b --ranks 2 -u -C", "creates and removes"),
            ("-n 5 -d a@@b --ranks 3 -u", "has no name"),
            ("-n 5 -b 0", "`-b` is 0"),
            ("-I 9 -b 9999 -z 9", "32 bits"),
        ] {
            let refused = read(line).unwrap_err();
            assert!(refused.contains(part), "{line}: {refused}");
        }
    }
}
