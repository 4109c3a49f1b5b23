use std::collections::BTreeSet;

use super::*;

#[test]
fn size_is_the_total_of_all_files() {
    let job = job("size=4m\nnrfiles=4");
    assert_eq!(job.bytes_of_file(), Some((1 << 20, 1 << 20)));
    assert_eq!(job.bytes_to_move(), Some(4 << 20));
}

#[test]
fn filesize_alone_adds_up_over_the_files() {
    let job = job("filesize=1m\nnrfiles=4");
    assert_eq!(job.bytes_to_move(), Some(4 << 20));
}

#[test]
fn a_size_above_the_total_of_the_files_is_cut_to_it() {
    let files = "filesize=1m\nnrfiles=4\n";
    assert_eq!(
        job(&format!("{files}size=8m")).bytes_to_move(),
        Some(4 << 20)
    );
    assert_eq!(
        job(&format!("{files}size=2m")).bytes_to_move(),
        Some(2 << 20)
    );
}

#[test]
fn a_job_without_size_or_file_is_read_but_cannot_run() {
    for options in [
        "rw=read",
        "size=10%",
        "size=0",
        "filesize=8k\nbs=16k",
        "size=2k",
    ] {
        let set = read(&format!("[j]\n{options}\n"));
        let error = set.refusal().unwrap_or_else(|| panic!("{options}"));
        assert_eq!((error.line, set.run_errors.len()), (Some(1), 1), "{error}");
        assert!(error.help.is_some());
    }
    for options in ["filename=a", "filename=a\nsize=10%"] {
        assert!(
            read(&format!("[j]\n{options}\n")).refusal().is_none(),
            "{options}"
        );
    }
}

#[test]
fn a_new_file_begins_at_its_offset() {
    let job = job("offset=1m\nsize=4m");
    assert_eq!(
        (job.offset_bytes(), job.bytes_to_move()),
        (1 << 20, Some(4 << 20))
    );
    let set = read("[j]\nsize=1m\noffset=50%\n");
    assert_eq!(set.jobs[0].settings.space.offset, SizeAmount::Percent(50));
    assert_eq!(set.jobs[0].offset_bytes(), 0);
}

#[test]
fn io_size_may_be_more_or_less_than_the_size() {
    assert_eq!(job("io_size=4m\nsize=1m").bytes_to_move(), Some(4 << 20));
    assert_eq!(job("io_limit=1m\nsize=4m").bytes_to_move(), Some(1 << 20));
    assert_eq!(job("size=4m\nnumber_ios=3").settings.space.request_count, 3);
}

#[test]
fn files_may_have_sizes_in_a_range() {
    let job = job("filesize=4k-64k\nnrfiles=4\nsize=1m");
    assert_eq!(job.bytes_of_file(), Some((4096, 65536)));
    assert_eq!(job.bytes_to_move(), None, "it is drawn");
}

#[test]
fn decimals_are_cut_off_with_a_note() {
    let set = read("[j]\nsize=1.5m\n");
    assert!(
        notes(&set).contains("`1.5m` is read as 1"),
        "{}",
        notes(&set)
    );
    assert!(set.refusal().is_some(), "one byte is less than a block");
    let set = read("[j]\nsize=1m\nruntime=60sec\n");
    assert!(
        notes(&set).contains("`60sec` is read as 60 µs"),
        "{}",
        notes(&set)
    );
}

#[test]
fn values_that_fio_reads_in_part_are_noted() {
    for (line, wanted) in [
        ("size=16mm", "`16mm` is read as 16777216, as in fio"),
        ("bs=4q", "`4q` is read as 4, as in fio"),
        ("runtime=1x", "`1x` is read as 1 µs, as in fio"),
        (
            "blocksize_range=4k-2",
            "`4k-2` is read as 2 to 4096, as in fio",
        ),
        ("bsrange=1kk-4k", "`1kk` is read as 1024, as in fio"),
        (
            "bs=4k,8k,16k,32k",
            "`4k,8k,16k,32k` has 4 values, but fio uses the first three: for reads, writes and \
             trims",
        ),
    ] {
        let set = read(&format!("[j]\nsize=1m\n{line}\n"));
        assert_eq!(notes(&set), wanted, "{line}");
        let text = format!("[j]\nsize=1m\nrw=write\n{line}\n");
        let file = crate::FrontFile::new("x.fio", text.as_bytes());
        let work = crate::load(&file).unwrap();
        let remarks = work.remarks("x.fio");
        let found = remarks.iter().find(|it| it.message == wanted);
        assert_eq!(found.and_then(|it| it.line), Some(4), "{remarks:?}");
    }
    assert_eq!(notes(&read("[j]\nsize=1m\nbsrange=2k-4k,1k-2k\n")), "");
}

#[test]
fn the_suffix_of_zones_is_refused_where_fio_refuses_it() {
    for line in ["runtime=10zz", "runtime=10z", "thinktime=5z", "bs=4kz"] {
        let error = wrong(&format!("size=1m\n{line}"));
        assert_eq!(
            error.help.unwrap(),
            "leave out `z`, which has no meaning here",
            "{line}"
        );
    }
}

#[test]
fn units_are_powers_of_1024_and_those_with_ib_powers_of_1000() {
    let size = |text: &str| {
        job(&format!("bs={text}\nsize=1g"))
            .settings
            .blocks
            .sizes()
            .read
            .min()
    };
    for (text, bytes) in [
        ("4k", 4096),
        ("4K", 4096),
        ("4kb", 4096),
        ("4ki", 4096),
        ("4kib", 4000),
        ("4KiB", 4000),
        ("1mi", 1 << 20),
        ("1mib", 1_000_000),
        ("0x1000", 4096),
        ("010", 10),
        ("+4k", 4096),
        ("4b", 4),
        ("(4k*2)", 8192),
        ("(2^12)", 4096),
        ("(1g/1m+1)", 1025),
        ("(-(2-10)*512)", 4096),
    ] {
        assert_eq!(size(text), bytes, "{text}");
    }
    let set = parse_line("--name=j --size=1g --bs=4k --kb_base=1000")
        .unwrap()
        .1;
    assert_eq!(
        set.jobs[0].settings.blocks.sizes().read.min(),
        4096,
        "it comes too late"
    );
    for (text, bytes) in [("4k", 4000), ("4kb", 4000), ("4ki", 4000), ("4kib", 4096)] {
        let line = format!("--name=j --size=1g --kb_base=1000 --bs={text}");
        let set = parse_line(&line).unwrap().1;
        assert_eq!(
            set.jobs[0].settings.blocks.sizes().read.min(),
            bytes,
            "{text}"
        );
    }
    assert_eq!(
        size("4k\nkb_base=1000"),
        4000,
        "units come first in a section"
    );
}

#[test]
fn times_are_in_seconds_or_microseconds_depending_on_the_option() {
    let runtime = |text: &str| {
        job(&format!("size=1m\nruntime={text}"))
            .settings
            .time
            .runtime_us
    };
    for (text, microseconds) in [
        ("1", 1_000_000),
        ("1s", 1_000_000),
        ("1S", 1_000_000),
        ("500ms", 500_000),
        ("500msec", 500_000),
        ("200000us", 200_000),
        ("1m", 60_000_000),
        ("2h", 7_200_000_000),
        ("1d", 86_400_000_000),
        ("0.2", 0),
        ("2x", 2),
        ("(2*500000)", 1_000_000),
        ("(1s+1m)", 61_000_000),
    ] {
        assert_eq!(runtime(text), microseconds, "{text}");
    }
    let pause = |text: &str| {
        job(&format!("size=1m\nthinktime={text}"))
            .settings
            .pauses
            .pause_us
    };
    assert_eq!((pause("10000"), pause("10ms")), (10_000, 10_000));
}

#[test]
fn files_are_named_by_section_clone_and_number() {
    let set = read("[j]\nname=other\nsize=4m\nnumjobs=3\nnrfiles=2\n");
    let names: Vec<String> = set.jobs.iter().map(|it| it.file(1).text).collect();
    assert_eq!(
        names,
        ["j.0.1", "j.2.1", "j.1.1"],
        "the last clone is made second"
    );
    assert!(set.jobs.iter().all(|it| it.name == "other"));
    let numbers: Vec<u32> = set.jobs.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn clones_share_named_files() {
    let set = read("[j]\nsize=4m\nnumjobs=2\nfilename=x\noffset_increment=1m\n");
    assert_eq!(set.jobs[0].file(0), set.jobs[1].file(0));
    assert_eq!(set.jobs[1].offset_bytes(), 1 << 20);
}

#[test]
fn colons_separate_file_names() {
    assert_eq!(job("size=4m\nfilename=x:y").file_count(), 2);
    assert_eq!(job("size=4m\nfilename=x\\:z:y").file(0).text, "x:z");
    // As in fio 3.42, a backslash escapes only colons, and empty names are skipped.
    let names = |text: &str| {
        let job = job(&format!("size=4m\nfilename={text}"));
        let files = 0..job.file_count();
        files.map(|index| job.file(index).text).collect::<Vec<_>>()
    };
    assert_eq!(names("a::b"), ["a", "b"]);
    assert_eq!(names(":a:b:"), ["a", "b"]);
    assert_eq!(names("a\\b\\\\c:d"), ["a\\b\\\\c", "d"]);
    assert_eq!(names("a\\\\:b"), ["a\\:b"]);
    let set = parse_line("--name=j --size=4m --filename=x:y --nrfiles=1")
        .unwrap()
        .1;
    assert_eq!(set.jobs[0].file_count(), 1, "only the first is used");
    let both = read("[global]\nfilename=a\n[j]\nsize=4m\nfilename=b\n");
    assert_eq!(both.jobs[0].file_count(), 2, "those of [global] stay");
}

#[test]
fn directories_are_assigned_to_clones_in_turn() {
    let set = read("[j]\nsize=4m\nnumjobs=3\ndirectory=a:b\n");
    let names: Vec<String> = set.jobs.iter().map(|it| it.file(0).text).collect();
    assert_eq!(names, ["a/j.0.0", "a/j.2.0", "b/j.1.0"]);
}

#[test]
fn file_name_formats_have_variables_but_plain_names_do_not() {
    let formatted = "size=4m\nfilename_format=$jobname-$jobnum.$filenum\nnrfiles=2";
    assert_eq!(job(formatted).file(1).text, "j-0.1");
    assert_eq!(
        job("size=4m\nfilename=$jobname-x").file(0).text,
        "$jobname-x"
    );
    assert_eq!(
        job("size=4m\nfilename=z\nfilename_format=q").file(0).text,
        "z"
    );
    let set = read("[j]\nsize=4m\nnumjobs=2\nfilename_format=same\n");
    assert!(notes(&set).contains("no `$jobnum`"));
}

#[test]
fn paths_that_leave_the_directory_are_marked() {
    let path = |name: &str| job(&format!("size=4m\nfilename={name}")).file(0);
    assert!(path("/dev/sda").is_absolute && !path("a").is_absolute);
    assert!(path("a/../../b").leads_up && !path("a..b/c").leads_up);
}

#[test]
fn jobs_run_in_parallel_until_a_stonewall() {
    let set = read(&format!(
        "[global]\n{SIZES}[a]\n[b]\nnew_group\n[c]\nstonewall\nnumjobs=2\n[d]\n[e]\nstonewall=0\n"
    ));
    let waves: Vec<_> = set.waves.iter().map(|it| it.jobs.clone()).collect();
    assert_eq!(waves, [0..2, 2..6]);
    let groups: Vec<_> = set.groups.iter().map(|it| it.jobs.clone()).collect();
    assert_eq!(groups, [0..1, 1..2, 2..6]);
}

#[test]
fn a_global_stonewall_precedes_every_section_but_not_every_clone() {
    let set = read(&format!(
        "[global]\n{SIZES}wait_for_previous\n[a]\nnumjobs=2\n[b]\n"
    ));
    assert_eq!((set.waves.len(), set.waves[0].jobs.clone()), (2, 0..2));
}

#[test]
fn wait_for_names_an_earlier_job() {
    let set = read(&format!("[global]\n{SIZES}[a]\n[b]\nwait_for=a\n"));
    assert_eq!(
        set.jobs[1].settings.grouping.waits_for.as_deref(),
        Some("a")
    );
    // A job that does not wait, and that no job waits for, runs in parallel to both.
    assert_eq!((set.waves.len(), set.groups.len()), (1, 1));
    let error = refused(&format!("[global]\n{SIZES}[a]\nwait_for=b\n[b]\n"));
    assert_eq!(error.line, Some(4));
}

#[test]
fn time_based_without_a_time_has_no_effect() {
    let set = read("[j]\nsize=1m\ntime_based\n");
    assert!(!set.jobs[0].settings.time.is_time_based);
    assert!(notes(&set).contains("`time_based`"));
}

#[test]
fn later_globals_apply_only_to_the_sections_below() {
    let set = read("[global]\nsize=1m\n[a]\n[global]\nbs=8k\n[b]\n[globalfoo]\nbs=16k\n[c]\n");
    let sizes = set
        .jobs
        .iter()
        .map(|it| it.settings.blocks.sizes().read.min());
    assert_eq!(sizes.collect::<Vec<_>>(), [4096, 8192, 16384]);
}

#[test]
fn unknown_options_and_values_are_errors_with_help() {
    for (options, help) in [
        ("io_engine=libaio", "did you mean `ioengine`?"),
        ("ramptime=4s", "did you mean `ramp_time`?"),
        (
            "output-format=json",
            "put `--output-format` on the command line",
        ),
        ("rw=READ", "did you mean `read`?"),
        ("rw= read", "remove the blank after the equals sign"),
        ("iodepth=0", "use at least 1"),
        ("rwmixread=130", "use at most 100"),
        ("direct=2", "use 0 or 1"),
        ("bs=5%", "leave out `%`, which has no meaning here"),
        ("bs=99999999999999999999", "it is too large"),
        ("bs", "it needs a value"),
        ("group_reporting=", "it needs a value"),
        ("numjobs=0", "change `numjobs`"),
        ("verify_interval=16", "use at least 80"),
        ("percentile_list=101", "use numbers from 0 to 100"),
        (
            "hipri\nioengine=libaio",
            "use it only with io_uring, io_uring_cmd, pvsync2, sg, libblkio, xnvme",
        ),
    ] {
        let error = wrong(&format!("size=1m\n{options}"));
        assert_eq!(error.help.as_deref(), Some(help), "{options}: {error}");
        assert_eq!(error.file, "test.fio");
        assert!(error.line.is_some() && error.column.is_some(), "{error}");
    }
}

#[test]
fn comment_characters_cut_lines_anywhere() {
    let job = job("size=4m#x\nbs=8k;4k\n; all\n# of it\ndescription=\"a;b\"");
    assert_eq!(job.settings.blocks.sizes().read.min(), 8192);
    assert_eq!(job.settings.grouping.description.as_deref(), Some("\"a"));
}

#[test]
fn the_later_of_rwmixread_and_rwmixwrite_wins() {
    let share = |options: &str| {
        job(&format!("size=1m\nrw=randrw\n{options}"))
            .settings
            .access
            .read_percent
    };
    assert_eq!(share("rwmixread=70"), 70);
    assert_eq!(share("rwmixread=70\nrwmixwrite=40"), 60);
    assert_eq!(share("rwmixwrite=40\nrwmixread=70"), 70);
    assert_eq!(share(""), 50);
}

#[test]
fn block_sizes_can_differ_by_direction() {
    let sizes = |text: &str| {
        let sizes = job(&format!("size=1g\nbs={text}")).settings.blocks.sizes();
        [sizes.read.min(), sizes.write.min(), sizes.trim.min()]
    };
    assert_eq!(sizes("4k,16k"), [4096, 16384, 16384]);
    assert_eq!(sizes(",16k"), [4096, 16384, 16384]);
    assert_eq!(sizes("16k,"), [16384, 4096, 4096]);
    assert_eq!(sizes("1k,2k,8k"), [1024, 2048, 8192]);
    assert_eq!(sizes(",,8k"), [4096, 4096, 8192]);
    assert_eq!(sizes("4k:8k"), [4096, 8192, 8192]);
    assert_eq!(sizes("4k-8k"), [4096, 8192, 8192]);
}

#[test]
fn block_size_ranges_may_be_reversed_and_differ_by_direction() {
    let sizes = |text: &str| {
        let sizes = job(&format!("size=1g\n{text}")).settings.blocks.sizes();
        (sizes.read, sizes.write)
    };
    let both = JobBlockSizes::Range(1024, 4096);
    assert_eq!(sizes("bsrange=1k-4k"), (both.clone(), both.clone()));
    assert_eq!(sizes("bsrange=4k-1k"), (both.clone(), both.clone()));
    assert_eq!(sizes("bsrange=1k:4k\nbs=8k"), (both.clone(), both.clone()));
    let second = JobBlockSizes::Range(4096, 8192);
    assert_eq!(sizes("bsrange=1k-4k,4k-8k"), (both.clone(), second));
    assert_eq!(sizes("bsrange=1k-4k,"), (both, JobBlockSizes::Fixed(4096)));
    wrong("size=1g\nbsrange=4k");
}

#[test]
fn block_size_shares_are_filled_up_or_cut_to_100_percent() {
    let split = |text: &str| match job(&format!("size=1g\nbssplit={text}"))
        .settings
        .blocks
        .sizes()
        .read
    {
        JobBlockSizes::Split(shares) => {
            let shares = shares.iter().map(|it| (it.size >> 10, it.percent));
            shares.collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(split("4k/50:64k/50"), [(4, 50), (64, 50)]);
    assert_eq!(split("4k/60:8k:16k"), [(8, 20), (16, 20), (4, 60)]);
    assert_eq!(split("4k/30:8k/30"), [(4, 30), (8, 70)]);
    assert_eq!(split("4k/60:8k/50"), [(8, 50), (4, 50)]);
    assert_eq!(split("4k"), [(4, 100)]);
    wrong("size=1g\nbssplit=4k/60:8k/60:16k:32k");
    wrong("size=1g\nbssplit=x/5");
    let job = job("size=1g\nbssplit=4k/50:8k/50,16k/100");
    assert_eq!(job.settings.blocks.sizes().write.min(), 16384);
}

#[test]
fn rw_takes_run_lengths_and_steps_after_a_colon() {
    let access = |text: &str| job(&format!("size=1g\nrw={text}")).settings.access.clone();
    let runs = access("randread:4");
    assert_eq!(
        (runs.is_random, runs.run_length, runs.step_bytes),
        (true, 4, 0)
    );
    let holes = access("read:8k");
    assert_eq!(
        (holes.is_random, holes.run_length, holes.step_bytes),
        (false, 1, 8192)
    );
    assert_eq!(access("read:-8k").step_bytes, -8192);
    wrong("size=1g\nrw=read:x");
}

#[test]
fn distribution_parameters_have_bounds() {
    let law = |text: &str| {
        job(&format!("size=1g\nrandom_distribution={text}"))
            .settings
            .order
            .distribution
            .clone()
    };
    assert_eq!(law("zipf"), RandomDistribution::Zipf(1.1, None));
    assert_eq!(
        law("zipf:1.2:0.5"),
        RandomDistribution::Zipf(1.2, Some(0.5))
    );
    assert_eq!(law("pareto:0.2"), RandomDistribution::Pareto(0.2, None));
    assert_eq!(law("normal:20"), RandomDistribution::Normal(20.0, None));
    let RandomDistribution::Zoned(zones) = law("zoned:60/10:30/20:8/30:2/40,100/100") else {
        panic!("zones");
    };
    assert_eq!((zones.read.len(), zones.write.len()), (4, 1));
    assert_eq!(
        zones.read[0],
        ZoneShare {
            requests_percent: 60,
            size: 10
        }
    );
    let RandomDistribution::ZonedBytes(zones) = law("zoned_abs:50/1m:50/2m") else {
        panic!("zones");
    };
    assert_eq!(zones.read[1].size, 2 << 20);
    for text in [
        "zipf:1",
        "pareto:2",
        "normal:200",
        "zoned:60/10:30/20",
        "zoned",
        "foo",
        "zipf:nan",
    ] {
        wrong(&format!("size=1g\nrandom_distribution={text}"));
    }
}

#[test]
fn zones_need_a_mode_and_a_size() {
    wrong("size=1g\nzonesize=8k");
    wrong("size=1g\nzonemode=strided");
    let job = job("size=1g\nzonesize=8k\nzonemode=strided\nzoneskip=24k");
    assert_eq!(
        (job.settings.space.zone_range, job.settings.space.zone_size),
        (8192, 8192)
    );
}

#[test]
fn defaults_match_fio() {
    let settings = FioSettings::default();
    assert_eq!(settings.engine.engine, Engine::Psync);
    assert_eq!(
        (settings.access.direction, settings.access.is_random),
        (Direction::Read, false)
    );
    assert_eq!(settings.blocks.sizes().write, JobBlockSizes::Fixed(4096));
    assert!(settings.files.drops_cache && settings.order.is_repeatable);
    assert!(!settings.engine.is_direct);
    assert_eq!(
        (settings.engine.iodepth, settings.files.fallocate),
        (1, Fallocate::Native)
    );
}

#[test]
fn the_later_of_direct_and_buffered_wins() {
    assert!(
        !job("size=1m\ndirect=1\nbuffered=1")
            .settings
            .engine
            .is_direct
    );
    assert!(
        job("size=1m\nbuffered=1\ndirect=1")
            .settings
            .engine
            .is_direct
    );
    assert!(job("size=1m\natomic=1").settings.engine.is_direct);
}

#[test]
fn rates_can_differ_by_direction() {
    let rates = |options: &str| job(&format!("size=1m\n{options}")).settings.rates.clone();
    assert_eq!(rates("rate=1m").bytes_per_second, ByDirection::all(1 << 20));
    let iops = rates("rate_iops=1000,500").iops;
    assert_eq!((iops.read, iops.write), (1000, 500));
    assert_eq!(
        job("size=1m\nrate=,1m")
            .settings
            .rates
            .bytes_per_second
            .read,
        0
    );
}

#[test]
fn rates_in_bytes_and_in_requests_exclude_each_other_as_in_fio() {
    for options in [
        "rate=1m\nrate_iops=1000",
        "rate=1m,0\nrate_iops=0,1000",
        "rate_min=1m\nrate_iops_min=10",
    ] {
        let error = wrong(&format!("size=1m\n{options}"));
        assert!(error.message.contains("exclude each other"), "{error}");
    }
    job("size=1m\nrate=1m\nrate_iops=0\nrate_iops_min=10");
}

#[test]
fn synchronous_engines_have_a_depth_of_one() {
    let set = read("[j]\nsize=1m\niodepth=32\n");
    assert_eq!(set.jobs[0].settings.engine.depth(), 1);
    assert_eq!(
        set.jobs[0].settings.engine.iodepth, 32,
        "as results tell it"
    );
    assert!(notes(&set).contains("the depth is 1"));
    assert_eq!(
        job("size=1m\niodepth=32\nioengine=libaio")
            .settings
            .engine
            .depth(),
        32
    );
}

#[test]
fn endless_writes_are_not_read_back() {
    let set = read("[j]\nsize=1m\nrw=write\nverify=crc32c\ntime_based\nruntime=1\n");
    assert!(notes(&set).contains("not read back"));
    assert!(set.jobs[0].settings.content.is_refilled);
    assert_eq!(
        job("size=1m\nverify=0").settings.verify.checksum,
        Checksum::None
    );
}

#[test]
fn a_pattern_consists_of_bytes_offsets_and_files() {
    let parts = |text: &str| {
        job(&format!("size=1m\nbuffer_pattern={text}"))
            .settings
            .content
            .pattern
            .clone()
            .unwrap()
            .0
    };
    let bytes = |it: &[u8]| PatternPart::Bytes(it.to_vec());
    assert_eq!(parts("0xdeadbeef"), [bytes(&[0xde, 0xad, 0xbe, 0xef])]);
    assert_eq!(parts("0xabc"), [bytes(&[0x0a, 0xbc])]);
    assert_eq!(
        parts("\"ab\"-12%o'f'"),
        [
            bytes(b"ab"),
            bytes(&[0xf4, 0xff, 0xff, 0xff]),
            PatternPart::Offset,
            PatternPart::File("f".to_owned())
        ]
    );
    assert_eq!(parts("258"), [bytes(&[2, 1])]);
    // As fio 3.42 writes them: the zero of `0x` is not one of the number before it.
    let minus_twelve = bytes(&[0xf4, 0xff, 0xff, 0xff]);
    assert_eq!(
        parts("\"abcd\"-120xdeadface"),
        [
            bytes(b"abcd"),
            minus_twelve.clone(),
            bytes(&[0xde, 0xad, 0xfa, 0xce])
        ]
    );
    assert_eq!(parts("0xff0x14"), [bytes(&[0xff]), bytes(&[0x14])]);
    assert_eq!(parts("0Xff00X14"), [bytes(&[0x0f, 0xf0]), bytes(&[0x14])]);
    let minus_thirteen = bytes(&[0xf3, 0xff, 0xff, 0xff]);
    assert_eq!(parts("-12-13"), [minus_twelve, minus_thirteen]);
    assert_eq!(parts("-1"), [bytes(&[0xff; 4])]);
    for text in [
        "0x",
        "\"a",
        "z",
        "%x",
        "-0x12",
        "-",
        "--1",
        "2147483648",
        "0x0x1",
    ] {
        wrong(&format!("size=1m\nbuffer_pattern={text}"));
    }
}

#[test]
fn lists_of_cpus_errors_and_ranges_are_read() {
    let settings = job("size=1m\ncpus_allowed=0-2,8\nignore_error=EIO:5,ENOSPC\n\
        sync_file_range=wait_before,write:8")
    .settings;
    assert_eq!(settings.process.cpus, [0, 1, 2, 8]);
    assert_eq!(settings.errors.ignored.read, [5, 5]);
    assert_eq!(settings.errors.ignored.write, [28]);
    assert!(settings.errors.tolerates_writes && !settings.errors.tolerates_verify);
    let ranges = settings.durability.ranges;
    assert!(ranges.waits_before && ranges.writes && !ranges.waits_after);
    assert_eq!(ranges.write_count, 8);
    // fio 3.42 parses the number again for each word.
    for (text, count) in [
        ("write", 1),
        ("write:8,wait_after", 1),
        ("write:2,wait_after:4", 4),
    ] {
        let ranges = job(&format!("size=1m\nsync_file_range={text}")).settings;
        assert_eq!(ranges.durability.ranges.write_count, count, "{text}");
    }
    assert_eq!(job("size=1m\ncpumask=5").settings.process.cpus, [0, 2]);
    for text in [
        "cpus_allowed=x",
        "cpus_allowed=0-99999",
        "ignore_error=EWHAT",
        "ignore_error=-",
        "sync_file_range=8",
        "sync_file_range=write:",
    ] {
        wrong(&format!("size=1m\n{text}"));
    }
}

#[test]
fn a_steady_state_has_a_measure_and_a_limit() {
    let steady = job("size=1m\nss=bw:10\nss_dur=1m")
        .settings
        .steady_state
        .clone()
        .unwrap();
    assert_eq!(
        (steady.measure, steady.is_slope, steady.is_percent),
        (SteadyMeasure::Bandwidth, false, false)
    );
    assert_eq!(
        (steady.limit.to_bits(), steady.window_us),
        (10.0_f64.to_bits(), 60_000_000)
    );
    wrong("size=1m\nss=foo:10");
}

#[test]
fn a_steady_latency_limit_is_taken_as_nanoseconds_as_in_fio() {
    for (text, wanted_ns) in [("500us", 500.0_f64), ("2ms", 2000.0), ("700", 700.0)] {
        let set = read(&format!("[j]\nsize=1m\nss=lat:{text}\n"));
        let steady = set.jobs[0].settings.steady_state.clone().unwrap();
        assert_eq!(steady.limit.to_bits(), wanted_ns.to_bits(), "{text}");
        assert!(
            notes(&set).contains(&format!("is {wanted_ns} ns")),
            "{}",
            notes(&set)
        );
    }
    let shared = read("[j]\nsize=1m\nss=lat_slope:0.5%\n");
    let steady = shared.jobs[0].settings.steady_state.clone().unwrap();
    assert_eq!(steady.limit.to_bits(), 0.5_f64.to_bits());
    assert!(notes(&shared).is_empty());
}

#[test]
fn error_names_match_linux() {
    let number = |name: &str| {
        let settings = job(&format!("size=1m\nignore_error={name}")).settings;
        settings.errors.ignored.read[0]
    };
    for (name, wanted) in [
        ("ERANGE", 34),
        ("EDEADLK", 35),
        ("EDEADLOCK", 35),
        ("EWOULDBLOCK", 11),
        ("ENOMSG", 42),
        ("EBADSLT", 57),
        ("EBFONT", 59),
        ("EILSEQ", 84),
        ("EOPNOTSUPP", 95),
        ("ETIMEDOUT", 110),
        ("ESTALE", 116),
        ("EDQUOT", 122),
        ("EHWPOISON", 133),
    ] {
        assert_eq!(number(name), wanted, "{name}");
    }
}

#[test]
fn every_supported_option_changes_a_setting() {
    // Done by reading the text, or by what is always so here.
    const WITHOUT_SETTING: &str = "name include lockfile=none unique_filename io_submit_mode \
        sqthread_poll=0 verify=0 verify_state_load=0 write_hint=none allow_mounted_write=0 \
        trim_percentage=0";
    let table = OptionTable::new();
    let rows = table
        .rows()
        .iter()
        .filter(|it| !it.is_command_line && !it.is_value_row());
    for row in rows.filter(|it| it.support == OptionSupport::Supported) {
        let value = super::values::OptionValue::Text("5".to_owned());
        let applied = super::apply::apply(&mut FioSettings::default(), row.name(), &value);
        let is_known = applied.as_ref().is_ok_and(|it| *it) || applied.is_err();
        assert!(
            is_known || WITHOUT_SETTING.contains(row.name()),
            "{}",
            row.name()
        );
    }
}

#[test]
fn percentages_refer_to_the_file_size() {
    let third = job("filesize=1000000\nsize=30%\nnrfiles=2\nbs=4k");
    assert_eq!(third.bytes_of_file(), Some((299_008, 299_008)));
    assert_eq!(third.bytes_to_move(), Some(2 * 299_008));
    assert_eq!(job("size=1m\nio_size=50%").bytes_to_move(), Some(1 << 19));
    let set = read("[j]\nfilename=/dev/sdz\noffset=10%\noffset_increment=20%\nnumjobs=3\n");
    let starts: BTreeSet<u64> = set
        .jobs
        .iter()
        .map(|it| it.share().map_or(0, |share| share.start_bytes(0, 1 << 20)))
        .collect();
    let blocks = starts.iter().map(|bytes| bytes / 4096);
    assert_eq!(blocks.collect::<Vec<_>>(), [26, 77, 128]);
}

#[test]
fn a_section_named_after_a_device_works_on_it() {
    let set = read("[/dev/sdz]\nrw=read\n");
    assert_eq!(set.jobs[0].file(0).text, "/dev/sdz");
    assert!(set.run_errors.is_empty());
    let generated = read("[/dev/sdz]\nnrfiles=2\nsize=1m\n");
    assert_eq!(generated.jobs[0].file(1).text, "/dev/sdz.0.1");
}

#[test]
fn undocumented_syntax_that_fio_accepts_is_accepted() {
    let set = read("[j]\nthreads=1\nflow=-2\nsize=1m\n");
    assert_eq!(set.jobs[0].settings.flow.weight, -2);
}

#[test]
fn engine_options_in_global_apply_only_to_that_engine() {
    let set =
        read("[global]\nioengine=io_uring\nhipri\nfixedbufs\nsize=1m\n[a]\n[b]\nioengine=libaio\n");
    let polled: Vec<bool> = set
        .jobs
        .iter()
        .map(|it| it.settings.engine.is_polled)
        .collect();
    assert_eq!(polled, [true, false]);
    wrong("size=1m\nioengine=libaio\nhipri");
    let own = "hipri\nfixedbufs\nregisterfiles\nsqthread_poll\nuncached=1";
    let set = read(&format!(
        "[global]\nioengine=io_uring\n{own}\nsize=1m\n[a]\nioengine=psync\n"
    ));
    let engine = &set.jobs[0].settings.engine;
    assert!(!engine.is_uncached && !engine.is_submitted_by_kernel);
    assert!(!engine.has_registered_files && !engine.has_fixed_buffers && !engine.is_polled);
    let set = read("[global]\nioengine=mmap\nthp=1\nsize=1m\n[a]\nioengine=psync\n");
    assert!(!set.jobs[0].settings.engine.maps_huge);
}

#[test]
fn numbers_beyond_32_bits_are_refused_where_fio_keeps_them_in_32() {
    for options in [
        "iodepth=4294967297",
        "numjobs=4294967296",
        "loops=4294967296",
    ] {
        let error = wrong(options).to_string();
        assert!(error.contains("at most 4294967295"), "{error}");
    }
}
