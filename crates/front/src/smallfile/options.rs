//! The command line of smallfile: options, each with a value.

use plan::program::ATTRIBUTES_MAX;

use super::operation::{FileEffect, SmallfileOperation};
use crate::options::{
    EqualsSyntax, Grammar, LetterSyntax, OptionRow, WrittenValue, at_least, escaped, idle_value,
    missing_value_message, number, read, rule_out, text, unknown_option_message, yes_or_no,
};

/// Parsed options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct SmallfileOptions {
    pub operation: SmallfileOperation,
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
    /// `true` if a hash of a file's number selects its directory.
    pub is_hashed: bool,
    pub has_stonewall: bool,
    pub finishes_all: bool,
    /// `true` if `--finish` was changed to yes, which the output mentions.
    pub is_finish_forced: bool,
    pub is_synced: bool,
    pub is_verified: bool,
    pub pause_us: u32,
    /// Number of extended attributes of each file.
    pub attribute_count: u8,
    /// Size of an extended attribute's value in bytes.
    pub attribute_bytes: u32,
    pub output_json: Option<String>,
    /// `true` to write a file of response times for each thread.
    pub has_response_times: bool,
    /// Directory of these files, instead of `network_shared` in the first one of `--top`.
    pub shared_directory: Option<String>,
    /// Hosts of the test: only this one.
    pub hosts: Option<String>,
    /// File with more parameters.
    pub yaml_file: Option<String>,
    /// Options that have no effect.
    pub without_effect: Vec<String>,
}

/// The option that names a file with more parameters.
pub(super) const YAML_OPTION: &str = "--yaml-input-file";

pub(super) const GRAMMAR: Grammar<SmallfileOptions> = Grammar {
    equals: EqualsSyntax::All,
    letters: LetterSyntax::Alone,
    takes_prefixes: true,
    unknown: |it| match it.has_value {
        true => unknown_option_message(&escaped(it.name)),
        false => missing_value_message(&escaped(it.name)),
    },
    format: escaped,
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

pub(super) const OPTIONS: &[OptionRow<SmallfileOptions>] = &[
    read("--operation", |it, value| it.operation.read(value)),
    text("--top", |it| &mut it.top),
    number("--threads", |it| &mut it.threads),
    number("--files", |it| &mut it.files),
    number("--file-size", |it| &mut it.file_kib),
    read("--file-size-distribution", distribution),
    number("--record-size", |it| &mut it.record_kib),
    number("--files-per-dir", |it| &mut it.files_per_directory),
    number("--dirs-per-dir", |it| &mut it.directories_per_directory),
    text("--prefix", |it| &mut it.prefix),
    text("--suffix", |it| &mut it.suffix),
    yes_or_no("--same-dir", |it| &mut it.is_shared),
    yes_or_no("--stonewall", |it| &mut it.has_stonewall),
    yes_or_no("--finish", |it| &mut it.finishes_all),
    yes_or_no("--fsync", |it| &mut it.is_synced),
    yes_or_no("--verify-read", |it| &mut it.is_verified),
    number("--pause", |it| &mut it.pause_us),
    text("--output-json", |it| it.output_json.get_or_insert_default()),
    read(
        "--verbose --log-to-stderr --incompressible --auto-pause --permute-host-dirs",
        |it, value| it.ignore(value, value.is_yes().map(drop)),
    ),
    read("--min-dirs-per-sec --host-count", |it, value| {
        it.ignore(value, value.number_within(1, u32::MAX).map(drop))
    }),
    // The limits of Linux on a value, and of pgmeter on the number of names.
    read("--xattr-size", |it, value| {
        it.attribute_bytes = value.number_within(0, 64 << 10)?;
        Ok(())
    }),
    read("--xattr-count", |it, value| {
        it.attribute_count = value.number_within(0, ATTRIBUTES_MAX as u8)?;
        Ok(())
    }),
    read("--cleanup-delay-usec-per-file", |it, value| {
        it.ignore(value, value.number::<u32>().map(drop))
    }),
    idle_value("--remote-pgm-dir"),
    text("--network-sync-dir", |it| {
        it.shared_directory.get_or_insert_default()
    }),
    yes_or_no("--hash-into-dirs", |it| &mut it.is_hashed),
    yes_or_no("--response-times", |it| &mut it.has_response_times),
    read("--record-ctime-size --launch-by-daemon", |_, value| {
        require_no(value, "leave it out")
    }),
    text(YAML_OPTION, |it| it.yaml_file.get_or_insert_default()),
    text("--host-set", |it| it.hosts.get_or_insert_default()),
];

impl SmallfileOptions {
    /// Parses the arguments.
    ///
    /// # Errors
    /// An option is unknown or not supported, or a value is invalid.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        Self::parse(arguments)?.complete()
    }

    /// Parses the arguments without the checks of all values together.
    ///
    /// # Errors
    /// An option is unknown or not supported, or a value has the wrong form.
    pub(super) fn parse(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            top: ".".to_owned(),
            threads: 2,
            files: 200,
            file_kib: 64,
            files_per_directory: 100,
            directories_per_directory: 10,
            has_stonewall: true,
            is_verified: true,
            ..Self::default()
        };
        GRAMMAR.read(arguments, start)
    }

    fn complete(mut self) -> Result<Self, String> {
        at_least(&[
            ("--threads", self.threads.into(), 1),
            ("--files", self.files.into(), 1),
            ("--files-per-dir", self.files_per_directory.into(), 1),
            ("--dirs-per-dir", self.directories_per_directory.into(), 2),
        ])?;
        let is_too_large = self.record_kib > self.file_kib && self.file_kib > 0;
        let lacks_top = self.top_directories().any(str::is_empty);
        let lists = self.operation.lists();
        rule_out(&[
            (
                self.is_hashed && lists,
                "directories of `--hash-into-dirs` cannot be listed; leave it out",
            ),
            (is_too_large, "record size cannot exceed file size"),
            (lacks_top, "a directory of `--top` has no name"),
        ])?;
        if self.operation.is_whole() && !self.finishes_all {
            (self.finishes_all, self.is_finish_forced) = (true, true);
        }
        Ok(self)
    }

    /// Accepts an option without effect if its value is valid in the original.
    fn ignore(
        &mut self,
        value: &WrittenValue<'_>,
        checked: Result<(), String>,
    ) -> Result<(), String> {
        checked?;
        self.without_effect.push(value.option.to_owned());
        Ok(())
    }

    /// Directories of `--top`.
    pub(super) fn top_directories(&self) -> impl Iterator<Item = &str> {
        self.top.split(',')
    }

    /// Number of files between two checks for the stonewall.
    ///
    /// As in the original, small files have fewer checks.
    pub(super) fn files_between_checks(&self) -> u64 {
        let kib = u64::from(self.file_kib);
        (100_u64.saturating_sub(kib.div_ceil(100))).max(10)
    }

    /// The first file of each directory, counted from 0.
    pub(super) fn first_files(&self) -> impl Iterator<Item = u32> {
        // The number in the name of a file selects its directory, and the first number is 1.
        let is_first =
            move |file: &u32| *file == 0 || (file + 1).is_multiple_of(self.files_per_directory);
        (0..self.files).filter(is_first)
    }

    /// Number of files that a thread has finished after this many rounds.
    pub(super) fn files_of_rounds(&self, rounds: u64) -> u64 {
        match self.operation.effect {
            // Each round lists a directory.
            FileEffect::List => {
                let next = self
                    .first_files()
                    .nth(usize::try_from(rounds).unwrap_or(usize::MAX));
                next.unwrap_or(self.files).into()
            }
            _ => rounds,
        }
    }

    /// Directory of the files of response times.
    pub(super) fn shared_directory(&self) -> String {
        let first = self.top_directories().next().unwrap_or(".");
        let default = || format!("{first}/network_shared");
        self.shared_directory.clone().unwrap_or_else(default)
    }

    /// Checks that `--host-set` names only this host.
    pub(super) fn check_hosts(&self, host: &str) -> Result<(), String> {
        let hosts = self.hosts.iter().flat_map(|it| it.split(','));
        let mut others = hosts.filter(|it| !["localhost", "127.0.0.1", host].contains(it));
        others.next().map_or(Ok(()), |other| {
            let other = escaped(other);
            Err(format!(
                "`--host-set` names `{other}`, but all threads run on this host; to measure on \
                 several hosts, use a workload file and `pgmeter run --hosts`"
            ))
        })
    }

    /// Distribution of file sizes in the original's words.
    pub(super) const fn distribution(&self) -> &'static str {
        match self.is_exponential {
            true => "random exponential",
            false => "fixed",
        }
    }

    /// Largest size of a read or write, in bytes.
    pub(super) fn record_bytes(&self) -> u64 {
        // As in the original, 0 stands for the whole file, up to 1 MiB.
        let requested = Some(self.record_kib).filter(|kib| *kib > 0);
        let kib = requested.unwrap_or(self.file_kib);
        u64::from(kib.clamp(1, 1024)) << 10
    }
}

fn distribution(options: &mut SmallfileOptions, value: &WrittenValue<'_>) -> Result<(), String> {
    options.is_exponential = match value.text {
        "exponential" => true,
        "fixed" => false,
        _ => return Err(format!("`{}` is not a distribution", value.shown())),
    };
    Ok(())
}

/// Accepts an unsupported feature only if it is switched off.
fn require_no(value: &WrittenValue<'_>, help: &str) -> Result<(), String> {
    let sentence = format!("`{}` is not supported; {help}", value.option);
    rule_out(&[(value.is_yes()?, &sentence)])
}
