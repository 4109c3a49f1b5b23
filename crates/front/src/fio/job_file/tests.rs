//! Keys as options, keys that are refused, and keys that are left out.

use description::read_toml;

use super::super::work::work;
use super::super::{ParserEnvironment, read_file};
use super::*;
use crate::{CommandLine, FrontFile};

fn written(toml: &str) -> Result<(String, Vec<Diagnostic>), Diagnostic> {
    let workload = read_toml("x.toml", toml).unwrap();
    job_file(&[workload], "x.toml", &|path| path == "/data/disk.img")
}

/// The options of all sections, without the options that every file has.
fn options(toml: &str) -> Vec<String> {
    let (text, _) = written(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    let lines = text
        .lines()
        .filter(|line| !line.starts_with(';') && !line.is_empty());
    let lines = lines.filter(|line| !matches!(*line, "[global]" | "thread=1"));
    lines.map(str::to_owned).collect()
}

fn job(keys: &str) -> String {
    format!("[[job]]\nname = \"j\"\nsize = \"1m\"\nloops = 1\n{keys}\n")
}

fn spec(line: &str) -> String {
    let top = "size = \"4m\"\noperations = 960\nrun_time = 0\nramp_time = 0\n";
    format!("{top}[[access_spec]]\nname = \"s\"\nline = [{{ {line} }}]\n")
}

/// Keys and the options that they become.
fn check_options(cases: &[(String, &[&str])]) {
    for (toml, wanted) in cases {
        let found = options(toml);
        for option in *wanted {
            assert!(
                found.iter().any(|it| it == option),
                "{option}: {found:?}\n{toml}"
            );
        }
    }
}

/// Keys that are refused, and the beginning of the message.
fn check_refused(cases: &[(String, &str)]) {
    for (toml, wanted) in cases {
        let error = written(toml).expect_err(toml);
        assert!(error.message.starts_with(wanted), "{error}\n{toml}");
        assert!(error.help.is_some(), "{error}\n{toml}");
    }
}

#[test]
fn a_job_file_has_one_section_per_cell() {
    let toml = "name = \"mix\"\ntargets = \"/mnt/a:b\"\nsize = \"4m\"\nworkers = 2\n\
        iodepth = [1, 8]\nrun_time = 5\n[[access_spec]]\nname = \"4 KiB; 70 %\"\n\
        line = [{ size = \"4k\", read = 70, random = 100, align = \"4k\" }]\n";
    let (text, warnings) = written(toml).unwrap();
    let wanted = "; converted by pgmeter from x.toml\n\n\
        [global]\nthread=1\nioengine=io_uring\ndirect=1\ndirectory=/mnt/a\\:b\n\
        filename=testfile\nsize=4m\nrw=randrw\nrwmixread=70\nbs=4k\nnorandommap=1\n\
        time_based=1\nruntime=5s\nramp_time=2s\nrefill_buffers=1\nnumjobs=2\n\
        group_reporting=1\n\n\
        [4 KiB, 70 %-iodepth1]\n\n\
        [4 KiB, 70 %-iodepth8]\nstonewall=1\niodepth=8\n";
    assert_eq!(text, wanted);
    let warnings: Vec<String> = warnings.iter().map(|it| it.message.clone()).collect();
    let wanted = "names of sections have a comma instead of `[`, `]`, `;`, `#` and `$`";
    assert_eq!(warnings, [wanted]);
}

#[test]
fn request_keys_become_options() {
    let own = "read = 50\n[job.reads]\nblock_size = \"8k\"\n[job.writes]\nblock_size = \"4k\"\n";
    check_options(&[
        (job("read = 0"), &["rw=write", "bs=4k", "overwrite=1"]),
        (
            job("read = 30\nrandom = 100"),
            &["rw=randrw", "rwmixread=30"],
        ),
        (job("random = 40"), &["rw=randread", "percentage_random=40"]),
        (job("skip = \"8k\""), &["rw=read:8k"]),
        (job("back = \"8k\""), &["rw=read:-8k"]),
        (
            job("random = 100\nrun_length = 4\nrun_place = \"same\""),
            &["rw=randread:4", "rw_sequencer=identical"],
        ),
        (job("block_size = \"4k-64k\""), &["bsrange=4k-64k"]),
        (
            job("block_size = \"4k-64k\"\nblock_unit = 1"),
            &["bs_unaligned=1"],
        ),
        (
            job("block_size = \"4k:60,1m:40\""),
            &["bssplit=4k/60:1m/40"],
        ),
        (job(own), &["bs=8k,4k"]),
        (
            job("random = 100\nalign = 512\ndistribution = \"uniform\""),
            &["blockalign=512", "norandommap=1"],
        ),
        (
            job("random = 100\ndistribution = { zipf = 1.2 }"),
            &["random_distribution=zipf:1.2"],
        ),
        (
            job("random = 100\ndistribution = { pareto = 0.2 }"),
            &["random_distribution=pareto:0.2"],
        ),
        (
            job("random = 100\ndistribution = { normal = 10 }"),
            &["random_distribution=normal:19.148542155"],
        ),
        (
            job(
                "random = 100\ndistribution = { zones = [{ access = 80, size = 20 }, \
                 { access = 20, size = 80 }] }",
            ),
            &["random_distribution=zoned:80/20:20/80"],
        ),
        (
            job(
                "random = 100\nbyte_zones = [{ access = 90, size = \"64k\" }, \
                 { access = 10, size = \"960k\" }]",
            ),
            &["random_distribution=zoned_abs:90/64k:10/960k"],
        ),
        (
            job("zone_size = \"64k\"\nzone_skip = \"64k\"\nstarts_over = false"),
            &[
                "zonemode=strided",
                "zonesize=64k",
                "zonerange=64k",
                "zoneskip=64k",
            ],
        ),
        (
            job("zone_size = \"64k\"\nzone_skip = \"64k\""),
            &["io_size=1m"],
        ),
    ]);
}

#[test]
fn file_keys_become_options() {
    let at = |keys: &str| format!("targets = [\"/a\", \"/data/b;c\", \"/b\"]\n{}", job(keys));
    check_options(&[
        (job("files = 4"), &["nrfiles=4", "size=4m"]),
        (
            job("files = [\"a\", \"b:c\"]"),
            &["filename=a:b\\:c", "size=2m"],
        ),
        (
            job("start = \"64k\"\nstart_step = \"1m\""),
            &["offset=64k", "offset_increment=1m"],
        ),
        (
            job("file_names = \"{job}/{file}-{clone}\"\nfiles = 2\ncount = 2"),
            &["filename_format=$jobname/$filenum-$jobnum", "numjobs=2"],
        ),
        (at("target = [1, 3]\ncount = 2"), &["directory=/a:/b"]),
        // fio has no escape for a backslash, and keeps it.
        (
            job("files = ['a\\b', 'c\\:d', 'e\\']"),
            &["filename=a\\b:c\\\\:d:e\\"],
        ),
        (
            "targets = \"/dev/sdx\"\n[[job]]\nfiles = 0\nsize_percent = 50\nloops = 1\n".to_owned(),
            &["filename=/dev/sdx", "size=50%"],
        ),
        (
            job("read = 0\nlayout = \"sparse\""),
            &["fallocate=truncate"],
        ),
        (job("read = 0\nlayout = \"empty\""), &["fallocate=none"]),
        (
            job("read = 0\nlayout = \"allotted\""),
            &["fallocate=native"],
        ),
        (
            job("page_cache = \"warm\"\nremove = true"),
            &["pre_read=1", "unlink=1"],
        ),
        (job("page_cache = \"left\""), &["invalidate=0"]),
        (job("layout_only = true"), &["create_only=1"]),
        (
            "[[job]]\nnames = \"stat\"\nfiles = 20\n".to_owned(),
            &["ioengine=filestat", "nrfiles=20", "size=80k"],
        ),
        (
            "[[job]]\nnames = \"rmdir\"\nfiles = 20\n".to_owned(),
            &["ioengine=dirdelete", "nrfiles=20", "size=80k"],
        ),
        (
            job("files = 2\nfile_order = \"drawn\"\nrequests_per_file = 4"),
            &["file_service_type=random:4"],
        ),
    ]);
    check_refused(&[
        (
            at("target = 2"),
            "fio cannot do `targets` of `j`: a job file cannot name",
        ),
        (
            job("files = ['a\\', 'b']"),
            "fio cannot do `files` of `j`: a job file cannot name another path after",
        ),
        (
            job("files = [{ name = \"a\", start = \"4k\" }, \"b\"]"),
            "fio cannot do `files` of `j`: a section of a job file uses the same part",
        ),
        (job("layout = \"sparse\""), "fio cannot do `layout` of `j`"),
    ]);
}

#[test]
fn calls_on_space_become_engines() {
    check_options(&[
        (
            job("space = \"allocate\"\nread = 50"),
            &["ioengine=falloc", "rw=rw"],
        ),
        (
            job("space = \"truncate\"\nread = 0\nrandom = 100"),
            &["ioengine=ftruncate", "rw=randwrite"],
        ),
    ]);
}

#[test]
fn engine_limit_and_rate_keys_become_options() {
    check_options(&[
        (
            job("iodepth = 8\nbatch = 4\nsqpoll = true"),
            &["iodepth=8", "iodepth_batch=4", "sqthread_poll=1"],
        ),
        (job("engine = \"psync\""), &["ioengine=psync", "direct=1"]),
        (
            job("engine = \"psync\"\ncache = \"dontcache\""),
            &["ioengine=pvsync2", "uncached=1"],
        ),
        (job("engine = \"mmap\""), &["ioengine=mmap"]),
        (job("engine = \"null\""), &["ioengine=null"]),
        (
            job("bytes = \"3m\"\nrun_time = \"1500ms\""),
            &["io_size=3m", "runtime=1500ms"],
        ),
        (job("operations = 77"), &["number_ios=77"]),
        (job("bytes_percent = 50"), &["io_size=50%"]),
        (job("").replace("loops = 1", "loops = 3"), &["loops=3"]),
        (
            job("").replace("loops = 1", ""),
            &["time_based=1", "runtime=10s", "ramp_time=2s"],
        ),
        (
            job("read = 0\nfsync_each = 8\nfsync_at_end = true\ndurable = \"data-sync\""),
            &["fsync=8", "end_fsync=1", "sync=dsync"],
        ),
        (
            job("read = 0\nsync_range_each = 4\nsync_range = [\"wait-before\", \"write\"]"),
            &["sync_file_range=wait_before,write:4"],
        ),
        (
            job("delay = \"1ms\"\nburst = 16\nburst_counts_issued = true"),
            &[
                "thinktime=1ms",
                "thinktime_blocks=16",
                "thinktime_blocks_type=issue",
            ],
        ),
        (
            job("read = 50\nrate = 100\narrivals = \"poisson\""),
            &["rate_iops=100", "rate_process=poisson"],
        ),
        (
            job("byte_rate = \"4m\"\nrate_min = 10"),
            &["rate=4m", "rate_iops_min=10"],
        ),
        (job("latency_max = \"5ms\""), &["max_latency=5000us"]),
        (
            job("latency_target = \"2ms\"\nlatency_target_percent = 99"),
            &["latency_target=2ms", "latency_percentile=99.0"],
        ),
        (
            job("until_steady = { window = \"10s\", percent = 5, slope = true }"),
            &["steadystate=iops_slope:5%", "ss_dur=10s"],
        ),
        (
            job("flow_weight = 8\nflow_group = 2"),
            &["flow=8", "flow_id=2"],
        ),
    ]);
}

#[test]
fn trims_and_flags_of_requests_become_options() {
    check_options(&[
        (
            job("engine = \"psync\"\nnowait = true"),
            &["ioengine=pvsync2", "nowait=1"],
        ),
        (
            job("iodepth = 8\nnowait = true\nforce_async_each = 4"),
            &["nowait=1", "force_async=4"],
        ),
        (
            job("trim = \"only\"\nrate = 100"),
            &["rw=trim", "rate_iops=100"],
        ),
        (
            job("trim = \"before-writes\"\nrandom = 100\nblock_size = \"64k\""),
            &["rw=randtrimwrite", "bs=64k"],
        ),
    ]);
}

#[test]
fn job_keys_that_fio_cannot_do_are_refused_with_the_reason() {
    check_refused(&[
        (
            job("engine = \"psync\"\niodepth = 4"),
            "fio cannot do `iodepth` of `j`: fio's `psync` has one request in flight, not 4",
        ),
        (job("rate = 2.5"), "fio cannot do `rate` of `j`"),
        (
            job("read = 33.5"),
            "fio cannot do `read` of `j`: it is 33.5%",
        ),
        (job("delay = \"100ns\""), "fio cannot do `delay` of `j`"),
        (
            job("random = 100\nalign = 512"),
            "fio cannot do `distribution` of `j`: with `align`",
        ),
        (
            job("operations = 5").replace("loops = 1", "loops = 2"),
            "fio cannot do `bytes` of `j`: a loop that ends before",
        ),
    ]);
}

#[test]
fn content_and_verification_keys_become_options() {
    check_options(&[
        (job("read = 0\ncontent = \"zero\""), &["zero_buffers=1"]),
        (
            job("read = 0\ncontent = \"constant\""),
            &["scramble_buffers=0"],
        ),
        (
            job("read = 0\ncontent = { compress = 50, dedupe = 20 }"),
            &["buffer_compress_percentage=50", "dedupe_percentage=20"],
        ),
        (
            job("read = 0\nverify = true\nread_back = true\nread_back_each = 16"),
            &[
                "verify=crc32c",
                "verify_backlog=16",
                "continue_on_error=verify",
            ],
        ),
        (
            job("read = 0\nverify = true\nends_on_mismatch = true"),
            &["verify=crc32c", "do_verify=0"],
        ),
        (
            job(
                "read = 0\nverify = true\nverify_with = \"sha3-224\"\nverify_offset = 128\n\
                 verify_interval = 512\nread_back = true",
            ),
            &[
                "verify=sha3-224",
                "verify_interval=512",
                "verify_offset=128",
            ],
        ),
        (
            job(
                "read = 0\nverify = true\nverify_with = \"pattern-header\"\n\
                 pattern = \"61%o62\"\npattern_interval = 100\nread_back = true",
            ),
            &[
                "verify=pattern_hdr",
                "verify_pattern=0x61%o0x62",
                "verify_pattern_interval=100",
            ],
        ),
        (
            job("read = 0\npattern = \"00ff\""),
            &["buffer_pattern=0x00ff"],
        ),
        (
            job("goes_on_after_errors = true"),
            &["continue_on_error=io"],
        ),
    ]);
}

#[test]
fn process_and_wave_keys_become_options() {
    let second = "[[job]]\nname = \"k\"\nsize = \"1m\"\nloops = 1\n";
    check_options(&[
        (
            job("cpus = [0, 1]\ncount = 2\nnice = 5\nio_class = \"idle\""),
            &[
                "cpus_allowed=0,1",
                "cpus_allowed_policy=split",
                "nice=5",
                "prioclass=3",
            ],
        ),
        (
            format!("{}{second}cpus = [1, 2, 3]\n", job("")),
            &["[k]", "cpus_allowed=1", "cpus_allowed_policy=split"],
        ),
        (
            format!("{}{second}cpus = [1, 3]\ncount = 2\n", job("count = 2")),
            &["[k]", "cpus_allowed=1,3"],
        ),
        (
            job("cpu_set = [0, 1]\nseed = 42"),
            &["cpus_allowed=0,1", "randseed=42"],
        ),
        (job("start_delay = 2"), &["startdelay=2s"]),
        (
            format!("{}{second}waits = true\n", job("")),
            &["[k]", "stonewall=1"],
        ),
        (
            format!("{}{second}after = \"j\"\n", job("")),
            &["wait_for=j"],
        ),
    ]);
    check_refused(&[
        (
            format!("{}{second}", job("ends_others = true")),
            "fio cannot do `ends_others` of `k`",
        ),
        (
            format!("{}{second}cpus = [0, 1]\ncount = 2\n", job("")),
            "fio cannot do `cpus` of `k`: fio deals CPUs in ascending order, by the number",
        ),
        (
            job("").replace("\"j\"", "\"a;b\""),
            "fio cannot do `name` of `a;b`",
        ),
    ]);
}

#[test]
fn cpus_of_later_workloads_must_match_their_job_numbers() {
    let read = |toml: &str| read_toml("x.toml", toml).unwrap();
    let pinned = read(&job("count = 2\ncpus = [0, 1]"));
    let file = |before: &str| job_file(&[read(before), pinned.clone()], "x.toml", &|_| false);
    let (text, _) = file(&job("count = 4")).unwrap();
    assert!(text.contains("cpus_allowed=0,1"), "{text}");
    let error = file(&job("")).unwrap_err();
    let wanted = "fio cannot do `cpus` of `j`: fio deals CPUs by the number of the job in the file";
    assert_eq!(error.message, wanted);
}

#[test]
fn access_specifications_become_jobs() {
    let several = "size = \"4m\"\noperations = 960\nramp_time = 0\n[[worker]]\nname = \"a\"\n\
        count = 2\n[[worker]]\nname = \"b\"\niodepth = 4\nsize = \"2m\"\n[[access_spec]]\n\
        name = \"s\"\nline = [{ size = \"4k\" }]\n";
    let lines = |lines: &str| format!("[[access_spec]]\nname = \"s\"\nline = [{lines}]\n");
    check_options(&[
        (
            spec("size = \"4k\""),
            &["rw=read", "number_ios=960", "io_size=3840k"],
        ),
        (
            spec("size = \"4k\", random = 100"),
            &["norandommap=1", "blockalign=512"],
        ),
        (
            spec("size = \"4k\", sequence = \"backward\""),
            &["rw=read:-8k"],
        ),
        (
            spec("size = \"4k\", sequence = { strided = \"64k\" }"),
            &["rw=read:60k"],
        ),
        (
            spec("size = \"4k\", random = 100, align = \"4k\", distribution = \"no-repeat\""),
            &["rw=randread", "bs=4k"],
        ),
        (
            lines(
                "{ size = \"4k\", of_size = 50, random = 100 }, \
                 { size = \"8k\", of_size = 30, read = 0, random = 100 }, \
                 { size = \"16k\", of_size = 20, random = 100, read = 0 }",
            ),
            &["rwmixread=50", "bssplit=4k/100,8k/60:16k/40"],
        ),
        (
            several.to_owned(),
            &["[s-a]", "numjobs=2", "[s-b]", "iodepth=4", "size=2m"],
        ),
        (
            format!(
                "rate = 1000\nworkers = 2\n{}",
                spec("size = \"4k\", read = 60, random = 100")
            ),
            &["rate_iops=300,200"],
        ),
        (
            format!(
                "engine = \"psync\"\niodepth = 8\n{}",
                spec("size = \"4k\", random = 100")
            ),
            &["ioengine=psync", "numjobs=8", "number_ios=120"],
        ),
        (
            format!("targets = \"/data/disk.img\"\n{}", spec("size = \"4k\"")),
            &["filename=/data/disk.img"],
        ),
        (
            format!(
                "new_file = true\n{}",
                spec("size = \"4k\", read = 0, random = 0").replace("operations = 960\n", "")
            ),
            &["fallocate=none", "rw=write"],
        ),
    ]);
}

#[test]
fn access_specifications_that_fio_cannot_do_are_refused_with_the_reason() {
    let two = |first: &str, second: &str| {
        format!(
            "[[access_spec]]\nname = \"s\"\nline = [{{ size = \"4k\", of_size = 50, {first} }}, \
             {{ size = \"8k\", of_size = 50, {second} }}]\n"
        )
    };
    check_refused(&[
        (
            spec("size = \"4k\", reply = \"4k\""),
            "fio cannot do `reply` of `s`",
        ),
        (
            spec("size = \"4k\", read = 50"),
            "fio cannot do `random` of `s`: its reads and writes",
        ),
        (
            two("random = 100", "random = 0"),
            "fio cannot do `random` of `s`: its share of random requests does not depend",
        ),
        (
            two("burst = 4", "random = 0"),
            "fio cannot do `burst` of `s`",
        ),
        (
            two("delay = \"1ms\"", "random = 0"),
            "fio cannot do `delay` of `s`",
        ),
        (
            two("random = 100, align = \"4k\"", "random = 100"),
            "fio cannot do `align` of `s`",
        ),
        (
            two("random = 100, read = 33", "random = 100, read = 0"),
            "fio cannot do `read` of `s`: a share would be 16.500 %",
        ),
        (
            spec("size = \"4k\", random = 100, distribution = { zipf = 1.2 }"),
            "fio cannot do `distribution` of `s`: it counts places of one block each",
        ),
        (
            spec("size = \"4k\", random = 50, sequence = \"backward\""),
            "fio cannot do `sequence` of `s`",
        ),
    ]);
}

#[test]
fn workload_keys_that_fio_cannot_do_are_refused_with_the_reason() {
    let with = |key: &str| format!("{key}\n{}", spec("size = \"4k\", random = 100"));
    check_refused(&[
        (
            with("workers = 7"),
            "fio cannot do `operations`: 960 is not a multiple of its 7 jobs",
        ),
        (with("verify = true"), "fio cannot do `verify` of `s`"),
        (with("position = \"iometer\""), "fio cannot do `position`"),
        (
            with("times_memory = \"2x\"").replace("size = \"4m\"\n", ""),
            "fio cannot do `times_memory`",
        ),
        (
            with("transactions_per_connection = 4"),
            "fio cannot do `transactions_per_connection`",
        ),
        (
            with("test_type = \"cycle-targets\""),
            "fio cannot do `test_type`",
        ),
        (
            with("rate = 1000\nworkers = 3"),
            "fio cannot do `rate` of `s`",
        ),
        ("[postmark]\n".to_owned(), "`workload` works on many files"),
        (
            format!("operations = 5\n{}", job("")),
            "fio cannot do `operations`",
        ),
    ]);
}

#[test]
fn keys_that_do_not_describe_the_work_are_left_out_with_a_warning() {
    let toml = "title = \"A\"\ndescription = \"B\"\nrepetitions = 3\nkeep = true\n".to_owned()
        + &spec("size = \"4k\"").replace("ramp_time = 0\n", "");
    let (text, warnings) = written(&toml).unwrap();
    let warnings: Vec<&str> = warnings.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(
        warnings[0],
        "a fio job file cannot express `title`, `description`, `repetitions`, `keep`"
    );
    assert!(
        warnings[1].starts_with("the ramp time is left out"),
        "{warnings:?}"
    );
    assert!(!text.contains("ramp_time"), "{text}");
}

#[test]
fn every_expressed_key_is_a_workload_key() {
    let schema: serde_json::Value =
        serde_json::from_str(include_str!("../../../../../docs/workload.schema.json")).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    for key in keys::EXPRESSIBLE_KEYS {
        assert!(properties.contains_key(key), "{key}");
    }
}

#[test]
fn a_job_file_round_trips() {
    let file = "[global]\nsize=1m\nioengine=psync\nrandseed=7\n\
        [fill]\nrw=write\nbs=64k\nfilename=table\nend_fsync=1\n\
        [look]\nstonewall\nnumjobs=3\nrw=randread\nbs=4k\nfilename=table\n\
        offset_increment=64k\nsize=512k\n\
        [both]\nrw=randrw\nrwmixread=70\nbssplit=4k/60:16k/40\nnrfiles=2\nfsync=8\n\
        random_distribution=zipf:1.2\nnumber_ios=50\n";
    let read = |text: &str| {
        let set = read_file("x.fio", text.as_bytes(), &ParserEnvironment::EMPTY).unwrap();
        work(&set, "x", false, &CommandLine::of(&[])).unwrap().cells
    };
    let tables = |cells: &[Workload]| {
        let tables = cells.iter().map(|cell| to_tables(cell).unwrap().job);
        tables.collect::<Vec<_>>()
    };
    let cells = read(file);
    let (text, warnings) = job_file(&cells, "x.fio", &|_| false).unwrap();
    assert_eq!(tables(&read(&text)), tables(&cells), "{text}");
    assert_eq!(text.matches("randseed=7").count(), 1, "{text}");
    let warnings: Vec<&str> = warnings.iter().map(|it| it.message.as_str()).collect();
    let wanted = "`fsync_each` of `both`: fio syncs more often if reads are mixed with writes";
    assert_eq!(warnings, [wanted]);
}

#[test]
fn iometer_configurations_become_job_files() {
    let text = include_bytes!("../../../../../examples/fileserver.icf");
    let loaded = crate::load(&FrontFile::new("fileserver.icf", text)).unwrap();
    let (text, warnings) = job_file(&loaded.cells, "fileserver.icf", &|_| false).unwrap();
    let content = "`content` of `File Server`: fio writes new random bytes";
    let mut messages = warnings.iter().map(|it| &it.message);
    assert!(messages.any(|it| it.starts_with(content)), "{warnings:?}");
    let split = "bssplit=512/10:1k/5:2k/5:4k/60:8k/2:16k/4:32k/4:64k/10";
    assert!(
        text.contains(split) && text.contains("rwmixread=80"),
        "{text}"
    );
}
