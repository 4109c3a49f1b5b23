//! The command line: options, each with a value.

/// What is done to each file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Create,
    Append,
    Overwrite,
    TruncateOverwrite,
    Read,
    Stat,
    Chmod,
    Rename,
    Delete,
    DeleteRenamed,
    Symlink,
    Mkdir,
    Rmdir,
    Cleanup,
}

impl Operation {
    const ALL: [(Self, &'static str); 14] = [
        (Self::Create, "create"),
        (Self::Append, "append"),
        (Self::Overwrite, "overwrite"),
        (Self::TruncateOverwrite, "truncate-overwrite"),
        (Self::Read, "read"),
        (Self::Stat, "stat"),
        (Self::Chmod, "chmod"),
        (Self::Rename, "rename"),
        (Self::Delete, "delete"),
        (Self::DeleteRenamed, "delete-renamed"),
        (Self::Symlink, "symlink"),
        (Self::Mkdir, "mkdir"),
        (Self::Rmdir, "rmdir"),
        (Self::Cleanup, "cleanup"),
    ];

    pub(super) fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(known, _)| *known == self)
            .map_or("", |(_, name)| name)
    }

    /// Whether it writes or reads what is in files.
    pub(super) const fn moves(self) -> bool {
        matches!(
            self,
            Self::Create | Self::Append | Self::Overwrite | Self::TruncateOverwrite | Self::Read
        )
    }

    /// Whether later operations need all that it makes, so that it is always done to its end.
    const fn makes(self) -> bool {
        matches!(self, Self::Create | Self::Mkdir | Self::Cleanup)
    }
}

/// Operations of the original that are not done here.
const OTHERS: [&str; 8] = [
    "readdir",
    "ls-l",
    "setxattr",
    "getxattr",
    "swift-get",
    "swift-put",
    "await-create",
    "mkfifo",
];

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub operation: Operation,
    pub top: String,
    pub threads: u32,
    pub files: u32,
    pub file_kib: u32,
    pub is_exponential: bool,
    pub record_kib: u32,
    pub files_per_directory: u32,
    pub directories_per_directory: u32,
    pub prefix: String,
    pub suffix: String,
    pub is_shared: bool,
    pub has_stonewall: bool,
    pub is_finished: bool,
    /// `--finish` was changed, which is told.
    pub is_finish_forced: bool,
    pub is_synced: bool,
    pub is_verified: bool,
    pub pause_us: u32,
    pub output_json: Option<String>,
    /// Options that change nothing.
    pub without_effect: Vec<String>,
}

impl Options {
    /// Reads the arguments.
    ///
    /// # Errors
    /// An option that is not known or not done here, or a value that cannot be.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let mut options = Self {
            operation: Operation::Create,
            top: ".".to_owned(),
            threads: 2,
            files: 200,
            file_kib: 64,
            is_exponential: false,
            record_kib: 0,
            files_per_directory: 100,
            directories_per_directory: 10,
            prefix: String::new(),
            suffix: String::new(),
            is_shared: false,
            has_stonewall: true,
            is_finished: false,
            is_finish_forced: false,
            is_synced: false,
            is_verified: true,
            pause_us: 0,
            output_json: None,
            without_effect: Vec::new(),
        };
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            let (name, joined) = match word.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word.as_str(), None),
            };
            let value = joined.or_else(|| words.next().map(String::as_str));
            let shown = name.escape_default();
            let value = value.ok_or_else(|| format!("option `{shown}` lacks its value"))?;
            options.set(name, value)?;
        }
        options.complete()?;
        Ok(options)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let number = || number(name, value);
        let is_yes = || is_yes(name, value);
        match name {
            "--operation" => self.operation = operation(value)?,
            "--top" => value.clone_into(&mut self.top),
            "--threads" => self.threads = number()?,
            "--files" => self.files = number()?,
            "--file-size" => self.file_kib = number()?,
            "--file-size-distribution" => self.is_exponential = is_exponential(value)?,
            "--record-size" => self.record_kib = number()?,
            "--files-per-dir" => self.files_per_directory = number()?,
            "--dirs-per-dir" => self.directories_per_directory = number()?,
            "--prefix" => value.clone_into(&mut self.prefix),
            "--suffix" => value.clone_into(&mut self.suffix),
            "--same-dir" => self.is_shared = is_yes()?,
            "--stonewall" => self.has_stonewall = is_yes()?,
            "--finish" => self.is_finished = is_yes()?,
            "--fsync" => self.is_synced = is_yes()?,
            "--verify-read" => self.is_verified = is_yes()?,
            "--pause" => self.pause_us = number()?,
            "--output-json" => self.output_json = Some(value.to_owned()),
            "--verbose"
            | "--log-to-stderr"
            | "--incompressible"
            | "--auto-pause"
            | "--permute-host-dirs"
            | "--network-sync-dir"
            | "--remote-pgm-dir"
            | "--min-dirs-per-sec"
            | "--cleanup-delay-usec-per-file"
            | "--xattr-size"
            | "--xattr-count" => self.without_effect.push(name.to_owned()),
            "--hash-into-dirs" | "--response-times" | "--record-ctime-size" if !is_yes()? => {}
            "--hash-into-dirs"
            | "--response-times"
            | "--record-ctime-size"
            | "--host-set"
            | "--yaml-input-file"
            | "--launch-by-daemon" => {
                return Err(format!("`{name}` is not done here"));
            }
            _ => return Err(format!("there is no option `{}`", name.escape_default())),
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<(), String> {
        for (name, value, least) in [
            ("--threads", self.threads, 1),
            ("--files", self.files, 1),
            ("--files-per-dir", self.files_per_directory, 1),
            ("--dirs-per-dir", self.directories_per_directory, 2),
        ] {
            if value < least {
                return Err(format!("`{name}` is {value}, and must be at least {least}"));
            }
        }
        if self.record_kib > self.file_kib && self.file_kib > 0 {
            return Err("record size cannot exceed file size".to_owned());
        }
        if self.operation.makes() && !self.is_finished {
            (self.is_finished, self.is_finish_forced) = (true, true);
        }
        Ok(())
    }

    /// Bytes of a read or a write, at most.
    pub(super) fn record_bytes(&self) -> u64 {
        let kib = match self.record_kib {
            0 => self.file_kib,
            kib => kib,
        };
        u64::from(kib.clamp(1, 1024)) << 10
    }
}

fn operation(name: &str) -> Result<Operation, String> {
    let mut all = Operation::ALL.iter();
    if let Some((operation, _)) = all.find(|(_, known)| *known == name) {
        return Ok(*operation);
    }
    Err(match OTHERS.contains(&name) {
        true => format!("the operation `{name}` is not done here"),
        false => format!("there is no operation `{}`", name.escape_default()),
    })
}

fn is_exponential(value: &str) -> Result<bool, String> {
    match value {
        "exponential" => Ok(true),
        "fixed" => Ok(false),
        _ => Err(format!(
            "`{}` is not a distribution",
            value.escape_default()
        )),
    }
}

fn number(option: &str, value: &str) -> Result<u32, String> {
    let read = value.parse();
    read.map_err(|_| format!("`{option} {}` is not a number", value.escape_default()))
}

fn is_yes(option: &str, value: &str) -> Result<bool, String> {
    match value.to_ascii_lowercase().as_str() {
        "y" | "yes" | "t" | "true" => Ok(true),
        "n" | "no" | "f" | "false" => Ok(false),
        _ => Err(format!(
            "`{option} {}` is not Y or N",
            value.escape_default()
        )),
    }
}
