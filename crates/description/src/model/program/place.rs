//! Maps the position of an error in a program to its position in the workload file.

use super::names::starts_with_default;
use super::rounds::PartLocation;
use super::{ActChoice, BranchTable, PhaseTable};
use crate::flaw::{PathStep, ValueError};
use crate::model::Workload;
use plan::program::{InvalidProgram, ProgramStep};

/// The error at the position in the workload where the faulty key is written.
pub(super) fn placed(
    workload: &Workload,
    locations: &[PartLocation],
    flaw: InvalidProgram,
) -> ValueError {
    ValueError {
        path: path(workload, locations, &flaw.path),
        message: flaw.message,
        help: flaw.help,
    }
}

fn path(workload: &Workload, locations: &[PartLocation], steps: &[ProgramStep]) -> Vec<PathStep> {
    let under = |key: &'static str, index: usize| vec![PathStep::Key(key), PathStep::Index(index)];
    match steps {
        [ProgramStep::Fileset(index), ..] => under("fileset", *index),
        [ProgramStep::OpenMode(index), ..] => {
            // Without a default way in the file, the program has one more at its beginning.
            let unwritten = usize::from(!starts_with_default(workload));
            under("way", index.saturating_sub(unwritten))
        }
        [ProgramStep::Tokens(index), ..] => under("tokens", *index),
        [ProgramStep::Part(part), rest @ ..] => match locations.get(*part) {
            Some(PartLocation::Phase(index)) => {
                let mut path = under("phase", *index);
                locate_in_phase(&workload.phase[*index], rest, &mut path);
                path
            }
            Some(PartLocation::Rounds(index)) => {
                let mut path = under("rounds", *index);
                if let [ProgramStep::Part(phase), rest @ ..] = rest {
                    path.extend([PathStep::Key("phase"), PathStep::Index(*phase)]);
                    let phases = &workload.rounds[*index].phase;
                    if let Some(phase) = phases.get(*phase) {
                        locate_in_phase(phase, rest, &mut path);
                    }
                }
                path
            }
            None => Vec::new(),
        },
        _ => vec![PathStep::Key("phase")],
    }
}

fn locate_in_phase(phase: &PhaseTable, steps: &[ProgramStep], path: &mut Vec<PathStep>) {
    let [ProgramStep::Group(group), rest @ ..] = steps else {
        return;
    };
    path.extend([PathStep::Key("group"), PathStep::Index(*group)]);
    let (Some(group), [ProgramStep::Acts(list), rest @ ..]) = (phase.group.get(*group), rest)
    else {
        return;
    };
    let (key, acts) = group.acts(*list);
    locate_in_acts(key, acts, rest, path);
}

fn locate_in_acts(
    key: &'static str,
    acts: &[ActChoice],
    steps: &[ProgramStep],
    path: &mut Vec<PathStep>,
) {
    let [ProgramStep::Act(index), rest @ ..] = steps else {
        return;
    };
    path.extend([PathStep::Key(key), PathStep::Index(*index)]);
    let Some(ActChoice::Table(table)) = acts.get(*index) else {
        return;
    };
    let ([ProgramStep::Branch(branch), inside @ ..], Some(branches)) = (rest, &table.mix) else {
        locate_in_acts("do", &table.acts, rest, path);
        return;
    };
    path.extend([PathStep::Key("mix"), PathStep::Index(*branch)]);
    if let Some(branch) = branches.get(*branch) {
        locate_in_branch(branch, inside, path);
    }
}

/// A branch with a label has an additional act in the program that the file does not contain.
fn locate_in_branch(branch: &BranchTable, steps: &[ProgramStep], path: &mut Vec<PathStep>) {
    let is_labeled = branch.step.is_some() || branch.transaction.is_some();
    match steps {
        [ProgramStep::Act(0), rest @ ..] if is_labeled => {
            locate_in_acts("do", &branch.acts, rest, path)
        }
        steps => locate_in_acts("do", &branch.acts, steps, path),
    }
}
