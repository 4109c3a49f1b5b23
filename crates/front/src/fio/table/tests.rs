use super::*;

#[test]
fn every_line_of_the_table_is_a_row_or_a_heading() {
    for line in ROWS.lines().filter(|line| !line.starts_with("= ")) {
        let row = FioOption::read(line).unwrap_or_else(|| panic!("`{line}` is no row"));
        let verdict = line.split('|').nth(2).unwrap();
        assert!(["D", "~", "R", "X"].contains(&verdict), "{line}");
        let is_refused = matches!(row.support, OptionSupport::Refused { .. });
        assert_eq!(is_refused, line.contains(" > "), "{line}");
        assert_eq!(row.explanation.ends_with('.'), !is_refused, "{line}");
        let first = row.explanation.chars().next().unwrap();
        assert_eq!(row.kind.is_empty(), row.is_value_row(), "{line}");
        assert!(
            !first.is_ascii_lowercase()
                || is_refused
                || first == 'f'
                || first == 'p'
                || first == 'i',
            "{line}"
        );
    }
}

#[test]
fn no_name_is_listed_twice() {
    let table = OptionTable::new();
    for pair in table.index.windows(2) {
        assert_ne!(pair[0].0, pair[1].0);
    }
}

#[test]
fn every_row_is_below_a_heading() {
    let rows: usize = OptionTable::groups().map(|(_, rows)| rows.len()).sum();
    assert_eq!(rows, OptionTable::new().rows.len());
    assert!(OptionTable::groups().count() > 10);
    assert!(OptionTable::groups().all(|(heading, _)| !heading.contains('|')));
}

#[test]
fn names_are_found_in_full_or_by_a_unique_prefix() {
    let table = OptionTable::new();
    assert_eq!(table.find("readwrite").unwrap().name(), "rw");
    assert_eq!(
        table.find_by_start("group_rep").unwrap().name(),
        "group_reporting"
    );
    assert!(table.find_by_start("blocks").is_none(), "three begin so");
    assert!(table.find_by_start("direc").is_none());
    // `namenode` and `namespace` are options of engines.
    assert_eq!(table.find_by_start("nam").unwrap().name(), "name");
    assert_eq!(table.find_by_start("namen").unwrap().name(), "namenode");
    assert_eq!(table.find_by_start("rw").unwrap().name(), "rw");
    assert_eq!(table.find_by_start("nrfile").unwrap().name(), "nrfiles");
    assert!(table.find("").is_none());
}

#[test]
fn typos_suggest_the_intended_name() {
    let table = OptionTable::new();
    for (slip, meant) in [
        ("io_engine", "ioengine"),
        ("ramptime", "ramp_time"),
        ("blocksze", "blocksize"),
        ("groupreporting", "group_reporting"),
        ("output-format", "output-format"),
    ] {
        assert_eq!(table.nearest(slip), Some(meant));
    }
    assert_eq!(table.nearest("share_mmap_of_all_the_world"), None);
}

#[test]
fn values_may_have_their_own_verdicts() {
    let table = OptionTable::new();
    let engine = table.find("ioengine").unwrap();
    let refused = table.of_value(engine, "rbd").support;
    assert!(matches!(refused, OptionSupport::Refused { .. }));
    assert_eq!(
        table.of_value(engine, "libaio").support,
        OptionSupport::Differs
    );
    assert_eq!(
        table.of_value(engine, "psync").support,
        OptionSupport::Supported
    );
}

/// The 79 options that are 95 % of use; Ceph's options are refused by name.
const COMMON_OPTIONS: &str = "allow_file_create atomic ba bs bsrange bssplit buffer_compress_chunk \
    buffer_compress_percentage buffer_pattern buffered clientname cpus_allowed \
    cpus_allowed_policy create_on_open create_only create_serialize direct directory do_verify \
    end_fsync exitall exitall_on_error fadvise_hint fallocate fdatasync file_append \
    file_service_type filename filename_format filesize fsync fsync_on_close include invalidate \
    io_size iodepth ioengine kb_base lockmem loops mem norandommap nrfiles number_ios numjobs \
    offset offset_increment openfiles overwrite pool ramp_time random_distribution \
    random_generator randrepeat randseed rate rate_iops rate_process rbdname read_iolog \
    refill_buffers replay_no_stall runtime rw rwmixread rwmixwrite size startdelay stonewall sync \
    thinktime thread time_based unlink unlink_each_loop verify verify_dump";

#[test]
fn options_in_common_use_are_supported() {
    let table = OptionTable::new();
    for name in COMMON_OPTIONS.split_ascii_whitespace() {
        let row = table.find(name).unwrap_or_else(|| panic!("{name}"));
        let is_of_ceph = ["clientname", "pool", "rbdname"].contains(&name);
        let is_refused = matches!(row.support, OptionSupport::Refused { .. });
        assert_eq!(is_refused, is_of_ceph, "{name}");
    }
}

/// The names that an installed fio 3.42 lists; none of another version, or where there is none.
fn installed_names() -> Option<Vec<String>> {
    let program = std::env::var("FIO").unwrap_or_else(|_| "fio".to_owned());
    let output_of = |argument: &str| {
        let output = std::process::Command::new(&program).arg(argument).output();
        Some(String::from_utf8_lossy(&output.ok()?.stdout).into_owned())
    };
    if output_of("--version")?.trim() != "fio-3.42" {
        return None;
    }
    let list = output_of("--cmdhelp")?;
    // Options that belong to another one are indented below it.
    let names = list
        .lines()
        .filter_map(|it| Some(it.split_once(':')?.0.trim().to_owned()));
    Some(names.collect())
}

#[test]
fn every_option_that_fio_lists_has_a_row() {
    let Some(names) = installed_names() else {
        println!("skipped: fio 3.42 is not installed");
        return;
    };
    assert!(names.len() > 200, "fio lists its options one a line");
    let table = OptionTable::new();
    let is_missing = |it: &&String| table.find(it).is_none();
    let missing: Vec<&String> = names.iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Options of fio 3.42 that programs such as its own tests use and the table once lacked.
#[test]
fn recent_options_of_fio_have_rows() {
    let table = OptionTable::new();
    for name in [
        "comm",
        "end_syncfs",
        "filetype",
        "job_start_clock_id",
        "write_zone_remainder",
        "rbd_encryption_format",
        "rbd_encryption_passphrase",
    ] {
        assert!(table.find(name).is_some(), "{name}");
    }
}
