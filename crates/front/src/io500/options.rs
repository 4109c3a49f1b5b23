//! The command line: the original's options, and options for its settings file.

use jiff::Timestamp;

use crate::options::{
    EqualsSyntax, Grammar, LetterSyntax, OptionRow, act, at_least, flag, idle, idle_value, number,
    read, refused, rule_out, size, text, unknown_option_message,
};

/// Minimum duration of writing in seconds: by the general rules, and by the student contest's.
const WRITE_SECONDS: u32 = 300;
const STUDENT_WRITE_SECONDS: u32 = 30;

/// Directory of result files unless the settings name another one.
const RESULT_DIRECTORY: &str = "./results";

/// Parsed options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Io500Options {
    /// Path of the settings file.
    pub config: Option<String>,
    pub directory: String,
    pub ranks: u32,
    /// Seconds after which writing and random reading stop.
    pub stonewall_seconds: u32,
    pub easy_transfer_bytes: u64,
    /// Limit on the size of each rank's own file; `None` to write until the time ends.
    pub easy_block_bytes: Option<u64>,
    /// Limit on the pieces that each rank writes to the common file; `None` to write until the time
    /// ends.
    pub hard_segments: Option<u64>,
    /// Files of each rank in its own directory, and in the common directory.
    pub easy_files: u32,
    pub hard_files: u32,
    /// `true` to drop the page cache before each phase.
    pub drops_caches: bool,
    /// `true` to apply the rules of the student contest.
    pub is_for_students: bool,
    /// Directory whose files would pause phases in the original.
    pub pause_directory: Option<String>,
    /// Directory of result files; `None` for the original's default if there is a settings file.
    pub result_directory: Option<String>,
    /// Name of the run's own directory among the results; `None` for its start.
    pub timestamp: Option<String>,
    /// `true` to write the result files of all runs to the same directory.
    pub has_common_results: bool,
    /// Result file to verify instead of a run.
    pub verified_file: Option<String>,
    /// Text to print instead of a run.
    pub print: Option<Io500Print>,
    /// Options that have no effect.
    pub without_effect: Vec<String>,
}

/// Text to print instead of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Io500Print {
    /// All settings.
    Settings,
    /// Settings that a file must contain.
    MandatorySettings,
    /// The phases that would run.
    Work,
}

const GRAMMAR: Grammar<Io500Options> = Grammar {
    equals: EqualsSyntax::Long,
    letters: LetterSyntax::Alone,
    operand: Some(|it, word| match it.config.replace(word.to_owned()) {
        None => Ok(()),
        Some(_) => Err(format!(
            "`{}` would be a second file",
            plan::printable(word)
        )),
    }),
    unknown: |it| match it.word {
        "-h" | "--help" => String::new(),
        word => unknown_option_message(&plan::printable(word)),
    },
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

const OPTIONS: &[OptionRow<Io500Options>] = &[
    text("-d", |it| &mut it.directory),
    number("--ranks", |it| &mut it.ranks),
    number("--time", |it| &mut it.stonewall_seconds),
    size("--easy-transfer", |it| &mut it.easy_transfer_bytes),
    size("--easy-block", |it| it.easy_block_bytes.get_or_insert(0)),
    size("--hard-segments", |it| it.hard_segments.get_or_insert(0)),
    read("--files", |it, value| {
        it.easy_files = value.number()?;
        it.hard_files = it.easy_files;
        Ok(())
    }),
    number("--easy-files", |it| &mut it.easy_files),
    number("--hard-files", |it| &mut it.hard_files),
    flag("--drop-caches", |it| &mut it.drops_caches),
    flag("--scc", |it| &mut it.is_for_students),
    text("--pause-dir", |it| {
        it.pause_directory.get_or_insert_default()
    }),
    act("-l --list", |it| it.print = Some(Io500Print::Settings)),
    act("-lm --list-mandatory", |it| {
        it.print = Some(Io500Print::MandatorySettings)
    }),
    act("--dry-run", |it| it.print = Some(Io500Print::Work)),
    text("--result-dir", |it| {
        it.result_directory.get_or_insert_default()
    }),
    flag("--common-results", |it| &mut it.has_common_results),
    text("--timestamp", |it| it.timestamp.get_or_insert_default()),
    idle("-v"),
    idle_value("--verbose"),
    read("--mode", |_, value| match value.text {
        "standard" => Ok(()),
        "extended" => Err(
            "`--mode=extended` has phases that are not supported; use `--mode=standard`".to_owned(),
        ),
        _ => Err(value.not("standard or extended")),
    }),
    refused("--cleanup", "removes what a run left"),
    refused("--config-hash", "prints a sum of the settings"),
    text("--verify", |it| it.verified_file.get_or_insert_default()),
    act("--small", |it| {
        it.stonewall_seconds = 1;
        it.easy_block_bytes = Some(16 << 20);
        it.hard_segments = Some(500);
        (it.easy_files, it.hard_files) = (1000, 1000);
    }),
];

impl Io500Options {
    /// Parses the arguments, including those from a settings file.
    ///
    /// # Errors
    /// An option is unknown, or values do not fit together.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        Self::given(arguments)?.complete()
    }

    /// Parses the arguments without checking whether they fit together.
    ///
    /// # Errors
    /// An option or its value is invalid.
    pub(super) fn given(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            directory: ".".to_owned(),
            ranks: 1,
            stonewall_seconds: WRITE_SECONDS,
            easy_transfer_bytes: 2 << 20,
            easy_files: 1_000_000,
            hard_files: 1_000_000,
            ..Self::default()
        };
        GRAMMAR.read(arguments, start)
    }

    /// Value of an option that takes one, as it would be written; empty without a value.
    pub(super) fn value_of(&self, option: &str) -> String {
        let number = |it: Option<u64>| it.map_or_else(String::new, |it| it.to_string());
        match option {
            "-d" => self.directory.clone(),
            "--result-dir" => self.result_directory.clone().unwrap_or_default(),
            "--pause-dir" => self.pause_directory.clone().unwrap_or_default(),
            "--time" => self.stonewall_seconds.to_string(),
            "--easy-transfer" => self.easy_transfer_bytes.to_string(),
            "--easy-block" => number(self.easy_block_bytes),
            "--easy-files" => self.easy_files.to_string(),
            "--hard-segments" => number(self.hard_segments),
            "--hard-files" => self.hard_files.to_string(),
            _ => String::new(),
        }
    }

    /// Minimum duration of writing by the rules, in seconds.
    pub(super) const fn write_seconds(&self) -> u32 {
        match self.is_for_students {
            true => STUDENT_WRITE_SECONDS,
            false => WRITE_SECONDS,
        }
    }

    /// Directory of the run's result files; `None` if it writes none.
    pub(super) fn result_path(&self, started_at: Timestamp) -> Option<String> {
        let default = self.config.as_ref().map(|_| RESULT_DIRECTORY.to_owned());
        let directory = self.result_directory.clone().or(default)?;
        if self.has_common_results {
            return Some(directory);
        }
        let start = || started_at.strftime("%Y.%m.%d-%H.%M.%S").to_string();
        let own = self.timestamp.clone().unwrap_or_else(start);
        Some(format!("{directory}/{own}"))
    }

    fn complete(self) -> Result<Self, String> {
        at_least(&[
            ("--ranks", self.ranks.into(), 1),
            ("--time", self.stonewall_seconds.into(), 1),
            ("--easy-transfer", self.easy_transfer_bytes, 1),
            ("--easy-block", self.easy_block_bytes.unwrap_or(1), 1),
            ("--hard-segments", self.hard_segments.unwrap_or(1), 1),
            ("--easy-files", self.easy_files.into(), 1),
            ("--hard-files", self.hard_files.into(), 1),
        ])?;
        let block_bytes = self.easy_block_bytes.unwrap_or(0);
        let is_uneven = !block_bytes.is_multiple_of(self.easy_transfer_bytes);
        let uneven = "`--easy-block` must be a multiple of `--easy-transfer`";
        let is_path = |it: &String| matches!(it.as_str(), "" | "." | "..") || it.contains('/');
        let has_path = self.timestamp.as_ref().is_some_and(is_path);
        let path = "`--timestamp` is the name of one directory, without `/`";
        rule_out(&[(is_uneven, uneven), (has_path, path)])?;
        Ok(self)
    }
}
