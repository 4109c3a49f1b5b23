//! Random workloads of every kind, by templates whose values are often at their limits or beyond.

use description::reference::{WorkloadKey, keys};
use description::{Overrides, Workload};
use front::{CommandLine, FRONTS, FileAccess, LoadOptions};
use stats::SplitMixRng;

use crate::input::loaded;

/// A sequence of numbers without a pattern.
struct CaseRng(SplitMixRng);

impl CaseRng {
    fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count.max(1) as u64) as usize
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// One of the first half, which are usual, more often than one of the others.
    fn pick<'a>(&mut self, all: &'a [&'a str]) -> &'a str {
        let count = match self.one_in(3) {
            true => all.len(),
            false => all.len().div_ceil(2),
        };
        all[self.below(count)]
    }
}

const SIZES: &[&str] = &[
    "4k",
    "64k",
    "1m",
    "16m",
    "8k",
    "512",
    "4096",
    "1",
    "511",
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
    "2",
    "3",
    "4",
    "7",
    "16",
    "64",
    "1024",
    "1025",
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
    "0", "33", "50", "100", "1", "99", "101", "-1", "1e308", "nan",
];
const SKEWS: &[&str] = &[
    "0.2", "0.5", "1.2", "99", "1", "100", "101", "1e308", "0", "-1", "inf",
];
const TIMES: &[&str] = &["1ms", "1s", "2s", "0", "30d", "31d", "1000000000000s"];
const NAMES: &[&str] = &["a", "x", "a/c", "a/b", "a/b/c", "..", "/a", "a//b"];
/// Of these one takes the place of a number in a file or a command line.
const NUMBERS: &[&str] = &[
    "1",
    "2",
    "3",
    "4",
    "8",
    "10",
    "50",
    "64",
    "100",
    "512",
    "0",
    "101",
    "1024",
    "1025",
    "4096",
    "32769",
    "65536",
    "1000000",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
];

/// Fills the letters of a template: `S` a size, `N` a count, `P` a share, `L` a law's number, `T` a
/// time, `F` a name of a file, each after a `%`.
fn filled(template: &str, numbers: &mut CaseRng) -> String {
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
            Some('L') => SKEWS,
            Some('T') => TIMES,
            _ => NAMES,
        };
        text.push_str(numbers.pick(values));
    }
    text
}

/// A head and some of the lines, in their order.
fn pick_lines(head: &str, lines: &[&str], numbers: &mut CaseRng) -> String {
    let mut text = head.to_owned();
    for line in lines {
        if numbers.one_in(5) {
            text.push_str(&filled(line, numbers));
            text.push('\n');
        }
    }
    text
}

/// The text with other numbers in a few places, and now and then without a line.
fn changed(text: &str, numbers: &mut CaseRng) -> String {
    let mut text = text.to_owned();
    for _ in 0..numbers.below(4) {
        let ranges = places(&text);
        if ranges.is_empty() {
            break;
        }
        let range = ranges[numbers.below(ranges.len())].clone();
        text.replace_range(range, numbers.pick(NUMBERS));
    }
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() < 2 || !numbers.one_in(8) {
        return text;
    }
    let left_out = numbers.below(lines.len());
    let kept = lines.iter().enumerate().filter(|(at, _)| *at != left_out);
    kept.map(|(_, line)| format!("{line}\n")).collect()
}

/// Positions of whole numbers that are not parts of names.
fn places(text: &str) -> Vec<std::ops::Range<usize>> {
    let mut ranges = Vec::new();
    let mut before = ' ';
    let mut rest = text.char_indices().peekable();
    while let Some((start, letter)) = rest.next() {
        let is_start = letter.is_ascii_digit() && !before.is_ascii_alphanumeric() && before != '_';
        before = letter;
        if !is_start {
            continue;
        }
        let mut end = start + 1;
        while let Some((at, digit)) = rest.next_if(|(_, it)| it.is_ascii_digit()) {
            (end, before) = (at + 1, digit);
        }
        ranges.push(start..end);
    }
    ranges
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
    "verify=md5\nbs=%S",
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
    "force_async_each = %N",
    "verify = true",
    "verify = true\nblock_size = \"%S\"",
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
    ("lat_fs", &["files = %N", "sizes = \"%S\""]),
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

/// Command lines of all fronts; `FILE` is a file of its kind.
const COMMANDS: &[(&str, &[&str], &[&str])] = &[
    ("bonnie", &["-d x -s 8 -m h"], &["-s %N"]),
    (
        "bonnie++",
        &[
            "-d x -s 8:64k:10:2 -r 4 -n 1:9:1:2:512 -u root -m h",
            "-d x -s 0 -n 1 -r 0",
        ],
        &[
            "-s %S",
            "-n %N",
            "-r %N",
            "-x %N",
            "-f",
            "-b",
            "-D",
            "-z %N",
            "-n %N:link",
            "-y s",
            "-y p",
        ],
    ),
    (
        "dbench",
        &["-c FILE -t 1 2", "-c FILE -t 1 --warmup 0 -D x 4"],
        &[
            "-R %N",
            "-s",
            "-S",
            "-F",
            "--run-once",
            "--fake-io",
            "--per-client-results",
        ],
    ),
    ("filebench", &["-f FILE"], &["--set n=%N"]),
    (
        "fio",
        &["--name=a --size=64m --rw=randrw --bs=4k --iodepth=4 --numjobs=2 --runtime=1"],
        &[
            "--bs=%S",
            "--numjobs=%N",
            "--nrfiles=%N",
            "--io_size=%S",
            "--rate=%S",
            "--loops=%N",
        ],
    ),
    (
        "fs_mark",
        &["-d x -n 5 -s 4096 -t 2 -L 2 -D 4 -N 5 -w 512"],
        &["-n %N", "-s %S", "-t %N", "-L %N", "-D %N", "-S %N", "-k"],
    ),
    (
        "io500",
        &[
            "FILE",
            "--small -d x",
            "-d x --time 1 --files 10 --hard-segments 5 --easy-block 1m",
        ],
        &[
            "--ranks %N",
            "--files %N",
            "--time %N",
            "--easy-transfer %S",
            "--scc",
        ],
    ),
    (
        "ior",
        &[
            "-a POSIX -b 1m -t 64k -s 2 -i 2 -w -r -o x",
            "-b 4k -t 4k -z -F -C -e -w -o x",
        ],
        &[
            "-b %S", "-t %S", "-s %N", "-i %N", "-z", "-F", "-d %N", "-Z", "-J %S", "-N %N",
        ],
    ),
    (
        "iozone",
        &[
            "-s 1m -r 4k -i 0 -i 1 -i 2 -i 3 -i 5",
            "-s 1m -r 64k -i 0 -t 2",
            "-a -g 1m -n 64k",
        ],
        &[
            "-s %S",
            "-r %S",
            "-t %N",
            "-i %N",
            "-j %N",
            "-+q %N",
            "-+x %N",
            "-+b %S,%N",
            "-+K %N",
            "-+k",
            "-+B",
            "-K",
            "-W",
            "-Q",
            "-B -G",
            "-e",
            "-o",
            "-c",
            "-l %N -u %N",
        ],
    ),
    ("lat_fs", &["-s 1k x", "x"], &["-s %S", "-N %N", "-P %N"]),
    (
        "mdtest",
        &[
            "-n 5 -i 2 -d x -F -w 4096 -e 4096",
            "-d x -b 2 -z 2 -u -I 2",
        ],
        &[
            "-n %N", "-i %N", "-w %S", "-b %N", "-z %N", "-I %N", "-u", "-L", "-D", "-N %N", "-k",
        ],
    ),
    (
        "smallfile",
        &[
            "--operation create --threads 2 --files 5 --file-size 4 --record-size 4 --top x",
            "--operation append --files 5 --file-size 4 --top x",
            "--operation read --files 5 --file-size 4 --top x",
        ],
        &[
            "--threads %N",
            "--files %N",
            "--file-size %N",
            "--files-per-dir %N",
            "--pause %N",
            "--response-times Y",
        ],
    ),
];
const FILEBENCH: &str = "set $n=10\n\
    define fileset name=f,path=/x,size=64k,entries=$n,dirwidth=5,prealloc=80\n\
    define file name=g,path=/x,size=1m,prealloc,reuse\n\
    define process name=p,instances=2\n{\n thread name=t,memsize=10m,instances=2\n {\n  \
    flowop createfile name=c,filesetname=f,fd=1\n  \
    flowop writewholefile name=w,fd=1,iosize=4k,iters=2\n  flowop closefile name=d,fd=1\n  \
    flowop openfile name=o,filesetname=f,fd=2\n  flowop read name=r,fd=2,iosize=4k,iters=2\n  \
    flowop closefile name=e,fd=2\n  flowop write name=x,filename=g,random,iosize=8k\n  \
    flowop opslimit name=l\n  flowop delay name=z,value=1\n  \
    flowop finishoncount name=y,value=100\n }\n}\n\
    run 1\n";
const DBENCH: &str = "0.1 Mkdir \"/x\" 0x0\n\
    0.2 NTCreateX \"/x/a\" 0x0 2 10000 SUCCESS\n0.3 WriteX 10000 0 4096 4096 SUCCESS\n\
    0.4 ReadX 10000 0 4096 4096 SUCCESS\n0.5 Flush 10000 SUCCESS\n0.6 Close 10000 SUCCESS\n\
    0.7 Unlink \"/x/a\" 0x0\n";
const IO500: &str = "[global]\ndatadir = ./x\ntimestamp-datadir = FALSE\n[debug]\n\
    stonewall-time = 1\n[ior-easy]\ntransferSize = 2m\nblockSize = 4m\n[mdtest-easy]\n\
    n = 10\n[ior-hard]\nsegmentCount = 10\n[mdtest-hard]\nn = 10\n[find]\nexternal-mpi-args =\n";
const PHASES: &str = r#"name = "phases"
[[fileset]]
name = "f"
count = 100
size = "64k"
present = "50%"
[[phase]]
name = "make"
[[phase.group]]
name = "g"
workers = 2
rounds = 20
when_out = "skip"
body = [
{ create = "f" },
{ write = "4k", piece = "512" },
"close",
{ open = "f", pick = { zipf = 0.9 } },
{ read = "rest", piece = "4k" },
"close",
{ unlink = "f", pick = "uniform" },
]
"#;
/// Files that cases use in addition to the built-in workloads: name and content.
const FILES: &[(&str, &str)] = &[
    ("f.f", FILEBENCH),
    ("d.load", DBENCH),
    ("p.toml", PHASES),
    ("e.icf", include_str!("../../../../examples/fileserver.icf")),
    ("m.pm", include_str!("../../../../examples/mail.pm")),
    ("j.toml", include_str!("../../../../examples/jobs.toml")),
    ("x.toml", include_str!("../../../../examples/mixed.toml")),
    (
        "fs.fio",
        "[a]\nsize=1m\nnrfiles=2\nrw=randrw\nbs=4k\n[b]\nstonewall\nsize=1m\nruntime=1\n",
    ),
];

/// A workload as a user might write it.
pub(super) struct Case {
    /// The whole case as text, for messages.
    pub text: String,
    /// The workloads read from it; `None` if it is refused.
    pub workloads: Option<Vec<Workload>>,
    /// Command-line options of the case; `None` if one is refused.
    pub overrides: Option<Overrides>,
}

/// Where cases come from.
pub(super) struct Cases {
    files: Vec<(String, String)>,
    keys: Vec<WorkloadKey>,
    scratch: std::path::PathBuf,
}

impl Cases {
    /// Files that command lines name are written to that directory.
    pub fn new(scratch: &std::path::Path) -> Self {
        for front in FRONTS {
            assert!(
                COMMANDS.iter().any(|it| it.0 == front.name),
                "{} has no case",
                front.name
            );
        }
        let builtin = description::builtin::list().into_iter();
        let builtin = builtin.map(|it| (format!("{}.toml", it.name), it.text.to_owned()));
        let own = FILES
            .iter()
            .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Self {
            files: builtin.chain(own).collect(),
            keys: keys(),
            scratch: scratch.to_owned(),
        }
    }

    /// The case of this number, which is always the same.
    pub fn case(&self, number: u64) -> Case {
        let mut numbers = CaseRng(SplitMixRng::new(number << 20));
        let (mut text, workloads) = match numbers.below(10) {
            0..2 => {
                let (name, text) = &self.files[numbers.below(self.files.len())];
                read(name, changed(text, &mut numbers))
            }
            2 => {
                let (name, text) = FILES[numbers.below(FILES.len())];
                read(name, changed(text, &mut numbers))
            }
            3..6 => self.command(number, &mut numbers),
            kind => from_template(kind, &mut numbers),
        };
        let mut overrides = Overrides::new();
        overrides.set("engine", "null").expect("an engine");
        overrides.set_targets(vec!["/dev/shm".to_owned()]);
        let mut overrides = Some(overrides);
        if numbers.one_in(5) {
            let (key, value) = self.option(&mut numbers);
            text.push_str(&format!("\n--set {key}={value}"));
            let set = |mut it: Overrides| it.set(&key, &value).is_ok().then_some(it);
            overrides = overrides.and_then(set);
        }
        Case {
            text,
            workloads,
            overrides,
        }
    }

    /// A key and a value of its kind.
    fn option(&self, numbers: &mut CaseRng) -> (String, String) {
        let key = &self.keys[numbers.below(self.keys.len())];
        let values = [NUMBERS, SIZES, TIMES, SHARES][numbers.below(4)];
        let value = match key.words.len() {
            0 => numbers.pick(values).to_owned(),
            count => key.words[numbers.below(count)].clone(),
        };
        (key.path(), value)
    }

    fn command(&self, number: u64, numbers: &mut CaseRng) -> (String, Option<Vec<Workload>>) {
        let (name, lines, options) = COMMANDS[numbers.below(COMMANDS.len())];
        let line = changed(lines[numbers.below(lines.len())], numbers);
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let more = pick_lines("", options, numbers);
        let more = more.split_whitespace().map(str::to_owned);
        words.splice(0..0, more);
        let mut description = format!("{name} {}", words.join(" "));
        for word in words.iter_mut().filter(|word| *word == "FILE") {
            let text = match name {
                "filebench" => FILEBENCH,
                "dbench" => DBENCH,
                _ => IO500,
            };
            let text = changed(text, numbers);
            let path = self.scratch.join(number.to_string());
            std::fs::write(&path, &text).expect("a file of a command line is written");
            description.push_str(&format!("\n{text}"));
            *word = path.display().to_string();
        }
        let front = front::find(name).expect("a front of that name");
        let line = CommandLine {
            files: FileAccess::anywhere(),
            memory_bytes: 256 << 20,
            cpu_count: 2,
            ..CommandLine::of(&words)
        };
        let work = front.work(&line);
        (description, work.ok().map(|it| it.cells))
    }
}

/// The workloads of a file, with its text for messages.
fn read(name: &str, text: String) -> (String, Option<Vec<Workload>>) {
    let parsed = loaded(name, text.as_bytes(), LoadOptions::default());
    (text, parsed.ok().map(|it| it.workloads))
}

fn from_template(kind: usize, numbers: &mut CaseRng) -> (String, Option<Vec<Workload>>) {
    match kind {
        6 => read(
            "w.fio",
            pick_lines("[j]\nioengine=null\nsize=64m\n", FIO, numbers),
        ),
        7 => {
            let mut text = pick_lines("engine = \"null\"\n[[job]]\nsize = \"64m\"\n", JOB, numbers);
            if numbers.one_in(2) {
                text.push_str(&pick_lines("[[job]]\nsize = \"8m\"\n", JOB, numbers));
            }
            read("w.toml", text)
        }
        8 => {
            let keys = pick_lines("engine = \"null\"\nsize = \"64m\"\n", SPEC, numbers);
            let line = pick_lines("", LINE, numbers).replace('\n', " ");
            let size = filled("%S", numbers);
            let line = format!("line = [{{ {line} size = \"{size}\" }}]\n");
            read("w.toml", format!("{keys}[[access_spec]]\n{line}"))
        }
        _ => {
            let (table, keys) = TABLES[numbers.below(TABLES.len())];
            let head = match numbers.one_in(2) {
                true => filled("engine = \"null\"\nworkers = %N\n", numbers),
                false => "engine = \"null\"\n".to_owned(),
            };
            read(
                "w.toml",
                pick_lines(&format!("{head}[{table}]\n"), keys, numbers),
            )
        }
    }
}
