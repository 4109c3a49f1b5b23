use std::path::PathBuf;

use plan::program::{
    Act, CallObject, CallPosition, DirectoryTree, FileOperation, Law, MovedBytes, PhasePreparation,
    PickOrder, Program,
};
use proptest::prelude::*;

use super::*;

/// A mail server in the small, as scripts are written.
const MAIL: &str = "\
# comments are skipped
set $dir=/tmp
set $count=100
set $size=cvar(type=cvar-gamma,parameters=mean:16384;gamma:1.5)

define fileset name=box,path=$dir,size=$size,entries=$count,dirwidth=20,prealloc=80
define process name=server,instances=2
{
  thread name=reader,memsize=10m,instances=3
  {
    flowop deletefile name=remove,filesetname=box
    flowop createfile name=make,filesetname=box,fd=1
    flowop appendfilerand name=append,iosize=16k,fd=1
    flowop fsync name=sync,fd=1
    flowop closefile name=close,fd=1
    flowop openfile name=open,filesetname=box,fd=1
    flowop readwholefile name=read,fd=1,iosize=1m
    flowop closefile name=close2,fd=1
  }
}
echo \"it has $count files\"
run 20
define this is never read
";

fn read(text: &str) -> Result<FrontWork, String> {
    read_with(text, &[])
}

fn read_with(text: &str, variables: &[(&str, &str)]) -> Result<FrontWork, String> {
    let file = FrontFile::new("a.f", text.as_bytes());
    let owned = variables.iter();
    let owned = owned.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    work(&file, &owned.collect()).map_err(|error| error.to_string())
}

fn program(text: &str) -> Program {
    let mut work = read(text).unwrap();
    let program = work.cells.remove(0).built.unwrap().program;
    program.check().unwrap();
    program
}

/// A script with one thread of these flowops, on files of `set` and of the single `one`.
fn script_with_flowops(flowops: &str) -> String {
    format!(
        "define fileset name=set,path=/t,size=8k,entries=10,dirwidth=4,prealloc=50\n\
         define file name=one,path=/t,size=1m,prealloc\n\
         define process name=p {{ thread name=t {{\n{flowops}\n}} }}\n"
    )
}

fn error(text: &str) -> String {
    read(text).unwrap_err()
}

#[test]
fn a_script_becomes_a_phase_with_one_group_per_thread() {
    let program = program(MAIL);
    let phase = program.phases()[0];
    let group = &phase.groups[0];
    assert_eq!(phase.time_ns, Some(20_000_000_000));
    assert_eq!((group.name.as_str(), group.workers), ("reader", Some(6)));
    assert_eq!(program.labels[..3], ["remove", "make", "append"]);
    assert_eq!(group.body.len(), 8);
    let set = &program.filesets[0];
    assert_eq!((set.count, set.present_permille), (100, 800));
    let DirectoryTree::Grown(growth) = &set.tree else {
        panic!("{set:?}");
    };
    assert!(growth.is_size_of_tree && growth.gamma_permille == 1500);
}

#[test]
fn messages_and_starts_are_remembered_for_the_output() {
    let work = read(MAIL).unwrap();
    assert_eq!(work.directories, [PathBuf::from("/tmp")]);
    assert_eq!(
        work.text_input,
        ["say it has 100 files", "run Starting 2 server instances"]
    );
}

#[test]
fn variables_of_the_caller_override_those_of_the_script() {
    let work = read_with(MAIL, &[("count", "7")]).unwrap();
    let program = &work.cells[0].built.as_ref().unwrap().program;
    assert_eq!(program.filesets[0].count, 7);
}

#[test]
fn lines_may_end_in_crlf_and_be_continued() {
    let program = program(&script_with_flowops(
        "flowop openfile name=a,\\\r\n filesetname=set,\r\n\tfd=1\r\n\
         flowop closefile name=b,fd=1\r\n",
    ));
    assert_eq!(program.labels, ["a", "b"]);
}

/// Each script fails for that, with one help.
fn assert_errors(cases: &[(&str, &str)]) {
    for (text, wanted) in cases {
        let error = read(text).expect_err(text);
        assert!(error.contains(wanted), "{text}:\n{error}");
        assert_eq!(error.matches("help:").count(), 1, "{error}");
    }
}

#[test]
fn mistakes_are_reported_with_their_position_and_one_help() {
    assert_errors(&[
        (
            "set $x=1\nsett $y=2",
            "error: there is no command `sett`\n  --> a.f:2:1\n   2 | sett $y=2\n\
             help: did you mean `set`?",
        ),
        ("set $x=$y", "`$y` is used before it is set"),
        ("set $size=1.5k", "`1.5k` is not a number"),
        ("set $size=16K", "`16K` is not a number"),
        ("set $a=9999999999999999999", "is not a number"),
        (
            "set mode quit never",
            "`set mode quit` needs `timeout` or `alldone`",
        ),
        (
            "echo \"never closed",
            "a text in quotes has no end\n  --> a.f:1:6",
        ),
        ("system \"rm -rf /\"", "`system` runs programs"),
        ("enable multi master=a, client=b", "several clients"),
        ("load varmail", "is a command of filebench's shell"),
    ]);
}

#[test]
fn all_refusals_of_a_script_are_listed() {
    let text = "system \"ls\"\n\
                system \"cat x\"\n\
                sett $a=1\n\
                load varmail\n\
                define fileset name=set,path=/t,foo=1,bar=2,entries=$many,dirdepthrv=3\n\
                define process name=p { thread name=t {\n\
                flowop readd name=r,filesetname=set,iosize=$much\n\
                flowop print name=s\n\
                } }\n\
                enable multi master=a, client=b\n\
                help\n\
                run $much\n";
    let error = error(text);
    let found: Vec<&str> = error
        .lines()
        .filter_map(|it| it.strip_prefix("error: "))
        .collect();
    let system = "`system` runs programs, which workloads may not do";
    let shell = "is a command of filebench's shell, not of scripts";
    assert_eq!(
        found,
        [
            system,
            system,
            "there is no command `sett`",
            &format!("`load` {shell}"),
            "a fileset has no attribute `foo`",
            "a fileset has no attribute `bar`",
            "`$many` is used before it is set",
            "`dirdepthrv` is not supported; `dirgamma` sets the depths",
            "there is no flowop `readd`",
            "`$much` is used before it is set",
            "`print` is not supported",
            "several clients are not synchronized",
            &format!("`help` {shell}"),
        ]
    );
    assert!(
        error.contains("  --> a.f:2:1\n   2 | system \"cat x\""),
        "{error}"
    );
}

#[test]
fn files_that_the_run_time_limits_need_the_space_of_one_round() {
    let space = |attribute: &str| {
        let text = format!(
            "define fileset name=set,path=/t,size=1g,entries=500{attribute}\n\
             define process name=p {{ thread name=t {{\n\
             flowop createfile name=c,filesetname=set,fd=1\n\
             flowop write name=w,iosize=1m,fd=1,iters=1024\n\
             flowop closefile name=x,fd=1\n}} }}\nrun 1\n"
        );
        program(&text).space_needed()
    };
    let new = space("");
    assert_eq!(new.firm_bytes, 1 << 30);
    assert_eq!(new.max_bytes, 500 << 30);
    // Files that exist before the run need their space.
    assert_eq!(space(",prealloc=50").firm_bytes, 251 << 30);
}

#[test]
fn mistakes_in_several_filesets_or_threads_are_listed_together() {
    let sets = "define fileset name=a,path=/t\ndefine fileset name=b,path=/t\nrun\n";
    let found = error(sets);
    assert!(found.contains("`a` has no entries") && found.contains("`b` has no entries"));
    let threads = "thread name=t { flowop delay name=d }\nthread name=u { flowop hog name=h }";
    let found = error(&format!("define process name=p {{ {threads} }}\nrun\n"));
    assert!(found.contains("`delay` has no `value`") && found.contains("`hog` has no `value`"));
}

#[test]
fn caches_are_dropped_where_scripts_request_it() {
    let script = |commands: &str| {
        script_with_flowops("flowop read name=r,filesetname=set,iosize=4k") + commands + "\nrun 1\n"
    };
    let before = |commands: &str| program(&script(commands)).phases()[0].before.clone();
    let drop = "system \"echo 3 > /proc/sys/vm/drop_caches\"";
    assert_eq!(
        before(&format!("create files\nsystem \"sync\"\n{drop}")),
        [PhasePreparation::Sync, PhasePreparation::DropCaches]
    );
    assert_eq!(
        before("create filesets\nsystem \"sync; echo 1 >/proc/sys/vm/drop_caches\""),
        [PhasePreparation::Sync, PhasePreparation::DropCaches]
    );
    // Nothing is cached of files that are made later.
    assert_eq!(before(drop), []);
    for other in [
        "echo 2 > /proc/sys/vm/drop_caches",
        "sync /tmp",
        "echo 3 > /tmp/drop_caches",
        "sync | sh",
        "",
    ] {
        let refused = read(&script(&format!("create files\nsystem \"{other}\""))).unwrap_err();
        assert!(refused.contains("`system` runs programs"), "{refused}");
        assert!(refused.contains("run the program yourself"), "{refused}");
    }
}

#[test]
fn a_finish_count_leaves_at_least_one_round() {
    let quota = |value: u32, instances: u32| {
        let text = script_with_flowops(&format!(
            "flowop write name=w,filename=one,iosize=4k,iters=64\n\
             flowop fsync name=s,filename=one\n\
             flowop finishoncount name=f,value={value}"
        ));
        let text = text.replace("name=t", &format!("name=t,instances={instances}"));
        let program = program(&text);
        let group = &program.phases()[0].groups[0];
        assert_eq!(group.enter.len(), 1);
        group.quotas[0].count
    };
    // The file that is opened before the measurement counts in the original.
    assert_eq!([quota(1, 1), quota(2, 1), quota(66, 1)], [1, 1, 65]);
    assert_eq!(quota(66, 2), 64);
}

#[test]
fn definitions_accept_only_valid_attributes() {
    let sized = |value: &str| format!("set $a={value}\ndefine fileset name=s,entries=3,size=$a");
    let process = |flowop: &str| format!("define process name=p {{ thread name=t {{ {flowop}");
    assert_errors(&[
        (
            "define fileset name=a,widht=3",
            "no attribute `widht`\n  --> a.f:1:23",
        ),
        (
            "define fileset name=a,dirwitdh=3",
            "help: did you mean `dirwidth`?",
        ),
        ("define fileset name=a", "`a` has no entries"),
        (
            "define fileset name=a,entries=5 @",
            "`@` has no meaning here",
        ),
        (
            "define fileset name=a,entries=5\n",
            "the script has no thread",
        ),
        (
            &process("flowop reed name=a } }"),
            "there is no flowop `reed`",
        ),
        (&process("flowop read"), "help: add an attribute"),
        (
            &sized("cvar(type=cvar-zipf)"),
            "`cvar-zipf` is not a supported distribution",
        ),
        (
            &sized("cvar(type=cvar-gamma,parameters=maen:1)"),
            "`cvar-gamma` has no parameter `maen`",
        ),
        (
            &sized("randvar(type=tabular,randtable={{50,1,2}})"),
            "add up to 50 %, not 100 %",
        ),
    ]);
}

#[test]
fn flowops_accept_only_valid_attributes() {
    let read = |attributes: &str| script_with_flowops(&format!("flowop read name=a,{attributes}"));
    assert_errors(&[
        (
            &read("filesetname=nowhere,iosize=1k"),
            "there is no file or fileset `nowhere`",
        ),
        (&read("iosize=1k"), "nothing is open for `read`"),
        (&read("filesetname=one"), "`read` has no `iosize`"),
        (
            &read("filesetname=one,iosize=1k,fd=128"),
            "`fd` is not a whole number up to 127",
        ),
        (&read("filesetname=one,iosize=$q"), "`$q` is used before"),
        (
            &script_with_flowops("flowop print name=a,value=1"),
            "`print` is not supported",
        ),
    ]);
}

#[test]
fn names_never_lead_out_of_the_target() {
    let long = "x".repeat(5000);
    for name in [
        "..",
        "../x",
        "/etc/passwd",
        "a/../../b",
        ".",
        "",
        "a b\nc",
        &long,
    ] {
        let error = error(&format!(
            "define fileset name=\"{name}\",entries=5,path=/t\n"
        ));
        assert!(error.contains("cannot be a directory's name"), "{error}");
    }
    assert!(error("define fileset name=a\0b,entries=5").contains("has no meaning here"));
}

#[test]
fn files_that_are_not_open_are_opened_first() {
    let once = program(&script_with_flowops(
        "flowop read name=a,filename=one,iosize=4k",
    ));
    assert_eq!(once.groups().next().unwrap().enter.len(), 1);
    let reopened = script_with_flowops(
        "flowop read name=a,filename=set,iosize=4k,fd=1\nflowop closefile name=b,fd=1",
    );
    let reopened = program(&reopened);
    let group = reopened.groups().next().unwrap();
    assert_eq!((group.enter.len(), group.body.len()), (0, 3));
}

#[test]
fn files_used_in_turn_all_stay_open() {
    let text = script_with_flowops(
        "flowop read name=a,filename=set,iosize=4k,opennext,random\n\
         flowop write name=b,filename=set,iosize=4k,opennext,iters=20",
    )
    .replace("prealloc=50", "prealloc");
    let program = program(&text);
    let group = program.groups().next().unwrap();
    assert_eq!((group.enter.len(), group.body.len()), (10, 20));
    let Act::Times(times, calls) = &group.body[1] else {
        panic!("{:?}", group.body[1]);
    };
    assert_eq!((times.always(), calls.len()), (Some(2), 10));
}

#[test]
fn composites_pass_on_their_variables() {
    let text = "\
        define fileset name=one,entries=3,size=1k,prealloc\n\
        define fileset name=two,entries=3,size=1k,prealloc\n\
        define flowop name=inner, $set { flowop openfile name=open,filesetname=$set,fd=1\n\
          flowop closefile name=close,fd=1 }\n\
        define flowop name=outer, $which, $times=4 {\n\
          flowop inner name=in, iters=$times, $set=$which }\n\
        define process name=p { thread name=t { flowop outer name=out, $which=two } }\n";
    let program = program(text);
    assert_eq!(
        program.labels,
        ["out", "out.in", "out.in.open", "out.in.close"]
    );
    let group = program.groups().next().unwrap();
    let mut calls = group.calls().into_iter();
    let open = calls.next().unwrap();
    assert!(matches!(
        &open.on,
        CallObject::Name(pick) if pick.fileset == 1 && pick.order == PickOrder::Around
    ));
    let twice = "define flowop name=read { flowop read name=a }";
    assert!(error(twice).contains("there is a flowop `read` already"));
}

#[test]
fn random_variables_become_laws() {
    let law = |value: &str| {
        let text = format!("set $v={value}\ndefine fileset name=s,entries=1,size=$v\n");
        let text =
            text + "define process name=p { thread name=t { flowop statfile name=a,filename=s } }";
        let text = text.replace("entries=1", "entries=1,prealloc");
        program(&text).filesets[0].size.clone()
    };
    let table = law("randvar(type=tabular,min=1k,randtable={{50,1k,3k},{50,5k,5k}})");
    assert_eq!((table.smallest(), table.largest()), (1024, Some(5120)));
    let moved = law("randvar(type=tabular,min=0,mean=10,randtable={{50,2,2},{50,6,6}})");
    assert_eq!((moved.smallest(), moved.largest()), (0, Some(20)));
    let gamma = law("randvar(type=gamma,min=1k,mean=5632,gamma=1500)");
    assert!((gamma.mean() - 5632.0).abs() < 1e-9 && gamma.smallest() == 1024);
    let uniform = law("randvar(type=uniform,min=512,mean=1024,round=512)");
    assert_eq!((uniform.smallest(), uniform.largest()), (512, Some(1536)));
    let custom = law("cvar(type=cvar-uniform,parameters=lower:4096;upper:8192,max=6000)");
    assert_eq!((custom.smallest(), custom.largest()), (4096, Some(6000)));
}

#[test]
fn directory_trees_are_created_removed_and_listed() {
    let text = |flowop: &str, prealloc: &str| {
        format!(
            "define fileset name=dirs,leafdirs=30,dirwidth=5{prealloc}\n\
             define process name=p {{ thread name=t {{ flowop {flowop} name=a,filename=dirs }} }}\n\
             run\n"
        )
    };
    for (flowop, prealloc, operation) in [
        ("makedir", "", FileOperation::Mkdir),
        ("removedir", ",prealloc", FileOperation::Rmdir),
        ("listdir", ",prealloc", FileOperation::List),
    ] {
        let program = program(&text(flowop, prealloc));
        let group = program.groups().next().unwrap();
        assert_eq!(group.calls()[0].operation, operation);
    }
}

#[test]
fn positions_and_sizes_match_the_flowops() {
    let text = script_with_flowops(
        "flowop openfile name=o,filesetname=set,fd=1\n\
         flowop readwholefile name=r,fd=1,iosize=4k\n\
         flowop appendfile name=a,fd=1,iosize=4k\n\
         flowop write name=w,fd=1,iosize=4k,random\n\
         flowop closefile name=c,fd=1",
    );
    let program = program(&text);
    let calls = program.groups().next().unwrap().calls();
    let positions: Vec<&CallPosition> = calls[1..4].iter().map(|call| &call.place).collect();
    assert!(matches!(
        positions[..],
        [
            CallPosition::At(0),
            CallPosition::End,
            CallPosition::Random {
                align_bytes: 4096,
                is_nominal: true,
                ..
            }
        ]
    ));
}

#[test]
fn threads_wait_for_each_other_by_name() {
    let text = "\
        eventgen rate=20\n\
        define fileset name=set,entries=10,size=1k,prealloc\n\
        define process name=one { thread name=a { flowop statfile name=s,filesetname=set\n\
          flowop wakeup name=w,target=sleeper flowop sempost name=p,target=sem,value=2,blocking\n\
          flowop opslimit name=l,target=s } }\n\
        define process name=two,instances=3 { thread name=b,instances=2 {\n\
          flowop block name=sleeper flowop semblock name=sem,value=8,highwater=5 } }\n";
    let program = program(text);
    let tokens = program.tokens.iter();
    let tokens: Vec<_> = tokens
        .map(|it| (it.name.as_str(), it.counters, it.room))
        .collect();
    let wanted = [
        ("sleeper", 6, Some(1)),
        ("sem", 6, Some(5)),
        ("events", 1, None),
    ];
    assert_eq!(tokens, wanted);
    let refill = program.tokens[2].refill.unwrap();
    assert_eq!((refill.at_once, refill.most), (10, 100));
    let lost = text.replace("target=sleeper", "target=nobody");
    assert!(error(&lost).contains("no flowop `nobody` waits"));
    let free = script_with_flowops("flowop eventlimit name=l flowop statfile name=s,filename=set");
    assert!(super::tests::program(&free).tokens.is_empty());
}

#[test]
fn scripts_are_recognized_by_their_definitions() {
    assert!(detect(MAIL.as_bytes()));
    assert!(detect(b"\xff\n  define  process name=p\r\n"));
    assert!(!detect(b"set size 1 100\nset transactions 500\nrun\n"));
    assert!(!detect(b"#define file\n"));
}

proptest! {
    #[test]
    fn reading_arbitrary_bytes_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = work(&FrontFile::new("a.f", &bytes), &BTreeMap::new());
    }

    #[test]
    fn reading_a_mutated_script_never_panics(
        at in 0..MAIL.len(),
        length in 0_usize..12,
        text in r#"[-$a-z0-9=,{}()*"\\ \n]{0,12}"#,
    ) {
        let mut bytes = MAIL.as_bytes().to_vec();
        bytes.splice(at..(at + length).min(MAIL.len()), text.bytes());
        if let Ok(work) = work(&FrontFile::new("a.f", &bytes), &BTreeMap::new()) {
            let _ = work.cells[0].built.as_ref().unwrap().program.check();
        }
    }
}

#[test]
fn products_of_variables_are_evaluated_when_they_are_set() {
    let squares = "set $a=$a*$a\n".repeat(3000);
    for (first, message) in [("2", "is too large"), ("\"x\"", "only whole numbers")] {
        let script = format!("set $a={first}\n{squares}run 1\n");
        let error = read(&script).unwrap_err();
        assert!(error.contains(message), "{error}");
    }
    let one = "set $a=$a*$a\n".repeat(30_000);
    let script = format!("set $a=1\n{one}echo \"$a\"\nrun 1\n");
    assert!(read(&script).is_err_and(|error| !error.contains("large")));
}

#[test]
fn nested_composites_expand_only_up_to_a_limit() {
    let set = "define fileset name=set,entries=3,size=1k,prealloc\n";
    let run = "define process name=p { thread name=t { flowop c39 name=a,$x=2 } }\nrun 1\n";
    let composites = |handed: &str, uses: usize| {
        let first = "define flowop name=c0,$x { flowop hog name=a,value=$x }\n".to_owned();
        (1..40).fold(first, |text, level| {
            let one = |number| format!("flowop c{} name=n{number},$x={handed} ", level - 1);
            let inner: String = (0..uses).map(one).collect();
            text + &format!("define flowop name=c{level},$x {{ {inner} }}\n")
        })
    };
    for (handed, uses, message) in [
        ("$x*$x", 1, "a product has more than 16 factors"),
        ("$x", 2, "more than 20000 definitions and flowops"),
        ("$x", 1, "composites are more than 6 deep"),
    ] {
        let error = error(&format!("{set}{}{run}", composites(handed, uses)));
        assert!(error.contains(message), "{error}");
    }
}

/// What the differences of a script are about.
fn noted(script: &str) -> Vec<String> {
    let differences = read(script).unwrap().differences.into_iter();
    differences.map(|it| it.subject).collect()
}

#[test]
fn an_early_end_is_a_difference_only_in_one_quit_mode() {
    let early = "an end before the run time".to_owned();
    let open = "flowop openfile name=o,filesetname=set,fd=1\nflowop closefile name=c,fd=1";
    let delete = script_with_flowops("flowop deletefile name=d,filesetname=set");
    let finish = script_with_flowops(&format!("{open}\nflowop finishoncount name=f,value=9"));
    assert!(noted(&delete).contains(&early));
    assert!(noted(&finish).contains(&early));
    assert!(!noted(&script_with_flowops(open)).contains(&early));
    for mode in ["alldone", "firstdone"] {
        let script = format!("set mode quit {mode}\n{delete}");
        assert!(!noted(&script).contains(&early), "{mode}");
    }
}

#[test]
fn a_file_that_is_larger_than_its_requests_is_rounded_up_to_them() {
    let write = |attributes: &str| {
        script_with_flowops(&format!(
            "flowop createfile name=c,filesetname=set,fd=1\n\
             flowop writewholefile name=w,fd=1{attributes}\nflowop closefile name=e,fd=1"
        ))
    };
    let written = |attributes: &str| {
        let program = program(&write(attributes));
        let calls = program.groups().next().unwrap().calls();
        let write = calls
            .into_iter()
            .find(|it| it.operation == FileOperation::Write);
        let write = write.unwrap();
        (write.bytes.clone(), write.piece_bytes)
    };
    // Files of the set have 8 KiB.
    let rounded = MovedBytes::Law(Law::fixed(9 << 10));
    assert_eq!(written(",iosize=3k"), (rounded, 3 << 10));
    assert_eq!(written(",iosize=8k"), (MovedBytes::Size, 8 << 10));
    assert_eq!(written(""), (MovedBytes::Size, 1 << 20));
    let drawn = "`writewholefile` of a larger file than `iosize`, if a size is drawn".to_owned();
    assert!(!noted(&write(",iosize=3k")).contains(&drawn));
    let variable = "set $piece=cvar(type=cvar-uniform,parameters=lower:1024;upper:4096)\n";
    let script = format!("{variable}{}", write(",iosize=$piece"));
    assert!(!noted(&write(",iosize=8k")).contains(&drawn));
    assert!(noted(&script).contains(&drawn));
}
