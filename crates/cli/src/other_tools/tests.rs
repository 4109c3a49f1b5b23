use clap::Parser;

use super::*;

fn words(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

fn error_text(line: &str) -> String {
    let words = words(line);
    let mut error = Cli::try_parse_from(&words).expect_err("not ours");
    translate(&mut error, &words);
    error.render().to_string()
}

#[test]
fn whole_lines_of_other_tools_are_translated_to_our_options() {
    for (line, ours) in [
        (
            "pgmeter compare --ioengine=libaio --numjobs=4 --rw=randread",
            "--engine io_uring --workers 4 --rw=randread",
        ),
        (
            "pgmeter run --name=x --rw=randread --bs=4k --ioengine=libaio --iodepth=32 --direct=1 \
             --numjobs=4 --runtime=60 --time_based --filename=/dev/x --group_reporting",
            "--rw=randread --bs=4k --engine io_uring --iodepth=32 --cache direct --workers 4 \
             --run-time 60 --target /dev/x",
        ),
        (
            "pgmeter run -w -b 4k -t 4 -s 1g --rand --direct --rwmixpct 70 /mnt/x",
            "--read 70 --bs 4k --workers 4 --size 1g --random 100 --cache direct --target /mnt/x",
        ),
        (
            "pgmeter run -i 0 -r 4k -s 1g -t 2 -I -f /mnt/x/f",
            "--rw write --bs 4k --size 1g --workers 2 --cache direct --target /mnt/x/f",
        ),
        (
            "pgmeter run --numjobs=4 --rate_iops=100 --rw=randread",
            "--workers 4 --rate 400 --rw=randread",
        ),
        (
            "pgmeter run -i 0 -i 1 -i 1 -i 2 -s 1g",
            "--rw write,read,randrw --size 1g",
        ),
        ("pgmeter run -i1 -r4k -s1g", "--rw read --bs 4k --size 1g"),
        (
            "pgmeter check --bssplit=4k/60:64k/40 --rw=randrw --rwmixwrite=30",
            "--bs 4k:60,64k:40 --rw=randrw --rwmix 70",
        ),
        (
            "pgmeter --ioengine=psync --rw=read --runtime=5",
            "--engine psync --rw=read --run-time 5",
        ),
    ] {
        let message = error_text(line);
        let all = message
            .lines()
            .find(|it| it.contains("in full: "))
            .unwrap_or_default();
        let command = ["check", "compare"]
            .into_iter()
            .find(|it| line.contains(it));
        let wanted = format!("in full: `pgmeter {} {ours}`", command.unwrap_or("run"));
        assert!(all.contains(&wanted), "{line}\n{message}\nwanted {wanted}");
    }
}

#[test]
fn every_option_of_another_tool_gets_a_tip() {
    for (line, tip) in [
        (
            "pgmeter run --ioengine=libaio",
            "fio's `--ioengine=libaio` is `--engine io_uring` here",
        ),
        (
            "pgmeter run --direct=0",
            "fio's `--direct=0` is `--cache buffered` here",
        ),
        (
            "pgmeter run --buffered=0",
            "fio's `--buffered=0` is `--cache direct` here",
        ),
        (
            "pgmeter run --direct",
            "elbencho's `--direct` is `--cache direct` here",
        ),
        (
            "pgmeter run --numjobs 4",
            "fio's `--numjobs=4` is `--workers 4` here",
        ),
        (
            "pgmeter run --blocksize=8k",
            "fio's `--blocksize=8k` is `--bs 8k` here",
        ),
        (
            "pgmeter run --rwmixpct 70",
            "elbencho's `--rwmixpct=70` is `--read 70` here",
        ),
        (
            "pgmeter run --rate_iops=100 --numjobs 3",
            "fio's `--rate_iops=100` is `--rate 300` here",
        ),
        (
            "pgmeter run --rate_iops=100",
            "fio's `--rate_iops=100` is `--rate 100` here",
        ),
        ("pgmeter run -b 4k", "elbencho's `-b 4k` is `--bs 4k` here"),
        ("pgmeter run -i 2", "IOzone's `-i 2` is `--rw randrw` here"),
        (
            "pgmeter run --rand --read",
            "elbencho's `--read` is `--read 100` here",
        ),
        (
            "pgmeter run --fsync=1",
            "fio's `--fsync=1` is not supported: use `pgmeter as fio ... --fsync=1`",
        ),
        (
            "pgmeter run --verify=crc32c",
            "fio's `--verify=crc32c` is `--verify` here",
        ),
        (
            "pgmeter run --rw=trim",
            "write `trim = \"only\"` into a `[[job]]`",
        ),
        ("pgmeter run --rw=randtrim", "`--rw` has no trims"),
    ] {
        let message = error_text(line);
        assert!(message.contains(tip), "{line}\n{message}");
        assert!(message.starts_with("error: "), "{message}");
    }
}

#[test]
fn a_line_of_another_tool_gets_a_tip_with_the_right_command() {
    for (line, tip) in [
        (
            "pgmeter run job.fio --section=a",
            "use `pgmeter as fio job.fio --section=a`",
        ),
        (
            "pgmeter run -c my.icf -r results.csv",
            "write `pgmeter run my.icf`, then `pgmeter report last --format iometer-csv`",
        ),
        (
            "pgmeter run -b 4k -r t/dir",
            "in full: `pgmeter run --bs 4k --read 100 --target t/dir`",
        ),
        (
            "pgmeter run quick -b 4k -r --iodepth 4",
            "in full: `pgmeter run quick --bs 4k --read 100 --iodepth 4`",
        ),
        (
            "pgmeter run --name=x --numjobs=4 --runtime=5",
            "or run it unchanged: `pgmeter as fio ...`",
        ),
        (
            "pgmeter run -i 0 -r 4k -s 1g",
            "or run it unchanged: `pgmeter as iozone ...`",
        ),
    ] {
        let message = error_text(line);
        assert!(message.contains(tip), "{line}\n{message}");
    }
}

#[test]
fn vdbench_parameters_in_place_of_a_workload_get_a_tip() {
    for (word, tip) in [
        ("xfersize=4k", "vdbench's `xfersize=4k` is `--bs 4k` here"),
        ("rdpct=70", "vdbench's `rdpct=70` is `--read 70` here"),
        (
            "seekpct=random",
            "vdbench's `seekpct=random` is `--random 100` here",
        ),
        ("threads=8", "vdbench's `threads=8` is `--iodepth 8` here"),
        ("iorate=max", "is the default here"),
        ("rw=randread", "write `--rw randread`"),
        ("bs=4k", "write `--bs 4k`"),
        ("runtime=60", "fio's `--runtime=60` is `--run-time 60` here"),
    ] {
        assert!(of_workload(word).unwrap().contains(tip), "{word}");
    }
    for word in [
        "oltp",
        "a=b",
        "xfersize",
        "rdpct=",
        "bs=",
        "overwrite-device=/dev/x",
        "x/xfersize=4k",
    ] {
        assert_eq!(of_workload(word), None, "{word}");
    }
}

#[test]
fn several_vdbench_parameters_are_translated_together() {
    let full = |line: &str| in_full(&words(line));
    assert_eq!(
        full("pgmeter run rdpct=70 xfersize=4k -t target").as_deref(),
        Some("in full: `pgmeter run --read 70 --bs 4k -t target`")
    );
    assert_eq!(
        full("pgmeter check iorate=max seekpct=random --set threads=2").as_deref(),
        Some("in full: `pgmeter check --random 100 --set threads=2`")
    );
    for line in [
        "pgmeter run rdpct=70 -t target",
        "pgmeter run quick --set iodepth=4 --set workers=2",
        "pgmeter lab run rdpct=70 xfersize=4k",
    ] {
        assert_eq!(full(line), None, "{line}");
    }
}

#[test]
fn a_vdbench_parameter_file_is_not_taken_for_a_target() {
    let message = error_text("pgmeter run -f job.parm");
    assert!(
        message.contains("vdbench's `-f job.parm` is not supported"),
        "{message}"
    );
    assert!(!message.contains("IOzone"), "{message}");
    let message = error_text("pgmeter run -f /mnt/x/f");
    assert!(
        message.contains("IOzone's `-f /mnt/x/f` is `--target /mnt/x/f` here"),
        "{message}"
    );
}

#[test]
fn unknown_options_and_other_commands_get_no_tips() {
    for line in [
        "pgmeter run --frobnicate -t 4",
        "pgmeter run --iodpth=4",
        "pgmeter list --ioengine=libaio",
        "pgmeter runs --threads 4",
    ] {
        let message = error_text(line);
        assert!(!message.contains(" here"), "{message}");
    }
    assert!(error_text("pgmeter run --iodpth=4").contains("'--iodepth'"));
}

#[test]
fn rows_list_no_option_of_ours_and_suggest_only_ours() {
    let command = Cli::command();
    let run = command.find_subcommand("run").expect("a command");
    let is_own = |long: &str| {
        let mut arguments = run.get_arguments();
        arguments.any(|it| {
            it.get_long_and_visible_aliases()
                .unwrap_or_default()
                .contains(&long)
        })
    };
    for row in ROWS {
        if let Some(long) = row.word.strip_prefix("--") {
            // Where the shape differs, the row tells the two apart.
            let differs = matches!(row.word, "--verify" | "--read");
            assert!(differs || !is_own(long), "{}", row.word);
        }
        let own = match row.translation {
            OptionTranslation::Same(option) | OptionTranslation::TimesJobs(option) => {
                option.to_owned()
            }
            OptionTranslation::Words(words) => words.to_owned(),
            OptionTranslation::Computed(make) => make("1"),
            OptionTranslation::Unneeded(_) | OptionTranslation::Instead(_) => continue,
        };
        let long = own.strip_prefix("--").expect("an option").split(' ').next();
        assert!(is_own(long.unwrap_or_default()), "{own}");
    }
}
