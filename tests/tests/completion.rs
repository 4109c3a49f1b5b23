//! Completion: what the program answers a shell, and what a shell makes of its script.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::Command;
use std::time::{Duration, Instant};

use end_to_end::{Finished, STORE, ScratchTarget, finish, run_tool, skip};
use serde_json::Value;

/// Touches nothing.
const NULL: &str = "engine = \"null\"\nsize = \"1m\"\nrun_time = \"50ms\"\nramp_time = \"0s\"\n\
    [[access_spec]]\nname = \"Nothing\"\nline = [{ size = \"4k\" }]\n";
/// Much more than completion takes, because other programs may be busy at the same time.
const ANSWER_TIME_MAX: Duration = Duration::from_millis(50);

fn bed() -> ScratchTarget {
    let bed = ScratchTarget::new().unwrap();
    bed.file("null.toml", NULL);
    bed
}

/// A bed with two runs, of which the newest has a tag.
fn with_runs() -> (ScratchTarget, Vec<String>) {
    let bed = bed();
    for _ in 0..2 {
        let output = bed.run(&["run", "null.toml", "--quiet", "--no-html"]);
        assert_eq!(output.code, 0, "{}", output.text());
    }
    let output = bed.run(&["runs", "tag", "last", "after-trim"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let listed = bed.run(&["runs", "--json"]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    let short = |run: &Value| run["short_id"].as_str().unwrap().to_owned();
    (
        bed,
        listed["runs"]
            .as_array()
            .unwrap()
            .iter()
            .map(short)
            .collect(),
    )
}

/// Asks as the script of a shell does, and checks that nothing else is said.
fn ask(bed: &ScratchTarget, shell: &str, line: &[&str]) -> Finished {
    let words = [&["--", "pgmeter"], line].concat();
    let output = finish(bed.command(&words).env("PGMETER_COMPLETE", shell));
    assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{line:?}");
    output
}

fn ends(bed: &ScratchTarget, line: &[&str]) -> Vec<String> {
    let output = ask(bed, "bash", line);
    output.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn names_of_every_kind_are_completed() {
    let (bed, ids) = with_runs();
    let directory = |name: &str| std::fs::create_dir(bed.path().join(name)).unwrap();
    directory("disk-a");
    for (line, wanted) in [
        (&["run", "randr"][..], &["randread-4k", "randrw-4k"][..]),
        (&["run", "nul"], &["null.toml"]),
        (&["check", "web-s"], &["web-server"]),
        (&["runs", "tag", "last", "aft"], &["after-trim"]),
        (&["runs", "--tag", "aft"], &["after-trim"]),
        (&["runs", "--workload", "nu"], &["null"]),
        (&["compare", "tag:aft"], &["tag:after-trim"]),
        (&["lab", "run", "oltp", "--fs", "bt"], &["btrfs"]),
        (&["lab", "run", "oltp", "--fs=ext4,x"], &["--fs=ext4,xfs"]),
        (&["lab", "recover", "--fs", "nil"], &["nilfs2"]),
        (
            &["lab", "run", "oltp", "--fs", "path:disk"],
            &["path:disk-a/"],
        ),
        (&["lab", "run", "oltp", "--on", "lo"], &["loop"]),
        (&["paper", "run", "lfs-p"], &["lfs-postmark"]),
        (&["compare", "--published", "lfs-p"], &["lfs-postmark"]),
        (&["run", "--set", "arr"], &["arrivals="]),
        (
            &["run", "--set", "arrivals="],
            &["arrivals=uniform", "arrivals=poisson"],
        ),
        (&["keys", "precond"], &["precondition"]),
        (&["run", "--target", "disk"], &["disk-a/"]),
        (&["as", "post"], &["postmark"]),
        (&["runs", "--sort", "band"], &["bandwidth"]),
        (&["report", "--format", "io"], &["iometer-csv"]),
    ] {
        assert_eq!(ends(&bed, line), wanted, "{line:?}");
    }
    for line in [
        &["runs", "show"][..],
        &["runs", "rm"],
        &["report"],
        &["compare", "last"],
        &["show"],
    ] {
        let offered = ends(&bed, &[line, &[""]].concat());
        for id in &ids {
            assert!(offered.contains(id), "{line:?}: no {id} in {offered:?}");
        }
        assert!(
            offered.contains(&"last".to_owned()),
            "{line:?}: {offered:?}"
        );
    }
    let helped = ask(&bed, "zsh", &["runs", "show", &ids[0]]);
    let (value, help) = helped.stdout.trim_end().split_once('\t').unwrap();
    assert_eq!(value, ids[0]);
    assert!(help.contains("  null"), "{help}");
}

#[test]
fn block_devices_are_targets() {
    let bed = bed();
    let Some(device) = ends(&bed, &["run", "--target", ""])
        .into_iter()
        .find(|it| it.starts_with("/dev/"))
    else {
        skip!("no block device is here");
    };
    let begun = &device[..device.len() - 1];
    let offered = ends(&bed, &["run", "--target", begun]);
    assert!(offered.contains(&device), "{offered:?}");
    let offered = ends(&bed, &["run", "--target", "/dev/nul"]);
    assert!(offered.is_empty(), "{offered:?}");
    let offered = ends(&bed, &["run", "--overwrite-device", begun]);
    assert!(offered.is_empty(), "{offered:?}");
}

#[test]
fn completion_reads_the_store_given_by_db() {
    let (bed, ids) = with_runs();
    let other = bed.path().join("moved.db").display().to_string();
    std::fs::rename(bed.path().join(STORE), &other).unwrap();
    assert!(!ends(&bed, &["runs", "show", ""]).contains(&ids[0]));
    for named in [&["--db", &other][..], &[&format!("--db={other}")]] {
        let offered = ends(&bed, &[named, &["runs", "show", ""]].concat());
        assert!(offered.contains(&ids[0]), "{named:?}: {offered:?}");
    }
}

#[test]
fn completion_changes_no_file_and_reports_no_error() {
    let bed = bed();
    let runs = ["runs", "show", ""];
    let options = ["--json", "--db", "--help"];
    assert_eq!(ends(&bed, &runs), options);
    assert!(!bed.path().join(STORE).exists());
    let store = bed.path().join(STORE);
    std::fs::create_dir(store.parent().unwrap()).unwrap();
    for broken in ["", "no store", "SQLite format 3\0 and so on"] {
        std::fs::write(&store, broken).unwrap();
        assert_eq!(ends(&bed, &runs), options);
        assert_eq!(std::fs::read_to_string(&store).unwrap(), broken);
    }
    for odd in [&["no", "such", ""][..], &["run", "--no-such", ""], &[]] {
        ask(&bed, "fish", odd);
    }
    let output = finish(bed.command(&["--"]).env("PGMETER_COMPLETE", "bash"));
    assert_eq!((output.code, output.text().trim()), (0, "exit 0"));
    // A leftover environment variable does not turn commands into completion requests.
    let output = finish(
        bed.command(&["list", "--names"])
            .env("PGMETER_COMPLETE", "bash"),
    );
    assert!(output.stdout.contains("oltp"), "{}", output.text());
}

#[test]
fn names_with_terminal_control_characters_are_not_offered() {
    let (bed, _) = with_runs();
    let evil = "a\u{1b}[2Jb.toml";
    bed.file(evil, NULL);
    let output = ask(&bed, "zsh", &["run", "a"]);
    assert!(!output.stdout.contains('\u{1b}'), "{}", output.stdout);
    let exported = bed.run(&["runs", "export", "last"]).stdout;
    let mut record: Value = serde_json::from_str(&exported).unwrap();
    record["plan"]["workloads"][0]["name"] = evil.into();
    record["id"] = "20200101-000000-000-1".into();
    bed.file("evil.json", record.to_string());
    let output = bed.run(&["runs", "import", "evil.json"]);
    assert_eq!(output.code, 0, "{}", output.text());
    let output = ask(&bed, "zsh", &["runs", "show", ""]);
    assert!(!output.stdout.contains('\u{1b}'), "{}", output.stdout);
    assert_eq!(output.stdout.lines().count(), 5, "{}", output.stdout);
}

#[test]
fn completion_answers_without_a_noticeable_delay() {
    let (bed, _) = with_runs();
    let time = |line: &[&str]| {
        let begun = Instant::now();
        ask(&bed, "bash", line);
        begun.elapsed()
    };
    for line in [
        &["runs", "show", ""][..],
        &["run", "--set", ""],
        &["run", "-t", ""],
    ] {
        let fastest = (0..20).map(|_| time(line)).min().unwrap();
        assert!(fastest < ANSWER_TIME_MAX, "{line:?}: {fastest:?}");
    }
}

/// Completions that bash offers at the end of a line.
fn bash(bed: &ScratchTarget, line: &str) -> Vec<String> {
    let program = bed
        .command(&[])
        .get_program()
        .to_string_lossy()
        .into_owned();
    // As readline calls a function: the words are cut where bash cuts them.
    let script = format!(
        "source <('{program}' completions bash)\n\
         COMP_LINE={line}\nCOMP_POINT=${{#COMP_LINE}}\n\
         mapfile -t COMP_WORDS < <(cut_words \"$COMP_LINE\")\n\
         COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n\
         complete -p pgmeter >/dev/null || exit 9\n\
         _pgmeter pgmeter \"${{COMP_WORDS[COMP_CWORD]}}\"\n\
         printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        line = quoted(line)
    );
    let cut = "cut_words() { printf '%s' \"$1\" | \
        sed -E 's/([:=]+)/\\n\\1\\n/g; s/[ ]+/\\n/g' | sed '/./!d'; \
        case $1 in *[\\ :=]) echo ;; esac; }\n";
    let mut command = bed.command(&[]);
    let variables: Vec<_> = command
        .get_envs()
        .map(|(a, b)| (a.to_owned(), b.map(ToOwned::to_owned)))
        .collect();
    command = Command::new("bash");
    command.args(["--noprofile", "--norc", "-c", &format!("{cut}{script}")]);
    command.current_dir(bed.path());
    for (name, value) in variables {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = finish(&mut command);
    assert_eq!(
        (output.code, output.stderr.as_str()),
        (0, ""),
        "{line}: {}",
        output.text()
    );
    let lines = output.stdout.lines().filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[test]
fn bash_completes_after_its_own_word_breaks() {
    if run_tool("bash", &["--version"]).is_err() {
        skip!("`bash` is not installed");
    }
    let (bed, ids) = with_runs();
    bed.file("two words.toml", NULL);
    for (line, wanted) in [
        ("pgmeter sel", &["selftest"][..]),
        ("pgmeter run randre", &["randread-4k"]),
        ("pgmeter compare last tag:aft", &["after-trim"]),
        ("pgmeter compare last tag:", &["after-trim"]),
        ("pgmeter lab run oltp --fs=ext4,x", &["ext4,xfs"]),
        ("pgmeter run --set arrivals=p", &["poisson"]),
        ("pgmeter run --set arrivals=", &["uniform", "poisson"]),
        ("pgmeter  run   two", &["two\\ words.toml"]),
        ("pgmeter no such", &[]),
    ] {
        assert_eq!(bash(&bed, line), wanted, "{line}");
    }
    let offered = bash(&bed, "pgmeter runs show ");
    assert!(ids.iter().all(|id| offered.contains(id)), "{offered:?}");
}

#[test]
fn readline_itself_completes_a_line() {
    if run_tool("script", &["--version"]).is_err() || run_tool("bash", &["--version"]).is_err() {
        skip!("`script` or `bash` is not installed");
    }
    let (bed, _) = with_runs();
    let program = bed
        .command(&[])
        .get_program()
        .to_string_lossy()
        .into_owned();
    bed.file(
        "rc",
        format!(
            "source <('{program}' completions bash)\npgmeter() {{ echo \"got:$*:\"; }}\n\
             PS1='> '\nbind 'set enable-bracketed-paste off'\n"
        ),
    );
    bed.file(
        "keys",
        "pgmeter compare last tag:aft\t\npgmeter lab run oltp --fs=ext4,bt\t\nexit\n",
    );
    let mut command = Command::new("sh");
    let shell = "bash --noprofile --rcfile rc -i";
    // Keys come when a person would press them: a shell that starts drops what came before.
    let typed = format!(
        "(sleep 1; while IFS= read -r line; do printf '%s\\n' \"$line\"; sleep 1; done < keys) | \
         script --quiet --return --command '{shell}' /dev/null"
    );
    command.args(["-c", &typed]).current_dir(bed.path());
    for (name, value) in bed.command(&[]).get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = finish(command.env("TERM", "dumb"));
    for wanted in [
        "got:compare last tag:after-trim:",
        "got:lab run oltp --fs=ext4,btrfs:",
    ] {
        assert!(
            output.stdout.contains(wanted),
            "no `{wanted}`: {}",
            output.text()
        );
    }
}

#[test]
fn completion_scripts_parse_in_their_shells() {
    let bed = bed();
    for shell in ["bash", "zsh", "fish"] {
        let script = bed.run(&["completions", shell]).stdout;
        let path = bed.file("script", script).display().to_string();
        match run_tool(shell, &["--version"]) {
            Ok(_) => drop(run_tool(shell, &["-n", &path]).unwrap()),
            Err(_) => println!("not read: `{shell}` is not installed"),
        }
    }
}
