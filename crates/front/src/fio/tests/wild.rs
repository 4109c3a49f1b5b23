//! What job files and command lines of strangers say.

use super::*;

#[test]
fn unknown_engines_are_errors_with_the_nearest_name() {
    let near = wrong("size=1m\nioengine=libiao");
    assert!(near.message.contains("no engine `libiao`"), "{near}");
    assert_eq!(
        near.help.as_deref(),
        Some("did you mean `ioengine=libaio`?")
    );
    assert_eq!(near.line, Some(3));
    let far = wrong("size=1m\nioengine=page_fault");
    assert!(far.help.unwrap().contains("--enghelp"));
    // Refused is another thing than unknown.
    assert!(read("[j]\nsize=1m\nioengine=rbd\n").refusal().is_some());
}

#[test]
fn libaio_has_other_names() {
    for name in ["aio", "linuxaio"] {
        let job = job(&format!(
            "size=1m\nioengine={name}\niodepth=8\nuserspace_reap"
        ));
        assert_eq!(job.settings.engine.engine, Engine::Libaio);
        assert_eq!(job.settings.engine.depth(), 8);
    }
}

#[test]
fn comments_may_have_any_encoding_but_options_may_not() {
    let text = b"; gr\xfc\xdfe\n[j]\nsize=1m # f\xfcr\n";
    let set = read_file("w.fio", text, &ParserEnvironment::EMPTY).unwrap();
    assert_eq!(set.jobs[0].bytes_to_move(), Some(1 << 20));
    let text = b"[j]\nname=gr\xfc\xdfe\n";
    let error = read_file("w.fio", text, &ParserEnvironment::EMPTY).unwrap_err();
    assert_eq!((error.line, error.column), (Some(2), Some(8)));
    assert!(error.snippet.unwrap().starts_with("name=gr"));
    let error = read_file("w.fio", b"[j]\nrw=re\0ad ; x\n", &ParserEnvironment::EMPTY).unwrap_err();
    assert_eq!((error.line, error.column), (Some(2), Some(6)));
    assert!(error.snippet.unwrap().starts_with("rw=re"));
}

#[test]
fn missing_sections_are_reported_with_the_existing_ones() {
    let around = ParserEnvironment {
        read: &|_| Ok(b"[global]\nsize=1m\n[one]\n[two]\n".to_vec()),
        ..ParserEnvironment::EMPTY
    };
    let error = parse_with_surroundings("--section=three x.fio", &around).unwrap_err();
    assert!(error.message.contains("no section `three`"), "{error}");
    assert_eq!(error.help.as_deref(), Some("name one of one, two"));
}

#[test]
fn ambiguous_option_prefixes_list_the_candidates() {
    let error = parse_line("--name=a --size=1m --buffer=0").unwrap_err();
    assert!(
        error.message.contains("buffer_pattern, buffered"),
        "{error}"
    );
    let help = "write its name in full, such as `--buffered=0`";
    assert_eq!(error.help.as_deref(), Some(help));
    let error = parse_line("--name=a --size=1m --tag=1").unwrap_err();
    assert_eq!(error.message, "there is no option `--tag=1`");
}

#[test]
fn permission_to_overwrite_a_device_needs_pgmeters_own_command() {
    let error = parse_line("--name=a --rw=write --filename=/dev/x --overwrite-device").unwrap_err();
    assert_eq!(error.message, "there is no option `--overwrite-device`");
    let help = error.help.unwrap();
    assert!(
        help.ends_with("`pgmeter run FILE --overwrite-device DEVICE`"),
        "{help}"
    );
}

#[test]
fn options_that_fio_dropped_are_refused_and_take_no_file_as_value() {
    for line in ["--latency-log --name=a", "-l --name=a"] {
        let error = parse_line(line).unwrap_err();
        assert!(error.help.unwrap().contains("write_lat_log"), "{line}");
    }
    let around = ParserEnvironment {
        read: &|_| Ok(b"[a]\nsize=1m\n".to_vec()),
        ..ParserEnvironment::EMPTY
    };
    let action = parse_with_surroundings("-s x.fio", &around)
        .unwrap()
        .0
        .action;
    assert!(matches!(action, Action::Print(text) if text.contains("--name=a")));
}

#[test]
fn help_for_refused_options_is_an_instruction() {
    for row in OptionTable::new().rows() {
        let OptionSupport::Refused { instead } = row.support else {
            continue;
        };
        let help = table::advice(instead);
        let verbs = [
            "use use",
            "use leave",
            "use start",
            "use write",
            "use merge",
            "use run",
        ];
        assert!(verbs.iter().all(|it| !help.starts_with(it)), "{help}");
    }
    let refusal = read("[j]\nsize=1m\nexec_prerun=sync\n").refusal().unwrap();
    assert_eq!(refusal.help.as_deref(), Some("start it before the run"));
}

#[test]
fn a_job_file_is_recognized_by_its_extension() {
    let text = b"[a]\nwrite_bw_log\n";
    let kind = |name: &str| crate::detect(name, text).map(|it| it.name);
    assert_eq!((kind("x.fio"), kind("x.toml")), (Some("fio"), Some("toml")));
}
