//! filebench's scripts, from their first line to their last figure.

use std::fs;

use end_to_end::Bed;

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
fn a_script_is_measured_and_told_as_filebench_tells_it() {
    let bed = Bed::new().unwrap();
    let script = SCRIPT.replace("cvar_size", "16k");
    let file = bed.file("mail.f", script);
    let target = format!("dir={}", bed.target().display());
    let file = file.to_str().unwrap();
    let seen = bed.run(&["as", "filebench", "-f", file, "--set", &target]);
    assert_eq!(seen.code, 0, "{}", seen.text());
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
        assert!(seen.stdout.contains(line), "{line}:\n{}", seen.stdout);
    }
    let breakdown: Vec<&str> = seen
        .stdout
        .lines()
        .filter(|it| it.contains("ms/op ["))
        .collect();
    assert_eq!(breakdown.len(), 10);
    assert!(
        breakdown.iter().all(|line| !line.contains(" 0ops")),
        "{breakdown:?}"
    );
    assert!(bed.left_in_target().is_empty());
    let stored = bed.run(&["report", "last", "--format", "classic"]);
    assert!(stored.stdout.contains("IO Summary: "), "{}", stored.text());
}

#[test]
fn names_of_scripts_stay_below_the_target() {
    let bed = Bed::new().unwrap();
    let outside = bed.path().join("outside");
    fs::create_dir(&outside).unwrap();
    let long = "n".repeat(5000);
    for name in ["../outside", "..", "a/../../outside", "/etc", &long] {
        let script = SCRIPT.replace("cvar_size", "1k");
        let script = script.replace("name=box", &format!("name=\"{name}\""));
        bed.file("bad.f", script);
        let seen = bed.run(&["check", "bad.f"]);
        seen.assert_refused(2, &["cannot be a directory's name"]);
    }
    assert!(fs::read_dir(&outside).unwrap().next().is_none());
    assert!(bed.left_in_target().is_empty());
}
