//! The command line.

use crate::options::{
    Equals, Grammar, Letters, OptionRow, Value, act, count_within, flag, idle, idle_value, only,
    read, refused, text, told,
};

/// What is asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Options {
    pub clients: u32,
    pub time_s: u64,
    pub warm_up_s: u64,
    pub load_file: String,
    pub directory: String,
    pub bytes_per_second: u64,
    pub is_sync: bool,
    pub syncs_directories: bool,
    pub syncs_writes: bool,
    pub is_resolving: bool,
    pub runs_once: bool,
    pub is_machine_readable: bool,
    pub without_effect: Vec<String>,
}

/// The most seconds, a month.
const TIME_S_MAX: u64 = 31 * 86_400;
/// Where nobody says how many.
const UNSAID: u64 = u64::MAX;

const GRAMMAR: Grammar<Options> = Grammar {
    equals: Equals::Long,
    letters: Letters::JoinedByEquals,
    operand: Some(|it, word| match it.clients {
        0 => {
            it.clients = Value::of("NPROCS", word).number_within(1, 1024)?;
            Ok(())
        }
        _ => Err(format!("`{word}` is one word too many")),
    }),
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

const OPTIONS: &[OptionRow<Options>] = &[
    count_within("-t --timelimit", |it| &mut it.time_s, 1, TIME_S_MAX),
    count_within("--warmup", |it| &mut it.warm_up_s, 0, TIME_S_MAX),
    text("-c --loadfile", |it| &mut it.load_file),
    text("-D --directory", |it| &mut it.directory),
    read("-R --target-rate", |it, value| {
        it.bytes_per_second = (value.number_within(0.0, 1e9)? * 1e6) as u64;
        Ok(())
    }),
    read("-B --backend", |_, value| only(value, "back-end", "fileio")),
    flag("-s --sync --sync-open", |it| &mut it.is_sync),
    flag("-S --sync-dir --sync-dirs", |it| &mut it.syncs_directories),
    flag("-F --fsync", |it| &mut it.syncs_writes),
    act("--no-resolve", |it| it.is_resolving = false),
    flag("--run-once", |it| &mut it.runs_once),
    flag("--machine-readable", |it| &mut it.is_machine_readable),
    idle("--skip-cleanup --per-client-results"),
    idle_value("--clients-per-process -T --tcp-options"),
    told("-x --xattr", "`{}`: attributes are not done here"),
    refused("--one-byte-write-fix", "is for tests of dbench"),
    refused("--stat-check --fake-io", "is for tests of dbench"),
];

impl Options {
    /// Reads the arguments.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            time_s: 600,
            warm_up_s: UNSAID,
            load_file: "/usr/share/dbench/client.txt".to_owned(),
            directory: ".".to_owned(),
            is_resolving: true,
            ..Self::default()
        };
        let mut options = GRAMMAR.read(arguments, start)?;
        options.warm_up_s = match options.warm_up_s {
            _ if options.runs_once => 0,
            UNSAID => options.time_s / 5,
            seconds => seconds,
        };
        match options.clients {
            0 => Err("say how many clients: `dbench 4`".to_owned()),
            _ => Ok(options),
        }
    }
}
