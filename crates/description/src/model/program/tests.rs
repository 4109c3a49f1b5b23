//! What a file of phases says wrong, each with its line and one help.

use super::program;
use crate::load;
use crate::{read_toml, to_toml};
use plan::program::{
    Access, Act, AmountScope, CallObject, CallPosition, DirectoryTree, FileFilter, FileNames,
    FileOperation, FileSharing, Measure, MovedBytes, OnNoFile, OpenModePlan, OpenSync,
    PhasePreparation, PickOrder, Program, ProgramPart, Quota, RoundsEnd, Shape,
};

mod waits;
mod written;

const FILESET: &str = "[[fileset]]\nname = \"mail\"\ncount = 100\npresent = 50\n";

/// A workload of one group with this body.
fn with(body: &str) -> String {
    format!("{FILESET}[[phase]]\nname = \"serve\"\n[[phase.group]]\nbody = [\n{body}\n]\n")
}

fn read(text: &str) -> Program {
    let workload = read_toml("w.toml", text).unwrap_or_else(|error| panic!("{error}"));
    program(&workload).unwrap_or_else(|flaw| panic!("{}", flaw.message))
}

fn refusal(text: &str) -> String {
    load("w.toml", text).unwrap_err().to_string()
}

fn refused(body: &str) -> String {
    refusal(&with(body))
}

/// The acts of the only group.
fn acts(body: &str) -> Vec<Act> {
    let program = read(&with(body));
    program.phases()[0].groups[0].body.clone()
}

fn calls(body: &str) -> Vec<plan::program::Call> {
    let program = read(&with(body));
    let calls = program.phases()[0].groups[0].calls();
    calls.into_iter().cloned().collect()
}

#[test]
fn verbs_and_names_become_numbers() {
    let all = calls(
        "{ open = \"mail\", handle = \"a\", label = \"look\" },\n\
         { read = \"rest\", piece = \"64KiB\", handle = \"a\", at = 0 },\n\
         { fsync = \"directory of @a\" }, { close = \"@a\" },\n\
         { stat = \"mail\", pick = { zipf = 0.9 }, which = \"any\" },\n\
         { rename = \"@\", to = \"mail\", to_pick = \"around\" }",
    );
    let pairs: Vec<_> = all
        .iter()
        .map(|it| (it.operation.name(), it.handle))
        .collect();
    let names = ["open", "read", "fsync", "close", "stat", "rename"];
    let handles = [1, 1, 1, 1, 0, 0];
    assert_eq!(pairs, names.into_iter().zip(handles).collect::<Vec<_>>());
    assert_eq!(all[0].label, Some(0));
    assert_eq!(
        (&all[1].bytes, all[1].piece_bytes, &all[1].place),
        (&MovedBytes::Rest, 65_536, &CallPosition::At(0))
    );
    assert_eq!(
        (&all[2].on, &all[5].on),
        (&CallObject::Directory, &CallObject::Same)
    );
    let CallObject::Name(pick) = &all[4].on else {
        panic!()
    };
    assert!(matches!(pick.order, PickOrder::Drawn(_)) && pick.which == FileFilter::Any);
    let second = all[5].second.as_ref().unwrap();
    assert_eq!(
        (&second.order, second.which, second.turn),
        (&PickOrder::Around, FileFilter::Absent, FileSharing::Shared)
    );
}

#[test]
fn bare_verbs_act_on_the_file_of_the_first_handle() {
    let all =
        calls("{ open = \"mail\" }, \"fsync\", \"fdatasync\", \"fstat\", \"sync\", \"close\"");
    let operations: Vec<FileOperation> = all[1..].iter().map(|it| it.operation).collect();
    use FileOperation::{Close, Fdatasync, Fsync, Stat, Sync};
    assert_eq!(operations, [Fsync, Fdatasync, Stat, Sync, Close]);
    assert!(all[1..].iter().all(|it| it.on == CallObject::Handle));
}

#[test]
fn chmod_takes_a_name_and_sync_takes_none() {
    let all = calls("\"sync\", { chmod = \"mail\" }, { chmod = \"@\" }");
    use FileOperation::{Chmod, Sync};
    let operations: Vec<FileOperation> = all.iter().map(|it| it.operation).collect();
    assert_eq!(operations, [Sync, Chmod, Chmod]);
    assert!(matches!(all[1].on, CallObject::Name(_)) && all[2].on == CallObject::Same);
    let alone = with("\"sync\"").replace(FILESET, "");
    assert!(refusal(&alone).contains("there is no fileset"));
}

#[test]
fn acts_nest_and_laws_are_read() {
    let body = acts(
        "{ transaction = \"deliver\", do = [\n\
         { times = { uniform = [2, 5] }, do = [{ stat = \"mail\" }] },\n\
         { mix = [{ share = 3, do = [{ think = \"10ms\" }] },\n\
         { share = 1, step = \"work\", do = [{ burn = { lognormal = \"1ms\", spread = 0.5, \
         most = \"1s\" } }] }] }] }",
    );
    let [Act::Transaction(0, inside)] = body.as_slice() else {
        panic!("{body:?}")
    };
    let [Act::Times(times, stats), Act::Mix(branches)] = inside.as_slice() else {
        panic!("{inside:?}")
    };
    assert_eq!(
        (&times.shape, stats.len()),
        (&Shape::Uniform { low: 2, high: 5 }, 1)
    );
    let [(3, think), (1, work)] = branches.as_slice() else {
        panic!("{branches:?}")
    };
    assert!(matches!(think[0], Act::Think(_)));
    let Act::Step(1, burn) = &work[0] else {
        panic!("{work:?}")
    };
    let Act::Burn(law) = &burn[0] else {
        panic!("{burn:?}")
    };
    assert_eq!(law.most, 1_000_000_000);
    let shape = Shape::LogNormal {
        median: 1e6,
        spread: 0.5,
    };
    assert_eq!(law.shape, shape);
}

#[test]
fn the_default_request_size_is_one_mebibyte() {
    let moved = |amount: &str| {
        let all = calls(&format!(
            "{{ open = \"mail\" }}, {{ read = {amount} }}, \"close\""
        ));
        all[1].piece_bytes
    };
    assert_eq!((moved("\"1MiB\""), moved("\"2MiB\"")), (0, 1 << 20));
    assert_eq!((moved("\"size\""), moved("\"rest\"")), (0, 1 << 20));
}

#[test]
fn tables_have_their_defaults_and_keys() {
    let program = read(
        "run_time = \"5s\"\nramp_time = 1\nworkers = 3\n\
         [[fileset]]\nname = \"a\"\n\
         [[fileset]]\nname = \"b\"\ncount = 10\nnames = \"x{number:4}.c\"\npath = \"p/q\"\n\
         files_per_directory = 3\npresent = \"12.5%\"\nsize = { uniform = [\"1k\", \"2k\"] }\n\
         copies = \"per-worker\"\n\
         [[way]]\nname = \"log\"\naccess = \"write\"\nappend = true\nsync = \"data\"\n\
         [[phase]]\nname = \"one\"\nbefore = [\"sync\", { pause = \"1s\" }]\n\
         [[phase.group]]\nbody = [{ create = \"a\", way = \"log\" }, \"close\"]\n\
         [[phase.group]]\nworkers = 2\nrounds = 7\ntogether = true\nwhen_out = \"skip\"\n\
         body = [{ stat = \"b\" }]\n\
         [[rounds]]\ntimes = 2\n[[rounds.phase]]\nname = \"again\"\nhidden = true\n\
         [[rounds.phase.group]]\nbody = [{ stat = \"b\" }]\n\
         [[phase]]\nname = \"two\"\n[[phase.group]]\nbody = [{ stat = \"b\" }]\n",
    );
    let b = &program.filesets[1];
    let names = FileNames::Number {
        before: "x".to_owned(),
        digits: 4,
        after: ".c".to_owned(),
    };
    assert_eq!(
        (&b.names, b.path.as_str(), &b.tree, b.present_permille),
        (&names, "p/q", &DirectoryTree::Blocks { each: 3 }, 125)
    );
    assert_eq!(program.filesets[0].path, "a");
    let [
        ProgramPart::Phase(one),
        ProgramPart::Phase(two),
        ProgramPart::Rounds { until, parts },
    ] = program.parts.as_slice()
    else {
        panic!("{:?}", program.parts)
    };
    assert_eq!(*until, RoundsEnd::Times(2));
    let ProgramPart::Phase(again) = &parts[0] else {
        panic!()
    };
    assert!(again.is_hidden && again.time_ns.is_none());
    let pause = PhasePreparation::Pause { ns: 1_000_000_000 };
    assert_eq!(one.before, [PhasePreparation::Sync, pause]);
    // A group that counts ends by its count.
    assert_eq!(
        (one.time_ns, two.time_ns, two.ramp_ns),
        (None, Some(5_000_000_000), 1_000_000_000)
    );
    let workers: Vec<_> = one
        .groups
        .iter()
        .map(|it| (it.name.as_str(), it.workers))
        .collect();
    assert_eq!(workers, [("one-1", Some(3)), ("one-2", Some(2))]);
    assert_eq!(
        (&one.groups[1].quotas[..], one.groups[1].out),
        (
            &[Quota {
                what: Measure::Rounds,
                count: 7,
                of: AmountScope::Group
            }][..],
            OnNoFile::Skip
        )
    );
    assert_eq!((program.ways.len(), one.groups[0].calls()[0].way), (2, 1));
}

#[test]
fn a_way_sets_every_option_of_opening_and_io() {
    let text = with("{ create = \"mail\", way = \"log\" }, \"close\"");
    let program = read(&format!(
        "[[way]]\nname = \"log\"\naccess = \"write\"\nsync = \"all\"\npermissions = \"640\"\n\
         existing = true\nseek = true\nunit = \"1k\"\n{text}"
    ));
    let log = OpenModePlan {
        name: "log".to_owned(),
        access: Access::Write,
        sync: OpenSync::All,
        permissions: 0o640,
        takes_existing: true,
        seeks: true,
        unit_bytes: 1024,
        ..OpenModePlan::default()
    };
    assert_eq!(
        program.ways,
        [
            OpenModePlan {
                name: "default".to_owned(),
                ..OpenModePlan::default()
            },
            log
        ]
    );
}

#[test]
fn rounds_follow_the_phase_that_they_name() {
    let text = |after: &str| {
        format!(
            "{FILESET}[[phase]]\nname = \"one\"\n[[phase.group]]\nbody = [{{ stat = \"mail\" }}]\n\
             [[phase]]\nname = \"two\"\n[[phase.group]]\nbody = [{{ stat = \"mail\" }}]\n\
             [[rounds]]\nspent = 1\nafter = \"{after}\"\n[[rounds.phase]]\nname = \"three\"\n\
             [[rounds.phase.group]]\nbody = [{{ stat = \"mail\" }}]\n"
        )
    };
    let parts = read(&text("one")).parts;
    assert!(matches!(parts[1], ProgramPart::Rounds { .. }));
    assert_eq!(
        refusal(&text("tow")),
        "error: there is no phase `tow`\n  --> w.toml:15:9\n  15 | after = \"tow\"\n\
         help: did you mean `two`?"
    );
}

#[test]
fn a_file_reads_back_as_written() {
    for text in [
        include_str!("../../../../../workloads/maildir.toml"),
        include_str!("../../../../../workloads/web-content.toml"),
        include_str!("../../../../../workloads/source-tree.toml"),
        include_str!("../../../../../workloads/compile.toml"),
    ] {
        let workload = read_toml("w.toml", text).unwrap();
        let again = to_toml(&workload).unwrap();
        let read = read_toml("w.toml", &again).unwrap_or_else(|error| panic!("{error}\n{again}"));
        assert_eq!(read, workload, "{again}");
        let json = serde_json::to_string(&program(&workload).unwrap()).unwrap();
        let program_again: Program = serde_json::from_str(&json).unwrap();
        assert_eq!(program_again, program(&workload).unwrap());
    }
}

#[test]
fn an_unknown_name_is_reported_with_its_line_and_the_nearest() {
    assert_eq!(
        refused("{ stat = \"mial\" }"),
        "error: there is no fileset `mial`\n  --> w.toml:9:10\n   9 | { stat = \"mial\" }\n\
         help: did you mean `mail`?"
    );
    assert_eq!(
        refused("{ open = \"mail\", way = \"log\" }, \"close\""),
        "error: there is no way `log`\n  --> w.toml:9:24\n   \
         9 | { open = \"mail\", way = \"log\" }, \"close\"\nhelp: add a way of that name"
    );
    assert_eq!(
        refused("{ open = \"mail\", handle = \"in\" }, { close = \"@inn\" }"),
        "error: there is no handle `inn`\n  --> w.toml:9:45\n   \
         9 | { open = \"mail\", handle = \"in\" }, { close = \"@inn\" }\nhelp: did you mean `in`?"
    );
    let group = "body = [{ step = \"look\", do = [{ stat = \"mail\" }] }]\nsteps = { loop = 3 }";
    let text = format!("{FILESET}[[phase]]\nname = \"serve\"\n[[phase.group]]\n{group}\n");
    assert!(refusal(&text).starts_with("error: there is no label `loop`\n  --> w.toml:9:9\n"));
}

#[test]
fn an_unknown_key_is_reported_with_its_line_and_a_suggestion() {
    assert_eq!(
        refused("{ stat = \"mail\", pikc = \"around\" }"),
        "error: unknown key `pikc`\n  --> w.toml:9:18\n   \
         9 | { stat = \"mail\", pikc = \"around\" }\n\
         help: did you mean `pick`? Order in which files are picked: `next`, `back`, `shuffled`, \
         `around`, `uniform`, `{ zipf = 0.9 }`, `{ pareto = 0.2 }`, `{ normal = 10 }` or \
         `{ index = 0 }`"
    );
    assert!(
        refused("{ stat = \"mail\", pick = \"arround\" }").contains("help: did you mean `around`?")
    );
    assert!(refused("{ stat = \"mail\", pick = \"zipf\" }").contains("write `pick = { zipf"));
    assert!(refused("\"clsoe\"").contains("help: did you mean `close`?"));
    assert!(refused("3").contains("not an act, such as"));
    assert!(
        refused("{ open = \"mail\" }, { read = \"all\" }, \"close\"")
            .contains("`all` is not an amount\n")
    );
    assert!(
        refused("{ open = \"mail\" }, { read = 1, at = \"strat\" }, \"close\"")
            .contains("`strat` is not a value of")
    );
    let set = FILESET.replace("count", "cuont");
    assert!(refusal(&with("").replace(FILESET, &set)).contains("did you mean `count`?"));
}

#[test]
fn an_act_has_one_verb_and_only_its_keys() {
    for (body, message, help) in [
        ("{ pick = \"next\" }", "the act has no verb", "write a verb"),
        (
            "{ open = \"mail\", unlink = \"mail\" }",
            "`open` and `unlink` are two acts",
            "write them as separate acts",
        ),
        (
            "{ unlink = \"mail\", way = \"x\" }",
            "`way` does not apply to `unlink`",
            "leave `way` out",
        ),
        (
            "{ think = \"1s\", do = [\"close\"] }",
            "`do` does not apply to `think`",
            "leave `do` out",
        ),
        (
            "{ stat = \"mail\" }, { unlink = \"@\", pick = \"next\" }",
            "`pick` does not apply to `@`, which was picked before",
            "leave `pick` out",
        ),
        (
            "{ stat = \"mail\", handle = \"a\" }, { unlink = \"@a\", handle = \"b\" }",
            "the file of `@a` cannot go to the handle `b`",
            "leave `handle` out",
        ),
        (
            "{ rename = \"mail\" }",
            "`rename` has no second name",
            "add `to = \"FILESET\"`",
        ),
        (
            "{ open = \"mail\" }, { read = 5, piece = 0 }, \"close\"",
            "`piece` is 0, so nothing would ever be moved",
            "write `piece = \"64KiB\"`",
        ),
        (
            "{ mix = [{ do = [{ stat = \"mail\" }] }] }",
            "a `mix` entry has no `share`",
            "add `share = 1`",
        ),
        (
            "{ step = \"\", do = [{ stat = \"mail\" }] }",
            "`step` is not a label of one line",
            "write `step = \"LABEL\"`",
        ),
    ] {
        let error = refused(body);
        assert!(
            error.starts_with(&format!("error: {message}\n  --> w.toml:9:")),
            "{error}"
        );
        assert!(error.contains(&format!("help: {help}")), "{error}");
    }
}

#[test]
fn position_steps_are_limited_to_32_bits() {
    for (place, key, bytes) in [
        ("random = \"uniform\", align = \"8GiB\"", "align", "8GiB"),
        ("shuffled = \"4GiB\"", "shuffled", "4GiB"),
        ("dealt = \"4GiB\"", "dealt", "4GiB"),
        ("backward = \"4GiB\"", "backward", "4GiB"),
    ] {
        let body = format!("{{ open = \"mail\" }}, {{ read = 5, at = {{ {place} }} }}, \"close\"");
        let error = refused(&body);
        let message = format!("error: `{key}` is {bytes}, not below 4GiB\n  --> w.toml:9:");
        assert!(error.starts_with(&message), "{error}");
        let help = format!("help: write `{key} = \"1GiB\"` or less");
        assert!(error.contains(&help), "{error}");
    }
}

#[test]
fn a_law_has_one_distribution_and_only_its_keys() {
    for (law, message) in [
        ("{}", "the law has no distribution"),
        (
            "{ uniform = [1, 2], gamma = 3 }",
            "`uniform` and `gamma` are two laws",
        ),
        ("{ lognormal = 3 }", "`lognormal` needs `spread`"),
        (
            "{ exponential = 3, spread = 1 }",
            "`spread` does not apply to `exponential`",
        ),
        (
            "{ uniform = [2, 1] }",
            "the low end of a range is above its high end",
        ),
        ("{ exponential = 0 }", "`exponential` is not above 0"),
        (
            "{ exponential = 9, least = 3, most = 2 }",
            "`least` is above `most`",
        ),
        ("{ table = [] }", "no band of the `table` has a share"),
    ] {
        let text = with("{ stat = \"mail\" }").replace("present = 50", &format!("size = {law}"));
        let error = refusal(&text);
        assert!(
            error.starts_with(&format!("error: {message}\n  --> w.toml:4:")),
            "{error}"
        );
    }
    assert!(refused("{ think = { uniform = [\"1s\"] } }").contains("w.toml:9:"));
}

#[test]
fn checker_errors_point_to_their_line_in_the_file() {
    let body = "{ times = 2, do = [\n{ stat = \"mail\" },\n{ mix = [\n\
                { share = 1, step = \"x\", do = [\n\"close\" ] } ] } ] }";
    assert_eq!(
        refused(body),
        "error: `close` works on a file, but none is open under its handle\n  \
         --> w.toml:13:1\n  13 | \"close\" ] } ] } ] }\n\
         help: write `{ open = \"FILESET\" }` before it"
    );
    let text = with("{ stat = \"mail\" }");
    assert_eq!(
        refusal(&text.replace("present = 50", "path = \"../x\"")),
        "error: the path `../x` of `mail` leads out of the target\n  --> w.toml:1:1\n   \
         1 | [[fileset]]\nhelp: name a directory below the target, such as `mail/new`"
    );
    let endless = with("{ stat = \"mail\", pick = \"uniform\" }");
    assert!(refusal(&endless).starts_with(
        "error: nothing ends the phase `serve`: `serve` never ends\n  --> w.toml:5:1\n"
    ));
    let way = format!("[[way]]\nname = \"w\"\naccess = \"read\"\nappend = true\n{text}");
    assert!(refusal(&way).contains("`append` has no meaning\n  --> w.toml:1:1"));
    for permissions in ["9", "0644", "-64", "888"] {
        let way = format!("[[way]]\nname = \"w\"\npermissions = \"{permissions}\"\n{text}");
        let wanted = format!("`{permissions}` are not three octal digits\n  --> w.toml:3:1");
        let error = refusal(&way);
        assert!(error.contains(&wanted), "{error}");
    }
    let rounds = "[[rounds]]\ntimes = 1\n[[rounds.phase]]\nname = \"r\"\n\
                  [[rounds.phase.group]]\nfirst = [\n\"close\"]\n";
    let error = refusal(&format!("{rounds}{text}"));
    assert!(error.contains("--> w.toml:7:1\n"), "{error}");
}

#[test]
fn table_names_must_be_present_valid_and_unique() {
    let text = with("{ stat = \"mail\" }");
    for (from, to, message) in [
        ("name = \"mail\"\n", "", "a `[[fileset]]` has no `name`"),
        ("\"mail\"\n", "\"@x\"\n", "`@x` is not a name of a fileset"),
        ("name = \"serve\"\n", "", "a phase has no `name`"),
        (
            "[[fileset]]",
            "[[fileset]]\nname = \"mail\"\n[[fileset]]",
            "there are two `[[fileset]]`",
        ),
        (
            "present = 50",
            "present = 0.05",
            "`present` is 0.05 %, not a tenth of a percent",
        ),
        (
            "present = 50",
            "directories = 2\nfiles_per_directory = 2",
            "`directories` and `files_per_directory` both set",
        ),
        (
            "present = 50",
            "names = \"x\"",
            "the names `x` have no `{number}`",
        ),
        (
            "present = 50",
            "names = \"{number\"",
            "the names `{number` have a brace",
        ),
        (
            "present = 50",
            "names = \"{number:0}\"",
            "the names `{number:0}` have no number of",
        ),
        (
            "present = 50",
            "names = \"{number}{number}\"",
            "the names `{number}{number}` have more",
        ),
        (
            "[[phase]]",
            "[[way]]\nname = \"default\"\n[[phase]]",
            "`default` is reserved for the way of acts",
        ),
        (
            "[[phase.group]]",
            "run_time = \"31d\"\n[[phase.group]]",
            "`run_time` is 31d, more than",
        ),
        (
            "body",
            "together = true\nbody",
            "`together` needs an amount",
        ),
    ] {
        let error = refusal(&text.replacen(from, to, 1));
        assert!(error.starts_with(&format!("error: {message}")), "{error}");
        assert!(
            error.contains("  --> w.toml:") && error.contains("\nhelp: "),
            "{error}"
        );
    }
}

#[test]
fn naming_and_directory_rules_must_be_complete_and_consistent() {
    let text = with("{ stat = \"mail\" }");
    for (from, to, message) in [
        (
            "[[phase]]",
            "[[way]]\nname = \"x\"\n[[way]]\nname = \"y\"\ndefault = true\n[[phase]]",
            "the default way is not the first",
        ),
        (
            "present = 50",
            "names = \"{number}{pid}\"",
            "the names `{number}{pid}` have more",
        ),
        (
            "present = 50",
            "first = 3\npaths = { names = \"d{number}\", fan = 2 }",
            "`first` does not apply together with `paths`",
        ),
        (
            "present = 50",
            "paths = { names = \"d{number}x\", fan = 2 }",
            "names of `paths` do not end with the number",
        ),
        (
            "present = 50",
            "nested = { names = \"d{number}\", fan = 2 }",
            "`nested` needs `files_per_directory`",
        ),
        (
            "present = 50",
            "files_per_directory = 2\nnested = { fan = 2 }",
            "`nested` is incomplete",
        ),
        (
            "present = 50",
            "grown = { gamma = 1.5 }",
            "`grown` has no `width`",
        ),
        (
            "present = 50",
            "grown = { width = 5, gamma = 0.0004 }",
            "`gamma` is not a number from 0.001 to 1000000",
        ),
        (
            "present = 50",
            "grown = { width = 5, gamma = -1.0 }",
            "`gamma` is not a number from",
        ),
        (
            "present = 50",
            "directories_of = \"mial\"",
            "there is no fileset `mial`",
        ),
    ] {
        let error = refusal(&text.replacen(from, to, 1));
        assert!(error.starts_with(&format!("error: {message}")), "{error}");
        assert!(error.contains("  --> w.toml:"), "{error}");
    }
}

#[test]
fn rounds_have_exactly_one_end_condition() {
    let rounds = |keys: &str| {
        let text = with("{ stat = \"mail\" }");
        refusal(&format!(
            "[[rounds]]\n{keys}\n[[rounds.phase]]\nname = \"r\"\n[[rounds.phase.group]]\n\
             body = [{{ stat = \"mail\" }}]\n{text}"
        ))
    };
    assert!(rounds("").starts_with("error: nothing ends the rounds\n  --> w.toml:1:1\n"));
    assert!(rounds("times = 2\nspent = 3").starts_with("error: the rounds have two ends\n"));
    assert!(rounds("times = 1000001").starts_with("error: `times` is not from 1 to 1000000\n"));
    assert!(rounds("times = 0").starts_with("error: `times` is 0, so no round would run\n"));
}

#[test]
fn workload_keys_that_do_not_apply_to_phases_are_refused() {
    let text = |key: &str| {
        let text = with("{ stat = \"mail\" }");
        refusal(&format!("{key}\n{text}"))
    };
    assert!(text("start = 3").starts_with(
        "error: `start` does not apply to `[[phase]]`: files are used from their first byte on\n  \
         --> w.toml:1:9\n   1 | start = 3\nhelp: leave `start` out"
    ));
    assert!(text("engine = \"mmap\"").contains("cannot do the operations of `[[phase]]`"));
    assert!(text("[lat_fs]").contains("there are both `[lat_fs]` and `[[phase]]`"));
    assert!(
        text("[[access_spec]]\nline = [{ size = 512 }]")
            .contains("there are both `[[phase]]` and `[[access_spec]]`")
    );
    let own = with("{ stat = \"mail\" }").replace("body", "workers = 2\nbody");
    assert!(
        refusal(&format!("workers = 3\n{own}"))
            .starts_with("error: `workers` does not apply: every group has its own\n")
    );
    let left_open = with("{ read = 1 }").replace("body", "first = [{ open = \"mail\" }]\nbody");
    let timed = format!("engine = \"io_uring\"\niodepth = [1, 4]\nrun_time = 1\n{left_open}");
    assert!(refusal(&timed).contains(", because `iodepth` is above 1\n"));
}

#[test]
fn ways_use_direct_io_if_the_workload_does() {
    let text =
        "[[way]]\nname = \"log\"\ndirect = false\n".to_owned() + &with("{ stat = \"mail\" }");
    let direct = |text: &str| {
        let modes = read(text).ways.into_iter();
        modes.map(|mode| mode.is_direct).collect::<Vec<_>>()
    };
    assert_eq!(direct(&text), [false, false]);
    assert_eq!(
        direct(&format!("cache = \"direct\"\n{text}")),
        [true, false]
    );
}

#[test]
fn a_pause_before_a_phase_is_limited() {
    let before = |before: &str| {
        let text = with("{ stat = \"mail\" }");
        text.replace(
            "name = \"serve\"\n",
            &format!("name = \"serve\"\nbefore = {before}\n"),
        )
    };
    for long in ["{ pause = \"31d\" }", "[\"sync\", { pause = \"31d\" }]"] {
        let error = refusal(&before(long));
        assert!(
            error.starts_with("error: `pause` is 31d, more than 30d\n  --> w.toml:7:"),
            "{error}"
        );
    }
    let phase = read(&before("{ pause = \"30d\" }")).phases()[0]
        .before
        .clone();
    assert_eq!(
        phase,
        [PhasePreparation::Pause {
            ns: 30 * 86_400 * 1_000_000_000
        }]
    );
}
