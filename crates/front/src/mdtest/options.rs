//! The command line.

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub items: u32,
    pub iterations: u32,
    pub ranks: u32,
    pub directory: String,
    pub is_of_directories: bool,
    pub is_of_files: bool,
    pub phases: Phases,
    pub write_bytes: u64,
    pub read_bytes: u64,
    pub is_synced: bool,
    pub syncs_phases: bool,
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

impl Phases {
    const ALL: Self = Self {
        create: true,
        stat: true,
        read: true,
        remove: true,
        rename: true,
    };
}

impl Options {
    /// Reads the arguments.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            items: 0,
            iterations: 1,
            ranks: 1,
            directory: ".".to_owned(),
            is_of_directories: true,
            is_of_files: true,
            phases: Phases::default(),
            write_bytes: 0,
            read_bytes: 0,
            is_synced: false,
            syncs_phases: false,
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let mut value = || {
                let next = words.next();
                next.ok_or_else(|| format!("option `{word}` lacks its value"))
            };
            match word.as_str() {
                "-n" => options.items = number(word, value()?)?,
                "-i" => options.iterations = number(word, value()?)?,
                "--ranks" => options.ranks = number(word, value()?)?,
                "-d" => options.directory.clone_from(value()?),
                "-w" => options.write_bytes = number(word, value()?)?.into(),
                "-e" => options.read_bytes = number(word, value()?)?.into(),
                "-D" => options.is_of_files = false,
                "-F" => options.is_of_directories = false,
                "-C" => options.phases.create = true,
                "-T" => options.phases.stat = true,
                "-E" => options.phases.read = true,
                "-r" => options.phases.remove = true,
                "-U" => options.phases.rename = true,
                "-y" => options.is_synced = true,
                "-Y" => options.syncs_phases = true,
                _ => return Err(format!("there is no option `{word}`")),
            }
        }
        if options.phases == Phases::default() {
            options.phases = Phases::ALL;
        }
        match options.items {
            0 => Err("`-n` says how many files and directories each rank has".to_owned()),
            _ => Ok(options),
        }
    }
}

fn number(option: &str, value: &str) -> Result<u32, String> {
    let read = value.parse();
    read.map_err(|_| format!("`{option} {value}` is not a number"))
}
