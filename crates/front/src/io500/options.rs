//! The command line: options of the original, and ours for what its file of settings says.

use crate::options::{
    Equals, Grammar, Letters, OptionRow, act, at_least, flag, idle, idle_value, no_option, number,
    read, refused, refused_value, rule_out, size, text,
};

/// Seconds that writing has to last: general rules, and rules of the student contest.
const WRITE_SECONDS: u32 = 300;
const WRITE_SECONDS_OF_STUDENTS: u32 = 30;

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// The file of settings.
    pub config: Option<String>,
    pub directory: String,
    pub ranks: u32,
    /// When writing stops, and reading at random places.
    pub wall_seconds: u32,
    pub easy_transfer_bytes: u64,
    /// Bytes of each rank's own file at most.
    pub easy_block_bytes: Option<u64>,
    /// Pieces that each rank writes to the common file at most.
    pub hard_segments: Option<u64>,
    /// Files of each rank in its own directory, and in the common one.
    pub easy_files: u32,
    pub hard_files: u32,
    /// The page cache is dropped before each phase.
    pub drops_caches: bool,
    /// The rules of the student contest.
    pub is_for_students: bool,
    /// A directory that would make phases wait for each other.
    pub pause_directory: Option<String>,
    /// What is printed in place of a run.
    pub shown: Option<Shown>,
    /// Options that change nothing.
    pub without_effect: Vec<String>,
}

/// What is printed in place of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// All settings.
    Settings,
    /// Those that a file must have.
    MandatorySettings,
    /// What would be done.
    Work,
}

const GRAMMAR: Grammar<Options> = Grammar {
    equals: Equals::Long,
    letters: Letters::Alone,
    operand: Some(|it, word| match it.config.replace(word.to_owned()) {
        None => Ok(()),
        Some(_) => Err(format!(
            "`{}` would be a second file",
            plan::printable(word)
        )),
    }),
    unknown: |it| match it.word {
        "-h" | "--help" => String::new(),
        word => no_option(&plan::printable(word)),
    },
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

const OPTIONS: &[OptionRow<Options>] = &[
    text("-d", |it| &mut it.directory),
    number("--ranks", |it| &mut it.ranks),
    number("--time", |it| &mut it.wall_seconds),
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
    act("-l --list", |it| it.shown = Some(Shown::Settings)),
    act("-lm --list-mandatory", |it| {
        it.shown = Some(Shown::MandatorySettings)
    }),
    act("--dry-run", |it| it.shown = Some(Shown::Work)),
    idle("-v"),
    idle_value("--verbose --timestamp"),
    read("--mode", |_, value| match value.text {
        "standard" => Ok(()),
        "extended" => Err("`--mode=extended` has phases that are not done here".to_owned()),
        _ => Err(value.not("standard or extended")),
    }),
    refused("--cleanup", "removes what a run left"),
    refused("--config-hash", "prints a sum of the settings"),
    refused_value("--verify", "checks the results of another run"),
    act("--small", |it| {
        it.wall_seconds = 1;
        it.easy_block_bytes = Some(16 << 20);
        it.hard_segments = Some(500);
        (it.easy_files, it.hard_files) = (1000, 1000);
    }),
];

impl Options {
    /// Reads the arguments, those that a file of settings stands for among them.
    ///
    /// # Errors
    /// An option that is not known; values that do not go together.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        Self::given(arguments)?.complete()
    }

    /// The same before it is known what goes together.
    ///
    /// # Errors
    /// An option that is not known, or its value.
    pub(super) fn given(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            directory: ".".to_owned(),
            ranks: 1,
            wall_seconds: WRITE_SECONDS,
            easy_transfer_bytes: 2 << 20,
            easy_files: 1_000_000,
            hard_files: 1_000_000,
            ..Self::default()
        };
        GRAMMAR.read(arguments, start)
    }

    /// Seconds that writing has to last.
    pub(super) const fn write_seconds(&self) -> u32 {
        match self.is_for_students {
            true => WRITE_SECONDS_OF_STUDENTS,
            false => WRITE_SECONDS,
        }
    }

    fn complete(self) -> Result<Self, String> {
        at_least(&[
            ("--ranks", self.ranks.into(), 1),
            ("--time", self.wall_seconds.into(), 1),
            ("--easy-transfer", self.easy_transfer_bytes, 1),
            ("--easy-block", self.easy_block_bytes.unwrap_or(1), 1),
            ("--hard-segments", self.hard_segments.unwrap_or(1), 1),
            ("--easy-files", self.easy_files.into(), 1),
            ("--hard-files", self.hard_files.into(), 1),
        ])?;
        let block_bytes = self.easy_block_bytes.unwrap_or(0);
        let is_uneven = !block_bytes.is_multiple_of(self.easy_transfer_bytes);
        let uneven = "`--easy-block` must be a multiple of `--easy-transfer`";
        rule_out(&[(is_uneven, uneven)])?;
        Ok(self)
    }
}
