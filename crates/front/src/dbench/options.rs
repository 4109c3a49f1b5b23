//! The command line.

use crate::Difference;
use crate::options::{
    Equals, Grammar, Letters, OptionRow, Value, act, count_within, flag, idle, idle_value,
    no_option, only, read, text, told,
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
    clients_asked: Option<u32>,
    warm_up_asked: Option<u64>,
    without_effect: Vec<String>,
}

/// The most seconds, a month.
const TIME_S_MAX: u64 = 31 * 86_400;

const GRAMMAR: Grammar<Options> = Grammar {
    equals: Equals::Long,
    letters: Letters::JoinedByEquals,
    operand: Some(clients),
    unknown: |it| match it.name {
        "-" => "`-` is no option".to_owned(),
        name if it.is_joined && name.starts_with("--") => {
            format!("option `{name}` takes no value")
        }
        name => no_option(name),
    },
    ..Grammar::new(OPTIONS, |it| &mut it.without_effect)
};

const OPTIONS: &[OptionRow<Options>] = &[
    count_within("-t --timelimit", |it| &mut it.time_s, 0, TIME_S_MAX),
    count_within(
        "--warmup",
        |it| it.warm_up_asked.get_or_insert_default(),
        0,
        TIME_S_MAX,
    ),
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
    told(
        "--one-byte-write-fix --stat-check --fake-io",
        "`{}` is for testing dbench itself",
    ),
];

impl Options {
    /// A load file alone, by one client.
    pub(super) fn of_file(load_file: &str) -> Self {
        Self {
            clients: 1,
            time_s: 600,
            warm_up_s: 120,
            load_file: load_file.to_owned(),
            directory: ".".to_owned(),
            is_resolving: true,
            ..Self::default()
        }
    }

    /// Reads the arguments.
    pub(super) fn read(arguments: &[String]) -> Result<Self, String> {
        let start = Self::of_file("/usr/share/dbench/client.txt");
        let mut options = GRAMMAR.read(arguments, start)?;
        let clients = options
            .clients_asked
            .ok_or("say how many clients: `dbench 4`")?;
        options.clients = clients;
        if clients == 0 || options.time_s == 0 {
            return Err("there is nothing to do for 0 clients or in 0 seconds".to_owned());
        }
        options.warm_up_s = match options.runs_once {
            true => 0,
            false => options.warm_up_asked.unwrap_or(options.time_s / 5),
        };
        Ok(options)
    }

    /// Arguments that say the same of what the text depends on.
    pub(super) fn remembered(&self) -> Vec<String> {
        let warm_up = format!("--warmup={}", self.warm_up_s);
        let time = self.time_s.to_string();
        let clients = self.clients.to_string();
        ["-t", &time, &warm_up, "-c", &self.load_file, &clients]
            .map(str::to_owned)
            .to_vec()
    }

    /// What is not as in the original.
    pub(super) fn differences(&self) -> Vec<Difference> {
        let always = Difference::listed(include_str!("differences.txt"));
        always
            .chain(Difference::those(&[], &self.without_effect))
            .collect()
    }
}

fn clients(options: &mut Options, word: &str) -> Result<(), String> {
    if options.clients_asked.is_some() {
        return Err(format!("`{word}` is one word too many"));
    }
    options.clients_asked = Some(Value::of("NPROCS", word).number_within(0, 1024)?);
    Ok(())
}
