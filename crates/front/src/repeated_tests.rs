//! Options that are repeated on a command line.

use crate::{CommandLine, FrontWork, find};

/// Front, other words of its command line, option, two values: the last one applies, as in
/// `getopt`, `argparse` and `popt`.
const LAST_WINS: &str = "
iozone | -a -i 0 | -n | 128 | 256
iozone | -a -i 0 | -g | 1m | 512
iozone | -a -i 0 | -y | 8 | 16
iozone | -a -i 0 | -q | 64 | 32
iozone | -i 0 | -l | 1 | 2
iozone | -i 0 | -u | 3 | 2
iozone | | -j | 3 | 5
iozone | | -S | 512 | 256
iozone | | -L | 64 | 128
iozone | -t 4 | -+p | 25 | 75
iozone | | -+q | 1 | 2
iozone | | -J | 1 | 2
iozone | -a -i 0 | -+x | 4 | 2
iozone | -i 0 | -+b | 1m,5 | 2m,6
iozone | -t 4 | -+K | 1 | 2
iozone | -i 0 | -b | a | b
iozone | -i 0 | -U | /tmp | /
smallfile | | --operation | stat | create
smallfile | | --top | /mnt/a | /mnt/b
smallfile | | --threads | 3 | 4
smallfile | | --files | 30 | 40
smallfile | | --file-size | 8 | 16
smallfile | | --record-size | 8 | 4
smallfile | | --file-size-distribution | exponential | fixed
smallfile | | --files-per-dir | 5 | 6
smallfile | | --dirs-per-dir | 5 | 6
smallfile | | --prefix | a | b
smallfile | | --suffix | a | b
smallfile | | --same-dir | Y | N
smallfile | | --stonewall | N | Y
smallfile | --operation stat | --finish | Y | N
smallfile | | --fsync | Y | N
smallfile | | --pause | 5 | 6
smallfile | | --response-times | Y | N
smallfile | | --host-set | 127.0.0.1 | localhost
smallfile | --response-times Y | --network-sync-dir | /a | /b
bonnie++ | -s 64 -r 16 | -d | /a | /b
bonnie++ | -r 16 | -s | 64 | 128
bonnie++ | -s 64 -r 16 | -n | 1 | 2
bonnie++ | -s 64 -r 16 | -z | 1 | 2
bonnie++ | -s 64 -r 16 | -x | 2 | 3
bonnie++ | -s 64 -r 16 | -y | s | p
fs_mark | -d /a | -n | 10 | 20
fs_mark | -d /a | -s | 100 | 200
fs_mark | -d /a | -w | 4096 | 8192
fs_mark | -d /a | -S | 0 | 1
fs_mark | -d /a | -t | 2 | 3
fs_mark | -d /a | -L | 2 | 3
fs_mark | -d /a | -p | 30 | 40
fs_mark | -d /a | -r | 5 | 6
mdtest | -d /a | -n | 10 | 20
mdtest | -d /a -n 5 | -i | 2 | 3
mdtest | -d /a -n 8 | -w | 10 | 20
mdtest | -d /a -n 8 -w 9 | -e | 8 | 9
mdtest | -n 5 | -d | /a | /b
ior | -o /a | -b | 1m | 2m
ior | -o /a -b 8m | -t | 1m | 2m
ior | -o /a | -s | 2 | 3
ior | -o /a | -i | 2 | 3
ior | | -o | /a | /b
";

/// The same columns for options whose values all count.
const ALL_APPLY: &str = "
iozone | -i 0 | -s | 1m | 2m
iozone | -s 1m -i 0 | -r | 4k | 64k
iozone | -i 0 | -t | 1 | 2
iozone | -s 1m -i 0 | -i | 1 | 2
fs_mark | -n 10 | -d | /a | /b
";

fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(str::to_owned).collect()
}

fn work(front: &str, line: &str) -> FrontWork {
    let words = words(line);
    let work = find(front).unwrap().work(&CommandLine::of(&words));
    let mut work = work.unwrap_or_else(|error| panic!("{front} {line}: {error:?}"));
    // The words themselves differ between the command lines.
    work.text_input.clear();
    for cell in &mut work.cells {
        cell.built.as_mut().unwrap().origin.arguments.clear();
    }
    work
}

fn cases(table: &'static str) -> impl Iterator<Item = [&'static str; 5]> {
    let lines = table.lines().filter(|line| !line.is_empty());
    lines.map(|line| {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        parts.try_into().unwrap()
    })
}

#[test]
fn the_last_repeated_option_wins_where_it_does_in_the_original() {
    for [front, more, option, first, last] in cases(LAST_WINS) {
        let once = work(front, &format!("{more} {option} {last}"));
        let twice = work(front, &format!("{more} {option} {first} {option} {last}"));
        assert_eq!(
            once, twice,
            "{front} {more} {option} {first} {option} {last}"
        );
    }
}

#[test]
fn repeated_options_accumulate_where_they_do_in_the_original() {
    for [front, more, option, first, last] in cases(ALL_APPLY) {
        let twice = work(front, &format!("{more} {option} {first} {option} {last}"));
        for one in [first, last] {
            let once = work(front, &format!("{more} {option} {one}"));
            assert_ne!(once, twice, "{front} {more} {option} {one}");
        }
    }
}
