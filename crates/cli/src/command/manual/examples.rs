//! Examples of each command in the manual pages.

/// A command line and its purpose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Example {
    /// Heading above the command line.
    pub heading: &'static str,
    /// The command line.
    pub line: &'static str,
}

/// Returns the examples of a command; the program itself has an empty name.
pub(super) fn of(command: &str) -> impl Iterator<Item = Example> {
    let own = ALL.iter().filter(move |(name, ..)| *name == command);
    own.map(|(_, what, line)| Example {
        heading: what,
        line,
    })
}

/// Command, purpose, line.
const ALL: &[(&str, &str, &str)] = &[
    ("", "First results in about a minute:", "pgmeter run"),
    (
        "",
        "What this machine can and cannot measure:",
        "pgmeter doctor",
    ),
    (
        "",
        "4 KiB random reads at queue depth 32, in a directory on the disk to measure:",
        "pgmeter run --rw randread --bs 4k --iodepth 32 --target /mnt/disk",
    ),
    (
        "run",
        "The built-in pack, in a directory on the disk to measure:",
        "pgmeter run quick --target /mnt/disk",
    ),
    (
        "run",
        "A workload in one line:",
        "pgmeter run --rw randrw --rwmix 70 --bs 4k --iodepth 1,8,32 --size 4g -t /mnt/disk",
    ),
    (
        "run",
        "An Iometer configuration, on another target than it names:",
        "pgmeter run fileserver.icf --target /mnt/disk",
    ),
    (
        "run",
        "Repeated until every rate is known to 2 %, or for 10 minutes:",
        "pgmeter run oltp --repetitions auto --precision 2% --budget 10m -t /mnt/disk",
    ),
    (
        "run",
        "The highest rate at which 99 % of the requests are answered within 2 ms:",
        "pgmeter run oltp --find-rate 'p99<=2ms' --iodepth 64 --target /mnt/disk",
    ),
    (
        "run",
        "Reads from a block device, which do not change it:",
        "pgmeter run randread-4k --target /dev/nvme0n1",
    ),
    (
        "check",
        "What an Iometer configuration would do here:",
        "pgmeter check fileserver.icf --target /mnt/disk",
    ),
    (
        "check",
        "Counts of a trace that another program recorded:",
        "pgmeter check sda.blktrace.0",
    ),
    ("list", "Built-in workloads and packs:", "pgmeter list"),
    (
        "show",
        "A built-in workload, as a file to start from:",
        "pgmeter show file-server",
    ),
    (
        "show",
        "The report of the newest run again:",
        "pgmeter show last",
    ),
    (
        "keys",
        "Keys that have to do with the queue depth:",
        "pgmeter keys depth",
    ),
    ("schema", "The schema for an editor:", "pgmeter schema"),
    (
        "convert",
        "An Iometer configuration as TOML:",
        "pgmeter convert fileserver.icf --to toml --output fileserver.toml",
    ),
    (
        "report",
        "The newest run as a Markdown table:",
        "pgmeter report last --format markdown",
    ),
    (
        "report",
        "Two runs side by side on one page:",
        "pgmeter report @-2 last --format html --output both.html",
    ),
    (
        "compare",
        "The two newest runs:",
        "pgmeter compare @-2 last",
    ),
    (
        "compare",
        "Two directories, measured in turn:",
        "pgmeter compare oltp --target /mnt/a --target /mnt/b",
    ),
    (
        "compare",
        "For a script: exit with 4 if anything is worse by more than 3 %:",
        "pgmeter compare tag:before last --fail-on-regression 3%",
    ),
    ("runs", "The newest runs:", "pgmeter runs"),
    (
        "runs",
        "Tag the newest run:",
        "pgmeter runs tag last before-upgrade",
    ),
    (
        "runs",
        "Export the newest run:",
        "pgmeter runs export last --output run.json",
    ),
    (
        "lab",
        "File systems that can be created here:",
        "pgmeter lab list",
    ),
    (
        "lab",
        "PostMark on three file systems, each on an image:",
        "pgmeter lab run postmark --fs ext4,xfs,btrfs --scale 0.02",
    ),
    (
        "lab",
        "What survives a crash:",
        "pgmeter lab recover --fs ext4,xfs --trials 3",
    ),
    ("paper", "The published experiments:", "pgmeter paper list"),
    (
        "paper",
        "The measurements of 2001 at a tenth of their size:",
        "pgmeter paper run pgmeter-windows-linux --scale 0.1 --target /mnt/disk",
    ),
    (
        "board",
        "A board with the published tables as its first entries:",
        "pgmeter board init board",
    ),
    (
        "board",
        "Add the last run, and make the site:",
        "pgmeter board add last --board board --title Disk --submitter Ann --license CC0-1.0",
    ),
    (
        "board",
        "The static site:",
        "pgmeter board build board -o site",
    ),
    (
        "board",
        "Check every submission of a board:",
        "pgmeter board lint board",
    ),
    (
        "serve",
        "The web page, opened in the browser, for starting runs in a directory:",
        "pgmeter serve --target /mnt/disk --open",
    ),
    (
        "serve",
        "The page for a network that is yours alone:",
        "pgmeter serve --listen 0.0.0.0:7764 --allow-host lab.example",
    ),
    (
        "sink",
        "The server side of `pgmeter run --target tcp://127.0.0.1:7765`, through `ssh -L`:",
        "pgmeter sink",
    ),
    (
        "sink",
        "The same for clients with the token:",
        "pgmeter sink --listen 10.0.0.2:7765 --token-file token",
    ),
    (
        "fit",
        "A workload that is like a trace, and how much alike it is:",
        "pgmeter fit mysql.pgt -o mysql.toml",
    ),
    (
        "fit",
        "The same with requests that are 20 % larger on average:",
        "pgmeter fit mysql.pgt -o larger.toml --scale size=1.2",
    ),
    (
        "record",
        "The requests to the disk of a directory for a minute:",
        "pgmeter record --target /var/lib/mysql --for 60s -o mysql.pgt",
    ),
    (
        "record",
        "The requests to a device while a command runs:",
        "pgmeter record --device /dev/sdb -o copy.pgt -- cp -r /data /mnt/sdb",
    ),
    (
        "record",
        "The system calls of a command on files:",
        "pgmeter record -o app.txt -- sqlite3 app.db 'vacuum'",
    ),
    (
        "doctor",
        "What can be measured in a directory:",
        "pgmeter doctor /mnt/disk",
    ),
    (
        "selftest",
        "One engine alone, with the findings as JSON:",
        "pgmeter selftest --engine io_uring --json selftest.json",
    ),
    (
        "clean",
        "Remove leftover files of a killed run:",
        "pgmeter clean /mnt/disk",
    ),
    ("as", "PostMark's own prompt:", "pgmeter as postmark"),
    (
        "as",
        "fs_mark with its own options:",
        "pgmeter as fs_mark -d /mnt/disk/files -n 1000 -s 4096",
    ),
    (
        "completions",
        "Completion in bash, for this user:",
        "pgmeter completions bash",
    ),
    (
        "man",
        "The page of a command, shown:",
        "pgmeter man run | man -l -",
    ),
];

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::args::Cli;

    #[test]
    fn every_example_parses() {
        for (command, _, line) in ALL {
            let own = line.split(" | ").next().unwrap_or(line).replace('\'', "");
            let words: Vec<&str> = own.split(' ').collect();
            assert_eq!(words[0], "pgmeter");
            if !command.is_empty() {
                assert_eq!(words.get(1), Some(command), "{line}");
            }
            let parsed = Cli::try_parse_from(&words);
            assert!(parsed.is_ok(), "{line}\n{}", parsed.unwrap_err());
        }
    }
}
