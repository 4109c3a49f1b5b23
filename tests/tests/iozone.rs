//! In the place of IOzone, on real files.

use end_to_end::{Bed, finish, need};

/// Runs the program in the bed's target, with these options.
fn run(bed: &Bed, options: &str) -> String {
    let words: Vec<&str> = options.split_whitespace().collect();
    let mut command = bed.command(&[&["as", "iozone"], &words[..]].concat());
    let finished = finish(command.current_dir(bed.target()));
    finished.assert_says(0, &[]);
    assert_eq!(bed.left_in_target(), Vec::<String>::new());
    finished.stdout
}

#[test]
fn each_size_has_a_row_of_rates() {
    let bed = need!(Bed::in_memory());
    let text = run(&bed, "-a -g 128");
    let behind = text.split("freread\n").nth(1).unwrap();
    let table = behind.split("\n\n").next().unwrap();
    let rows: Vec<Vec<u64>> = table
        .lines()
        .map(|line| {
            line.split_whitespace()
                .map(|it| it.parse().unwrap())
                .collect()
        })
        .collect();
    let sizes: Vec<(u64, u64)> = rows.iter().map(|row| (row[0], row[1])).collect();
    let wanted = [
        (64, [4, 8, 16, 32, 64].as_slice()),
        (128, &[4, 8, 16, 32, 64, 128]),
    ];
    let wanted = wanted
        .iter()
        .flat_map(|(file, all)| all.iter().map(|it| (*file, *it)));
    assert_eq!(sizes, wanted.collect::<Vec<_>>());
    assert!(
        rows.iter()
            .all(|row| row.len() == 15 && row.iter().all(|it| *it > 0))
    );
    assert!(text.ends_with("\niozone test complete.\n"));
}

#[test]
fn several_at_once_are_told_test_by_test() {
    let bed = need!(Bed::in_memory());
    let text = run(&bed, "-t 2 -s 1m -r 64k -i 0 -i 8 -C -x -R");
    for title in ["initial writers", "rewriters", "mixed workload"] {
        assert!(text.contains(&format!("2 {title} ")), "{text}");
    }
    let children = text.lines().filter(|line| line.starts_with("\tChild["));
    // Without a stonewall each does all.
    let counts: Vec<bool> = children
        .map(|line| line.contains("=    1024.00 kB,"))
        .collect();
    assert_eq!(counts, [true; 6]);
    assert!(text.contains("\"Record size = 64 kBytes \""));
}

#[test]
fn the_file_is_made_first() {
    let bed = need!(Bed::in_memory());
    let refused = bed.run(&["as", "iozone", "-i", "1"]);
    refused.assert_refused(
        1,
        &["`-i 0` makes the file that the other tests need; add it"],
    );
}
