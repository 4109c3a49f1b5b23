//! Workloads of all kinds, with values at their limits and beyond: planning never panics, and what
//! it accepts starts on the `null` engine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use front::{CommandLine, FrontFile};
use results::RunEvent;
use run::RunOptions;
use workload::facts::{SystemFacts, TargetFacts};
use workload::plan::TargetKind;
use workload::{Overrides, Workload, plan};

/// Generated workloads, unless `PGMETER_ACCEPTED_CASES` says otherwise.
const CASES: u64 = 10_000;
/// Of the accepted ones, one in this many is started: each start takes a tenth of a second.
const STARTED: u64 = 40;

/// A sequence of numbers without a pattern (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, all: &'a [&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}

const SIZES: &[&str] = &[
    "1",
    "511",
    "512",
    "4k",
    "4k",
    "64k",
    "1m",
    "16m",
    "1g",
    "1073741825",
    "2g",
    "4g",
    "9223372036854775807",
    "18446744073709551615",
    "0",
    "-1",
];
const COUNTS: &[&str] = &[
    "1",
    "1",
    "2",
    "3",
    "7",
    "64",
    "1024",
    "32768",
    "32769",
    "65536",
    "4294967295",
    "4294967296",
    "4294967297",
    "9223372036854775808",
    "0",
    "-1",
];
const SHARES: &[&str] = &[
    "0", "1", "33", "50", "99", "100", "101", "-1", "1e308", "nan",
];
const LAWS: &[&str] = &[
    "0.2", "0.5", "1", "1.2", "99", "100", "101", "1e308", "0", "-1", "inf",
];
const TIMES: &[&str] = &["0", "1ms", "1s", "30d", "31d", "1000000000000s"];
const NAMES: &[&str] = &["a", "a/b", "a/b/c", "x", "..", "/a", "a//b"];

/// Fills the letters of a template: `S` a size, `N` a count, `P` a share, `L` a law's number, `T` a
/// time, `F` a name of a file, each after a `%`.
fn filled(template: &str, numbers: &mut Numbers) -> String {
    let mut text = String::new();
    let mut letters = template.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            text.push(letter);
            continue;
        }
        let values = match letters.next() {
            Some('S') => SIZES,
            Some('N') => COUNTS,
            Some('P') => SHARES,
            Some('L') => LAWS,
            Some('T') => TIMES,
            _ => NAMES,
        };
        text.push_str(numbers.pick(values));
    }
    text
}

/// A head and some of the lines, in their order.
fn some_of(head: &str, lines: &[&str], numbers: &mut Numbers) -> String {
    let mut text = head.to_owned();
    for line in lines {
        if numbers.below(4) == 0 {
            text.push_str(&filled(line, numbers));
            text.push('\n');
        }
    }
    text
}

const FIO: &[&str] = &[
    "bs=%S",
    "iodepth=%N",
    "iodepth=4",
    "numjobs=%N",
    "numjobs=2",
    "rw=randrw",
    "rw=write",
    "rwmixread=%P",
    "random_distribution=zipf:%L",
    "random_distribution=pareto:%L",
    "random_distribution=normal:%L",
    "nrfiles=%N",
    "filename=%F:%F",
    "io_size=%S",
    "offset=%S",
    "bsrange=%S-%S",
    "loops=%N",
    "zonemode=strided\nzonesize=%S\nzonerange=%S\nzoneskip=%S",
    "rate=%S",
    "rate_iops=%N",
    "thinktime=%N",
    "fsync=%N",
    "verify=crc32c",
    "number_ios=%N",
    "dedupe_percentage=%P",
    "buffer_compress_percentage=%P",
    "iodepth_batch=%N",
    "time_based=1",
];
const JOB: &[&str] = &[
    "block_size = \"%S\"",
    "iodepth = %N",
    "iodepth = 4",
    "count = %N",
    "count = 2",
    "read = %P",
    "random = %P",
    "distribution = { zipf = %L }",
    "files = %N",
    "start = \"%S\"",
    "operations = %N",
    "bytes = \"%S\"",
    "align = \"%S\"",
    "run_length = %N",
    "zone_size = \"%S\"",
    "fsync_each = %N",
    "delay = \"%T\"",
    "burst = %N",
    "rate = %N",
    "loops = %N",
    "batch = %N",
    "requests_per_file = %N",
    "verify = true",
];
const SPEC: &[&str] = &[
    "iodepth = %N",
    "iodepth = [1, %N]",
    "workers = %N",
    "workers = 2",
    "operations = %N",
    "start = \"%S\"",
    "batch = %N",
    "rate = %N",
    "verify = true",
    "cursor = \"shared\"",
    "position = \"iometer\"",
    "repetitions = 2",
];
const LINE: &[&str] = &[
    "read = %P,",
    "random = %P,",
    "align = \"%S\",",
    "distribution = { zipf = %L },",
    "distribution = { pareto = %L },",
    "distribution = { normal = %L },",
    "burst = %N,",
    "delay = \"%T\",",
    "sequence = { strided = \"%S\" },",
];
const TABLES: &[(&str, &[&str])] = &[
    (
        "create_remove",
        &[
            "count = %N",
            "sizes = \"%S\"",
            "write_size = \"%S\"",
            "directories = %N",
            "stat = true",
        ],
    ),
    (
        "fs_mark",
        &[
            "count = %N",
            "size = \"%S\"",
            "loops = %N",
            "directories = %N",
        ],
    ),
    ("lat_fs", &["count = %N", "sizes = \"%S\""]),
    (
        "postmark",
        &[
            "number = %N",
            "transactions = %N",
            "min_size = \"%S\"",
            "max_size = \"%S\"",
            "read_block = \"%S\"",
            "write_block = \"%S\"",
            "subdirectories = %N",
        ],
    ),
];
const COMMANDS: &[(&str, &[&str])] = &[
    (
        "ior",
        &[
            "-b %S", "-t %S", "-s %N", "-i %N", "-w", "-r", "-z", "-F", "-e",
        ],
    ),
    (
        "mdtest",
        &[
            "-n %N", "-i %N", "-d x", "-F", "-w %S", "-b %N", "-z %N", "-u",
        ],
    ),
    (
        "iozone",
        &["-s %S", "-r %S", "-i 0", "-i 1", "-t %N", "-a", "-e"],
    ),
    (
        "fs_mark",
        &["-n %N", "-s %S", "-t %N", "-L %N", "-d x", "-D %N"],
    ),
    ("lat_fs", &["-s %S", "x"]),
    ("bonnie++", &["-d x", "-s %S", "-n %N", "-r %N", "-u root"]),
    ("dbench", &["-t %N", "%N"]),
    (
        "smallfile",
        &[
            "--operation create",
            "--threads %N",
            "--files %N",
            "--file-size %N",
            "--top x",
        ],
    ),
];
const FILEBENCH: &str = "define fileset name=f,path=/x,size=%S,entries=%N,prealloc\n\
    define process name=p,instances=1\n{\n thread name=t,memsize=10m,instances=%N\n {\n  \
    flowop openfile name=o,filesetname=f,fd=1\n  flowop read name=r,fd=1,iosize=%S,iters=%N\n  \
    flowop closefile name=c,fd=1\n }\n}\nrun 1\n";

/// The workloads of a file, with its text for the message.
fn of_file(name: &str, text: String) -> (String, Option<Vec<Workload>>) {
    let Some((front, reader)) = front::detect(name, text.as_bytes()) else {
        let loaded = workload::source::load(name, text.as_bytes(), None, false);
        return (text, loaded.ok().map(|it| it.workloads));
    };
    let work = front.read(reader, &FrontFile::new(name, text.as_bytes()));
    (text, work.ok().map(|it| it.cells))
}

fn of_command(numbers: &mut Numbers) -> (String, Option<Vec<Workload>>) {
    let (name, options) = COMMANDS[numbers.below(COMMANDS.len())];
    let text = some_of("", options, numbers);
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    let work = front::find(name).and_then(|front| front.work(&CommandLine::of(&words)).ok());
    (
        format!("{name} {}", words.join(" ")),
        work.map(|it| it.cells),
    )
}

fn generated(numbers: &mut Numbers) -> (String, Option<Vec<Workload>>) {
    match numbers.below(6) {
        0 => {
            let text = some_of("[j]\nioengine=null\nsize=64m\n", FIO, numbers);
            of_file("w.fio", text)
        }
        1 => {
            let job = some_of("[[job]]\nsize = \"64m\"\n", JOB, numbers);
            let other = some_of("[[job]]\nsize = \"8m\"\n", JOB, numbers);
            let both = if numbers.below(2) == 0 {
                other
            } else {
                String::new()
            };
            of_file("w.toml", format!("engine = \"null\"\n{job}{both}"))
        }
        2 => {
            let keys = some_of("engine = \"null\"\nsize = \"64m\"\n", SPEC, numbers);
            let line = some_of("", LINE, numbers).replace('\n', " ");
            let size = filled("%S", numbers);
            let line = format!("line = [{{ {line} size = \"{size}\" }}]\n");
            of_file("w.toml", format!("{keys}[[access_spec]]\n{line}"))
        }
        3 => {
            let (table, keys) = TABLES[numbers.below(TABLES.len())];
            let head = filled("engine = \"null\"\nworkers = %N\n", numbers);
            let head = if numbers.below(2) == 0 {
                head
            } else {
                "engine = \"null\"\n".to_owned()
            };
            of_file(
                "w.toml",
                some_of(&format!("{head}[{table}]\n"), keys, numbers),
            )
        }
        4 => of_file("w.f", filled(FILEBENCH, numbers)),
        _ => of_command(numbers),
    }
}

/// Little memory, so that nothing large is really allocated.
fn facts() -> SystemFacts {
    let directory = TargetFacts {
        exists: true,
        free_bytes: 1 << 40,
        total_bytes: 1 << 41,
        direct_alignment_bytes: 512,
        block_bytes: 512,
        ..TargetFacts::placeholder("/dev/shm", TargetKind::Directory)
    };
    SystemFacts {
        targets: vec![directory.clone()],
        default_target: Some(directory),
        cpu_count: 2,
        memory_bytes: 256 << 20,
        ..SystemFacts::default()
    }
}

/// Ends as soon as the first cell has begun; why it did not begin.
fn started(plan: &workload::plan::Plan) -> Result<(), String> {
    let stop = Arc::new(AtomicBool::new(false));
    let options = RunOptions {
        stop: Arc::clone(&stop),
        ..RunOptions::default()
    };
    let mut listener = |event: &RunEvent| {
        if matches!(
            event,
            RunEvent::CellStarted { .. } | RunEvent::Progress { .. }
        ) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let finished = run::run(plan, Vec::new(), &options, &mut listener);
    finished
        .error
        .map_or(Ok(()), |error| Err(error.to_string()))
}

#[test]
#[ignore = "it still finds values that fronts do not check; run it with --ignored"]
fn whatever_is_accepted_starts_on_the_null_engine() {
    let cases = std::env::var("PGMETER_ACCEPTED_CASES");
    let cases = cases.ok().and_then(|it| it.parse().ok()).unwrap_or(CASES);
    let (mut numbers, facts) = (Numbers(33), facts());
    let mut accepted = 0_u64;
    for _ in 0..cases {
        let (text, workloads) = generated(&mut numbers);
        let Some(workloads) = workloads else { continue };
        let mut overrides = Overrides::new();
        overrides.set("engine", "null").expect("an engine");
        overrides.set_targets(vec!["/dev/shm".to_owned()]);
        let Ok(planned) = plan(&workloads, &overrides, &facts) else {
            continue;
        };
        if !planned.refusals.is_empty() || run::try_streams(&planned.plan).is_err() {
            continue;
        }
        accepted += 1;
        if accepted % STARTED == 1
            && let Err(why) = started(&planned.plan)
        {
            panic!("{why}\n{text}");
        }
    }
    assert!(
        accepted > cases / 20,
        "only {accepted} of {cases} were accepted"
    );
}
