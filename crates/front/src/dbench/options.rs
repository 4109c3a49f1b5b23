//! The command line of dbench.

use crate::options::{
    EqualsSyntax, Grammar, LetterSyntax, OptionRow, WrittenValue, act, count_within, flag, idle,
    idle_value, number_within, only, read, refused, refused_with, text,
};

/// Parsed options.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DbenchOptions {
    /// Number of clients of all processes.
    pub clients: u32,
    pub processes: u32,
    pub clients_per_process: u32,
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
    /// `true` to print a table of each client as well.
    pub has_client_tables: bool,
    /// `true` to leave out reads and writes.
    pub fakes_io: bool,
    pub checks_by_stat: bool,
    pub fixes_one_byte_writes: bool,
    pub without_effect: Vec<String>,
}

/// Longest time, in seconds: 31 days.
const TIME_S_MAX: u64 = 31 * 86_400;
/// Largest number of clients.
const CLIENTS_MAX: u32 = 1024;
/// Marks a duration that is not given.
const UNSET: u64 = u64::MAX;

pub(super) const GRAMMAR: Grammar<DbenchOptions> = Grammar {
    equals: EqualsSyntax::Long,
    letters: LetterSyntax::JoinedOrEquals,
    operand: Some(|it, word| match it.processes {
        0 => {
            it.processes = WrittenValue::of("NPROCS", word).number_within(1, CLIENTS_MAX)?;
            Ok(())
        }
        _ => Err(format!("unexpected argument `{word}`")),
    }),
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

const OPTIONS: &[OptionRow<DbenchOptions>] = &[
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
    flag("--per-client-results", |it| &mut it.has_client_tables),
    flag("--fake-io", |it| &mut it.fakes_io),
    flag("--stat-check", |it| &mut it.checks_by_stat),
    flag("--one-byte-write-fix", |it| &mut it.fixes_one_byte_writes),
    idle("--skip-cleanup"),
    number_within(
        "--clients-per-process",
        |it| &mut it.clients_per_process,
        1,
        CLIENTS_MAX,
    ),
    idle_value("-T --tcp-options"),
    refused(
        "-x --xattr",
        "sets and reads extended attributes of each file",
    ),
    // Requests the usage.
    refused_with("--usage -?", ""),
];

impl DbenchOptions {
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let start = Self {
            time_s: 600,
            warm_up_s: UNSET,
            load_file: "/usr/share/dbench/client.txt".to_owned(),
            directory: ".".to_owned(),
            is_resolving: true,
            clients_per_process: 1,
            ..Self::default()
        };
        let mut options = GRAMMAR.read(arguments, start)?;
        options.warm_up_s = match options.warm_up_s {
            // A warm-up would leave a part of the only pass out of the results.
            _ if options.runs_once => 0,
            // The original warms up for a fifth of the run time.
            UNSET => options.time_s / 5,
            seconds => seconds,
        };
        let (processes, each) = (options.processes, options.clients_per_process);
        options.clients = processes.saturating_mul(each);
        match options.clients {
            0 => Err("give the number of clients, such as `dbench 4`".to_owned()),
            1..=CLIENTS_MAX => Ok(options),
            clients => Err(format!(
                "{processes} processes of {each} clients are {clients} clients, more than \
                 {CLIENTS_MAX}; use fewer"
            )),
        }
    }
}
