use super::*;

#[derive(Debug, Default, PartialEq, Eq)]
struct ExampleOptions {
    is_set: bool,
    times: u32,
    count: u32,
    bytes: u64,
    name: String,
    at: Option<String>,
    words: Vec<String>,
    ignored: Vec<String>,
}

const ROWS: &[OptionRow<ExampleOptions>] = &[
    flag("-f --flag", |it| &mut it.is_set),
    act("-a", |it| it.times += 1),
    number("-n --number count", |it| &mut it.count),
    yes_or_no("-e", |it| &mut it.is_set),
    size("-s", |it| &mut it.bytes),
    text("-t", |it| &mut it.name),
    read("-r", |it, value| {
        it.count = value.number_within(1, 9)?;
        Ok(())
    }),
    read("-l", |it, value| {
        it.bytes = value.part("7").limited(8, 9)?;
        Ok(())
    }),
    attached("-o", |it, value| {
        it.at = value.map(WrittenValue::shown);
        Ok(())
    }),
    idle("-i"),
    idle_value("-v"),
    read_each("-w", |it, value| {
        it.ignored.push(value.text.to_owned());
        Ok(())
    }),
    read("-p", |it, value| {
        it.is_set = posix_or_dummy(value)?;
        Ok(())
    }),
    refused("-x", "flies"),
    refused_value("-X", "sings"),
    refused_with("-y", "`{}` is for others"),
    refused_value_with("-Y", "nobody does it"),
];
const GETOPT: Grammar<ExampleOptions> = Grammar::new(ROWS, |it| &mut it.ignored);

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn read_by(grammar: &Grammar<ExampleOptions>, line: &str) -> Result<ExampleOptions, String> {
    grammar.read(&words(line), ExampleOptions::default())
}

#[test]
fn letters_may_be_joined_and_followed_by_a_value() {
    let parsed = read_by(&GETOPT, "-faan5 -s 4k -tx -ivy -o -of").unwrap();
    let wanted = ExampleOptions {
        is_set: true,
        times: 2,
        count: 5,
        bytes: 4096,
        name: "x".to_owned(),
        at: Some("f".to_owned()),
        ignored: words("-i -v"),
        ..ExampleOptions::default()
    };
    assert_eq!(parsed, wanted);
    assert!(read_by(&GETOPT, "-e Yes").unwrap().is_set);
    assert!(!read_by(&GETOPT, "-f -e n").unwrap().is_set);
    let parsed = read_by(&GETOPT, "-w a b c -f -r 9").unwrap();
    assert!(parsed.is_set && parsed.count == 9);
    assert_eq!(parsed.ignored, words("a b c"));
}

#[test]
fn mistakes_are_reported_in_one_form() {
    for (line, wanted) in [
        ("-q", "there is no option `-q`"),
        ("-fq", "there is no option `-q`"),
        ("--quick", "there is no option `--quick`"),
        (
            "--flag=1",
            "there is no option `--flag=1`; did you mean `--flag`?",
        ),
        ("count 5", "there is no option `count`"),
        ("-", "there is no option `-`"),
        ("-n", "option `-n` needs a value"),
        ("-n x", "`-n x` is not a number"),
        ("-n -1", "`-n -1` is not a number"),
        ("-e 1", "`-e 1` is not Y or N"),
        (
            "-s 4q",
            "`-s 4q` is not a number with an optional unit: `k`, `m`, `g` or `t`",
        ),
        ("-s 4kb", "`-s 4kb` is not a size; write `-s 4k`"),
        ("-s 4GiB", "`-s 4GiB` is not a size; write `-s 4g`"),
        (
            "-s -f",
            "option `-s` needs a value, but the option `-f` follows",
        ),
        (
            "-n -s4k -f",
            "option `-n` needs a value, but the option `-s4k` follows",
        ),
        (
            "-o 5",
            "`5` is not an option; if it is the value of `-o`, write `-o5`",
        ),
        ("-r 10", "`-r 10` is not a number from 1 to 9"),
        (
            "-p MPI",
            "the interface `MPI` is not POSIX or DUMMY, the only ones here",
        ),
        ("-x", "`-x` flies, which is not supported; leave it out"),
        ("-X", "option `-X` needs a value"),
        ("-X 1", "`-X` sings, which is not supported; leave it out"),
        ("-y", "`-y` is for others"),
        ("-Y 1", "nobody does it"),
    ] {
        assert_eq!(read_by(&GETOPT, line).unwrap_err(), wanted, "{line}");
    }
}

#[test]
fn values_follow_an_equals_sign_if_the_program_requires_it() {
    let all = Grammar {
        equals: EqualsSyntax::All,
        letters: LetterSyntax::Flags,
        ..GETOPT
    };
    let parsed = read_by(&all, "-n=5 -fa -t=a=b --number 7").unwrap();
    assert_eq!(
        (parsed.count, parsed.times, parsed.name.as_str()),
        (7, 1, "a=b")
    );
    assert_eq!(
        read_by(&all, "-f=1").unwrap_err(),
        unknown_option_message("-=")
    );
    assert_eq!(
        read_by(&all, "-fn 5").unwrap_err(),
        unknown_option_message("-n")
    );
    assert!(read_by(&all, "-fX").unwrap_err().contains("sings"));
    let long = Grammar {
        equals: EqualsSyntax::Long,
        letters: LetterSyntax::JoinedOrEquals,
        unknown: |it| format!("{} {} {} {}", it.word, it.name, it.is_joined, it.has_value),
        ..GETOPT
    };
    let parsed = read_by(&long, "--number=5 -ft=x -s=4k").unwrap();
    assert_eq!(
        (parsed.count, parsed.bytes, parsed.name.as_str()),
        (5, 4096, "x")
    );
    assert_eq!(
        read_by(&long, "--flag=1").unwrap_err(),
        "--flag=1 --flag true true"
    );
    assert_eq!(read_by(&long, "-fq x").unwrap_err(), "-fq -q false true");
    assert_eq!(read_by(&long, "-q").unwrap_err(), "-q -q false false");
}

#[test]
fn short_options_stay_separate_if_the_program_requires_it() {
    let alone = Grammar {
        letters: LetterSyntax::Alone,
        operand: Some(|it: &mut ExampleOptions, word| {
            it.words.push(word.to_owned());
            Ok(())
        }),
        ..GETOPT
    };
    let parsed = read_by(&alone, "-f x -n 5 y").unwrap();
    assert_eq!(
        (parsed.words.join(" "), parsed.count),
        ("x y".to_owned(), 5)
    );
    assert_eq!(
        read_by(&alone, "-n5").unwrap_err(),
        unknown_option_message("-n5")
    );
    let values = Grammar {
        letters: LetterSyntax::Value,
        ..GETOPT
    };
    let parsed = read_by(&values, "-n5 -o3 -f").unwrap();
    assert_eq!((parsed.count, parsed.at.as_deref()), (5, Some("3")));
    let apart = "`-fa` joins several options; write them separately";
    assert_eq!(read_by(&values, "-fa").unwrap_err(), apart);
}

#[test]
fn long_options_may_be_abbreviated_if_the_program_allows_it() {
    let short = Grammar {
        equals: EqualsSyntax::All,
        letters: LetterSyntax::Alone,
        takes_prefixes: true,
        ..GETOPT
    };
    let parsed = read_by(&short, "--num 5 --fl").unwrap();
    assert_eq!((parsed.count, parsed.is_set), (5, true));
    assert_eq!(read_by(&short, "--nu=7").unwrap().count, 7);
    assert_eq!(
        read_by(&short, "--x").unwrap_err(),
        unknown_option_message("--x")
    );
    let twice: &[OptionRow<ExampleOptions>] = const {
        &[
            number("--files", |it| &mut it.count),
            size("--file-size", |it| &mut it.bytes),
        ]
    };
    let short = Grammar {
        rows: twice,
        ..short
    };
    assert_eq!(read_by(&short, "--files 3").unwrap().count, 3);
    assert_eq!(
        read_by(&short, "--file 3").unwrap_err(),
        "`--file` is short for several options: --files, --file-size"
    );
    assert!(read_by(&GETOPT, "--num 5").is_err());
}

#[test]
fn a_row_is_applied_by_any_of_its_names() {
    let row = ROWS.iter().find(|row| row.names().any(|it| it == "count"));
    let mut parsed = ExampleOptions::default();
    let applied = GETOPT.apply(row.unwrap(), &mut parsed, "count", Some("7"));
    assert_eq!((applied, parsed.count), (Ok(()), 7));
    for (value, is_set) in [("1", true), ("0", false)] {
        let applied = GETOPT.apply(&ROWS[0], &mut parsed, "flag", Some(value));
        assert_eq!((applied, parsed.is_set), (Ok(()), is_set));
    }
    let refused = GETOPT.apply(&ROWS[0], &mut parsed, "flag", Some("x"));
    assert_eq!(refused.unwrap_err(), "`flag x` is not a number");
}

#[test]
fn values_that_are_too_small_are_reported() {
    assert_eq!(at_least(&[("-a", 1, 1), ("-b", 2, 1)]), Ok(()));
    let error = at_least(&[("-a", 1, 1), ("-b", 0, 1)]).unwrap_err();
    assert_eq!(error, "`-b` is 0, and must be at least 1");
}

#[test]
fn every_violated_rule_is_reported() {
    assert_eq!(
        rule_out(&[(false, "a"), (true, "b"), (true, "c")]),
        Err("b\nc".to_owned())
    );
    assert_eq!(rule_out(&[(false, "a")]), Ok(()));
}

#[test]
fn sizes_take_a_suffix_or_the_default_unit_of_the_option() {
    for (text, wanted) in [
        ("4k", Some(4096)),
        ("2M", Some(2 << 20)),
        ("1g", Some(1 << 30)),
        ("7", Some(7 << 20)),
        ("1kk", None),
        ("", None),
        ("-1", None),
        ("99999999999t", None),
    ] {
        assert_eq!(bytes(text, 1 << 20), wanted, "{text}");
    }
}
