use description::{Overrides, load};
use plan::facts::SystemFacts;
use planning::plan;

const LINE: &str = "[[access_spec]]\nname = \"a\"\n[[access_spec.line]]\nsize = \"4k\"\n";

fn shown(text: &str, pairs: &[&str]) -> String {
    let loaded = load("w.toml", text).unwrap_or_else(|error| panic!("{error}"));
    let mut overrides = Overrides::new();
    for pair in pairs {
        overrides.set_pair(pair).unwrap();
    }
    let planned = plan(&loaded, &overrides, &SystemFacts::default());
    super::plan_text(&planned.unwrap_or_else(|error| panic!("{error}")))
}

#[test]
fn a_plan_of_access_specs_is_printed_in_full() {
    let text = format!("name = \"mail\"\ntitle = \"Mail\"\niodepth = [1, 8]\n{LINE}random = 30\n");
    assert_eq!(
        shown(&text, &["run_time=1m"]),
        "mail · Mail\n  source: w.toml\n  by option: run_time = 1m\n  written: iodepth = 1,8\n  \
         default: ramp_time = 2s, engine = io_uring, cache = direct, start = 0B, repetitions = 1, \
         seed = 1,\n           verify = false, warm = false, position = uniform, \
         cursor = worker,\n           content = incompressible, \
         sqpoll = false, iopoll = false, batch = 32, test_type = normal,\n           keep = false, \
         workers = 1, targets = ., size = 1GiB\n\n\
         targets\n  0  .  1GiB  directory, with a test file in it\n\n\
         access specification a\n  of size  request  read  random  align   and\n  \
         100%     4KiB     100%  30%     sector\n\n\
         cells\n  #  workload  access specification  workers  targets  iodepth  rep  time\n  \
         1  mail      a                           1        1        1    1  2s + 1m\n  \
         2  mail      a                           1        1        8    1  2s + 1m\n\n\
         2 cells, 2m4s in all; before that, up to 1GiB of test files are written\n"
    );
}

#[test]
fn an_empty_plan_is_shown() {
    let text = format!("{LINE}[[worker]]\naccess_specs = []\n");
    assert!(shown(&text, &[]).contains("0 cells"));
}

#[test]
fn settings_show_the_values_of_workers() {
    let tail = "size = \"1MiB\"\ncontent = \"zero\"\n";
    let text = format!(
        "{LINE}[[worker]]\niodepth = 8\n{tail}[[worker]]\niodepth = 16\n{tail}\
         [[worker]]\niodepth = 8\nseed = 4\n{tail}"
    );
    let all = shown(&text, &[]);
    assert!(
        all.contains("  written: iodepth = 8,16, content = zero, workers = 3, size = 1MiB\n"),
        "{all}"
    );
}

#[test]
fn a_postmark_plan_is_printed_in_full() {
    let text = "name = \"mail\"\nworkers = 2\n[postmark]\nnumber = 1000\nsubdirectories = 10\n\
                transactions = 50000\n";
    assert_eq!(
        shown(text, &[]),
        "mail\n  source: w.toml\n  \
         written: workers = 2, postmark.number = 1000, postmark.transactions = 50000,\n           \
         postmark.subdirectories = 10\n  \
         default: iodepth = 1, engine = psync, cache = buffered, run_time = 0s, \
         verify = false,\n           \
         repetitions = 1, seed = 42, postmark.min_size = 500B, \
         postmark.max_size = 10000B,\n           \
         postmark.locations = ., postmark.read_block = 512B, \
         postmark.write_block = 512B,\n           \
         postmark.buffering = true, postmark.read_bias = 5, postmark.create_bias = 5,\n           \
         postmark.compat = 1.53, postmark.report = verbose, postmark.fsync = none,\n           \
         postmark.choice = uniform, postmark.pool = own, postmark.keep_open = 0, \
         targets = .\n\n\
         targets\n  0  .  -  directory, with files in it\n\n\
         files of postmark\n  \
         each of 2 workers in its own directory: create 1000 files of 500 to 9999 bytes in 10 \
         subdirectories\n  \
         transactions, 50000: read a file (50%) or append to one, then create one (50%) or delete \
         one\n  \
         delete all files; read blocks of 512B and write blocks of 512B, through a buffer\n  \
         about 52000 files created and deleted, 50000 read, 50000 appended to\n  \
         the files take up to 39.2 MiB at once\n\n\
         cells\n  #  workload  access specification  workers  targets  iodepth  rep  time\n  \
         1  mail      postmark                    2        1        1    1  until done\n\n\
         1 cell, which ends when its files are done\n"
    );
}

#[test]
fn settings_phases_and_cells_are_shown() {
    let text = "name = \"made\"\nrun_time = \"3s\"\n[[fileset]]\nname = \"log\"\npresent = 100\n\
                [[phase]]\nname = \"grow\"\n[[phase.group]]\nfirst = [{ open = \"log\" }]\n\
                body = [{ write = \"4KiB\" }, \"fdatasync\"]\nlast = [\"close\"]\n";
    assert_eq!(
        shown(text, &[]),
        "made\n  source: w.toml\n  \
         written: run_time = 3s, fileset.log.count = 1, fileset.log.present = 100%,\n           \
         phase.grow.run_time = 3s, phase.grow.grow.workers = 1\n  \
         default: iodepth = 1, engine = psync, cache = buffered, content = incompressible, \
         repetitions = 1,\n           \
         seed = 1, workers = 1, targets = .\n\n\
         targets\n  0  .  -  directory, with files in it\n\n\
         files, and the work on them\n  \
         log: 1 file\n  \
         grow: 1 worker, for 3s: first open log; repeatedly write 4KiB, fdatasync; \
         at last close\n  \
         files grow as long as a phase lasts; it is counted as one round\n  \
         the files take up to 4 KiB at once\n\n\
         cells\n  #  workload  access specification  workers  targets  iodepth  rep  time\n  \
         1  made      made                        1        1        1    1  3s\n\n\
         1 cell, 3s in all\n"
    );
}

#[test]
fn every_classic_is_described_in_sentences() {
    for (text, parts) in [
        (
            "[create_remove]\nstat = true\norder = \"reverse\"\nbetween = \"drop-caches\"\n\
             sync = \"fsync\"\n",
            &[
                "files: up to 500000 files",
                "create empty: 1 worker, until there is no file left: create (create a file in \
                 files, fsync, close)",
                "drop the kernel's caches\n  stat 64KiB: 1 worker, until there is no file left: \
                 stat (stat the file before in files)",
                "remove 64KiB: 1 worker, until there is no file left: remove (remove the file \
                 before in files)",
            ][..],
        ),
        (
            "[lat_fs]\n",
            &[
                "repeated until 5s were measured; the best round counts:\n    create 1KiB: \
                 1 worker, until there is no file left: create (create a file in files, write \
                 1KiB, close)\n    remove 1KiB: ",
            ],
        ),
        (
            "[lat_fs]\ncompat = \"3\"\n",
            &[
                "11 times, with as many files as take 50ms; the median counts:\n    create empty: ",
                "remove empty (not recorded): 1 worker, until there is no file left: remove \
                 (remove the file before in files)",
                "the files take up to 763 MiB at once",
            ],
        ),
        (
            "[fs_mark]\nuntil_full = true\nsync_method = \"post\"\n",
            &[
                "files: up to 1000 files, none of them present at first, 50KiB each",
                "repeated until the file system is full:\n    create: 1 worker, until there \
                 is no file left: create a file in files, write 50KiB in pieces of 16KiB, \
                 close\n    sync: ",
            ],
        ),
    ] {
        let shown = shown(text, &[]);
        for part in parts {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }
}
