//! Tests with hostile names in arguments and files: each is refused, or becomes a name below the
//! target.

use std::path::{Component, Path};

use description::Workload;
use plan::program::{DirectoryTree, FileNames, FilesetPlan};

use crate::command_line::CommandLine;
use crate::file::FrontFile;
use crate::file_access::{FileAccess, VirtualFiles};
use crate::table::{FRONTS, file_kinds};

/// Placeholder for the name in arguments and files.
const NAME: &str = "@NAME@";

/// Arguments with names for all programs; most programs refuse most of them.
const ARGUMENTS: [&[&str]; 21] = [
    &[NAME],
    &["-d", NAME],
    &["-D", NAME, "1"],
    &["-c", "file", "-D", NAME, "1"],
    &["-c", NAME, "1"],
    &["-f", NAME],
    &["-f", "file", "--set", NAME],
    &["-s", "1m", "-i", "0", "-f", NAME],
    &["-s", "1m", "-i", "0", "-b", NAME, "-U", NAME],
    &["-i", "0", "-i", "1", "-X", NAME, "-Y", NAME],
    &["-s", "1m", "-i", "0", "-t", "2", "-F", NAME, NAME],
    &["-s", "8", "-n", "1", "-d", NAME, "-m", NAME],
    &[
        "-s", "8m", "-r", "4m", "-n", "1:9:1:2", "-d", NAME, "-m", NAME, "-u", NAME,
    ],
    &["-s", "8", "-r", "0", "-n", "0", "-Z", NAME],
    &["--network-sync-dir", NAME, "--host-set", NAME],
    &["-n", "5", "-d", NAME],
    &["-n", "5", "-d", NAME, "-W", "1", "-x", NAME],
    &["-o", NAME, "-b", "1m", "-t", "64k"],
    &["--operation", "create", "--files", "5", "--top", NAME],
    &["--operation", "create", "--files", "5", "--prefix", NAME],
    &["--operation", "create", "--files", "5", "--suffix", NAME],
];

/// Files with names, one for each format that is detected.
const FILES: [&str; 7] = [
    "Mkdir \"@NAME@\" 0x0\n",
    "NTCreateX \"@NAME@\" 0x0 2 10000 SUCCESS\nClose 10000 SUCCESS\n",
    "Unlink \"@NAME@\" 0x0\nDeltree \"@NAME@\" 0x0\nRmdir \"@NAME@\" 0x0\n",
    "0.1 Rename \"/x\" \"@NAME@\" 0x0\n0.2 QUERY_PATH_INFORMATION \"@NAME@\" 1 0x0\n",
    "define fileset name=\"@NAME@\",path=/x,entries=5\nrun 1\n",
    "define file name=x,path=\"@NAME@\",size=4k,prealloc\n\
     define process name=p { thread name=t { flowop createfile name=c,filesetname=x } }\nrun 1\n",
    "set $d=@NAME@\ndefine fileset name=x,path=$d,entries=5,prealloc\n\
     define process name=p { thread name=t { flowop deletefile name=c,filesetname=\"@NAME@\" } }\n\
     run 1\n",
];

fn hostile_names() -> Vec<String> {
    let names = [
        "..",
        ".",
        "../x",
        "a/../../x",
        "a/..",
        "/",
        "/etc/passwd",
        "//etc",
        "\\..\\..\\x",
        "a\\..\\..\\..\\x",
        "a\0b",
        "\0",
        "{worker}/../..",
        "{round}",
        "a\n../x",
        "~",
        "-",
    ];
    let long = ["n".repeat(5000), "n/".repeat(2500), "../".repeat(1700)];
    names.into_iter().map(str::to_owned).chain(long).collect()
}

/// `true` if the name leads nowhere outside its directory; `.` is the directory itself.
fn is_below(name: &str) -> bool {
    let is_plain = |part: Component<'_>| match part {
        Component::Normal(part) => part.len() <= 255,
        part => part == Component::CurDir,
    };
    name.len() < 4096 && !name.contains('\0') && Path::new(name).components().all(is_plain)
}

fn fileset_is_below(set: &FilesetPlan) -> bool {
    let nested = match &set.tree {
        DirectoryTree::Nested { directories, .. } => directories.before.as_str(),
        _ => "",
    };
    let (before, _, after) = set.names.parts();
    let listed = match &set.names {
        FileNames::Listed(files) => &files.names[..],
        _ => &[],
    };
    let is_one = |text: &str| text.len() <= 255 && !text.contains(['/', '\0']);
    let mut listed = listed.iter().map(|name| &**name);
    // The files' number is placed between `before` and `after`.
    is_below(&set.path)
        && [before, after, nested].iter().all(|text| is_one(text))
        && listed.all(|name| is_one(name) && is_below(name) && name != ".")
}

/// Asserts that programs which would run only use names below the target.
fn assert_stays_below(cells: &[Workload], context: &str) {
    let jobs = cells.iter().filter_map(|cell| cell.jobs.as_ref());
    let files = jobs.flat_map(|jobs| &jobs.files.files);
    for name in files.filter_map(|file| file.name.as_ref()) {
        assert!(!name.is_empty() && is_below(name), "{context}: {name:?}");
    }
    let built = cells.iter().filter_map(|cell| cell.built.as_ref());
    for program in built.map(|it| &it.program).filter(|it| it.check().is_ok()) {
        for set in &program.filesets {
            assert!(fileset_is_below(set), "{context}: {set:?}");
        }
        let traces = program.groups().filter_map(|group| group.trace.as_ref());
        for name in traces.flat_map(|trace| &trace.names) {
            assert!(!name.is_empty() && is_below(name), "{context}: {name:?}");
        }
    }
}

#[test]
fn no_argument_of_any_program_leads_out_of_the_target() {
    let mut taken = 0;
    for front in FRONTS {
        for (form, name) in forms(&ARGUMENTS) {
            let named = |word: &&str| word.replace(NAME, &name);
            let arguments: Vec<String> = form.iter().map(named).collect();
            for file in [FILES[1], FILES[4]] {
                let content = file.replace(NAME, &name);
                let script = VirtualFiles {
                    read: &|_| Ok(content.clone().into_bytes()),
                    ..VirtualFiles::EMPTY
                };
                let line = CommandLine {
                    files: FileAccess::scripted(script),
                    ..CommandLine::of(&arguments)
                };
                if let Ok(work) = front.work(&line) {
                    assert_stays_below(&work.cells, &format!("{} {arguments:?}", front.name));
                    taken += 1;
                }
            }
        }
    }
    assert!(taken > 100, "{taken}");
}

#[test]
fn no_name_in_any_file_leads_out_of_the_target() {
    let mut taken = 0;
    for reader in file_kinds() {
        for (form, name) in forms(&FILES) {
            let content = form.replace(NAME, &name);
            let file = FrontFile::new("hostile", content.as_bytes());
            if let Ok(work) = reader.read(&file) {
                assert_stays_below(&work.cells, &content);
                taken += 1;
            }
        }
    }
    assert!(taken > 10, "{taken}");
}

/// Each form combined with each hostile name.
fn forms<T: Copy>(forms: &[T]) -> Vec<(T, String)> {
    let names = hostile_names();
    let with = |form: &T| {
        let form = *form;
        names.iter().map(move |name| (form, name.clone()))
    };
    forms.iter().flat_map(with).collect()
}
