//! The traps of fio's language: each job runs in fio and in pgmeter, with and without
//! `--fio-compat`. fio 3.42's behavior is expected; rows say where Debian's 3.33 differs.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use end_to_end::{Finished, STORE, ScratchTarget, finish, installed, need, pgmeter};
use serde_json::Value;

/// A job, and what becomes of it.
struct Trap {
    /// The number in the list of traps, and the trap in words.
    name: &'static str,
    /// Arguments; `@` is the job file.
    arguments: &'static str,
    /// A job file, where there is one.
    file: &'static str,
    /// Files that exist before, with their sizes.
    existing: &'static [(&'static str, u64)],
    expectation: Expectation,
    /// What standard error says without `--fio-compat`.
    messages: &'static [&'static str],
}

/// Comparison of both results.
#[derive(Clone, Copy, PartialEq)]
enum Expectation {
    /// The same counts, and files of the same sizes.
    Equal,
    /// As `Equal`, but syncs may differ, because fio 3.33 counts them otherwise.
    EqualExceptSyncs,
    /// Counts are drawn: bytes and requests within half a percent.
    Near,
    /// As `Near`, but only with `--fio-compat`; without it, the number of requests differs.
    NearIfExact,
    /// Both refuse the job.
    Rejected,
}

use Expectation::{Equal, EqualExceptSyncs, Near, NearIfExact, Rejected};

const fn trap(name: &'static str, arguments: &'static str, judged: Expectation) -> Trap {
    Trap {
        name,
        arguments,
        file: "",
        existing: &[],
        expectation: judged,
        messages: &[],
    }
}

impl Trap {
    const fn of_file(name: &'static str, file: &'static str, judged: Expectation) -> Self {
        Self {
            file,
            ..trap(name, "@", judged)
        }
    }

    const fn with(self, existing: &'static [(&'static str, u64)]) -> Self {
        Self { existing, ..self }
    }

    const fn says(self, says: &'static [&'static str]) -> Self {
        Self {
            messages: says,
            ..self
        }
    }
}

/// What came of a run.
struct Outcome {
    finished: Finished,
    /// What was printed, notes before it left out; none where nothing was.
    json: Option<Value>,
    /// The names of files that were made, with their sizes.
    files: BTreeMap<String, u64>,
}

/// What a job, or a group, counted.
#[derive(Debug, PartialEq, Default, Clone)]
struct Counts {
    name: String,
    group: u64,
    error: i64,
    /// Bytes, requests and short requests of each direction.
    moved: [[u64; 3]; 3],
    syncs: u64,
}

impl Outcome {
    fn counts(&self) -> Vec<Counts> {
        let jobs = self.json.as_ref().and_then(|it| it["jobs"].as_array());
        jobs.into_iter().flatten().map(Counts::of).collect()
    }
}

impl Counts {
    fn of(job: &Value) -> Self {
        let of = |side: &str| {
            ["io_bytes", "total_ios", "short_ios"].map(|key| job[side][key].as_u64().unwrap())
        };
        Self {
            name: job["jobname"].as_str().unwrap().to_owned(),
            group: job["groupid"].as_u64().unwrap(),
            error: job["error"].as_i64().unwrap(),
            moved: ["read", "write", "trim"].map(of),
            syncs: job["sync"]["total_ios"].as_u64().unwrap(),
        }
    }

    /// Without what fio 3.33 makes of syncs of data: short reads.
    fn without_syncs(&self) -> Self {
        Self {
            moved: self.moved.map(|[bytes, count, _]| [bytes, count, 0]),
            syncs: 0,
            ..self.clone()
        }
    }

    fn is_near(&self, other: &Self) -> bool {
        let is_near = |one: u64, other: u64| one.abs_diff(other) * 200 <= one.max(other);
        let sides = self.moved.iter().zip(&other.moved);
        let mut numbers = sides.flat_map(|(one, other)| one.iter().zip(other));
        numbers.all(|(one, other)| is_near(*one, *other))
            && (&self.name, self.group, self.error) == (&other.name, other.group, other.error)
    }
}

/// A directory below the target with the files that exist before; the job file is next to it.
fn ground(bed: &ScratchTarget, name: &str, trap: &Trap) -> PathBuf {
    let directory = bed.target().join(name);
    fs::create_dir(&directory).unwrap();
    for (file, size) in trap.existing {
        let path = directory.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, vec![b'm'; *size as usize]).unwrap();
    }
    directory
}

fn arguments(bed: &ScratchTarget, trap: &Trap) -> Vec<String> {
    let file = bed.file("trap.fio", trap.file);
    let words = trap.arguments.split_ascii_whitespace();
    let words = words.map(|word| match word {
        "@" => file.to_string_lossy().into_owned(),
        word => word.to_owned(),
    });
    words.collect()
}

/// The files below a directory, but for those in which fio keeps what it verified.
fn files_in(directory: &Path) -> BTreeMap<String, u64> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            let below = files_in(&entry.path()).into_iter();
            files.extend(below.map(|(file, size)| (format!("{name}/{file}"), size)));
        } else if !name.ends_with("-verify.state") {
            files.insert(name, entry.metadata().unwrap().len());
        }
    }
    files
}

fn run_fio(bed: &ScratchTarget, trap: &Trap) -> Outcome {
    let directory = ground(bed, "fio", trap);
    let mut command = Command::new("fio");
    command.args(arguments(bed, trap)).current_dir(&directory);
    let output = finish(command.arg("--output-format=json"));
    // Notes come before the document.
    let begin = output.stdout.find("{\n");
    let document = begin.and_then(|at| {
        let mut documents = serde_json::Deserializer::from_str(&output.stdout[at..]).into_iter();
        documents.next()?.ok()
    });
    Outcome {
        json: document,
        files: files_in(&directory),
        finished: output,
    }
}

fn run_pgmeter(bed: &ScratchTarget, name: &str, trap: &Trap, more: &[&str]) -> Outcome {
    let directory = ground(bed, name, trap);
    let mut command = pgmeter(bed.path());
    let format = "--output-format=json";
    command.args(["as", "fio"]).args(more);
    command.args(arguments(bed, trap)).arg(format);
    let output = finish(command.current_dir(&directory));
    let document = (!output.stdout.is_empty()).then(|| {
        let document = serde_json::from_str(&output.stdout);
        document.unwrap_or_else(|_| panic!("{}: no JSON: {}", trap.name, output.text()))
    });
    let mut files = files_in(&directory);
    for (file, size) in trap.existing {
        assert_eq!(files.get(*file), Some(size), "{}: {file}", trap.name);
    }
    if document.is_some() {
        files.extend(files_of_record(bed));
    }
    Outcome {
        finished: output,
        json: document,
        files,
    }
}

/// The files that the newest run made in work directories, as its record tells them.
fn files_of_record(bed: &ScratchTarget) -> BTreeMap<String, u64> {
    assert!(bed.path().join(STORE).exists());
    let record: Value = serde_json::from_str(&bed.run(&["runs", "export", "last"]).stdout).unwrap();
    let mut files = BTreeMap::new();
    for cell in record["plan"]["cells"].as_array().unwrap() {
        for file in cell["jobs"]["files"].as_array().unwrap() {
            let target = file["target_index"].as_u64().unwrap() as usize;
            let directory = record["plan"]["targets"][target]["path"].as_str().unwrap();
            // A target that is the file itself is somebody's.
            let Some(name) = file["name"].as_str() else {
                continue;
            };
            let path = Path::new(directory).join(name);
            let path = path.strip_prefix(".").unwrap_or(&path);
            // What grows as it is written is as long as what was written.
            let is_grown = file["layout"] == "empty";
            let bytes = match is_grown {
                true => record["cells"][0]["total"]["bytes"].as_u64().unwrap(),
                false => file["size_bytes"].as_u64().unwrap(),
            };
            if !file["is_removed"].as_bool().unwrap() {
                files.insert(path.to_string_lossy().into_owned(), bytes);
            }
        }
    }
    files
}

fn check(trap: &Trap) {
    let bed = ScratchTarget::in_memory().unwrap();
    let name = trap.name;
    let letter = run_pgmeter(&bed, "letter", trap, &["--fio-compat"]);
    let plain = run_pgmeter(&bed, "plain", trap, &[]);
    let text = plain.finished.stderr.clone() + &notes(&bed, trap, &[]);
    for phrase in trap.messages {
        assert!(text.contains(phrase), "{name}: no `{phrase}` in {text}");
    }
    let is_taken = trap.expectation != Rejected;
    for ours in [&letter, &plain] {
        let wanted = if is_taken { 0 } else { 1 };
        assert_eq!(
            ours.finished.code,
            wanted,
            "{name}: {}",
            ours.finished.text()
        );
    }
    let fio = run_fio(&bed, trap);
    let fails = fio.finished.code != 0;
    assert_eq!(
        fails,
        trap.expectation == Rejected,
        "{name}: {}",
        fio.finished.text()
    );
    if !is_taken {
        return;
    }
    let (theirs, ours, plainly) = (fio.counts(), letter.counts(), plain.counts());
    let near = |ours: &[Counts]| {
        let mut pairs = ours.iter().zip(&theirs);
        ours.len() == theirs.len() && pairs.all(|(one, other)| one.is_near(other))
    };
    let bare = |of: &[Counts]| of.iter().map(Counts::without_syncs).collect::<Vec<_>>();
    match trap.expectation {
        Equal => assert_eq!((&ours, &plainly), (&theirs, &theirs), "{name}"),
        EqualExceptSyncs => assert_eq!(bare(&ours), bare(&theirs), "{name}"),
        _ => assert!(near(&ours), "{name}: {ours:?} {theirs:?}"),
    }
    if trap.expectation == NearIfExact {
        assert!(!near(&plainly), "{name}: {plainly:?} {theirs:?}");
    } else if trap.expectation == Near {
        assert!(near(&plainly), "{name}: {plainly:?} {theirs:?}");
    }
    if !trap.arguments.contains("null") {
        assert_eq!(letter.files, fio.files, "{name}");
    }
}

fn check_all(traps: &[Trap]) {
    // fio spends most of its time waiting.
    std::thread::scope(|scope| {
        let halves = traps.split_at(traps.len() / 2);
        for half in [halves.0, halves.1] {
            scope.spawn(move || half.iter().for_each(check));
        }
    });
}

const SIZES: &[Trap] = &[
    trap(
        "1: a size is that of all files together",
        "--name=a --rw=write --nrfiles=4 --size=1m --bs=64k",
        Equal,
    ),
    trap(
        "1: sizes of files alone add up",
        "--name=a --rw=write --nrfiles=4 --filesize=256k --bs=64k",
        Equal,
    ),
    trap(
        "2: a size above that of the files is cut",
        "--name=a --rw=read --nrfiles=4 --filesize=256k --size=2m --bs=64k",
        Equal,
    )
    .says(&["`size` exceeds its files and is reduced to their size"]),
    trap(
        "2: a size below that of the files is moved, round robin",
        "--name=a --rw=read --nrfiles=4 --filesize=256k --size=512k --bs=64k",
        Equal,
    ),
    trap("3: nothing has a size", "--name=a --rw=read", Rejected)
        .says(&["it has no size", "help: add `size=1g`"]),
    trap(
        "3: an existing file is taken whole",
        "--name=a --rw=read --filename=old",
        Equal,
    )
    .with(&[("old", 1 << 20)]),
    trap(
        "4: percents are of what is there, and nothing is",
        "--name=a --rw=read --size=10%",
        Rejected,
    )
    .says(&["a size in percent needs an existing file"]),
    trap(
        "4: percents are of an existing file",
        "--name=a --rw=read --filename=old --size=10%",
        Equal,
    )
    .with(&[("old", 1 << 20)]),
    trap(
        "4: percents are of the sizes of files",
        "--name=a --rw=read --filesize=1000000 --size=30% --nrfiles=2",
        Equal,
    ),
    trap(
        "6: a new file begins before its offset",
        "--name=a --rw=write --offset=1m --size=2m --bs=64k",
        Equal,
    ),
    trap(
        "6: an offset in percent of an existing file",
        "--name=a --rw=read --offset=50% --filename=old",
        Equal,
    )
    .with(&[("old", 1 << 20)]),
    trap(
        "7: more than the size is moved by starting over",
        "--name=a --rw=read --size=256k --io_size=1m --bs=64k",
        Equal,
    ),
    trap(
        "7: less than the size is moved of a whole file",
        "--name=a --rw=write --size=1m --io_limit=256k --bs=64k",
        Equal,
    ),
    trap(
        "8: a number of requests ends earlier, and the file is as long as its size",
        "--name=a --rw=write --size=1m --number_ios=1",
        Equal,
    ),
    trap(
        "8: without fallocate it grows as it is written",
        "--name=a --rw=write --size=1m --number_ios=1 --fallocate=none",
        Equal,
    ),
    trap(
        "9: a tail below a block is never touched",
        "--name=a --rw=write --size=10k --bs=4k",
        Equal,
    ),
    trap(
        "9: a size below a block",
        "--name=a --rw=write --size=2k --bs=4k",
        Rejected,
    )
    .says(&["its files are smaller than a block"]),
];

#[test]
fn sizes_parse_as_in_fio() {
    need!(installed("fio"));
    check_all(SIZES);
}

const UNITS: &[Trap] = &[
    trap(
        "11: decimals are cut off",
        "--name=a --rw=write --size=1.5m",
        Rejected,
    )
    .says(&["decimals such as `1.5m` are truncated"]),
    trap(
        "11: half a block is no block",
        "--name=a --rw=write --size=64k --bs=0.5k",
        Rejected,
    ),
    trap(
        "11: a decimal of a time is 0, and so no bound",
        "--name=a --rw=read --size=64k --runtime=0.2",
        Equal,
    ),
    trap(
        "11: hexadecimal numbers, and kb as k",
        "--name=a --rw=write --size=0x10000 --bs=4kb",
        Equal,
    ),
    trap(
        "11: ki as k",
        "--name=a --rw=write --size=64ki --bs=4ki",
        Equal,
    ),
    trap(
        "11: kib is 1000",
        "--name=a --rw=write --size=40kib --bs=4kib",
        Equal,
    ),
    trap(
        "11: a mib of whole blocks is less than a million bytes",
        "--name=a --rw=write --size=1mib --bs=4k",
        Equal,
    ),
    trap(
        "11: kb_base holds for what follows it",
        "--kb_base=1000 --name=a --rw=write --size=64k --bs=4k",
        Equal,
    ),
    trap(
        "11: and not for what stands before it",
        "--name=a --rw=write --size=64k --bs=4k --kb_base=1000",
        Equal,
    ),
];

#[test]
fn units_match_fio() {
    need!(installed("fio"));
    check_all(UNITS);
}

const FILES: &[Trap] = &[
    trap(
        "13: create_only lays files out and stops",
        "--name=a --rw=read --size=64k --create_only=1",
        Equal,
    ),
    trap(
        "13: unlink removes files at the end",
        "--name=a --rw=read --size=64k --unlink=1",
        Equal,
    ),
    trap(
        "14: files are named by job, clone and number",
        "--name=a --rw=write --size=64k --nrfiles=2 --numjobs=2",
        Equal,
    ),
    trap(
        "14: all clones are on one named file, from its beginning",
        "--name=a --rw=read --size=64k --numjobs=2 --filename=x",
        Equal,
    ),
    trap(
        "15: a colon separates files, which share the size",
        "--name=a --rw=write --size=64k --filename=x:y",
        Equal,
    ),
    trap(
        "15: of several names, nrfiles=1 uses the first",
        "--name=a --rw=write --size=64k --filename=x:y --nrfiles=1",
        Equal,
    ),
    trap(
        "15: directories are dealt to clones in turns",
        "--name=a --rw=write --size=64k --directory=d:e --numjobs=3",
        Equal,
    )
    .with(&[("d/z", 1), ("e/z", 1)]),
    trap(
        "16: formats have variables",
        "--name=a --rw=write --size=64k --nrfiles=2 \
             --filename_format=$jobname-$jobnum.$filenum",
        Equal,
    ),
    trap(
        "16: names have none",
        "--name=a --rw=write --size=64k --filename=$jobname-x",
        Equal,
    ),
    trap(
        "16: clones may share a named file",
        "--name=a --rw=write --size=64k --filename=same --numjobs=2",
        Equal,
    ),
    trap(
        "17: several files take turns",
        "--name=a --rw=write --size=64k --nrfiles=2 --number_ios=3 --fallocate=truncate",
        Equal,
    ),
    trap(
        "18: relative names are of the directory one is in",
        "--name=a --rw=write --size=64k --filename=d/x",
        Equal,
    )
    .with(&[("d/z", 1)]),
];

#[test]
fn files_are_named_and_created_as_in_fio() {
    need!(installed("fio"));
    check_all(FILES);
}

const JOBS: &[Trap] = &[
    Trap::of_file(
        "19: jobs run together, and stonewall waits for all before",
        "[global]\nsize=64k\nrw=write\n[a]\n[b]\n[c]\nstonewall\n[d]\n",
        Equal,
    ),
    Trap::of_file(
        "19: a wall in global is before each section, not between clones",
        "[global]\nsize=64k\nrw=write\nstonewall\n[a]\nnumjobs=2\n[b]\n",
        Equal,
    ),
    Trap::of_file(
        "20: a group is told as one, by the name of its first section; new_group parts",
        "[global]\nsize=64k\ngroup_reporting\n[a]\nrw=read\n[b]\nrw=write\n[c]\nnew_group\n\
             rw=read\n",
        Equal,
    ),
    trap(
        "21: a runtime is an upper bound",
        "--name=a --rw=write --size=64k --runtime=5",
        Equal,
    ),
    trap(
        "21: time_based without a time is absent",
        "--name=a --rw=write --size=64k --time_based",
        Equal,
    )
    .says(&["`time_based` needs `runtime`"]),
    trap(
        "22: loops are in one result",
        "--name=a --rw=randread --size=64k --loops=3",
        Equal,
    ),
    trap(
        "23: work that is shorter than the ramp is measured",
        "--name=a --rw=read --size=64k --ramp_time=5",
        Equal,
    ),
    Trap::of_file(
        "25: a later global changes what is below; name renames",
        "[global]\nsize=64k\nrw=write\n[a]\n[global]\nbs=8k\n[b]\nname=c\n",
        Equal,
    ),
    trap(
        "26: options before the first name are all jobs', later ones that job's",
        "--size=64k --name=a --bs=8k --rw=write --name=b --rw=read",
        Equal,
    ),
    Trap {
        arguments: "--bs=8k @ --size=32k",
        ..Trap::of_file(
            "26: options around a file are its defaults",
            "[a]\nrw=write\n[b]\nrw=write\nbs=16k\nsize=64k\n",
            Equal,
        )
    },
    Trap::of_file(
        "27: a wrong option ends all",
        "[a]\nsize=64k\n[b]\nsize=64k\niodeph=3\n",
        Rejected,
    )
    .says(&[
        "there is no option `iodeph`",
        "did you mean `iodepth`?",
        ":5:1",
    ]),
    Trap::of_file("27: case counts", "[a]\nsize=64k\nrw=READ\n", Rejected)
        .says(&["did you mean `read`?"]),
    Trap::of_file("27: a depth of 0", "[a]\nsize=64k\niodepth=0\n", Rejected)
        .says(&["use at least 1"]),
    Trap::of_file(
        "27: a share of 130",
        "[a]\nsize=64k\nrwmixread=130\n",
        Rejected,
    )
    .says(&["use at most 100"]),
    Trap::of_file("27: no job at all", "[a]\nsize=64k\nnumjobs=0\n", Rejected)
        .says(&["the section has no clones"]),
    Trap::of_file(
        "28: comments cut lines anywhere, and variables that are not set are empty",
        "[a]\nsize=64k#x\nrw=write\nbs=8k;4k\nfilename=f${PGMETER_IS_NOT_SET}g\n",
        Equal,
    )
    .says(&["`${PGMETER_IS_NOT_SET}` is not set, so it is empty"]),
];

#[test]
fn jobs_and_groups_match_fio() {
    need!(installed("fio"));
    check_all(JOBS);
}

const MIXES: &[Trap] = &[
    trap(
        "29: a size is that of reads and writes together",
        "--name=a --ioengine=null --rw=randrw --size=2g",
        Near,
    ),
    trap(
        "29: a share of reads is a probability",
        "--name=a --ioengine=null --rw=randrw --size=2g --rwmixread=70",
        Near,
    ),
    trap(
        "29: of both shares the later holds",
        "--name=a --ioengine=null --rw=randrw --size=2g --rwmixread=70 --rwmixwrite=60",
        Near,
    ),
    trap(
        "29: without writes it has no effect",
        "--name=a --rw=read --size=64k --rwmixread=10",
        Equal,
    ),
    trap(
        "30: reads and writes in order have positions of their own",
        "--name=a --ioengine=null --rw=rw --size=2g",
        Near,
    ),
    trap(
        "31: sizes of reads and of writes",
        "--name=a --rw=write --size=64k --bs=4k,16k",
        Equal,
    ),
    trap(
        "31: nothing before the comma is the default for reads",
        "--name=a --rw=read --size=64k --bs=,16k",
        Equal,
    ),
    trap(
        "31: and nothing behind it for writes",
        "--name=a --rw=write --size=64k --bs=16k,",
        Equal,
    ),
    trap(
        "32: a range at random is cut at blocks that were met",
        "--name=a --ioengine=null --rw=randwrite --size=1g --bsrange=1k-4k",
        NearIfExact,
    )
    .says(&["requests keep their full size; fio shortens them"]),
    trap(
        "32: a range in order is even",
        "--name=a --ioengine=null --rw=write --size=1g --bsrange=1k-4k",
        Near,
    ),
    trap(
        "32: and at random, where blocks may come again",
        "--name=a --ioengine=null --rw=randwrite --size=1g --bsrange=1k-4k --norandommap",
        Near,
    ),
    trap(
        "33: shares of sizes are of requests",
        "--name=a --ioengine=null --rw=write --size=8g --bssplit=4k/50:64k/50",
        Near,
    ),
    trap(
        "33: a missing percent is a share of the rest",
        "--name=a --ioengine=null --rw=write --size=8g --bssplit=4k/60:8k:64k",
        Near,
    ),
    trap(
        "33: the last takes what is left",
        "--name=a --ioengine=null --rw=write --size=8g --bssplit=4k/30:64k/30",
        Near,
    ),
    trap(
        "33: above 100, the last is cut",
        "--name=a --ioengine=null --rw=write --size=8g --bssplit=64k/60:4k/50",
        Near,
    ),
    trap(
        "33: each direction has its own",
        "--name=a --ioengine=null --rw=write --size=1g --bssplit=4k/100,16k/100",
        Equal,
    ),
    trap(
        "34: shares at random make sizes that nobody asked for",
        "--name=a --ioengine=null --rw=randwrite --size=4g --bssplit=4k/50:64k/50",
        NearIfExact,
    )
    .says(&[
        "requests keep their full size; fio shortens them",
        "--fio-compat",
    ]),
    trap(
        "34: but not where blocks may come again",
        "--name=a --ioengine=null --rw=randwrite --size=8g --bssplit=4k/50:64k/50 \
             --norandommap",
        Near,
    ),
];

#[test]
fn mixes_and_block_sizes_have_the_shares_of_fio() {
    need!(installed("fio"));
    check_all(MIXES);
}

const ORDERS: &[Trap] = &[
    trap(
        "35: every block comes once",
        "--name=a --rw=randread --size=1m",
        Equal,
    ),
    trap(
        "35: as many come with repetition",
        "--name=a --rw=randread --size=1m --norandommap",
        Equal,
    ),
    trap(
        "36: a new place every 4 requests",
        "--name=a --rw=randread:4 --size=1m",
        Equal,
    ),
    trap(
        "36: holes between blocks",
        "--name=a --rw=read:8k --size=1m",
        Equal,
    ),
    trap(
        "36: steps backward, from the end",
        "--name=a --rw=read:-8k --size=1m",
        Equal,
    ),
    trap(
        "37: zipf has no map",
        "--name=a --rw=randread --size=1m --random_distribution=zipf:1.2",
        Equal,
    ),
    trap(
        "37: nor have zones",
        "--name=a --rw=randread --size=1m \
             --random_distribution=zoned:60/10:30/20:8/30:2/40",
        Equal,
    ),
    trap(
        "38: zones without a mode",
        "--name=a --rw=read --size=1m --zonesize=8k --zoneskip=24k",
        Rejected,
    )
    .says(&["`zonesize` needs a `zonemode`", "add `zonemode=strided`"]),
    trap(
        "38: strided zones",
        "--name=a --rw=read --size=1m --zonemode=strided --zonesize=8k --zoneskip=24k",
        Equal,
    ),
    trap(
        "38: strided zones by their range",
        "--name=a --rw=read --size=1m --zonemode=strided --zonesize=8k --zonerange=32k",
        Equal,
    ),
    trap(
        "39: another order each run",
        "--name=a --rw=randread --size=64k --randrepeat=0",
        Equal,
    ),
    trap(
        "42: engines that wait have a depth of one",
        "--name=a --rw=read --iodepth=32 --size=64k",
        Equal,
    )
    .says(&["`psync` waits for each request, so the depth is 1"]),
    trap(
        "43: of direct and buffered the later holds",
        "--name=a --rw=read --direct=1 --buffered=1 --size=65000 --bs=1000",
        Equal,
    ),
];

#[test]
fn access_orders_move_as_many_bytes_as_in_fio() {
    need!(installed("fio"));
    check_all(ORDERS);
}

const SYNCS: &[Trap] = &[
    trap(
        "44: a sync behind each 4 writes, but the last",
        "--name=a --rw=write --fsync=4 --size=64k",
        Equal,
    ),
    // 3.33 counts them as short reads.
    trap(
        "44: and of data alone",
        "--name=a --rw=write --fdatasync=4 --size=64k",
        EqualExceptSyncs,
    ),
    trap(
        "44: a sync at the end is not counted",
        "--name=a --rw=write --end_fsync=1 --size=64k",
        Equal,
    ),
    trap(
        "44: nor are those at closing",
        "--name=a --rw=write --fsync_on_close=1 --size=64k --nrfiles=4",
        Equal,
    ),
    trap(
        "45: what is written is read in a phase of its own",
        "--name=a --rw=write --verify=crc32c --size=256k",
        Equal,
    ),
    trap(
        "45: also at random",
        "--name=a --rw=randwrite --verify=crc32c --size=256k",
        Equal,
    ),
    // So many small blocks that chance is below half a percent.
    trap(
        "45: where blocks come again, each is read once",
        "--name=a --rw=randwrite --verify=crc32c --size=16m --bs=512 --norandommap",
        Near,
    ),
    trap(
        "45: reads of a mix and those of the phase add up",
        "--name=a --rw=randrw --verify=crc32c --size=32m --bs=512",
        Near,
    ),
    trap(
        "45: after each loop",
        "--name=a --rw=write --verify=crc32c --size=64k --loops=2",
        Equal,
    ),
    trap(
        "45: do_verify=0 writes alone",
        "--name=a --rw=write --verify=crc32c --size=64k --do_verify=0",
        Equal,
    ),
    trap(
        "45: verify=0 is none",
        "--name=a --rw=write --verify=0 --size=64k",
        Equal,
    ),
    Trap::of_file(
        "45: a later job reads what an earlier one wrote",
        "[global]\nsize=64k\nfilename=x\nverify=crc32c\n[w]\nrw=write\ndo_verify=0\n[r]\n\
             stonewall\nrw=read\n",
        Equal,
    ),
];

const ENDLESS: &[Trap] = &[
    trap(
        "21: the null device takes as much as it is asked to",
        "--name=a --rw=write --filename=/dev/null --size=1m",
        Equal,
    ),
    trap(
        "21: the zero device gives as much, at random, through a ring",
        "--name=a --rw=randread --filename=/dev/zero --size=1m --ioengine=io_uring --iodepth=4",
        Equal,
    ),
    trap(
        "21: a size is also where such a file ends",
        "--name=a --rw=write --filename=/dev/zero --size=1m --offset=512k",
        Equal,
    ),
    trap(
        "21: more may be moved, by several jobs",
        "--name=a --rw=write --filename=/dev/null --size=1m --io_size=4m --numjobs=2",
        Equal,
    ),
    trap(
        "21: two of them are two files",
        "--name=a --rw=write --filename=/dev/null:/dev/zero --size=1m",
        Equal,
    ),
    trap(
        "21: other devices are refused",
        "--name=a --rw=write --filename=/dev/full --size=1m",
        Rejected,
    )
    .says(&["`/dev/full` is a character device"]),
    trap(
        "21: nothing is read from the null device",
        "--name=a --rw=read --filename=/dev/null --size=1m",
        Rejected,
    )
    .says(&["`/dev/null` is a character device, which has nothing to read"]),
];

#[test]
fn devices_without_a_size_are_written_and_read_as_in_fio() {
    need!(installed("fio"));
    check_all(ENDLESS);
}

#[test]
fn syncs_and_verify_reads_are_counted_as_in_fio() {
    need!(installed("fio"));
    check_all(SYNCS);
}

/// One run of each, whatever comes of it.
fn side_by_side(trap: &Trap) -> (Outcome, Outcome) {
    let bed = ScratchTarget::in_memory().unwrap();
    let ours = run_pgmeter(&bed, "ours", trap, &["--fio-compat"]);
    assert_eq!(
        ours.finished.code,
        0,
        "{}: {}",
        trap.name,
        ours.finished.text()
    );
    (run_fio(&bed, trap), ours)
}

/// Differences and notes of a trap's command line.
fn notes(bed: &ScratchTarget, trap: &Trap, more: &[&str]) -> String {
    let directory = ground(bed, "notes", trap);
    let mut command = bed.command(&[&["as", "fio", "--differences"], more].concat());
    command.args(arguments(bed, trap));
    finish(command.current_dir(directory)).stdout
}

fn notes_with_fio_compat(trap: &Trap) -> String {
    notes(
        &ScratchTarget::in_memory().unwrap(),
        trap,
        &["--fio-compat"],
    )
}

fn number(of: &Outcome, pointer: &str) -> u64 {
    let found = of.json.as_ref().and_then(|it| it.pointer(pointer));
    let found = found.and_then(Value::as_u64);
    found.unwrap_or_else(|| panic!("no number at {pointer}: {}", of.finished.text()))
}

/// Requests in their order: file, direction, place and length.
fn requests(bed: &ScratchTarget, is_fio: bool, arguments: &str) -> Vec<(String, String, u64, u64)> {
    let directory = bed.target().join(if is_fio { "fio" } else { "ours" });
    fs::create_dir_all(&directory).unwrap();
    let mut command = if is_fio {
        Command::new("fio")
    } else {
        let mut command = pgmeter(bed.path());
        command.args(["as", "fio", "--fio-compat"]);
        command
    };
    command.args(arguments.split_ascii_whitespace());
    let output = finish(command.arg("--write_iolog=log").current_dir(&directory));
    assert_eq!(output.code, 0, "{arguments}: {}", output.text());
    let path = directory.join("log");
    let log = fs::read_to_string(&path).unwrap();
    // fio appends to an existing log.
    fs::remove_file(path).unwrap();
    let mut found = Vec::new();
    for line in log.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [.., file, what, place, length] = &words[..] else {
            continue;
        };
        let (Ok(place), Ok(length)) = (place.parse::<u64>(), length.parse::<u64>()) else {
            continue;
        };
        let name = Path::new(file).file_name().unwrap().to_string_lossy();
        // fio logs the position of the last request for a sync.
        let offset = if length == 0 { 0 } else { place };
        found.push((name.into_owned(), (*what).to_owned(), offset, length));
    }
    found
}

/// 6, 7, 9, 15, 17, 22, 31, 36, 38, 44, 45: where each request goes, by the logs that both write.
#[test]
fn requests_have_the_offsets_of_fio() {
    need!(installed("fio"));
    for arguments in [
        "--rw=write --offset=256k --size=256k --bs=64k",
        "--rw=read --size=64k --io_size=192k --bs=16k",
        "--rw=write --size=10k",
        "--rw=write --filename=x:y --size=64k",
        "--rw=write --nrfiles=2 --size=64k",
        "--rw=write --nrfiles=3 --filesize=32k --size=64k",
        "--rw=write --nrfiles=2 --size=64k --file_service_type=sequential",
        "--rw=write --nrfiles=2 --size=64k --file_service_type=roundrobin:3",
        "--rw=read --size=32k --loops=2",
        "--rw=write --bs=4k,16k --size=64k",
        "--rw=read:8k --size=256k",
        "--rw=read:8k --size=128k",
        "--rw=read:8k --size=256k --nrfiles=2",
        "--rw=read:-8k --size=256k",
        "--rw=write:-4k --size=64k",
        "--rw=read --size=256k --zonemode=strided --zonesize=8k --zoneskip=24k",
        "--rw=read --size=256k --zonemode=strided --zonesize=8k --zonerange=32k",
        "--rw=write --fsync=4 --size=64k",
        "--rw=write --fsync=6 --fdatasync=4 --size=64k",
        "--rw=write --end_fsync=1 --size=64k",
        "--rw=write --verify=crc32c --size=32k",
    ] {
        let bed = ScratchTarget::in_memory().unwrap();
        let arguments = format!("--name=a {arguments}");
        let (ours, fio) = (
            requests(&bed, false, &arguments),
            requests(&bed, true, &arguments),
        );
        assert!(fio.len() > 1, "{arguments}: fio wrote no log");
        assert_eq!(ours, fio, "{arguments}");
    }
}

/// 22, 30, 34, 35, 36, 39: what of an order by chance is certain, by the logs that both write.
#[test]
fn random_orders_share_the_invariants_of_fio() {
    need!(installed("fio"));
    for is_fio in [false, true] {
        let bed = ScratchTarget::in_memory().unwrap();
        let of = |arguments: &str| requests(&bed, is_fio, &format!("--name=a {arguments}"));
        let all = of("--rw=randread --size=64k --loops=2");
        let (first, second) = all.split_at(16);
        assert_eq!(first, second, "22: each loop has the same order");
        let offsets: BTreeSet<u64> = first.iter().map(|it| it.2).collect();
        assert_eq!(offsets.len(), 16, "35: every block comes once");
        let again = of("--rw=randread --size=64k");
        assert_eq!(again, first, "39: every run has the same order");
        let other = of("--rw=randread --size=64k --randseed=7");
        // 3.33 heeds a seed with `randrepeat=0` alone.
        assert_eq!(other == first, is_fio, "39: a seed makes another");
        let mixed = of("--rw=rw --size=256k");
        for side in ["read", "write"] {
            let own: Vec<u64> = mixed
                .iter()
                .filter(|it| it.1 == side)
                .map(|it| it.2)
                .collect();
            let wanted: Vec<u64> = (0..own.len() as u64).map(|it| it * 4096).collect();
            assert_eq!(own, wanted, "30: each direction has its own position");
        }
        let runs = of("--rw=randread:4 --size=64k --norandommap");
        let steps = runs.windows(2).filter(|pair| pair[1].2 == pair[0].2 + 4096);
        assert!(steps.count() >= 8, "36: runs of 4");
        let replaced = of("--rw=randread --size=1m --norandommap");
        let offsets: BTreeSet<u64> = replaced.iter().map(|it| it.2).collect();
        assert!(
            (140..190).contains(&offsets.len()),
            "35: {} places",
            offsets.len()
        );
        let shifted = of("--rw=randread --size=1m --norandommap --random_generator=lfsr");
        let offsets: BTreeSet<u64> = shifted.iter().map(|it| it.2).collect();
        assert_eq!(offsets.len(), 256, "35: LFSR needs no map");
        let cut = of("--rw=randwrite --size=1m --bssplit=4k/50:64k/50");
        let is_requested = |length: u64| length == 4096 || length == 65536;
        assert!(
            cut.iter().any(|it| !is_requested(it.3)),
            "34: sizes nobody asked for"
        );
        let uncut = of("--rw=randwrite --size=1m --bssplit=4k/50:64k/50 --norandommap");
        assert!(
            uncut.iter().all(|it| is_requested(it.3)),
            "34: only sizes asked for"
        );
        let zones = of("--rw=randread --size=4m --random_distribution=zoned:60/10:30/20:8/30:2/40");
        let near = zones.iter().filter(|it| it.2 < 419_430).count();
        assert!((550..680).contains(&near), "37: {near} of {}", zones.len());
    }
}

/// 5: fio unlinks a file that is too short, whatever is in it. Here it is never touched, so the
/// work is the same and the file is not.
#[test]
fn fio_unlinks_a_file_that_is_too_short_and_pgmeter_keeps_it() {
    need!(installed("fio"));
    let existing = &[("mine", 1 << 20)];
    for arguments in [
        "--name=a --filename=mine --rw=read --size=2m",
        "--name=a --filename=mine --rw=read --offset=512k --size=1m",
        "--name=a --filename=mine --rw=write --size=2m",
        "--name=a --filename=mine --rw=read --size=512k",
    ] {
        let trap = trap("5: a short file is made anew", arguments, Equal).with(existing);
        let bed = ScratchTarget::in_memory().unwrap();
        let at = |name: &str| bed.target().join(name).join("mine");
        let fio = run_fio(&bed, &trap);
        let is_kept = arguments.ends_with("512k");
        let bytes = fs::read(at("fio")).unwrap();
        let marks = bytes.iter().filter(|it| **it == b'm').count();
        // Random bytes are marks by chance.
        assert_eq!(marks > 1 << 18, is_kept, "{arguments}: {marks} marks");
        let ours = run_pgmeter(&bed, "ours", &trap, &["--fio-compat"]);
        assert_eq!(fs::read(at("ours")).unwrap(), vec![b'm'; 1 << 20]);
        assert_eq!(ours.counts(), fio.counts(), "{arguments}");
    }
}

/// 10: which sizes are drawn are fio's own numbers, but they are whole blocks within the range, and
/// a size does not fill them up.
#[test]
fn file_sizes_in_a_range_are_drawn_and_not_filled_up() {
    need!(installed("fio"));
    for more in ["", " --size=1m"] {
        let arguments = format!("--name=a --rw=write --filesize=4k-64k --nrfiles=4{more}");
        let arguments: &'static str = arguments.leak();
        let (fio, ours) = side_by_side(&trap("10: sizes of a range", arguments, Equal));
        for side in [&fio, &ours] {
            let sizes: Vec<u64> = side.files.values().copied().collect();
            assert_eq!(sizes.len(), 4);
            let is_good = |size: &u64| (4096..=65536).contains(size) && size.is_multiple_of(4096);
            assert!(sizes.iter().all(is_good), "{sizes:?}");
            let all: u64 = sizes.iter().sum();
            assert_eq!(number(side, "/jobs/0/write/io_bytes"), all);
        }
    }
}

/// 12, 21, 23, 24, 41: what takes how long, at the least; at the most, a minute that was meant as a
/// second would show.
#[test]
fn times_have_the_units_and_start_points_of_fio() {
    need!(installed("fio"));
    let lasts = |name: &'static str, arguments: &'static str, milliseconds: u64| {
        let (fio, ours) = side_by_side(&trap(name, arguments, Equal));
        for side in [&fio, &ours] {
            let runtime_ms = number(side, "/jobs/0/job_runtime");
            // fio's clock of milliseconds is cut off at both ends.
            assert!(runtime_ms + 2 >= milliseconds, "{name}: {runtime_ms} ms");
            assert!(
                runtime_ms < milliseconds + 20_000,
                "{name}: {runtime_ms} ms"
            );
        }
        (fio, ours)
    };
    lasts(
        "12: a runtime in microseconds",
        "--name=a --ioengine=null --rw=read --size=64k --time_based --runtime=200000us",
        200,
    );
    lasts(
        "12: a runtime in seconds",
        "--name=a --ioengine=null --rw=read --size=64k --time_based --runtime=1",
        1000,
    );
    lasts(
        "21: of loops and a time, the time holds",
        "--name=a --ioengine=null --rw=read --size=64k --loops=2 --time_based --runtime=200ms",
        200,
    );
    let (fio, ours) = lasts(
        "41: a pause in microseconds behind each request",
        "--name=a --ioengine=null --rw=read --size=1m --number_ios=11 --thinktime=10000",
        100,
    );
    assert_eq!(ours.counts(), fio.counts());
    let (fio, ours) = lasts(
        "41: a pause in milliseconds behind each 4",
        "--name=a --ioengine=null --rw=read --size=1m --number_ios=21 --thinktime=20ms \
         --thinktime_blocks=4",
        100,
    );
    assert_eq!(ours.counts(), fio.counts());
    let (fio, ours) = lasts(
        "23: a ramp comes before the runtime and is not counted",
        "--name=a --ioengine=null --rw=read --size=1m --rate_iops=200 --time_based \
         --runtime=500ms --ramp_time=500ms",
        500,
    );
    for side in [&fio, &ours] {
        let count = number(side, "/jobs/0/read/total_ios");
        assert!(count <= 120, "{count} requests, the ramp's among them");
    }
}

/// 24: a delay moves a job and does not shorten it; when one ends all end, if any says so.
#[test]
fn start_delays_and_exitall_match_fio() {
    need!(installed("fio"));
    let global = "[global]\nsize=1m\nioengine=null\ntime_based\nruntime=300ms\n";
    let late = format!("{global}[a]\n[b]\nstartdelay=300ms\n");
    let (fio, ours) = side_by_side(&Trap::of_file("24: delayed", late.leak(), Equal));
    for side in [&fio, &ours] {
        for job in 0..2 {
            let runtime_ms = number(side, &format!("/jobs/{job}/job_runtime"));
            assert!((298..10_000).contains(&runtime_ms), "{runtime_ms} ms");
        }
    }
    let exitall = format!("{global}[a]\n[b]\nruntime=1m\nexitall\n");
    let (fio, ours) = side_by_side(&Trap::of_file("24: all end", exitall.leak(), Equal));
    for side in [&fio, &ours] {
        let runtime_ms = number(side, "/jobs/1/job_runtime");
        assert!((250..50_000).contains(&runtime_ms), "{runtime_ms} ms");
    }
}

/// 16: of clones that a format gives the same file, only the first works in fio; here both do, and
/// it is said. 18: fio fails at the name of a directory; here files have a directory of their own.
#[test]
fn file_names_at_which_fio_fails_work_here() {
    need!(installed("fio"));
    let same = trap(
        "16: a format without a number of the clone",
        "--name=a --rw=write --size=64k --filename_format=same --numjobs=2",
        Equal,
    );
    let (fio, ours) = side_by_side(&same);
    let written = |of: &Outcome| {
        let counts = of.counts();
        counts.iter().map(|it| it.moved[1][0]).collect::<Vec<_>>()
    };
    assert_eq!(written(&fio), [65536, 0]);
    assert_eq!(written(&ours), [65536, 65536]);
    let notes = notes_with_fio_compat(&same);
    assert!(notes.contains("has no `$jobnum`"), "{notes}");
    assert!(notes.contains("in fio, only one of them works"), "{notes}");
    let directory = trap(
        "18: a directory as a file",
        "--name=a --rw=write --size=64k --filename=d",
        Equal,
    )
    .with(&[("d/z", 1)]);
    let (fio, ours) = side_by_side(&directory);
    assert_ne!(fio.finished.code, 0);
    assert_eq!(written(&ours), [65536]);
}

/// 40: rates are of each clone and of each direction, and make the mix.
#[test]
fn rates_determine_the_mix_as_in_fio() {
    need!(installed("fio"));
    let mixed = trap(
        "40: a rate for both directions",
        "--name=a --ioengine=null --rw=randrw --rwmixread=90 --rate_iops=200 --size=400k",
        Equal,
    );
    let (fio, ours) = side_by_side(&mixed);
    for side in [&fio, &ours] {
        for direction in ["read", "write"] {
            let count = number(side, &format!("/jobs/0/{direction}/total_ios"));
            assert!((40..=60).contains(&count), "{direction}: {count}");
        }
    }
    let phrase = "the rates of reads and writes determine the mix, not `rwmixread`";
    let notes = notes_with_fio_compat(&mixed);
    assert!(notes.contains(phrase), "{notes}");
    let cloned = trap(
        "40: a rate of each clone",
        "--name=a --ioengine=null --rw=read --rate=512k --size=128k --numjobs=2",
        Equal,
    );
    let (fio, ours) = side_by_side(&cloned);
    assert_eq!(ours.counts(), fio.counts());
    for side in [&fio, &ours] {
        // The last request is due before its own bytes have taken their time.
        let took = number(side, "/jobs/0/job_runtime").max(number(side, "/jobs/1/job_runtime"));
        assert!((240..10_000).contains(&took), "{took} ms");
    }
}

/// 44: 3.33 syncs again after each read that follows a due sync; 3.42 and pgmeter do not.
#[test]
fn a_due_sync_is_issued_once_among_reads() {
    let bed = ScratchTarget::in_memory().unwrap();
    let mixed = trap(
        "44: syncs of a mix",
        "--name=a --rw=rw --fsync=4 --size=256k",
        Equal,
    );
    let outcome = run_pgmeter(&bed, "ours", &mixed, &["--fio-compat"]);
    let writes = number(&outcome, "/jobs/0/write/total_ios");
    let syncs = number(&outcome, "/jobs/0/sync/total_ios");
    assert!(
        syncs == writes / 4 || syncs + 1 == writes / 4,
        "{syncs} of {writes}"
    );
}

/// 45: writes without an end.
#[test]
fn endless_writes_are_not_read_back() {
    need!(installed("fio"));
    let endless = trap(
        "45: what is written without end is not read",
        "--name=a --rw=write --verify=crc32c --size=64k --time_based --runtime=200ms",
        Equal,
    );
    let (fio, ours) = side_by_side(&endless);
    for side in [&fio, &ours] {
        assert_eq!(number(side, "/jobs/0/read/total_ios"), 0);
        assert!(number(side, "/jobs/0/write/total_ios") > 16);
    }
    let phrase = "with `time_based`, written data is not read back";
    assert!(notes_with_fio_compat(&endless).contains(phrase));
}

/// 46: fio trims only devices; pgmeter punches holes into its own files.
#[test]
fn trims_of_files_fail_in_fio_and_punch_holes_here() {
    need!(installed("fio"));
    for (arguments, counts) in [
        ("--name=a --rw=trim --size=64k", [0, 16]),
        ("--name=a --rw=trimwrite --size=64k", [16, 16]),
    ] {
        let trap = trap("46: trims", arguments, Equal);
        let bed = ScratchTarget::in_memory().unwrap();
        assert_eq!(run_fio(&bed, &trap).counts()[0].error, 25, "{arguments}");
        let ours = run_pgmeter(&bed, "ours", &trap, &["--fio-compat"]);
        let found = ["write", "trim"].map(|it| number(&ours, &format!("/jobs/0/{it}/total_ios")));
        assert_eq!(found, counts, "{arguments}");
    }
}

/// 42, 47: fio prints its notes before the document, pgmeter stores them in the record. Directions
/// without requests are present, options are reported as written, and the lines of each version
/// have the same number of fields.
#[test]
fn documents_and_terse_lines_match_fio() {
    need!(installed("fio"));
    let noted = trap(
        "47: notes and options",
        "--name=a --rw=read --size=64k --iodepth=32 --bs=0x1000",
        Equal,
    );
    let (fio, ours) = side_by_side(&noted);
    assert!(!fio.finished.stdout.starts_with('{') || fio.finished.stderr.contains("note"));
    assert!(ours.finished.stdout.starts_with("{\n"));
    let value = |of: &Outcome, pointer: &str| {
        let document = of.json.as_ref().unwrap();
        document.pointer(pointer).cloned().unwrap_or_default()
    };
    for pointer in [
        "/jobs/0/job options",
        "/global options",
        "/jobs/0/trim/total_ios",
    ] {
        assert_eq!(value(&ours, pointer), value(&fio, pointer), "{pointer}");
    }
    for version in ["2", "3", "4", "5"] {
        let arguments = [
            "--name=a",
            "--rw=read",
            "--size=64k",
            "--output-format=terse",
        ];
        let arguments = [&arguments[..], &["--terse-version", version]].concat();
        let bed = ScratchTarget::in_memory().unwrap();
        let fields = |text: &str| {
            let line = text.lines().find(|it| it.contains(';'));
            line.unwrap_or_default().split(';').count()
        };
        let mut fio = Command::new("fio");
        let fio = finish(fio.args(&arguments).current_dir(bed.target()));
        let mut ours = pgmeter(bed.path());
        ours.args(["as", "fio"]).args(&arguments);
        let ours = finish(ours.current_dir(bed.target()));
        let wanted = fields(&fio.stdout);
        assert!(wanted > 100, "{}", fio.text());
        // With a device: three fields for none, and six for each.
        let is_equal = fields(&ours.stdout) == wanted;
        assert!(is_equal, "{version}: {wanted} {}", ours.text());
    }
}

/// 48: which logs there are, and how they are named.
#[test]
fn logs_have_the_names_of_fio() {
    need!(installed("fio"));
    let logged = trap(
        "48: logs of clones",
        "--name=a --ioengine=psync --rw=write --size=64k --write_bw_log=x --write_lat_log=y \
         --write_iops_log=z --numjobs=2 --group_reporting",
        Equal,
    );
    let (fio, ours) = side_by_side(&logged);
    let names = |of: &Outcome| {
        let names = of.files.keys().filter(|it| it.ends_with(".log"));
        names.cloned().collect::<Vec<_>>()
    };
    assert_eq!(names(&ours), names(&fio));
    assert_eq!(names(&ours).len(), 10);
}
