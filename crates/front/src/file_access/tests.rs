use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

/// A directory that is offered, and one that is not, with a secret.
fn site() -> (tempfile::TempDir, PathBuf, AllowedDirectories) {
    let site = tempfile::tempdir().unwrap();
    let base = site.path().canonicalize().unwrap();
    std::fs::create_dir_all(base.join("root/inner")).unwrap();
    std::fs::write(base.join("secret"), "root:x:0:0").unwrap();
    std::fs::write(base.join("root/inner/own"), "bs=8k\n").unwrap();
    let offered = AllowedDirectories::new(vec![base.join("root")]);
    (site, base, offered)
}

fn read(offered: &AllowedDirectories, path: PathBuf) -> Result<Vec<u8>, String> {
    FileAccess::beneath(offered).read(path.to_str().unwrap())
}

#[test]
fn text_from_a_page_reads_regular_files_below_offered_directories() {
    let (_site, base, offered) = site();
    assert_eq!(
        read(&offered, base.join("root/inner/own")).unwrap(),
        b"bs=8k\n"
    );
    let up_and_down = base.join("root/inner/../inner/own");
    assert_eq!(read(&offered, up_and_down).unwrap(), b"bs=8k\n");
    let access = FileAccess::beneath(&offered);
    let own = base.join("root/inner/own");
    assert_eq!(access.size_bytes(own.to_str().unwrap()), Some(6));
}

fn make_pipe(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status();
    assert!(status.unwrap().success());
}

#[test]
fn text_from_a_page_reads_nothing_else_and_learns_nothing_about_it() {
    let (_site, base, offered) = site();
    symlink(base.join("secret"), base.join("root/link")).unwrap();
    symlink("inner", base.join("root/way")).unwrap();
    let pipe = base.join("root/pipe");
    make_pipe(&pipe);
    let outside = [
        base.join("secret"),
        base.join("not-there"),
        base.join("root/../secret"),
        base.join("root/link"),
        base.join("root/way/own"),
        base.join("root/inner"),
        base.join("root"),
        base.join("root/not-there"),
        pipe,
        PathBuf::from("/dev/zero"),
        PathBuf::from("/proc/self/environ"),
        PathBuf::from("/proc/self/cwd/passwd"),
        PathBuf::from("own"),
        PathBuf::from("-"),
        PathBuf::new(),
        PathBuf::from("/etc/pass\0wd"),
    ];
    for path in outside {
        assert_eq!(
            read(&offered, path.clone()).unwrap_err(),
            NOT_OFFERED,
            "{path:?}"
        );
        let access = FileAccess::beneath(&offered);
        assert_eq!(access.size_bytes(path.to_str().unwrap()), None, "{path:?}");
    }
    // A root that is a link by now leads nowhere.
    std::fs::rename(base.join("root"), base.join("moved")).unwrap();
    symlink(base.join("moved"), base.join("root")).unwrap();
    assert!(read(&offered, base.join("root/inner/own")).is_err());
}

#[test]
fn text_from_a_page_reads_no_large_file_and_no_variable() {
    let (_site, base, offered) = site();
    let large = File::create(base.join("root/large")).unwrap();
    large.set_len(PAGE_FILE_BYTES_MAX + 1).unwrap();
    let refused = read(&offered, base.join("root/large")).unwrap_err();
    assert!(refused.contains("8 MiB"), "{refused}");
    large.set_len(PAGE_FILE_BYTES_MAX).unwrap();
    let most = PAGE_TOTAL_BYTES_MAX as u64 / PAGE_FILE_BYTES_MAX;
    for _ in 0..most {
        read(&offered, base.join("root/large")).unwrap();
    }
    assert!(read(&offered, base.join("root/large")).is_err());
    assert!(FileAccess::anywhere().variable("PATH").is_some());
    assert_eq!(FileAccess::beneath(&offered).variable("PATH"), None);
}

#[test]
fn messages_to_a_page_quote_only_its_own_text() {
    let (_site, base, offered) = site();
    let own = base.join("root/inner/own");
    let access = FileAccess::beneath(&offered).of_text("x.fio", b"rw=odd bs=8k");
    let original = || {
        let error = Diagnostic::error("x.fio", "`odd` is not `secret`, and `s…` neither");
        error.at(3, 1).snippet("rw=odd").help("write `read`")
    };
    assert_eq!(access.redact_diagnostic(original()), original());
    access.read(own.to_str().unwrap()).unwrap();
    std::fs::write(&own, "user=secret").unwrap();
    access.read(own.to_str().unwrap()).unwrap();
    let redacted = access.redact_diagnostic(original());
    assert_eq!(redacted.message, "`odd` is not `...`, and `...` neither");
    assert_eq!(redacted.snippet.as_deref(), Some("rw=odd"));
    let other = Diagnostic::error("/srv/inner/own", "there is no option `user`");
    let redacted = access.redact_diagnostic(other.at(1, 1).snippet("user=secret"));
    assert_eq!((redacted.line, redacted.snippet), (Some(1), None));
    assert!(!redacted.message.contains("user"), "{}", redacted.message);
    let in_other = |line| {
        let error = Diagnostic::error("/srv/inner/own", "there is no option `user`");
        error.at(line, 1).snippet("user=secret")
    };
    let in_text = Diagnostic::error("x.fio", "`s…` is not `secret`").at(1, 1);
    for findings in [vec![in_text, in_other(2)], vec![in_other(1), in_other(2)]] {
        let redacted = access.redact_diagnostic(Diagnostic::all(findings).unwrap());
        let redacted = redacted.to_string();
        assert!(
            !redacted.contains("secret") && !redacted.contains("user"),
            "{redacted}"
        );
        assert_eq!(redacted.matches("error: ").count(), 2, "{redacted}");
    }
    let unrestricted = FileAccess::anywhere().of_text("x.fio", b"");
    assert_eq!(unrestricted.redact_diagnostic(original()), original());
}

#[test]
fn a_text_can_be_read_by_its_own_name() {
    let access = FileAccess::EMPTY.of_text("./x.fio", b"text");
    assert_eq!(access.read("./x.fio").unwrap(), b"text");
    assert!(access.read("x.fio").is_err());
}

#[test]
fn text_of_the_command_line_never_blocks_on_a_pipe_without_a_writer() {
    let (_site, base, _) = site();
    let pipe = base.join("pipe");
    make_pipe(&pipe);
    let refused = FileAccess::anywhere().read(pipe.to_str().unwrap());
    assert!(refused.unwrap_err().contains("is not a regular file"));
    let secret = base.join("secret");
    let read = FileAccess::anywhere_with_pipes().read(secret.to_str().unwrap());
    assert_eq!(read.unwrap(), b"root:x:0:0");
}
