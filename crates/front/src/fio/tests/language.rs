use std::collections::BTreeMap;

use super::*;

#[test]
fn comments_blanks_byte_order_marks_and_line_ends_are_accepted() {
    let text =
        "\u{feff}; first\r\n\r\n  [global]  \r\n\tsize = 1m \r\n# x\r\n[ a b ]\r\n rw=write\r\n";
    let set = read(text);
    assert_eq!(set.jobs[0].name, "a b");
    assert_eq!(&*set.jobs[0].section, " a b ");
    assert!(set.jobs[0].settings.access.writes());
}

#[test]
fn options_before_any_section_are_errors() {
    let error = refused("\n  size=1m\n[j]\n");
    assert_eq!((error.line, error.column), (Some(2), Some(3)));
    assert_eq!(error.snippet.as_deref(), Some("  size=1m"));
}

#[test]
fn a_header_loses_its_last_character() {
    let set = read("[job]G\nsize=1m\n[l\nsize=1m\n");
    assert_eq!((&*set.jobs[0].section, &*set.jobs[1].section), ("job]", ""));
    assert!(notes(&set).contains("nothing may follow"));
    let long = read(&format!("[{}]\nsize=1m\n", "ä".repeat(300)));
    assert_eq!(long.jobs[0].section.chars().count(), 254);
}

#[test]
fn variables_are_replaced_and_missing_ones_noted() {
    let variable = |name: &str| (name == "SIZE").then(|| "2m".to_owned());
    let around = ParserEnvironment {
        variable: &variable,
        ..ParserEnvironment::EMPTY
    };
    let text = "[j]\nsize=${SIZE}\nfilename=${NONE}x$ncpus\nbs=2*$pagesize\ndescription=${\n";
    let set = read_file("v.fio", text.as_bytes(), &around).unwrap();
    let job = &set.jobs[0];
    assert_eq!(job.file(0).text, "x2");
    assert_eq!(job.bytes_to_move(), Some(2 << 20));
    assert_eq!(job.settings.blocks.sizes().read.min(), 8192);
    assert!(notes(&set).contains("`${NONE}` is not set"));
}

/// Files by their names.
fn among(files: &[(&str, &str)], name: &str) -> Result<JobSet, Diagnostic> {
    let files: BTreeMap<String, Vec<u8>> = files
        .iter()
        .map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()))
        .collect();
    let read = |name: &str| {
        let found = files.get(name).cloned();
        found.ok_or_else(|| "no such file".to_owned())
    };
    let around = ParserEnvironment {
        read: &read,
        ..ParserEnvironment::EMPTY
    };
    read_file(name, &files[name], &around)
}

#[test]
fn includes_are_found_in_the_current_directory_and_that_of_the_file() {
    let files = [
        (
            "d/main.fio",
            "[a]\nsize=1m\ninclude one\n[b]\nsize=1m\ninclude two\n[c]\nsize=1m\n",
        ),
        ("one", "bs=8k\n"),
        ("d/two", "bs=16k\ninclude one\nrw=write\n"),
    ];
    let set = among(&files, "d/main.fio").unwrap();
    let sizes = set
        .jobs
        .iter()
        .map(|it| it.settings.blocks.sizes().read.min());
    assert_eq!(sizes.collect::<Vec<_>>(), [8192, 8192, 4096]);
    assert!(set.jobs[1].settings.access.writes());
}

#[test]
fn including_itself_a_section_or_a_missing_file_is_an_error() {
    let error = among(&[("m", "[a]\ninclude m2\n"), ("m2", "include m2\n")], "m").unwrap_err();
    assert!(error.message.contains("include each other"), "{error}");
    let error = among(&[("m", "[a]\ninclude n\n"), ("n", "bs=4k\n[b]\n")], "m").unwrap_err();
    assert_eq!((error.file.as_str(), error.line), ("n", Some(2)));
    let error = among(&[("m", "[a]\ninclude nothing\n")], "m").unwrap_err();
    assert_eq!((error.file.as_str(), error.line), ("m", Some(2)));
}

#[test]
fn bytes_that_are_not_text_are_errors_with_a_position() {
    let read = |bytes: &[u8]| read_file("b", bytes, &ParserEnvironment::EMPTY).unwrap_err();
    let nul = read(b"[j]\nsi\0ze=1m\n");
    assert_eq!((nul.line, nul.column), (Some(2), Some(3)));
    let latin = read(b"[j]\nx=\xe4\n");
    assert_eq!((latin.line, latin.column), (Some(2), Some(3)));
}

/// Seconds of the processor that this thread had: others on the machine do not count.
fn processor_seconds() -> i64 {
    rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime).tv_sec
}

/// Reading takes well under a second where it is optimized; what grows with the square of the text
/// takes minutes.
fn read_quickly(text: &str) -> Option<Diagnostic> {
    let start = processor_seconds();
    let read = read_file("large", text.as_bytes(), &ParserEnvironment::EMPTY);
    let seconds = processor_seconds() - start;
    let begin: String = text.chars().take(40).collect();
    assert!(seconds < 10, "{seconds} s: {begin}");
    read.err()
}

#[test]
fn long_lines_are_read_quickly() {
    let long = "x".repeat(1 << 20);
    for line in [
        format!("description={long}"),
        format!("{long}={long}"),
        format!("bs={}", "(".repeat(1 << 20)),
        format!("bssplit={}", "4k/1:".repeat(1 << 18)),
        format!("cpus_allowed={}", "0,".repeat(1 << 19)),
        format!("cpus_allowed={}", "0-4095,".repeat(1 << 17)),
        format!("filename={}", "a:".repeat(1 << 19)),
        format!("description={}", "${A}".repeat(1 << 18)),
        format!("description={}", "$ncpus".repeat(1 << 17)),
        format!("buffer_pattern={}", "%o".repeat(1 << 19)),
        format!("[{long}]"),
        "[".repeat(1 << 20),
        format!("bs={}1", "(".repeat(8000)),
        format!("cpus_allowed={}", "0-4095,".repeat(1000)),
        format!("description={}", "${A}".repeat(2000)),
    ] {
        read_quickly(&format!("[j]\nsize=1m\n{line}\n"));
    }
    let error = wrong(&format!("filename={}", "a:".repeat(1025)));
    assert!(error.help.is_some_and(|it| it.contains("at most 1024")));
}

#[test]
fn many_sections_and_clones_are_read_quickly() {
    let sections = (0..10_000).map(|at| format!("[job{at}]\nsize=1m\nbs=4k\n"));
    let error = read_quickly(&sections.collect::<String>()).unwrap();
    assert!(error.message.contains("more than 4096"), "{error}");
    read_quickly(&"[j]\n".repeat(250_000));
    read_quickly(&format!("[j]\n{}", "bs=4k\n".repeat(50_000)));
    read_quickly("[j]\nsize=1m\nnumjobs=4096\nnrfiles=10000000\n");
    let names = format!("[global]\nsize=1m\nfilename={}\n", "a:".repeat(1024));
    read_quickly(&(names + &"[j]\n".repeat(4000)));
}

#[test]
fn files_without_jobs_are_errors() {
    for text in ["", "[global]\nbs=4k\n", "# nothing\n"] {
        assert!(refused(text).message.contains("no job"));
    }
}

#[test]
fn file_operations_need_their_engine() {
    wrong("rw=filestat\nfilesize=4k");
    let job = job("ioengine=filestat\nrw=filestat\nfilesize=4k\nnrfiles=10");
    assert_eq!(job.settings.access.direction, Direction::FileStat);
    let refusal = |text: &str| read(&format!("[j]\n{text}\nfilesize=1\nnrfiles=9\n")).refusal();
    assert!(refusal("ioengine=filecreate").is_none());
    assert!(refusal("ioengine=dircreate").is_none());
    wrong("ioengine=filecreate\nrw=dircreate\nfilesize=4k");
}

#[test]
fn files_are_picked_by_distribution_or_in_turn() {
    let order = |text: &str| {
        let files = job(&format!("size=1m\nfile_service_type={text}"))
            .settings
            .files
            .clone();
        (files.order, files.requests_per_turn)
    };
    assert_eq!(order("roundrobin:8"), (JobFileOrder::RoundRobin, 8));
    assert_eq!(
        order("random"),
        (JobFileOrder::Drawn(RandomDistribution::Uniform), 1)
    );
    assert_eq!(
        order("zipf:1.2"),
        (JobFileOrder::Drawn(RandomDistribution::Zipf(1.2, None)), 1)
    );
    assert_eq!(
        order("gauss:10"),
        (
            JobFileOrder::Drawn(RandomDistribution::Normal(10.0, None)),
            1
        )
    );
    assert_eq!(order("sequential"), (JobFileOrder::Sequential, 1));
}

#[test]
fn job_options_keep_their_main_names_and_values() {
    let set = read("[global]\nreadwrite=randread\n[j]\nblocksize=4k\nsize=1m\nthread\n");
    let own = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
    assert_eq!(set.options, [own("rw", "randread")]);
    assert_eq!(
        *set.jobs[0].options,
        [
            own("bs", "4k"),
            own("size", "1m"),
            ("thread".to_owned(), None)
        ]
    );
}
