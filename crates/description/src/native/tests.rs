mod files;

use proptest::prelude::*;
use units::{Bytes, Percent, Span};

use super::{read_toml, to_toml};
use crate::model::{
    AccessLine, AccessSpec, ContentChoice, CpuList, Cycle, Cycling, DepthCycle, DistributionChoice,
    OneOrMany, Reducible, Seed, SequenceChoice, StepKind, TestType, Worker, Workload, ZoneChoice,
};
use plan::{CacheMode, CursorKind, EngineKind, PositionRule};

const GOOD: &str = "[[access_spec]]\nname = \"a\"\n[[access_spec.line]]\nsize = \"4k\"\n";

fn refusal(text: &str) -> String {
    read_toml("w.toml", text).unwrap_err().to_string()
}

#[test]
fn text_over_the_length_count_or_depth_limit_is_refused_with_the_limit() {
    let long = refusal(&format!("name = \"{}\"\n", "x".repeat(4 << 20)));
    assert_eq!(
        long,
        "error: the file has 4194314 bytes, and at most 4194304 are read\n  \
         --> w.toml\nhelp: split it into several files"
    );
    let full = refusal(&format!("targets = [{}]\n", "[],".repeat(500_000)));
    assert_eq!(
        full,
        "error: the file has 1000002 brackets, commas and dots, and at most 1000000 are read\n  \
         --> w.toml\nhelp: split it into several files"
    );
    let deep = [
        format!("x = {}{}\n", "[".repeat(100_000), "]".repeat(100_000)),
        format!("a{} = 1\n", ".a".repeat(100_000)),
    ];
    for text in deep {
        let error = refusal(&text);
        let expected = "error: tables and lists are nested more than 80 deep\n  --> w.toml:1:";
        assert!(error.starts_with(expected), "{error}");
        assert!(error.contains("help: no key"), "{error}");
    }
    let key = refusal("recursion = 3\n");
    assert!(key.contains("unknown key `recursion`"), "{key}");
}

#[test]
fn an_unknown_key_is_reported_with_its_position_and_the_nearest() {
    assert_eq!(
        refusal("name = \"x\"\niodpth = 3\n"),
        "error: unknown key `iodpth`\n  --> w.toml:2:1\n   2 | iodpth = 3\n\
         help: did you mean `iodepth`? Requests each worker keeps in flight on each of its \
         targets, or rounds for work on many files, 1 to 32768; a list makes one cell per depth"
    );
    assert_eq!(
        refusal(
            "[[access_spec]]\nname = \"a\"\n[[access_spec.line]]\nsize = \"4k\"\n  randm = 5\n"
        ),
        "error: unknown key `randm`\n  --> w.toml:5:3\n   5 |   randm = 5\n\
         help: did you mean `random`? Share of the requests that start at a random position, in \
         percent"
    );
    assert_eq!(
        refusal("[cycling.iodepth]\nstop = 3\n"),
        "error: unknown key `stop`\n  --> w.toml:2:1\n   2 | stop = 3\n\
         help: did you mean `step`? Step, added to or multiplied with the depth; 0 means 1"
    );
    assert_eq!(
        refusal("[[worker]]\nxyzzyplugh = 3\n"),
        "error: unknown key `xyzzyplugh`\n  --> w.toml:2:1\n   2 | xyzzyplugh = 3\n\
         help: the keys are `name`, `group`, `count`, `iodepth`, `targets`, `access_specs`, \
         `size`, `start`, `seed`, `content` or `transactions_per_connection`"
    );
    assert_eq!(
        refusal("xyzzyplugh = 3\n"),
        "error: unknown key `xyzzyplugh`\n  --> w.toml:1:1\n   1 | xyzzyplugh = 3\n\
         help: `pgmeter keys` lists the keys"
    );
    assert_eq!(
        refusal("random = 100\n").lines().last(),
        Some(
            "help: `random` belongs in `access_spec.line`: Share of the requests that start at a \
             random position, in percent"
        )
    );
    assert!(
        refusal("[[access_spec]]\nsize = 4096\n")
            .contains("help: `size` belongs in `access_spec.line`: Bytes per request"),
    );
    assert!(
        refusal("[postmark]\nworkers = 2\n")
            .contains("help: `workers` belongs at the top of the file: Number of workers"),
    );
}

#[test]
fn a_value_of_the_wrong_type_is_shown_with_the_expected_type() {
    assert_eq!(
        refusal("iodepth = \"deep\"\n"),
        "error: `iodepth` is `\"deep\"`, not a whole number from 1 to 32768\n  \
         --> w.toml:1:11\n   1 | iodepth = \"deep\"\nhelp: write a number without quotes"
    );
    assert_eq!(
        refusal("iodepth = [1, -2]\n"),
        "error: `iodepth` is `-2`, not a whole number from 1 to 32768\n  \
         --> w.toml:1:15\n   1 | iodepth = [1, -2]\nhelp: write `iodepth = 1`"
    );
    assert_eq!(
        refusal("[[access_spec]]\n[[access_spec.line]]\nsize = \"4q\"\n"),
        "error: `access_spec.line.size`: `4q` is not a size\n  --> w.toml:3:8\n   \
         3 | size = \"4q\"\nhelp: write a size such as `4k`, `1.5GiB`, `4kB` or `512`"
    );
    assert_eq!(
        refusal("engine = \"uring\"\n"),
        "error: `uring` is not a value of `engine`\n  --> w.toml:1:10\n   1 | engine = \"uring\"\n\
         help: the values are `psync`, `io_uring`, `mmap` or `null`"
    );
    assert_eq!(
        refusal("content = \"zeros\"\n"),
        "error: `zeros` is not a value of `content`\n  --> w.toml:1:11\n   \
         1 | content = \"zeros\"\nhelp: did you mean `zero`?"
    );
    assert_eq!(
        refusal("worker = 3\n"),
        "error: `worker` is `3`, not a list of tables\n  --> w.toml:1:10\n   1 | worker = 3\n\
         help: write each as a separate table, `[[worker]]`"
    );
    assert_eq!(
        refusal("verify = \"yes\"\n"),
        "error: `verify` is `\"yes\"`, not `true` or `false`\n  --> w.toml:1:10\n   \
         1 | verify = \"yes\"\nhelp: write `true` or `false` without quotes"
    );
}

#[test]
fn invalid_toml_is_reported_with_its_line() {
    assert_eq!(
        refusal("iodepth = 1\niodepth = 2\n"),
        "error: the key `iodepth` is given twice\n  --> w.toml:2:1\n   2 | iodepth = 2\n\
         help: keep one of them"
    );
}

#[test]
fn shares_must_add_up_to_one_hundred() {
    let text = "[[access_spec]]\nname = \"File Server\"\n[[access_spec.line]]\nsize = \"4k\"\n\
                of_size = 96\n[[access_spec.line]]\nsize = \"8k\"\nof_size = 3\n";
    assert_eq!(
        refusal(text),
        "error: access lines of `File Server` add up to 99 %, not 100 %\n  --> w.toml:3:1\n   \
         3 | [[access_spec.line]]\nhelp: change `of_size` of a line"
    );
}

#[test]
fn thirds_add_up_to_one_hundred() {
    let line = "[[access_spec.line]]\nsize = 512\nof_size = ";
    let text = format!("[[access_spec]]\n{line}33.3\n{line}33.3\n{line}33.4\n");
    assert!(read_toml("w.toml", &text).is_ok());
}

#[test]
fn a_used_access_line_needs_a_size() {
    let head = "[[access_spec]]\n[[access_spec.line]]\n";
    assert_eq!(
        refusal(&format!("{head}size = 0\n")),
        "error: `size` is 0 in a line with 100 %\n  --> w.toml:3:8\n   3 | size = 0\n\
         help: write `of_size = 0` to keep the line unused"
    );
    assert_eq!(
        refusal(&format!("{head}read = 50\n")),
        "error: the access line has no `size`\n  --> w.toml:2:1\n   2 | [[access_spec.line]]\n\
         help: add `size = \"4k\"`"
    );
    assert_eq!(
        refusal(&format!("{head}size = \"2GiB\"\n")),
        "error: `size` is 2GiB, more than a request may have (1GiB)\n  --> w.toml:3:8\n   \
         3 | size = \"2GiB\"\nhelp: write `size = \"1GiB\"` or less"
    );
}

#[test]
fn out_of_range_depths_are_refused() {
    assert_eq!(
        refusal("iodepth = 0\n"),
        "error: `iodepth` is 0, not from 1 to 32768\n  --> w.toml:1:11\n   1 | iodepth = 0\n\
         help: write `iodepth = 1` for one request at a time"
    );
    assert_eq!(
        refusal("iodepth = 100000\n"),
        "error: `iodepth` is 100000, not from 1 to 32768\n  --> w.toml:1:11\n   \
         1 | iodepth = 100000\nhelp: spread the requests over several workers"
    );
}

#[test]
fn impossible_values_are_refused_with_their_line() {
    for (text, message) in [
        ("workers = 0\n", "`workers` is 0, not from 1 to 1024"),
        (
            "repetitions = 5000\n",
            "`repetitions` is 5000, not from 1 to 1000",
        ),
        ("operations = 0\n", "`operations` is 0, not at least 1"),
        ("cpus = []\n", "`cpus` is an empty list"),
        ("iodepth = []\n", "`iodepth` is an empty list"),
        ("content = {}\n", "`content` sets no share"),
        ("name = \"\"\n", "`name` is not one line of text"),
        ("[[part]]\n[[part.part]]\n", "a part of a pack has parts"),
        (
            "[[worker]]\niodepth = 0\n",
            "`iodepth` is 0, not from 1 to 32768",
        ),
    ] {
        let error = read_toml("w.toml", text).unwrap_err();
        assert_eq!(
            (error.message.as_str(), error.line.is_some()),
            (message, true),
            "{text}"
        );
    }
}

#[test]
fn distribution_parameters_out_of_range_are_refused() {
    for (value, message) in [
        (
            "{ zipf = 1 }",
            "the skew of `zipf` is 1, not above 0, at most 100 and other than 1",
        ),
        (
            "{ zipf = nan }",
            "the skew of `zipf` is NaN, not above 0, at most 100 and other than 1",
        ),
        (
            "{ pareto = 1.5 }",
            "the shape of `pareto` is 1.5, not between 0 and 1",
        ),
        (
            "{ normal = 0 }",
            "the deviation of `normal` is 0 %, not above 0 %",
        ),
        (
            "{ zones = [{ access = 80, size = 20 }] }",
            "`access` of the zones adds up to 80 %, not 100 %",
        ),
        (
            "{ zones = [{ access = 80, size = 0 }, { access = 20, size = 100 }] }",
            "a zone has requests but no size",
        ),
    ] {
        let error = read_toml("w.toml", &format!("{GOOD}distribution = {value}\n")).unwrap_err();
        assert_eq!((error.message.as_str(), error.line), (message, Some(5)));
    }
    let zones = "{ zones = [{ access = 80, size = 20 }, { access = 20, size = 80 }] }";
    assert!(read_toml("w.toml", &format!("{GOOD}distribution = {zones}\n")).is_ok());
}

#[test]
fn iometer_positions_take_no_distribution() {
    let text = format!("position = \"iometer\"\n{GOOD}distribution = \"no-repeat\"\n");
    assert_eq!(
        refusal(&text),
        "error: `distribution` cannot be used with `position = \"iometer\"`\n  --> w.toml:6:16\n   \
         6 | distribution = \"no-repeat\"\nhelp: take out `distribution`"
    );
}

#[test]
fn workers_may_name_only_specifications_of_the_file() {
    assert_eq!(
        refusal(&format!("{GOOD}[[worker]]\naccess_specs = [\"b\"]\n")),
        "error: there is no access specification `b`\n  --> w.toml:6:16\n   \
         6 | access_specs = [\"b\"]\nhelp: did you mean `a`?"
    );
    assert!(
        read_toml(
            "w",
            &format!("{GOOD}[[worker]]\naccess_specs = [\"A\", \"Idle\"]\n")
        )
        .is_ok()
    );
    assert!(refusal(&format!("{GOOD}{GOOD}")).contains("two access specifications are named `a`"));
}

fn option<T: std::fmt::Debug + Clone + 'static>(
    value: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    proptest::option::of(value)
}

fn percent() -> impl Strategy<Value = Percent> {
    (0_u32..=1000).prop_map(|tenths| Percent(f64::from(tenths) / 10.0))
}

fn bytes() -> impl Strategy<Value = Bytes> {
    prop_oneof![0_u64..1 << 31, 0..i64::MAX as u64].prop_map(Bytes)
}

fn content() -> impl Strategy<Value = ContentChoice> {
    prop_oneof![
        Just(ContentChoice::Incompressible),
        Just(ContentChoice::Zero),
        (option(percent()), percent()).prop_map(|(compress, dedupe)| {
            ContentChoice::Reducible(Reducible {
                compress,
                dedupe: Some(dedupe),
            })
        }),
    ]
}

fn distribution() -> impl Strategy<Value = DistributionChoice> {
    let zone = (percent(), percent()).prop_map(|(access, size)| ZoneChoice { access, size });
    prop_oneof![
        Just(DistributionChoice::Uniform),
        Just(DistributionChoice::NoRepeat),
        (0.1_f64..9.0).prop_map(DistributionChoice::Zipf),
        percent().prop_map(DistributionChoice::Normal),
        prop::collection::vec(zone, 0..4).prop_map(DistributionChoice::Zones),
    ]
}

fn access_line() -> impl Strategy<Value = AccessLine> {
    let sequence = prop_oneof![
        Just(SequenceChoice::Backward),
        bytes().prop_map(SequenceChoice::Strided)
    ];
    (
        (
            option(bytes()),
            option(percent()),
            option(percent()),
            option(percent()),
        ),
        (
            option(any::<u64>().prop_map(Span)),
            any::<Option<u32>>(),
            option(bytes()),
        ),
        (option(distribution()), option(sequence)),
    )
        .prop_map(
            |((size, of_size, read, random), (delay, burst, align), chosen)| AccessLine {
                size,
                of_size,
                read,
                random,
                delay,
                burst,
                align,
                reply: align,
                distribution: chosen.0,
                sequence: chosen.1,
            },
        )
}

fn worker() -> impl Strategy<Value = Worker> {
    (
        option(".{0,12}"),
        any::<Option<u32>>(),
        option(prop::collection::vec(".{0,8}".prop_map(String::from), 0..3)),
        option(any::<u64>().prop_map(Seed)),
        option(content()),
    )
        .prop_map(|(name, count, names, seed, content)| Worker {
            group: name.clone(),
            name,
            count,
            targets: names.clone().map(OneOrMany::from),
            access_specs: names,
            seed,
            content,
            ..Worker::default()
        })
}

fn cycling() -> impl Strategy<Value = Cycling> {
    (any::<Option<u32>>(), any::<Option<u32>>()).prop_map(|(start, end)| Cycling {
        workers: Some(Cycle {
            start,
            step: end,
            kind: Some(StepKind::Exponential),
        }),
        targets: None,
        iodepth: Some(DepthCycle {
            start,
            end,
            step: None,
            kind: None,
        }),
    })
}

/// Workloads as they can be described, sensible or not.
fn workload() -> impl Strategy<Value = Workload> {
    let texts = (option(".{0,20}"), option("(?s).{0,40}"));
    let spec = (
        option(".{0,12}"),
        prop::collection::vec(access_line(), 0..3),
    )
        .prop_map(|(name, line)| AccessSpec { name, line });
    let lists = (
        prop::collection::vec(spec, 0..3),
        prop::collection::vec(worker(), 0..3),
    );
    let numbers = (
        option(prop::collection::vec(any::<u32>(), 0..4)),
        option(bytes()),
        any::<bool>(),
    );
    (
        texts,
        lists,
        numbers,
        option(cycling()),
        option(any::<u64>().prop_map(Seed)),
        content(),
    )
        .prop_map(
            |(
                (name, description),
                (access_spec, worker),
                (depths, size, flag),
                cycling,
                seed,
                content,
            )| {
                Workload {
                    name,
                    description,
                    iodepth: depths.clone().map(OneOrMany::from),
                    cpus: depths.map(|cpus| CpuList(cpus.iter().map(|cpu| cpu % 8192).collect())),
                    size,
                    verify: Some(flag),
                    engine: flag.then_some(EngineKind::Mmap),
                    cache: flag.then_some(CacheMode::Dontcache),
                    position: flag.then_some(PositionRule::Iometer),
                    cursor: flag.then_some(CursorKind::Shared),
                    test_type: flag.then_some(TestType::CycleOutstandingIosAndTargets),
                    content: Some(content),
                    cycling,
                    seed,
                    access_spec,
                    worker,
                    ..Workload::default()
                }
            },
        )
}

proptest! {
    #[test]
    fn a_written_workload_reads_back_the_same(workload in workload()) {
        let text = to_toml(&workload).unwrap();
        let read: Workload = toml::from_str(&text)
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        prop_assert_eq!(read, workload, "{}", text);
    }

    #[test]
    fn no_text_makes_reading_panic(text in "(?s).{0,200}") {
        let _ = read_toml("w.toml", &text);
    }

    #[test]
    fn no_mangled_file_makes_reading_panic(
        cut in 0_usize..400,
        junk in "[\\[\\]{}=\"\\\\\na-z0-9.]{0,12}",
    ) {
        let text = crate::builtin::find("file-server").unwrap().text;
        let cut = text.floor_char_boundary(cut.min(text.len()));
        let mangled = format!("{}{junk}{}", &text[..cut], &text[cut..]);
        if let Err(error) = read_toml("w.toml", &mangled) {
            prop_assert!(error.to_string().starts_with("error: "));
        }
    }
}

#[test]
fn a_choice_without_its_value_is_refused_with_an_example() {
    assert_eq!(
        refusal(&format!("{GOOD}distribution = \"zipf\"\n")),
        "error: `access_spec.line.distribution` is `\"zipf\"` without a value\n  \
         --> w.toml:5:16\n   5 | distribution = \"zipf\"\n\
         help: write `distribution = { zipf = 1.2 }`"
    );
    assert_eq!(
        refusal(&format!("{GOOD}sequence = \"strided\"\n")),
        "error: `access_spec.line.sequence` is `\"strided\"` without a value\n  \
         --> w.toml:5:12\n   5 | sequence = \"strided\"\n\
         help: write `sequence = { strided = \"1MiB\" }`"
    );
}

#[test]
fn empty_zones_and_strides_of_zero_are_refused() {
    assert_eq!(
        refusal(&format!("{GOOD}distribution = {{ zones = [] }}\n")),
        "error: `zones` is an empty list\n  --> w.toml:5:16\n   \
         5 | distribution = { zones = [] }\n\
         help: write `{ zones = [{ access = 80, size = 20 }, { access = 20, size = 80 }] }`"
    );
    assert_eq!(
        refusal(&format!("{GOOD}sequence = {{ strided = 0 }}\n")),
        "error: the stride of `strided` is 0, so every request would go to the same place\n  \
         --> w.toml:5:12\n   5 | sequence = { strided = 0 }\n\
         help: write `{ strided = \"1MiB\" }`"
    );
}

#[test]
fn targets_of_a_worker_are_distinct() {
    assert_eq!(
        refusal(&format!("{GOOD}[[worker]]\ntargets = [\"/a\", \"/a/\"]\n")),
        "error: target `/a` is given twice\n  --> w.toml:6:11\n   \
         6 | targets = [\"/a\", \"/a/\"]\nhelp: name each target once"
    );
}

#[test]
fn a_list_instead_of_a_table_of_amounts_is_refused_with_the_syntax() {
    let error = refusal("[[phase]]\nname = \"p\"\n[[phase.group]]\nsteps = [\"create a\"]\n");
    assert!(
        error.contains("is `[\"create a\"]`, not a table"),
        "{error}"
    );
    assert!(
        error.ends_with("help: write `steps = { NAME = ... }`, one for each name"),
        "{error}"
    );
}
