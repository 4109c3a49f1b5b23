//! The command line, as IOR reads it: an option's value stands behind it or behind a `=`.

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
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

/// What the original does and we do not.
const REFUSED: &[(&str, &str)] = &[
    ("-f", "repeats all with other numbers of ranks"),
    ("-l", "repeats all with other numbers of ranks"),
    ("-s", "repeats all with other numbers of ranks"),
    ("-x", "splits phases across runs"),
    ("-B", "lets phases overlap"),
    ("-c", "has rank 0 make the items of all"),
    ("-k", "makes files by mknod"),
    ("-S", "has all ranks work on one file"),
    ("-X", "checks what was read"),
    ("--verify-read", "checks what was read"),
    ("--verify-write", "checks what was written"),
    ("-g", "sets layouts of Lustre"),
];

/// Options that take a value.
const VALUED: &str =
    " -n -I -z -b -i -d -w -e -N -W -p -a -V -f -l -s -x -B --ranks --random-seed ";

impl Options {
    fn new() -> Self {
        Self {
            items: 0,
            items_per_directory: 0,
            depth: 0,
            branches: 1,
            is_leaves_only: false,
            iterations: 1,
            ranks: 1,
            directory: ".".to_owned(),
            has_directories: false,
            has_files: false,
            is_unique: false,
            phases: Phases::default(),
            write_bytes: 0,
            read_bytes: 0,
            is_synced: false,
            syncs_phases: false,
            stride: 0,
            random_seed: None,
            stonewall_seconds: 0,
            delay_seconds: 0,
            tables: Tables::default(),
            without_effect: Vec::new(),
        }
    }

    /// Reads the arguments.
    ///
    /// # Errors
    /// An option that is not known, or not done here; values that do not go together.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self::new();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word.as_str(), None),
            };
            if VALUED.contains(&format!(" {name} ")) {
                let value = joined.or_else(|| words.next().map(String::as_str));
                let value = value.ok_or_else(|| format!("option `{name}` lacks its value"))?;
                options.set(name, value)?;
                continue;
            }
            match word.strip_prefix('-').filter(|it| !it.starts_with('-')) {
                // Flags may be joined.
                Some(letters) if !letters.is_empty() => {
                    letters
                        .chars()
                        .try_for_each(|letter| options.flag(letter))?;
                }
                _ => options.long(word)?,
            }
        }
        options.complete()?;
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || number(name, value);
        match name {
            "-n" => self.items = narrow(name, size(name, value)?)?,
            "-I" => self.items_per_directory = narrow(name, size(name, value)?)?,
            "-z" => self.depth = number()?,
            "-b" => self.branches = number()?,
            "-i" => self.iterations = number()?,
            "-d" => value.clone_into(&mut self.directory),
            "-w" => self.write_bytes = size(name, value)?,
            "-e" => self.read_bytes = size(name, value)?,
            "-N" => self.stride = number()?,
            "-W" => self.stonewall_seconds = number()?,
            "-p" => self.delay_seconds = number()?,
            "--ranks" => self.ranks = number()?,
            "--random-seed" => self.random_seed = Some(number()?),
            "-a" if value.eq_ignore_ascii_case("posix") => {}
            "-a" => {
                return Err(format!(
                    "the interface `{value}` is not POSIX, the only one here"
                ));
            }
            "-V" => self.without_effect.push(name.to_owned()),
            _ => return Err(refused(name)),
        }
        Ok(())
    }

    fn flag(&mut self, letter: char) -> Result<(), String> {
        match letter {
            'D' => self.has_directories = true,
            'F' => self.has_files = true,
            'C' => self.phases.create = true,
            'T' => self.phases.stat = true,
            'E' => self.phases.read = true,
            'r' => self.phases.remove = true,
            'U' => self.phases.rename = true,
            'L' => self.is_leaves_only = true,
            'u' => self.is_unique = true,
            'y' => self.is_synced = true,
            'Y' => self.syncs_phases = true,
            'R' => {
                self.random_seed.get_or_insert(1);
            }
            'P' => self.tables = Tables::Both,
            'Z' => self.tables = Tables::Times,
            'v' | 't' => self.without_effect.push(format!("-{letter}")),
            _ => return Err(refused(&format!("-{letter}"))),
        }
        Ok(())
    }

    fn long(&mut self, word: &str) -> Result<(), String> {
        match word {
            "--print-all-procs" | "--warningAsErrors" => self.without_effect.push(word.to_owned()),
            _ => return Err(refused(word)),
        }
        Ok(())
    }

    /// Defaults and numbers that follow from others, in the order of the original.
    fn complete(&mut self) -> Result<(), String> {
        if self.phases == Phases::default() {
            self.phases = Phases::ALL;
        }
        if !self.has_directories && !self.has_files {
            (self.has_directories, self.has_files) = (true, true);
        }
        if self.stonewall_seconds > 0 && self.branches > 1 {
            return Err(format!(
                "`-W` needs a branching factor of 1, and `-b` is {}",
                self.branches
            ));
        }
        if self.items > 0 && self.items_per_directory > 0 {
            return Err("only one of `-n` and `-I` can be given".to_owned());
        }
        let Phases { create, read, .. } = self.phases;
        if create && read && self.read_bytes > self.write_bytes {
            return Err("read bytes must be at most write bytes".to_owned());
        }
        for (name, value) in [
            ("-b", self.branches),
            ("-i", self.iterations),
            ("--ranks", self.ranks),
        ] {
            if value == 0 {
                return Err(format!("`{name}` is 0, and must be at least 1"));
            }
        }
        self.count_items()
    }

    fn count_items(&mut self) -> Result<(), String> {
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
            _ => Ok(()),
        }
    }

    fn nodes(&self) -> Option<u32> {
        if self.branches == 1 {
            return self.depth.checked_add(1);
        }
        let levels = (0..=self.depth).map(|level| self.branches.checked_pow(level));
        levels.sum::<Option<u32>>()
    }

    /// Directories of the tree.
    pub(super) fn node_count(&self) -> u32 {
        self.nodes().unwrap_or(1)
    }

    /// The number of the first item.
    pub(super) fn first_item(&self) -> u32 {
        if !self.is_leaves_only {
            return 0;
        }
        self.first_leaf().saturating_mul(self.items_per_directory)
    }

    /// The number of the tree's first directory that has none in it.
    pub(super) fn first_leaf(&self) -> u32 {
        let leaves = self.branches.saturating_pow(self.depth);
        self.node_count().saturating_sub(leaves)
    }
}

/// Why an option is not taken.
fn refused(option: &str) -> String {
    let shown = option.escape_default();
    let mut known = REFUSED.iter().filter(|(name, _)| *name == option);
    match known.next() {
        Some((_, what)) => format!("`{shown}` {what}, which is not done here"),
        None => format!("there is no option `{shown}`"),
    }
}

fn number(option: &str, value: &str) -> Result<u32, String> {
    let read = value.parse();
    read.map_err(|_| format!("`{option} {}` is not a number", value.escape_default()))
}

/// A number with a unit: `4k`, `1m`, `2g`.
fn size(option: &str, value: &str) -> Result<u64, String> {
    let digits = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match value[digits.len()..].to_ascii_lowercase().as_str() {
        "" => 0,
        "k" => 10,
        "m" => 20,
        "g" => 30,
        _ => 64,
    };
    let read = digits.parse::<u64>().ok().filter(|_| shift < 64);
    let read = read.and_then(|number| number.checked_mul(1 << shift.min(63)));
    read.ok_or_else(|| format!("`{option} {}` is not a number", value.escape_default()))
}

fn narrow(option: &str, value: u64) -> Result<u32, String> {
    let narrowed = u32::try_from(value);
    narrowed.map_err(|_| format!("`{option} {value}` is more than 32 bits can number"))
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
    }

    #[test]
    fn what_cannot_be_done_is_refused_by_name() {
        for (line, part) in [
            ("", "no item"),
            ("-n 5 -I 5", "only one of"),
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
