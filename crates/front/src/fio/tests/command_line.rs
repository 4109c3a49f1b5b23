use super::*;

const FILE: &str = "[global]\nsize=1m\n[a]\nbs=8k\n[b]\nrw=write\n";

fn with_file(line: &str) -> Result<(FioInvocation, JobSet), Diagnostic> {
    let read = |name: &str| match name {
        "a.fio" | "b.fio" => Ok(FILE.as_bytes().to_vec()),
        _ => Err("no such file".to_owned()),
    };
    let surroundings = ParserEnvironment {
        read: &read,
        ..ParserEnvironment::EMPTY
    };
    parse_with_surroundings(line, &surroundings)
}

#[test]
fn options_before_the_first_name_apply_to_all_jobs_and_later_ones_to_one() {
    let set = parse_line("--size=1m --bs 8k --name=a --rw=write --name b --bs=16k")
        .unwrap()
        .1;
    let jobs = set.jobs.iter().map(|job| {
        let size = job.settings.blocks.sizes().read.min();
        (job.name.as_str(), size, job.settings.access.writes())
    });
    assert_eq!(
        jobs.collect::<Vec<_>>(),
        [("a", 8192, true), ("b", 16384, false)]
    );
}

#[test]
fn all_errors_and_refusals_are_listed_together() {
    let lines = |error: Diagnostic| error.to_string().matches("error: ").count();
    let error = parse_line("--name=a --size=1m --bs=x --rw=READ --zonemode=none2 --zonesize=4k");
    assert_eq!(lines(error.unwrap_err()), 3);
    let error = refused("[a]\nsize=1m\nbs=x\n[b]\nrw=nothing\nwait_for=a\nioengine=rados\n");
    assert_eq!(error.line, Some(3));
    assert_eq!(lines(error), 3);
    let set = read("[a]\nsize=1m\nioengine=rados\n[b]\nmax_open_zones=1\n[c]\n");
    assert_eq!(set.refusal().map(lines), Some(4));
}

#[test]
fn a_job_named_global_applies_to_the_jobs_after_it() {
    let set = parse_line("--name=a --size=1m --name=global --size=2m --name=b")
        .unwrap()
        .1;
    assert_eq!(set.jobs[1].bytes_to_move(), Some(2 << 20));
}

#[test]
fn options_around_a_file_apply_to_jobs_that_do_not_set_them() {
    for line in ["--bs=16k a.fio", "a.fio --bs=16k"] {
        let set = with_file(line).unwrap().1;
        let sizes = set
            .jobs
            .iter()
            .map(|it| it.settings.blocks.sizes().read.min());
        assert_eq!(sizes.collect::<Vec<_>>(), [8192, 16384], "{line}");
    }
    let both = with_file("a.fio --name=x --size=1m").unwrap().1;
    let names: Vec<&str> = both.jobs.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["x", "a", "b"]);
}

#[test]
fn files_run_one_after_the_other() {
    let set = with_file("a.fio b.fio").unwrap().1;
    assert_eq!(set.waves.len(), 2);
    assert_eq!((set.waves[0].jobs.clone(), set.groups.len()), (0..2, 2));
}

#[test]
fn global_options_end_with_their_file() {
    let read = |name: &str| match name {
        "a.fio" => Ok(b"[global]\nioengine=io_uring\nhipri\nrw=write\nsize=1m\n[a]\n".to_vec()),
        _ => Ok(b"[b]\nsize=1m\n[global]\nnumjobs=2\n[c]\nsize=1m\n".to_vec()),
    };
    let surroundings = ParserEnvironment {
        read: &read,
        ..ParserEnvironment::EMPTY
    };
    let set = parse_with_surroundings("--bs=16k a.fio b.fio", &surroundings)
        .unwrap()
        .1;
    let jobs = set.jobs.iter().map(|job| {
        let settings = &job.settings;
        let block = settings.blocks.sizes().read.min();
        (
            &*job.name,
            settings.access.writes(),
            settings.engine.is_polled,
            block,
        )
    });
    let wanted = [
        ("a", true, true, 16384),
        ("b", false, false, 4096),
        ("c", false, false, 4096),
        ("c", false, false, 4096),
    ];
    assert_eq!(jobs.collect::<Vec<_>>(), wanted);
    assert_eq!(set.options, [("numjobs".to_owned(), Some("2".to_owned()))]);
}

#[test]
fn sections_are_picked_by_name() {
    let set = with_file("a.fio --section=b").unwrap().1;
    assert_eq!(set.jobs.len(), 1);
    assert_eq!(
        with_file("--section=a --section=b a.fio")
            .unwrap()
            .1
            .jobs
            .len(),
        2
    );
    assert!(with_file("a.fio --section=c").is_err());
    let named = parse_line("--section=a --name=b --size=1m --name=a --size=1m")
        .unwrap()
        .1;
    assert_eq!((named.jobs.len(), named.jobs[0].name.as_str()), (1, "a"));
}

#[test]
fn option_names_may_be_abbreviated_and_have_one_dash() {
    let set = parse_line("-name j --readwr=write -size=1m -group_rep")
        .unwrap()
        .1;
    assert!(set.jobs[0].settings.access.writes());
    assert!(set.jobs[0].settings.grouping.is_reported_together);
    for line in [
        "--name=j --blocks=8k",
        "--name=j --foo=1",
        "--name=j --direct",
        "--name",
    ] {
        let error = parse_line(line).unwrap_err();
        assert!(error.help.is_some(), "{error}");
    }
}

#[test]
fn short_options_take_joined_or_separate_values() {
    for line in [
        "-o out --name=j --size=1m",
        "-oout --name=j --size=1m",
        "--output=out --name=j --size=1m",
    ] {
        assert_eq!(
            parse_line(line).unwrap().0.output.as_deref(),
            Some("out"),
            "{line}"
        );
    }
}

#[test]
fn flags_take_values_only_after_an_equals_sign() {
    let error = parse_line("--name=j --size=1m --thread 1").unwrap_err();
    assert_eq!(error.message, "there is no `1`");
    assert_eq!(error.help.as_deref(), Some("name a job file of fio"));
    assert!(
        !parse_line("--name=j --size=1m --thread=0").unwrap().1.jobs[0]
            .settings
            .process
            .is_thread
    );
}

#[test]
fn output_formats_may_be_lists() {
    let formats = |line: &str| {
        parse_line(&format!("--name=j --size=1m {line}"))
            .unwrap()
            .0
            .formats
    };
    assert_eq!(formats(""), [OutputFormat::Normal]);
    assert_eq!(
        formats("--output-format=json,terse,json"),
        [OutputFormat::Json, OutputFormat::Terse]
    );
    assert_eq!(
        formats("--output-format=json+ --output-format=normal"),
        [OutputFormat::JsonPlus, OutputFormat::Normal]
    );
    assert_eq!(formats("--minimal"), [OutputFormat::Terse]);
    assert!(parse_line("--name=j --size=1m --output-format=xml").is_err());
}

#[test]
fn options_that_are_not_about_jobs_are_kept() {
    let line = "--name=j --size=1m --terse-version=5 --append-terse --eta=never --eta-newline=2 \
        --eta-interval=500ms --status-interval=10 --bandwidth-log --aux-path=/x --debug=io \
        --alloc-size=9 --idle-prof=system --max-jobs=2";
    let invocation = parse_line(line).unwrap().0;
    assert_eq!(invocation.terse_version, 5);
    assert!(invocation.appends_terse && invocation.logs_bandwidth);
    assert_eq!(
        (invocation.progress, invocation.progress_line_us),
        (Progress::Never, 2_000_000)
    );
    assert_eq!(
        (
            invocation.progress_interval_us,
            invocation.status_interval_us
        ),
        (500_000, 10_000_000)
    );
    assert_eq!(invocation.action, Action::Run);
    assert_eq!(parse_line("--name=j --size=1m").unwrap().0.terse_version, 3);
    assert!(parse_line("--terse-version=9 --name=j").is_err());
    assert!(parse_line("--max-jobs=2 --name=j --size=1m --numjobs=3").is_err());
}

#[test]
fn debug_prints_seeds_and_steady_states() {
    let trace = |line: &str| parse_line(line).unwrap().0.trace;
    let options = "--parse-only --ss_dur=10s --ss_ramp=5";
    for (limit, expected) in [
        ("iops:10", "set steady state IOPS threshold to 10.000000\n"),
        ("iops:.1%", "set steady state threshold to 0.100000%\n"),
        ("bw:12", "set steady state BW threshold to 12\n"),
    ] {
        let line = format!("{options} --debug=parse --ss={limit}");
        assert_eq!(trace(&line), format!("parse        0 {expected}"));
        assert_eq!(trace(&format!("{options} --ss={limit}")), "");
    }
    let job = "--name=j --size=1m --rw=randread";
    let seeds = trace(&format!("{job} --debug=io,random --randseed=1"));
    assert!(seeds.starts_with("random       1 FIO_RAND_NR_OFFS=23\nrandom       1 rand_seeds[0]="));
    let sizes = generate::job::JobSeeds::new(0x9e37_79b9_7f4a_7c16).sizes;
    assert!(seeds.contains(&format!(" rand_seeds[0]={sizes}\n")));
    assert_ne!(seeds, trace(&format!("{job} --debug=random --randseed=2")));
    assert_eq!(trace(job), "");
}

#[test]
fn only_randrepeat_draws_a_seed() {
    let seed = |options: &str| {
        let surroundings = ParserEnvironment {
            random_seed: Some(7),
            ..ParserEnvironment::EMPTY
        };
        let line = format!("--name=j --size=1m {options}");
        let set = parse_with_surroundings(&line, &surroundings).unwrap().1;
        set.jobs[0].settings.order.seed
    };
    assert_eq!(seed(""), None);
    assert_eq!(seed("--randrepeat=0"), Some(7));
    assert_eq!(seed("--allrandrepeat=0"), Some(7));
    assert_eq!(seed("--randrepeat=0 --randseed=5"), Some(5));
}

#[test]
fn client_server_and_trigger_options_are_refused() {
    for line in [
        "--client=host",
        "--server",
        "-S",
        "--trigger=x",
        "--remote-config=x",
        "--crctest",
    ] {
        let error = parse_line(line).unwrap_err();
        let help = error.help.unwrap();
        let is_of_hosts = ["client", "erver", "S", "remote"]
            .iter()
            .any(|it| line.contains(it));
        assert_eq!(
            help.contains("--hosts"),
            is_of_hosts && !line.contains("trigger"),
            "{line}"
        );
        assert!(
            ["use ", "start "].iter().any(|it| help.starts_with(it)),
            "{line}"
        );
    }
}

#[test]
fn readonly_refuses_jobs_that_write() {
    assert!(parse_line("--readonly --name=j --size=1m --rw=randrw").is_err());
    assert!(parse_line("--readonly --name=j --size=1m --rw=randread").is_ok());
    let error = parse_line("--name=j --size=1m --rw=randtrim --readonly").unwrap_err();
    assert!(
        error
            .message
            .contains("job `j` trims, which `--readonly` forbids"),
        "{error}"
    );
    let fatal = parse_line("--warnings-fatal --name=j --size=1m --iodepth=4").unwrap_err();
    assert!(fatal.is_error() && fatal.message.contains("depth is 1"));
}

#[test]
fn help_is_printed_instead_of_a_run() {
    let printed = |line: &str| match parse_line(line).unwrap().0.action {
        Action::Print(text) => text,
        other => panic!("{other:?}"),
    };
    assert_eq!(printed("--version"), "fio-3.42\n");
    assert!(printed("-h").contains("--output-format"));
    assert!(printed("--cmdhelp").contains("rwmixread"));
    assert!(printed("--cmdhelp=ioengine").contains("ioengine=rbd"));
    assert!(printed("--enghelp").contains("libaio"));
    assert!(printed("--enghelp=pvsync2").contains("hipri_percentage"));
    assert!(
        parse_line("--cmdhelp=rwmixreed")
            .unwrap_err()
            .help
            .unwrap()
            .contains("did you mean")
    );
    assert!(parse_line("--enghelp=foo").is_err());
    assert_eq!(
        parse_line("--parse-only --name=j --size=1m")
            .unwrap()
            .0
            .action,
        Action::ParseOnly
    );
    for line in ["--parse-only", "--parse-only --ss=iops:10"] {
        assert_eq!(
            parse_line(line).unwrap().0.action,
            Action::ParseOnly,
            "{line}"
        );
    }
    assert!(parse_line("--ss=iops:10").is_err(), "a run needs a job");
    assert!(parse_line("--parse-only --section=other --name=j --size=1m").is_err());
}

#[test]
fn a_file_is_shown_as_a_command_line() {
    let Action::Print(text) = with_file("--showcmd a.fio").unwrap().0.action else {
        panic!("nothing is printed");
    };
    assert_eq!(
        text,
        "fio --size=1m --name=a --bs=8k --name=b --rw=write \n"
    );
}

#[test]
fn a_command_line_without_jobs_is_an_error() {
    for line in ["", "--rw=read", "missing.fio"] {
        assert!(with_file(line).is_err(), "{line}");
    }
}

#[test]
fn engine_flags_take_no_value_as_in_fio() {
    let words = "--name=x --size=1m --ioengine=io_uring --fixedbufs --registerfiles --iodepth=8";
    let set = parse_line(words).unwrap().1;
    let engine = &set.jobs[0].settings.engine;
    assert!(engine.has_fixed_buffers && engine.has_registered_files);
    assert_eq!(engine.depth(), 8);
}
