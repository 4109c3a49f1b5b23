//! fio's own verification: what pgmeter writes verifies in fio, and the other way round, and files
//! stay for a later run. Parts with fio are skipped where it is not installed.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::process::Command;

use end_to_end::{Finished, ScratchTarget, finish, installed, need};
use serde_json::Value;

/// Kinds of verification that fio 3.33 has, without `sha512`, which does not hash there.
const KINDS: [&str; 14] = [
    "md5",
    "crc64",
    "crc32",
    "crc32c",
    "crc32c-intel",
    "crc16",
    "crc7",
    "sha1",
    "sha256",
    "sha3-224",
    "sha3-256",
    "sha3-384",
    "xxhash",
    "meta",
];

fn as_fio(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    let directory = format!("--directory={}", bed.target().display());
    let first = ["as", "fio", "--output-format=json", &directory];
    bed.run(&[&first, arguments].concat())
}

fn fio(bed: &ScratchTarget, arguments: &[&str]) -> Finished {
    let arguments = [&["--output-format=json"], arguments].concat();
    finish(
        Command::new("fio")
            .args(arguments)
            .current_dir(bed.target()),
    )
}

/// Errors of all jobs.
fn errors(output: &Finished) -> Vec<i64> {
    let begin = output.stdout.find("{\n");
    let begin = begin.unwrap_or_else(|| panic!("{}", output.text()));
    let document: Value = serde_json::from_str(&output.stdout[begin..]).unwrap();
    let jobs = document["jobs"].as_array().unwrap();
    jobs.iter()
        .map(|job| job["error"].as_i64().unwrap())
        .collect()
}

#[track_caller]
fn assert_verified(output: &Finished) {
    assert_eq!(output.code, 0, "{}", output.text());
    assert!(
        errors(output).iter().all(|it| *it == 0),
        "{}",
        output.text()
    );
}

#[test]
fn a_later_run_verifies_the_files_of_an_earlier_one() {
    let bed = need!(ScratchTarget::new());
    let base = ["--name=v", "--size=256k", "--bs=4k", "--verify=md5"];
    let run = |more: &[&str]| as_fio(&bed, &[&base[..], more].concat());
    assert_verified(&run(&["--rw=randwrite"]));
    let path = bed.target().join("v.0.0");
    let left = fs::metadata(&path).unwrap();
    assert_eq!(left.len(), 256 << 10);
    let own = bed.path().join("own");
    fs::write(&own, "").unwrap();
    let own_mode = fs::metadata(&own).unwrap().mode();
    assert_eq!(left.mode(), own_mode & !0o022, "fio's mode, and the umask");
    assert_verified(&run(&["--rw=read"]));
    assert_verified(&run(&["--rw=randread"]));
    assert_verified(&run(&["--rw=randwrite", "--verify_only"]));
    // The next run writes the same file, as fio does.
    assert_verified(&run(&["--rw=write"]));
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(b"damage", 8192 + 1000).unwrap();
    for more in [&["--rw=read"][..], &["--rw=write", "--verify_only=1"]] {
        let output = run(more);
        assert_eq!(
            (output.code, errors(&output)),
            (1, vec![84]),
            "{}",
            output.text()
        );
        assert!(output.text().contains("offset 8192"), "{}", output.text());
    }
    assert_eq!(fs::metadata(&path).unwrap().len(), 256 << 10);
    assert_verified(&run(&["--rw=write", "--unlink=1"]));
}

#[test]
fn a_file_of_the_user_is_neither_written_nor_replaced() {
    let bed = need!(ScratchTarget::new());
    let path = bed.target().join("mine");
    fs::write(&path, "text of the user").unwrap();
    let base = [
        "--name=v",
        "--filename=mine",
        "--size=64k",
        "--verify=crc32c",
    ];
    let output = as_fio(&bed, &[&base[..], &["--rw=write"]].concat());
    assert_verified(&output);
    assert_eq!(fs::read_to_string(&path).unwrap(), "text of the user");
    // Nothing of the run is left next to it.
    let names = fs::read_dir(bed.target()).unwrap().count();
    assert_eq!(names, 1);
    let output = as_fio(
        &bed,
        &["--name=v", "--rw=read", "--size=64k", "--verify=md5"],
    );
    assert_ne!(output.code, 0);
    assert!(
        output.text().contains("does not exist"),
        "{}",
        output.text()
    );
}

#[test]
fn mixes_backlogs_and_patterns_verify_what_they_wrote() {
    let bed = need!(ScratchTarget::new());
    let lines: [&[&str]; 8] = [
        &["--rw=randrw", "--verify=md5", "--bs=4k", "--norandommap=1"],
        &[
            "--rw=randwrite",
            "--verify=crc64",
            "--bsrange=1k-16k",
            "--verify_backlog=16",
        ],
        &[
            "--rw=write",
            "--verify=sha1",
            "--bs=8k",
            "--verify_interval=1024",
            "--verify_offset=512",
        ],
        &[
            "--rw=write",
            "--verify=pattern",
            "--verify_pattern=%o",
            "--verify_pattern_interval=129",
        ],
        &[
            "--rw=write",
            "--verify=pattern_hdr",
            "--verify_pattern=\"abcd\"-120xdeadface",
        ],
        &[
            "--rw=write",
            "--verify_pattern=0xdeadbeef",
            "--verify_offset=200",
            "--verify=pattern_hdr",
        ],
        &[
            "--rw=randwrite",
            "--verify=sha512",
            "--bssplit=4k/50:64k/50",
        ],
        &[
            "--rw=rw",
            "--verify=xxhash",
            "--nrfiles=3",
            "--iodepth=8",
            "--ioengine=libaio",
        ],
    ];
    for line in lines {
        let output = as_fio(&bed, &[&["--name=v", "--size=1m"], line].concat());
        assert_verified(&output);
        let again = [&["--name=v", "--size=1m", "--verify_only=1"], line].concat();
        let again: Vec<&str> = again
            .into_iter()
            .filter(|it| !it.starts_with("--verify_backlog"))
            .collect();
        assert_verified(&as_fio(&bed, &again));
    }
}

#[test]
fn a_job_without_verification_can_write_the_pattern_that_another_verifies() {
    let bed = need!(ScratchTarget::new());
    let pattern = bed.file("pattern", (0..=255).collect::<Vec<u8>>());
    let pattern = format!("'{}'", pattern.display());
    let output = as_fio(
        &bed,
        &[
            "--filename=f",
            "--size=16k",
            "--bs=16k",
            "--name=w",
            "--rw=write",
            &format!("--buffer_pattern={pattern}"),
            "--name=r",
            "--stonewall",
            "--rw=read",
            "--verify=pattern",
            &format!("--verify_pattern={pattern}"),
        ],
    );
    assert_verified(&output);
    assert_eq!(
        fs::metadata(bed.target().join("f")).unwrap().len(),
        16 << 10
    );
}

#[test]
fn what_pgmeter_writes_verifies_in_fio() {
    let bed = need!(ScratchTarget::new());
    need!(installed("fio"));
    for kind in KINDS {
        let name = format!("--filename={kind}");
        let verify = format!("--verify={kind}");
        let base = [
            "--name=v",
            &name,
            &verify,
            "--size=256k",
            "--bs=4k",
            "--ioengine=psync",
        ];
        for more in [&[][..], &["--verify_interval=1024"]] {
            let base = [&base[..], more].concat();
            assert_verified(&as_fio(&bed, &[&base[..], &["--rw=write"]].concat()));
            let output = fio(&bed, &[&base[..], &["--rw=read"]].concat());
            assert_verified(&output);
        }
    }
}

#[test]
fn what_fio_writes_verifies_in_pgmeter() {
    let bed = need!(ScratchTarget::new());
    need!(installed("fio"));
    for kind in [&KINDS[..], &["sha512"]].concat() {
        let name = format!("--filename={kind}");
        let verify = format!("--verify={kind}");
        let base = [
            "--name=v",
            &name,
            &verify,
            "--size=256k",
            "--bs=4k",
            "--ioengine=psync",
        ];
        for more in [
            &[][..],
            &["--verify_interval=1024", "--verify_offset=512"],
            &["--verify_pattern=%o"],
        ] {
            let base = [&base[..], more].concat();
            assert_verified(&fio(&bed, &[&base[..], &["--rw=randwrite"]].concat()));
            assert_verified(&as_fio(&bed, &[&base[..], &["--rw=read"]].concat()));
            fs::remove_file(bed.target().join(kind)).unwrap();
        }
    }
}

#[test]
fn a_workload_file_verifies_with_headers() {
    let bed = need!(ScratchTarget::new());
    let file = bed.file(
        "w.toml",
        "[[job]]\nname = \"w\"\nread = 0\nsize = \"1m\"\nloops = 1\nblock_size = \"4k-64k\"\n\
         verify = true\nverify_with = \"sha3-256\"\nread_back = true\ncache = \"buffered\"\n\n\
         [[job]]\nname = \"p\"\nread = 0\nsize = \"1m\"\nloops = 1\nverify = true\n\
         verify_with = \"pattern\"\npattern = \"00ff%o\"\nread_back = true\ncache = \"buffered\"\n",
    );
    let target = bed.target().display().to_string();
    let output = bed.run(&["run", &file.display().to_string(), "--target", &target]);
    assert_eq!(output.code, 0, "{}", output.text());
}
