//! Checks that no worker waits forever.

use super::super::walk::any_act;
use super::super::{
    Act, ActList, Group, MEETINGS_MAX, Measure, Program, ProgramPhase, TakeAmount, Tokens,
};
use super::{InvalidProgram, ProgramStep, check_each_act, check_label};

/// Maximum number of counters of one kind of tokens.
const COUNTERS_MAX: u32 = 65_536;
/// Maximum number of kinds of tokens of a program.
const TOKENS_MAX: usize = 255;

pub(super) fn check_all(program: &Program) -> Result<(), InvalidProgram> {
    if program.tokens.len() > TOKENS_MAX {
        let message = format!("there are more than {TOKENS_MAX} kinds of tokens");
        return Err(InvalidProgram::new(message, "use fewer"));
    }
    let mut tokens = program.tokens.iter().enumerate();
    tokens.try_for_each(|(index, tokens)| {
        check_one(tokens).map_err(|flaw| flaw.within(ProgramStep::Tokens(index)))
    })
}

fn check_one(tokens: &Tokens) -> Result<(), InvalidProgram> {
    let name = &tokens.name;
    if !(1..=COUNTERS_MAX).contains(&tokens.counters) {
        let message = format!("`{name}` does not have 1 to {COUNTERS_MAX} counters");
        return Err(InvalidProgram::new(message, "write `counters = 1`"));
    }
    let Some(refill) = tokens.refill else {
        return Ok(());
    };
    let is_possible = refill.per_second > 0.0
        && refill.per_second.is_finite()
        && refill.at_once > 0
        && refill.most >= refill.at_once;
    if is_possible {
        return Ok(());
    }
    let message = format!("the clock never adds to `{name}`");
    Err(InvalidProgram::new(
        message,
        "write a rate above 0, and a `most` of at least `at_once`",
    ))
}

/// Checks the waits in the groups of a phase.
pub(super) fn check(program: &Program, phase: &ProgramPhase) -> Result<(), InvalidProgram> {
    for (index, group) in phase.groups.iter().enumerate() {
        let checked = group.lists().into_iter().try_for_each(|(list, acts)| {
            let is_waiting = matches!(list, ActList::First | ActList::Body | ActList::Last);
            check_each_act(acts, &mut |act| check_act(program, phase, act, is_waiting))
                .map_err(|flaw| flaw.within(ProgramStep::Acts(list)))
        });
        checked
            .and_then(|()| check_pauses(program, group))
            .map_err(|flaw| flaw.within(ProgramStep::Group(index)))?;
    }
    Ok(())
}

fn check_act(
    program: &Program,
    phase: &ProgramPhase,
    act: &Act,
    is_waiting: bool,
) -> Result<(), InvalidProgram> {
    let tokens = match act {
        Act::Put { tokens, .. } | Act::Take { tokens, .. } => Some(*tokens),
        Act::Meet(_) => None,
        _ => return Ok(()),
    };
    if !is_waiting {
        let message = "workers cannot wait for each other in `enter` or `leave`";
        return Err(InvalidProgram::new(message, "move it to `first` or `last`"));
    }
    let Some(number) = tokens else {
        return check_meeting(act);
    };
    let Some(tokens) = program.tokens.get(usize::from(number)) else {
        let message = format!("there are no tokens with the number {number}");
        return Err(InvalidProgram::new(message, "add them"));
    };
    match act {
        Act::Put { count: 0, .. } => {
            let message = format!("0 of `{}` are put", tokens.name);
            Err(InvalidProgram::new(message, "write `count = 1`"))
        }
        Act::Take { count, .. } => {
            check_due(program, *count)?;
            // How much is taken may depend on draws, so any start or put counts as enough.
            let is_given = tokens.start > 0 || tokens.refill.is_some() || is_put(phase, number);
            if is_given {
                return Ok(());
            }
            let message = format!(
                "no worker of the phase `{}` puts what is taken from `{}`",
                phase.name, tokens.name
            );
            Err(InvalidProgram::new(
                message,
                "add a `put` or give it a `rate`",
            ))
        }
        _ => Ok(()),
    }
}

fn check_meeting(act: &Act) -> Result<(), InvalidProgram> {
    match act {
        Act::Meet(meeting) if usize::from(*meeting) >= MEETINGS_MAX => {
            let message = format!("there are more than {MEETINGS_MAX} meetings");
            Err(InvalidProgram::new(message, "use fewer"))
        }
        _ => Ok(()),
    }
}

fn check_due(program: &Program, due: TakeAmount) -> Result<(), InvalidProgram> {
    let TakeAmount::Since { what, each } = due else {
        return Ok(());
    };
    if let Measure::Steps(label) | Measure::StepBytes(label) = what {
        check_label(program, label)?;
    }
    if each > 0 {
        return Ok(());
    }
    let message = "`per_calls` or `per_bytes` is 0";
    Err(InvalidProgram::new(message, "write 1 or more"))
}

fn is_put(phase: &ProgramPhase, number: u8) -> bool {
    let is_put = |act: &Act| matches!(act, Act::Put { tokens, .. } if *tokens == number);
    phase.groups.iter().any(|group| group.any_act(&is_put))
}

/// A group that only puts, and never waits for room, would loop without end.
fn check_pauses(program: &Program, group: &Group) -> Result<(), InvalidProgram> {
    let takes_time = |act: &Act| match act {
        // A put waits only if the counter has a limit.
        Act::Put { tokens, .. } => {
            let tokens = program.tokens.get(usize::from(*tokens));
            tokens.is_some_and(|it| it.room.is_some())
        }
        Act::Take { .. }
        | Act::Meet(_)
        | Act::Call(_)
        | Act::Walk(_)
        | Act::Think(_)
        | Act::Burn(_) => true,
        _ => false,
    };
    let is_empty = group.body.is_empty();
    if is_empty || any_act(&group.body, &takes_time) {
        return Ok(());
    }
    let message = format!("the workers of `{}` put without ever waiting", group.name);
    let flaw = InvalidProgram::new(message, "give the tokens `room`, or `think` in between");
    Err(flaw.within(ProgramStep::Acts(ActList::Body)))
}
