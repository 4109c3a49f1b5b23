//! filebench's scripts, from their first line to their last figure.

use std::fs;

use end_to_end::ScratchTarget;
use serde_json::Value;

const SCRIPT: &str = "\
set $dir=/nowhere
define fileset name=box,path=$dir,size=cvar_size,entries=50,dirwidth=4,prealloc=50
define fileset name=leaves,path=$dir,leafdirs=20,dirwidth=3,prealloc
define process name=server,instances=1
{
  thread name=worker,instances=2
  {
    flowop createfile name=make,filesetname=box,fd=1
    flowop writewholefile name=fill,fd=1,iosize=1m
    flowop closefile name=close,fd=1
    flowop openfile name=open,filesetname=box,fd=1
    flowop readwholefile name=read,fd=1,iosize=1m
    flowop closefile name=close2,fd=1
    flowop deletefile name=remove,filesetname=box
    flowop listdir name=list,filesetname=box
  }
}
define process name=trees,instances=1
{
  thread name=cutter { flowop removedir name=cut,filesetname=leaves
    flowop makedir name=grow,filesetname=leaves }
}
echo \"it is loaded\"
run 1
";

#[test]
fn a_script_is_measured_and_reported_like_filebench() {
    let bed = ScratchTarget::new().unwrap();
    let script = SCRIPT.replace("cvar_size", "16k");
    let file = bed.file("mail.f", script);
    let target = format!("dir={}", bed.target().display());
    let file = file.to_str().unwrap();
    let output = bed.run(&["as", "filebench", "-f", file, "--set", &target]);
    assert_eq!(output.code, 0, "{}", output.text());
    for line in [
        "Filebench Version 1.5-alpha3\n",
        "0.000: it is loaded\n",
        "leaves populated: 0 files, avg. dir. width = 3, avg. dir. depth = 2.7, 20 leafdirs, \
         0.000MB total size\n",
        "box populated: 50 files, avg. dir. width = 4, avg. dir. depth = 2.8, 0 leafdirs, \
         0.781MB total size\n",
        ": Starting 1 server instances\n",
        ": Running...\n",
        ": Run took 1 seconds...\n",
        ": Per-Operation Breakdown\ngrow  ",
        ": Shutting down processes\n",
    ] {
        assert!(output.stdout.contains(line), "{line}:\n{}", output.stdout);
    }
    let breakdown: Vec<&str> = output
        .stdout
        .lines()
        .filter(|it| it.contains("ms/op ["))
        .collect();
    assert_eq!(breakdown.len(), 10);
    assert!(
        breakdown.iter().all(|line| !line.contains(" 0ops")),
        "{breakdown:?}"
    );
    // The bytes of the entries that it read: an empty directory has 561.
    let list = breakdown.iter().find(|line| line.starts_with("list "));
    assert!(!list.unwrap().contains(" 0.0mb/s"), "{breakdown:?}");
    let count = |line: &&str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        words[1].trim_end_matches("ops").parse::<u64>().unwrap()
    };
    let sum: u64 = breakdown.iter().map(count).sum();
    let summary = format!("IO Summary: {sum:5} ops ");
    assert!(
        output.stdout.contains(&summary),
        "{summary}:\n{}",
        output.stdout
    );
    assert!(bed.left_in_target().is_empty());
    let stored = bed.run(&["report", "last", "--format", "classic"]);
    assert!(stored.stdout.contains("IO Summary: "), "{}", stored.text());
}

/// Counted as by the original: for each entry, its name (eight digits here) and the size of the C
/// library's structure.
#[test]
fn listing_a_directory_counts_the_bytes_of_its_entries() {
    let bed = ScratchTarget::new().unwrap();
    let script = "set $dir=/nowhere\n\
        define fileset name=box,path=$dir,size=0,entries=10,dirwidth=1000,prealloc\n\
        define process name=p { thread name=t { flowop listdir name=list,filesetname=box } }\n\
        run 1\n";
    let file = bed.file("list.f", script);
    let target = format!("dir={}", bed.target().display());
    let file = file.to_str().unwrap();
    let output = bed.run(&["as", "filebench", "-f", file, "--set", &target]);
    assert_eq!(output.code, 0, "{}", output.text());
    let record = bed.run(&["report", "last", "--format", "json"]);
    let record: Value = serde_json::from_str(&record.stdout).unwrap();
    let list = &record["cells"][0]["phase_figures"]["labels"][0];
    let count = list["count"].as_u64().unwrap();
    // Two directories are listed alternately: the directory of the files and its parent.
    let bytes_of_two = 11 * (8 + 279) + 2 * ((1 + 279) + (2 + 279));
    let bytes = list["bytes"].as_u64().unwrap();
    assert!(
        count > 1 && (2 * bytes).abs_diff(count * bytes_of_two) < bytes_of_two,
        "{list}"
    );
}

/// How often each flowop was done, by its name.
fn counts(record: &Value) -> Vec<(String, u64)> {
    let labels = record["cells"][0]["phase_figures"]["labels"].as_array();
    let labels = labels.map_or(&[][..], Vec::as_slice);
    let count = |it: &Value| {
        let name = it["label"].as_str().unwrap_or_default();
        (name.to_owned(), it["count"].as_u64().unwrap_or(0))
    };
    labels.iter().map(count).collect()
}

#[test]
fn flowops_reach_their_shares_over_many_iterations() {
    let bed = ScratchTarget::new().unwrap();
    let script = SCRIPT
        .replace("cvar_size", "4k")
        .replace("entries=50", "entries=5000");
    let begin = script.find("define process name=trees").unwrap();
    let end = script.find("echo").unwrap();
    let script = [&script[..begin], &script[end..]].concat();
    let script = script.replace("fd=1,iosize=1m", "fd=1,iosize=1m,iters=2");
    bed.file("mail.f", script);
    let target = bed.target().display().to_string();
    let options = [
        "--engine",
        "null",
        "--target",
        &target,
        "--run-time",
        "2s",
        "--quiet",
    ];
    let output = bed.run(&[&["run", "mail.f", "--json", "-"][..], &options].concat());
    assert_eq!(output.code, 0, "{}", output.text());
    let counts = counts(&serde_json::from_str(&output.stdout).unwrap());
    let once = counts.iter().find(|(name, _)| name == "make").unwrap().1 as f64;
    assert!(once > 10_000.0, "{counts:?}");
    for (name, count) in &counts {
        let times = if ["fill", "read"].contains(&name.as_str()) {
            2.0
        } else {
            1.0
        };
        let share = *count as f64 / once / times;
        assert!((share - 1.0).abs() < 0.005, "{name}: {counts:?}");
    }
}

#[test]
fn a_script_and_its_toml_form_do_the_same() {
    let bed = ScratchTarget::new().unwrap();
    let script = "define fileset name=box,path=/x,size=4k,entries=500,dirwidth=4,prealloc=50\n\
                  define process name=p { thread name=t,instances=1 {\n\
                  flowop openfile name=open,filesetname=box,fd=1\n\
                  flowop readwholefile name=read,fd=1,iosize=1k\n\
                  flowop appendfilerand name=grow,fd=1,iosize=8k,iters=3\n\
                  flowop closefile name=close,fd=1\n\
                  flowop finishoncount name=end,value=300,target=grow } }\nrun 60\n";
    let file = bed.file("count.f", script);
    let toml = bed.run(&["convert", file.to_str().unwrap(), "--to", "toml"]);
    assert_eq!(toml.code, 0, "{}", toml.text());
    assert!(toml.stdout.contains("steps = { grow = 300 }") || toml.stdout.contains("grow = 300"));
    bed.file("count.toml", &toml.stdout);
    let totals = |file: &str| {
        let target = bed.target().display().to_string();
        let run = ["run", file, "--engine", "null", "--quiet", "--json", "-"];
        let output = bed.run(&[&run[..], &["--target", &target]].concat());
        assert_eq!(output.code, 0, "{}", output.text());
        let record: Value = serde_json::from_str(&output.stdout).unwrap();
        let total = &record["cells"][0]["total"];
        (
            counts(&record),
            total["count"].clone(),
            total["bytes"].clone(),
        )
    };
    let (own, again) = (totals("count.f"), totals("count.toml"));
    assert!(own.0.contains(&("grow".to_owned(), 300)), "{own:?}");
    assert_eq!(own, again);
    let output = bed.run(&["show", "count.f"]);
    assert_eq!(output.stdout, toml.stdout);
    let printed = bed.run(&["run", "count.f", "--print", "toml", "--set", "seed=9"]);
    assert!(printed.stdout.contains("seed = 9") && printed.stdout.contains("[[phase.group]]"));
    bed.file(
        "calls.txt",
        "1 Mkdir \"/x\" 0x0\n2 Unlink \"/x/y\" 0xc0000034\n",
    );
    let refused = bed.run(&["convert", "calls.txt", "--to", "toml"]);
    refused.assert_refused(2, &["cannot be converted: it has the ", "recorded calls"]);
}

#[test]
fn paths_in_scripts_stay_below_the_target() {
    let bed = ScratchTarget::new().unwrap();
    let outside = bed.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let long = "n".repeat(5000);
    for name in ["../outside", "..", "a/../../outside", "/etc", &long] {
        let script = SCRIPT.replace("cvar_size", "1k");
        let script = script.replace("name=box", &format!("name=\"{name}\""));
        bed.file("bad.f", script);
        let output = bed.run(&["check", "bad.f"]);
        output.assert_refused(2, &["cannot be a directory's name"]);
    }
    assert!(fs::read_dir(&outside).unwrap().next().is_none());
    assert!(bed.left_in_target().is_empty());
}

#[test]
fn a_number_of_workers_multiplies_the_threads_of_a_script() {
    let bed = ScratchTarget::new().unwrap();
    bed.file("mail.f", SCRIPT.replace("cvar_size", "16k"));
    let check = |workers: &str| bed.run(&["check", "mail.f", "--workers", workers]);
    let checked = check("6");
    assert_eq!(checked.code, 0, "{}", checked.text());
    for words in ["workers = 6", "worker: 4 workers", "cutter: 2 workers"] {
        assert!(
            checked.stdout.contains(words),
            "{words}:\n{}",
            checked.stdout
        );
    }
    let refused = check("4");
    assert_eq!(refused.code, 2, "{}", refused.text());
    let reason = "`workers` is 4, but there are 3, and they can only be multiplied";
    assert!(refused.stderr.contains(reason), "{}", refused.stderr);
}
