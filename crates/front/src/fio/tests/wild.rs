//! What job files and command lines of strangers say.

use super::*;

#[test]
fn engines_that_nobody_knows_are_errors_with_the_nearest_name() {
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
fn comments_may_be_of_any_encoding_and_options_not() {
    let text = b"; gr\xfc\xdfe\n[j]\nsize=1m # f\xfcr\n";
    let set = read_file("w.fio", text, &Surroundings::EMPTY).unwrap();
    assert_eq!(set.jobs[0].bytes_to_move(), Some(1 << 20));
    let text = b"[j]\nname=gr\xfc\xdfe\n";
    let error = read_file("w.fio", text, &Surroundings::EMPTY).unwrap_err();
    assert_eq!((error.line, error.column), (Some(2), Some(8)));
    assert!(error.snippet.unwrap().starts_with("name=gr"));
    let error = read_file("w.fio", b"[j]\nrw=re\0ad ; x\n", &Surroundings::EMPTY).unwrap_err();
    assert_eq!((error.line, error.column), (Some(2), Some(6)));
    assert!(error.snippet.unwrap().starts_with("rw=re"));
}

#[test]
fn sections_that_are_not_there_are_told_with_those_that_are() {
    let around = Surroundings {
        read: &|_| Ok(b"[global]\nsize=1m\n[one]\n[two]\n".to_vec()),
        ..Surroundings::EMPTY
    };
    let error = said_with("--section=three x.fio", &around).unwrap_err();
    assert!(error.message.contains("no section `three`"), "{error}");
    assert_eq!(error.help.as_deref(), Some("name one of one, two"));
}

#[test]
fn names_that_several_options_begin_with_are_told_apart() {
    let error = said("--name=a --size=1m --buffer=0").unwrap_err();
    assert!(
        error.message.contains("buffer_pattern, buffered"),
        "{error}"
    );
    let error = said("--name=a --size=1m --tag=1").unwrap_err();
    assert_eq!(error.message, "there is no option `--tag=1`");
}

#[test]
fn what_fio_dropped_from_its_command_line_is_refused_and_takes_no_file() {
    for line in ["--latency-log --name=a", "-l --name=a"] {
        let error = said(line).unwrap_err();
        assert!(error.help.unwrap().contains("write_lat_log"), "{line}");
    }
    let around = Surroundings {
        read: &|_| Ok(b"[a]\nsize=1m\n".to_vec()),
        ..Surroundings::EMPTY
    };
    let shown = said_with("-s x.fio", &around).unwrap().0.action;
    assert!(matches!(shown, Action::Print(text) if text.contains("--name=a")));
}

#[test]
fn help_for_what_is_refused_reads_as_an_order() {
    for row in OptionTable::new().rows() {
        let OptionSupport::Refused { instead } = row.verdict else {
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
fn a_name_that_only_job_files_have_tells_what_a_file_is() {
    let text = b"[a]\nwrite_bw_log\n";
    let kind = |name: &str| crate::detect(name, text).map(|it| it.name);
    assert_eq!((kind("x.fio"), kind("x.toml")), (Some("fio"), Some("toml")));
}
