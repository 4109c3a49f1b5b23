use super::*;

const FILE: &str = "[global]\nsize=1m\nioengine=libaio\ndirectory=/data\n[first]\nnumjobs=4\n\
    [second]\nrw=randwrite\nstartdelay=2\n[third]\nstonewall\nfilename=/dev/sdz:../x\nuncached=0\n\
    nowait=1\n";

#[test]
fn every_option_has_a_line_with_its_verdict() {
    let set = read("[global]\nsize=1m\nioengine=libaio\n[a]\nwrite_hint=long\ntrim_percentage=0\n");
    let text = verdicts(&set, 84);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "    2 size=1m            done       Total size of all files of a clone."
    );
    assert_eq!(
        lines[1],
        "    3 ioengine=libaio    differs    Runs on io_uring."
    );
    assert!(
        lines
            .iter()
            .any(|line| { line.starts_with("    5 write_hint=long    refused    lifetime hints") }),
        "{text}"
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 84),
        "{text}"
    );
    assert!(text.contains("done       Nothing is trimmed."), "{text}");
}

#[test]
fn refusals_name_their_line_and_an_alternative() {
    let set = read("[a]\nsize=1m\nioengine=rbd\nclientname=admin\npool=x\n");
    let error = set.refusal().unwrap();
    assert_eq!(error.line, Some(3));
    assert!(error.help.unwrap().starts_with("use `ioengine=io_uring`"));
}

#[test]
fn a_timeline_has_one_line_per_section() {
    let text = picture(&read(&FILE.replace("uncached=0\nnowait=1\n", "")), 80);
    let wanted = "\
wave 1    first x4  ===============
          second    ===============  2 s later
wave 2    third                     ===============
";
    assert_eq!(text, wanted);
    let narrow = picture(&read(&FILE.replace("uncached=0\nnowait=1\n", "")), 20);
    assert!(!narrow.contains('='), "{narrow}");
}

#[test]
fn files_are_listed_with_how_they_are_used() {
    let text = files_touched(&read(&FILE.replace("uncached=0\nnowait=1\n", "")));
    let wanted = "\
reads             /data/first.0.0 to /data/first.3.0 (4 files)
writes            /data/second.0.0
reads             /data//dev/sdz
reads             /data/../x (leads out of its directory)
";
    assert_eq!(text, wanted);
}

#[test]
fn timelines_of_long_files_are_shortened() {
    let sections: String = (0..500).map(|at| format!("[j{at}]\nsize=1m\n")).collect();
    let set = read(&sections);
    assert!(picture(&set, 80).contains("and 460 more"));
    assert!(files_touched(&set).lines().count() <= 41);
}

#[test]
fn the_documentation_lists_every_option() {
    let text = markdown();
    for row in OptionTable::new().rows() {
        assert!(
            text.contains(&format!("`{}`", row.name()))
                || text.contains(&format!("`--{}`", row.name())),
            "{}",
            row.name()
        );
    }
    assert!(text.contains("| `bs` | `blocksize` | done | Block size, by direction. |"));
    assert!(text.contains("| `--output` | `-o` | done |"));
    assert!(
        text.lines().all(|line| !line.contains("> ")),
        "arrows are words"
    );
}
