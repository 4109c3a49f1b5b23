//! Files that are there before, and files that say no size.

use super::*;
use crate::{CommandLine, FileAccess, FrontWork, VirtualFiles};
use plan::job::{Layout, NamedFile};

/// The work of a command line where `there` (16 MiB) is the only file.
fn work_of(line: &str) -> Result<FrontWork, String> {
    let words: Vec<String> = line.split_ascii_whitespace().map(str::to_owned).collect();
    let script = VirtualFiles {
        size_bytes: &|name| (name == "there").then_some(16 << 20),
        ..VirtualFiles::EMPTY
    };
    let line = CommandLine {
        files: FileAccess::scripted(script),
        ..CommandLine::of(&words)
    };
    FRONT.work(&line).map_err(|error| match error {
        crate::ArgumentError::FileWithCode(diagnostic, 1) => diagnostic.to_string(),
        other => format!("{other:?}"),
    })
}

/// The files of each wave.
fn files_of(work: &FrontWork) -> Vec<Vec<NamedFile>> {
    let jobs = work.cells.iter().filter_map(|cell| cell.jobs.as_ref());
    jobs.map(|jobs| jobs.files.files.clone()).collect()
}

#[test]
fn existing_files_are_read_themselves_if_they_are_long_enough() {
    let line = "--name=a --rw=randread --filename=there";
    for sized in [
        line.to_owned(),
        format!("{line} --size=16m"),
        format!("{line} --size=50%"),
    ] {
        let work = work_of(&sized).unwrap();
        let files = files_of(&work);
        assert_eq!((files[0].len(), &files[0][0].name), (1, &None), "{sized}");
        assert_eq!(work.directories, [std::path::Path::new("there")]);
    }
    // Verified, even under the name that a job gives it.
    for verified in [
        format!("{line} --verify=crc32c --size=16m"),
        "--name=a --rw=write --filename=there --verify=md5 --verify_only --size=1m".to_owned(),
    ] {
        let work = work_of(&verified).unwrap();
        assert_eq!(files_of(&work)[0][0].name, None, "{verified}");
    }
    let missing = work_of("--name=a --rw=read --size=1m --verify=md5").unwrap_err();
    assert!(
        missing.contains("`a.0.0`, which does not exist"),
        "{missing}"
    );
    // Laid out again: too short, or written to by another job.
    for own in [
        format!("{line} --size=17m"),
        format!("{line} --name=b --rw=write --filename=there"),
    ] {
        let files = files_of(&work_of(&own).unwrap());
        assert_eq!(files[0][0].name.as_deref(), Some("there"), "{own}");
    }
}

#[test]
fn a_job_without_a_size_takes_that_of_the_existing_file() {
    let work = work_of("--name=a --rw=write --filename=there").unwrap();
    let file = &files_of(&work)[0][0];
    // It is ours, and as long.
    assert_eq!(
        (file.name.as_deref(), file.size_bytes),
        (Some("there"), 16 << 20)
    );
    let error = work_of("--name=a --rw=write --filename=elsewhere").unwrap_err();
    assert!(
        error.contains("its file `elsewhere` does not exist"),
        "{error}"
    );
}

#[test]
fn a_job_without_a_size_reads_a_file_of_an_earlier_wave() {
    let work = work_of(
        "--name=w --rw=write --filename=x --size=4m --name=r --rw=read --filename=x --stonewall",
    )
    .unwrap();
    let sizes = files_of(&work);
    assert_eq!(
        (sizes[0][0].size_bytes, sizes[1][0].size_bytes),
        (4 << 20, 0)
    );
}

#[test]
fn files_that_fill_the_device_have_no_size_until_the_target_is_known() {
    for line in ["--fill_device=1", "--fill_fs=1 --size=100%"] {
        let work = work_of(&format!("--name=a --rw=write --directory=d {line}")).unwrap();
        let file = &files_of(&work)[0][0];
        assert_eq!((file.size_bytes, file.layout), (0, Layout::Empty));
        assert!(work.cells[0].jobs.as_ref().unwrap().jobs[0].fills);
    }
    let sized = work_of("--name=a --rw=write --fill_device=1 --size=1m").unwrap();
    assert_eq!(files_of(&sized)[0][0].size_bytes, 1 << 20);
}

#[test]
fn an_offset_past_the_end_is_refused_with_offset_and_file_size() {
    let error = work_of("--name=a --rw=read --offset=1m --filesize=512k").unwrap_err();
    let wanted = "`offset` 1MiB is at or past the end of the 512KiB file";
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn a_device_without_a_size_ends_at_the_given_size() {
    let bytes = |line: &str| {
        let work = work_of(line).unwrap();
        let job = &work.cells[0].jobs.as_ref().unwrap().jobs[0].plan;
        (job.files[0].start_bytes, job.files[0].size_bytes)
    };
    let line = "--name=a --rw=write --size=1m --offset=256k";
    assert_eq!(
        bytes(&format!("{line} --filename=/dev/zero")),
        (256 << 10, 768 << 10)
    );
    assert_eq!(bytes(&format!("{line} --filename=x")), (256 << 10, 1 << 20));
}

#[test]
fn files_of_a_create_only_job_are_laid_out_before_its_wave() {
    let line = "--name=b --size=8k --rw=write --name=a --size=4k --create_only=1";
    let work = work_of(line).unwrap();
    let cells: Vec<_> = work
        .cells
        .iter()
        .filter_map(|it| it.jobs.as_deref())
        .collect();
    let layouts = cells.iter().map(|jobs| {
        let file = &jobs.files.files[0];
        let name = file.name.as_deref().unwrap_or_default();
        let is_layout_only = jobs.files.is_layout_only;
        (
            jobs.jobs.len(),
            name,
            file.size_bytes,
            file.layout,
            is_layout_only,
        )
    });
    let wanted = [
        (1, "a.0.0", 4096, Layout::Written, true),
        (1, "b.0.0", 8192, Layout::Allotted, false),
    ];
    assert_eq!(layouts.collect::<Vec<_>>(), wanted);
}

#[test]
fn cpus_are_assigned_by_the_number_among_all_jobs() {
    let line = "--cpus_allowed=0-3 --cpus_allowed_policy=split --size=4k --name=a --numjobs=3 \
                --name=b --name=c --stonewall";
    let work = work_of(line).unwrap();
    let jobs = work
        .cells
        .iter()
        .flat_map(|it| &it.jobs.as_ref().unwrap().jobs);
    let cpus: Vec<u32> = jobs.filter_map(|job| job.cpu).collect();
    assert_eq!(cpus, [0, 1, 2, 3, 0]);
}

#[test]
fn amounts_in_zones_are_refused_because_no_device_has_zones() {
    for line in [
        "--size=1m --io_size=2z",
        "--size=2z",
        "--size=1m --offset=2z --filesize=2m",
        "--size=1m --zonemode=strided --zonesize=64k --zoneskip=2z",
    ] {
        assert!(work_of(&format!("--name=a {line}")).is_err(), "{line}");
    }
}

#[test]
fn a_job_waits_for_all_clones_of_the_named_job() {
    let line = "--name=a --size=4k --name=b --size=4k --numjobs=2 --name=c --size=4k --wait_for=b";
    let work = work_of(line).unwrap();
    let jobs = &work.cells[0].jobs.as_ref().unwrap().jobs;
    let after = jobs[3].plan.after.unwrap();
    assert_eq!((after.first_index, after.count), (1, 2));
}

#[test]
fn too_many_files_are_refused_before_they_are_created() {
    let error = work_of("--name=a --filesize=4k --nrfiles=1000000 --numjobs=100").unwrap_err();
    assert!(error.contains("more than 1048576 files"), "{error}");
}
