//! One run by itself.

use plan::Plan;
use results::{RunEvent, Status, Warning};

use crate::crew::Crew;
use crate::drive::drive;
use crate::preflight::{try_engines, try_streams};
use crate::session::{Finished, RunOptions, Session};

/// Runs a plan to its end, or until the stop flag is set.
///
/// `warnings` are what planning had to say; they become part of the record.
pub fn run(
    plan: &Plan,
    warnings: Vec<Warning>,
    options: &RunOptions,
    listener: &mut dyn FnMut(&RunEvent),
) -> Finished {
    let mut session = Session::new(plan, options, listener);
    let admitted = match try_streams(plan)
        .and_then(|()| try_engines(plan))
        .and_then(|()| session.find_peers())
        .and_then(|()| session.admit_all())
    {
        Ok(admitted) => admitted,
        Err(error) => {
            session.record.finish(Status::Failed);
            return Finished {
                record: session.record,
                error: Some(error),
            };
        }
    };
    session.start(warnings);
    if let Err(error) = session.prepare_all(admitted) {
        return session.finish(Err(error));
    }
    let mut sessions = [session];
    let mut driven = drive(&mut sessions);
    let [mut session] = sessions;
    session.conclude(driven.conclusions.pop().unwrap_or_default());
    session.finish(driven.outcomes.pop().unwrap_or(Ok(())))
}

/// Runs a plan as [`run`] does, by processes that measure in the place of this one.
pub fn run_with_crew<'a>(
    plan: &'a Plan,
    warnings: Vec<Warning>,
    options: &'a RunOptions,
    crew: &'a mut dyn Crew,
    listener: &'a mut dyn FnMut(&RunEvent),
) -> Finished {
    let mut session = Session::new(plan, options, listener);
    let record = crew.record();
    if let Some(first) = record.hosts.first() {
        session.record.environment = first.environment.clone();
    }
    session.record.crew = Some(record);
    session.crew = Some(crew);
    session.start(warnings);
    let run = session.record.id.clone();
    let prepared = session.with_crew(|crew, watch| crew.prepare(plan, &run, watch));
    if let Some(Err(error)) = prepared {
        return session.finish(Err(error));
    }
    let mut sessions = [session];
    let mut driven = drive(&mut sessions);
    let [mut session] = sessions;
    session.conclude(driven.conclusions.pop().unwrap_or_default());
    session.finish(driven.outcomes.pop().unwrap_or(Ok(())))
}
