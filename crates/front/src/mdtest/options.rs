//! The command line, as IOR reads it: an option's value stands behind it or behind a `=`.

use plan::program::LastingRole;

use crate::options::{
    Equals, Grammar, Letters, OptionRow, Value, act, at_least, attached, escaped, flag, idle,
    idle_value, is_posix, no_option, number, read, refused, refused_value, rule_out, text,
};

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Items of each rank, in all.
    pub items: u32,
    pub items_per_directory: u32,
    pub depth: u32,
    pub branches: u32,
    pub is_leaves_only: bool,
    pub iterations: u32,
    pub ranks: u32,
    pub directory: String,
    pub has_directories: bool,
    pub has_files: bool,
    pub is_unique: bool,
    pub phases: Phases,
    pub write_bytes: u64,
    pub read_bytes: u64,
    pub is_synced: bool,
    pub syncs_phases: bool,
    pub stride: u32,
    /// Random order of stat.
    pub random_seed: Option<u32>,
    pub stonewall_seconds: u32,
    /// The file that says at the end how many files each rank made.
    pub stonewall_file: Option<String>,
    pub delay_seconds: u32,
    pub tables: Tables,
    /// Options that change nothing.
    pub without_effect: Vec<String>,
}

/// Which phases there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Phases {
    pub create: bool,
    pub stat: bool,
    pub read: bool,
    pub remove: bool,
    pub rename: bool,
}

/// Which tables are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Tables {
    #[default]
    Rates,
    Times,
    Both,
}

impl Phases {
    const ALL: Self = Self {
        create: true,
        stat: true,
        read: true,
        remove: true,
        rename: true,
    };
}

const GRAMMAR: Grammar<Options> = Grammar {
    equals: Equals::All,
    letters: Letters::Flags,
    unknown: |it| match it.word.starts_with('-') && !it.word.starts_with("--") {
        true => no_option(&escaped(it.name)),
        false => no_option(&escaped(it.word)),
    },
    shown: escaped,
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

const OPTIONS: &[OptionRow<Options>] = &[
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
        let seed = value.map_or(Ok(1), Value::number)?;
        it.random_seed = Some(seed);
        Ok(())
    }),
    read("-a", is_posix),
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
    act("-P", |it| it.tables = Tables::Both),
    act("-Z", |it| it.tables = Tables::Times),
    idle("-v -t --print-all-procs --warningAsErrors"),
    idle_value("-V"),
    refused_value("-f -l -s", "repeats all with other numbers of ranks"),
    text("-x", |it| it.stonewall_file.get_or_insert_default()),
    refused_value("-B", "lets phases overlap"),
    refused("-c", "has rank 0 make the items of all"),
    refused("-k", "makes files by mknod"),
    refused("-S", "has all ranks work on one file"),
    refused("-X --verify-read", "checks what was read"),
    refused("--verify-write", "checks what was written"),
    refused("-g", "sets layouts of Lustre"),
];

impl Options {
    /// Reads the arguments.
    ///
    /// # Errors
    /// An option that is not known, or not done here; values that do not go together.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            branches: 1,
            iterations: 1,
            ranks: 1,
            directory: ".".to_owned(),
            ..Self::default()
        };
        GRAMMAR.read(arguments, start)?.complete()
    }

    /// Defaults and numbers that follow from others, in the order of the original.
    fn complete(mut self) -> Result<Self, String> {
        if self.phases == Phases::default() {
            self.phases = Phases::ALL;
        }
        if !self.has_directories && !self.has_files {
            (self.has_directories, self.has_files) = (true, true);
        }
        let branches = self.branches;
        if self.stonewall_seconds > 0 && branches > 1 {
            return Err(format!(
                "`-W` needs a branching factor of 1, and `-b` is {branches}"
            ));
        }
        let is_twice = self.items > 0 && self.items_per_directory > 0;
        let is_uneven = is_twice && !self.items.is_multiple_of(self.items_per_directory);
        let is_deep = is_twice && self.depth > 0;
        let is_split = self.stonewall_file.is_some() && !self.phases.create;
        let reads_made = self.phases.create && self.phases.read;
        let reads_more = reads_made && self.read_bytes > self.write_bytes;
        rule_out(&[
            (
                is_twice && self.is_unique,
                "only one of `-n` and `-I` can be given with `-u`",
            ),
            (is_uneven, "`-n` must be a multiple of `-I`"),
            (
                is_deep,
                "several trees that are deep are not done here; leave `-n` or `-z` out",
            ),
            (
                is_split,
                "`-x` without `-C` splits phases across runs, which is not done here",
            ),
            (reads_more, "read bytes must be at most write bytes"),
        ])?;
        at_least(&[
            ("-b", self.branches.into(), 1),
            ("-i", self.iterations.into(), 1),
            ("--ranks", self.ranks.into(), 1),
        ])?;
        self.count_items()
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
            self.items_per_directory = self.items / filled;
        }
        let items = self.items_per_directory.checked_mul(filled);
        self.items = items.ok_or("there are more items than 32 bits can number")?;
        match self.items {
            0 => Err("there is no item; `-n` says how many each rank has".to_owned()),
            _ => Ok(self),
        }
    }

    /// What becomes of trees that outlast the command; none where all are its own.
    pub(super) const fn lasting(&self) -> Option<LastingRole> {
        match (self.phases.create, self.phases.remove) {
            (true, true) => None,
            (true, false) => Some(LastingRole::Leaves),
            (false, false) => Some(LastingRole::Finds),
            (false, true) => Some(LastingRole::Removes),
        }
    }

    /// Whether the trees were made by an earlier command.
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

    /// Directories of all trees.
    pub(super) fn node_count(&self) -> u32 {
        self.nodes().unwrap_or(1).saturating_mul(self.tree_count())
    }

    /// The number of the first item, which may lie in the first directory that has none in it.
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

/// A size up to `g`, as the original has no more.
fn put_size(to: &mut u64, value: &Value<'_>) -> Result<(), String> {
    *to = match value.text.ends_with(['t', 'T']) {
        true => return Err(value.not("a number")),
        false => value.size()?,
    };
    Ok(())
}

fn count(to: &mut u32, value: &Value<'_>) -> Result<(), String> {
    let mut wide = 0;
    put_size(&mut wide, value)?;
    let Value { option, .. } = value;
    let narrow = u32::try_from(wide);
    *to = narrow.map_err(|_| format!("`{option} {wide}` is more than 32 bits can number"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Options, String> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        Options::read(&words)
    }

    #[test]
    fn values_follow_or_are_joined_and_flags_may_be_joined() {
        let options = read("-n=100 -FC -i 3 -w 4k --random-seed=7 -d /x").unwrap();
        assert_eq!((options.items, options.iterations), (100, 3));
        assert!(options.has_files && !options.has_directories && options.phases.create);
        assert!(!options.phases.stat);
        assert_eq!((options.write_bytes, options.random_seed), (4096, Some(7)));
        assert_eq!(options.directory, "/x");
    }

    #[test]
    fn items_are_spread_over_the_tree_as_the_original_does_it() {
        let counted = |line: &str| {
            let options = read(line).unwrap();
            let Options {
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
    }

    #[test]
    fn all_that_is_refused_is_listed_at_once() {
        let refused = read("-n 5 -k --quick 7 -c -b x").unwrap_err();
        let lines: Vec<&str> = refused.lines().collect();
        assert_eq!(lines.len(), 4, "{refused}");
        for (line, part) in lines.iter().zip(["`-k`", "`--quick`", "`-c`", "`-b x`"]) {
            assert!(line.contains(part), "{refused}");
        }
        let refused = read("-n 5 -b 0 -i 0").unwrap_err();
        assert_eq!(refused.lines().count(), 2, "{refused}");
    }

    #[test]
    fn a_seed_may_stand_in_the_word_of_its_flag() {
        assert_eq!(read("-n 5 -R").unwrap().random_seed, Some(1));
        assert_eq!(read("-n 5 -R=7").unwrap().random_seed, Some(7));
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        for (line, part) in [
            ("", "no item"),
            ("-n 10 -I 5 -u", "only one of"),
            ("-n 11 -I 5", "must be a multiple"),
            ("-n 10 -I 5 -z 1", "deep"),
            ("-n 5 -T -x wall", "`-x` without `-C`"),
            ("-n x", "`-n x` is not a number"),
            ("-n", "lacks its value"),
            ("-n 5 -q", "no option `-q`"),
            ("-n 5 --quick", "no option `--quick`"),
            ("-n 5 -k", "`-k`"),
            ("-n 5 -c", "`-c`"),
            ("-n 5 -S", "`-S`"),
            ("-n 5 -a MPIIO", "MPIIO"),
            ("-n 5 -e 10", "read bytes"),
            ("-n 50 -W 5 -b 2", "`-W`"),
            ("-n 5 -b 0", "`-b` is 0"),
            ("-I 9 -b 9999 -z 9", "32 bits"),
        ] {
            let refused = read(line).unwrap_err();
            assert!(refused.contains(part), "{line}: {refused}");
        }
    }
}
