//! The page, against the published run.

use std::path::Path;

use super::*;

const MS: u64 = 1_000_000;
const COUNT: u64 = 500_000;

/// What is done to files of a size, and what follows.
type Step = (&'static str, u64, Option<PhasePreparation>);

fn figures(label: &str, milliseconds: [u64; 3]) -> StepFigures {
    let [real, user, system] = milliseconds;
    StepFigures {
        label: label.to_owned(),
        count: COUNT,
        time_ns: real * MS,
        user_ns: user * MS,
        system_ns: system * MS,
        ..StepFigures::default()
    }
}

/// The page of so many steps of 500,000 files.
fn page_of(steps: &[(Step, [u64; 3])]) -> String {
    let texts = steps.iter().map(|((label, size_bytes, then), times)| {
        step_text(&figures(label, *times), (COUNT, *size_bytes), *then)
    });
    texts.collect()
}

/// The published run on LFS, in milliseconds: real, user, system.
const LFS: [[u64; 3]; 8] = [
    [287_760, 97_414, 187_716],
    [336_297, 100_410, 192_924],
    [407_779, 132_028, 219_158],
    [367_173, 104_787, 206_317],
    [691_638, 138_433, 243_207],
    [404_313, 105_163, 208_461],
    [1_355_518, 157_826, 317_376],
    [442_606, 104_667, 202_337],
];

fn lfs() -> Vec<(Step, [u64; 3])> {
    LFS.into_iter()
        .enumerate()
        .map(|(index, times)| {
            let then = (index < 7).then_some(PhasePreparation::Remount);
            let label = ["create", "remove"][index % 2];
            let size_bytes = [0, 4096, 16_384, 65_536][index / 2];
            ((label, size_bytes, then), times)
        })
        .collect()
}

/// Lines as words, `Done` left out: the page lacks one.
fn lines(text: &str) -> Vec<String> {
    text.lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|line| !line.is_empty() && line != "Done")
        .collect()
}

#[test]
fn the_page_matches_the_output_of_the_script() {
    let all = lfs();
    let wanted = "Creating 500000 empty files\n\nreal\t4m47.760s\nuser\t1m37.414s\n\
                  sys\t3m7.716s\nDone\n\nRemounting\n\nDeleting 500000 files of size 0 bytes\n\n\
                  real\t5m36.297s\nuser\t1m40.410s\nsys\t3m12.924s\nDone\n\nRemounting\n\n";
    assert_eq!(page_of(&all[..2]), wanted);
    assert!(page_of(&all[7..]).ends_with("sys\t3m22.337s\nDone\n\n"));
}

#[test]
fn a_stat_step_is_printed_like_the_others() {
    let statted = (("stat", 4096, None), [2_500, 0, 1_000]);
    assert_eq!(
        page_of(&[statted]),
        "Statting 500000 files of size 4096 bytes\n\nreal\t0m2.500s\nuser\t0m0.000s\n\
         sys\t0m1.000s\nDone\n\n"
    );
}

#[test]
fn the_published_run_is_reproduced_line_for_line() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/reference/documents/002_a7908ce7db4aaa36.txt");
    let Ok(text) = std::fs::read_to_string(document) else {
        println!("skipped: the published page is not here");
        return;
    };
    let (_, text) = text.split_once("Script output for LFS").unwrap();
    let (text, _) = text.split_once("Script output for ext3").unwrap();
    let (_, text) = text.split_once("excluded):").unwrap();
    assert_eq!(lines(&page_of(&lfs())), lines(text));
}

#[test]
fn actions_between_steps_are_printed_only_if_they_happen() {
    let text = |then| page_of(&[(("create", 0, then), [61_001, 0, 59_999])]);
    assert!(text(None).ends_with("sys\t0m59.999s\nDone\n\n"));
    assert!(text(Some(PhasePreparation::DropCaches)).ends_with("Done\n\nDropping caches\n\n"));
    assert!(text(None).contains("real\t1m1.001s\nuser\t0m0.000s\n"));
}
