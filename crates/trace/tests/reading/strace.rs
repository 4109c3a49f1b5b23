//! System calls.

use trace::{CallKind, TraceOptions};

use crate::{WholeTrace, read, read_parts};

fn offsets(trace: &WholeTrace) -> Vec<Option<u64>> {
    let moves = |kind| matches!(kind, CallKind::Read | CallKind::Write);
    let calls = trace.calls.iter().filter(|call| moves(call.kind));
    calls.map(|call| call.offset_bytes).collect()
}

#[test]
fn offsets_follow_positions_through_duplicates_and_seeks() {
    let text = "\
9 1.0 openat(AT_FDCWD, \"/d/a\", O_RDWR|O_CREAT, 0600) = 3
9 1.1 write(3, \"x = 1) \\\"\", 100) = 100
9 1.2 dup(3) = 4
9 1.3 read(4, \"\"..., 50) = 50
9 1.4 lseek(3, 10, SEEK_SET) = 10
9 1.5 write(4, \"\"..., 5) = 5
9 1.6 pwrite64(3, \"\"..., 8, 4096) = 8
9 1.7 write(3, \"\"..., 5) = -1 ENOSPC (No space left on device)
9 1.8 close(3) = 0
9 1.9 read(4, \"\", 5) = 0
";
    let trace = read(text);
    let wanted = [Some(0), Some(100), Some(10), Some(4096), Some(15), Some(15)];
    assert_eq!(offsets(&trace), wanted);
    assert_eq!(trace.call_files[9], "/d/a");
    assert_eq!(trace.calls[7].result, Some(-1));
    assert_eq!(trace.calls[7].length_bytes, 0);
}

#[test]
fn appends_have_no_offset_and_children_share_positions() {
    let text = "\
1 5.0 open(\"/log\", O_WRONLY|O_APPEND) = 3
1 5.1 open(\"/f\", O_RDONLY) = 4
1 5.2 write(3, \"\"..., 7) = 7
1 5.3 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD) = 2
2 5.4 read(4, \"\"..., 10) = 10
1 5.5 read(4, \"\"..., 10) = 10
2 5.6 close(4) = 0
1 5.7 read(4, \"\"..., 10) = 10
2 5.8 read(4, \"\"..., 10) = -1 EBADF (Bad file descriptor)
";
    let trace = read(text);
    assert_eq!(offsets(&trace), [None, Some(0), Some(10), Some(20), None]);
    assert_eq!(trace.call_files[8], "");
}

#[test]
fn unfinished_calls_are_joined_in_order_of_their_starts() {
    let text = "\
[pid 11] 1795787125.100000 preadv2(3</m/a (1), b>,  <unfinished ...>
[pid 12] 1795787125.200000 fsync(4</m/b>) = 0 <0.000100>
[pid 11] 1795787125.300000 <... preadv2 resumed>[{iov_base=\"\"...}], 1, 512, 0) = 4096 <0.2>
[pid 12] 1795787125.400000 --- SIGCHLD {si_signo=SIGCHLD} ---
[pid 12] 1795787125.500000 nanosleep({1, 0},  <unfinished ...>
[pid 12] 1795787125.600000 <... nanosleep resumed> 0x7f) = 0 <1.0>
[pid 12] 1795787125.700000 exit_group(0) = ?
[pid 12] 1795787125.800000 +++ exited with 0 +++
[pid 13] 1795787125.900000 read(5<socket:[123]>,  <unfinished ...>
";
    let trace = read(text);
    assert_eq!(trace.calls.len(), 4);
    let first = &trace.calls[0];
    assert_eq!(
        (first.thread, first.offset_bytes, first.length_bytes),
        (11, Some(512), 4096)
    );
    assert_eq!(first.duration_ns, Some(200_000_000));
    assert_eq!(trace.call_files[0], "/m/a (1), b");
    assert_eq!(trace.calls[3].result, None);
    assert!(
        trace.notices.contains("1 calls did not end"),
        "{}",
        trace.notices
    );
}

#[test]
fn sockets_pipes_and_terminals_are_no_files() {
    let text = "\
1 7.0 write(1</dev/pts/0<char 136:0>>, \"hi\", 2) = 2
1 7.1 read(5<TCP:[127.0.0.1:80->127.0.0.1:5000]>, \"\"..., 9) = 9
1 7.2 read(6<pipe:[77]>, \"\"..., 9) = 9
1 7.3 fcntl(7</f>, F_SETLK, {l_type=1<<3}) = 0
1 7.4 rename(\"/a\", \"/b\") = 0
";
    let trace = read(text);
    assert_eq!(trace.call_files, ["", "", "", "", "/a"]);
    assert_eq!(trace.calls[1].length_bytes, 9);
    assert_eq!(trace.notices, "");
}

#[test]
fn every_form_of_time_is_read() {
    let relative =
        "     0.000000 close(3) = 0\n     0.500000 close(4) = 0\n     0.250000 close(5) = 0\n";
    let ends = |text: &str| read(text).calls.last().unwrap().time_ns;
    assert_eq!(ends(relative), 750_000_000);
    let of_day = "23:59:59.5 close(3) = 0\n00:00:00.5 close(4) = 0\n";
    assert_eq!(ends(of_day), 86_400_500_000_000);
    let none = read("close(3) = 0\nclose(4) = -1 EBADF (Bad file descriptor)\n");
    assert!(none.notices.contains("no times"), "{}", none.notices);
}

#[test]
fn files_of_several_threads_are_merged() {
    let parts = [
        &b"3.0 close(3) = 0\n"[..],
        b"1.0 close(3) = 0\n2.0 close(4) = 0\n",
    ];
    let trace = read_parts(&parts, TraceOptions::default()).unwrap();
    assert_eq!(trace.calls.len(), 3);
    assert!(trace.calls.is_sorted_by_key(|call| call.time_ns));
}
