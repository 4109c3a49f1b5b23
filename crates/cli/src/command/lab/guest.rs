//! Jobs in guests: what the host orders, and what the guest does of it.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Parser;
use lab::recovery::Part;
use lab::vm::{Guest, Heard, Host, Image, Kernel, Order};
use lab::{Job, Lab, LabError};
use results::RunRecord;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::contest::{Contest, Costs, Measured};
use crate::args::{Cli, Command, LabAction, PaperAction};
use crate::failure::{Exit, Failure};
use crate::stored::Place;

/// A guest that has not said anything by then does not come up.
const UP_WITHIN: Duration = Duration::from_secs(180);
/// How often it is looked whether somebody wants to end it all.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// What a guest is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Task {
    /// Measure one job of the contest that its arguments describe.
    Measure {
        job: Job,
        /// The lab's name on the host.
        lab: String,
    },
    /// Do a part of a trial of recovery.
    Recover(Part),
    /// Do nothing, to tell that guests run here.
    Nothing,
}

/// What a guest measured.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    /// The record as JSON, as it is exported.
    record: String,
    costs: Costs,
    /// What was mounted how.
    described: String,
}

impl Contest<'_> {
    /// Does a job in a guest; what it was mounted as, and what it measured.
    pub(super) fn job_in_guest(
        &self,
        lab: &mut Lab,
        job: &Job,
        host: &Host,
    ) -> Result<(Image, String, Measured), Failure> {
        let choice = &self.asked.choices[job.choice_index];
        self.step("make the file system");
        let image = lab.build_image(choice, &self.asked.ground, &host.kernel)?;
        self.step("start the guest");
        let answered = self.ask(lab, job, host, &image);
        lab.remove_image()?;
        let Answer {
            record,
            mut costs,
            described,
        } = answered?;
        costs.mkfs = image.mkfs_time;
        let mut record = RunRecord::from_json(&record)
            .map_err(|error| Failure::new(Exit::System, error, None))?;
        let notes = self.notes_on(choice, &described, costs.aged.as_ref());
        self.keep(&mut record, lab.name(), &notes)?;
        Ok((image, described, (record, costs)))
    }

    fn ask(&self, lab: &mut Lab, job: &Job, host: &Host, image: &Image) -> Result<Answer, Failure> {
        let task = Task::Measure {
            job: *job,
            lab: lab.name(),
        };
        let guest = lab.boot(image, task, host)?;
        let guest = self.attend(guest)?;
        answer(&lab.answer(), &guest)
    }

    /// Listens to a guest until it ends, or until somebody wants to end it all.
    pub(super) fn attend(&self, mut guest: Guest) -> Result<Guest, Failure> {
        let say = |line: &str| {
            let said = format!("guest: {}", workload::printable(line));
            self.progress.borrow_mut().tell(&said);
            Next::Listen
        };
        listen(&mut guest, &self.stop, Duration::MAX, say)?;
        Ok(guest)
    }
}

/// What to do after a guest has said something.
pub(super) enum Next {
    /// Hear what it says then.
    Listen,
    /// Turn to something else.
    Leave,
}

/// Hears what a guest says, until it has ended or the hearer leaves; returns whether it has ended.
///
/// It is killed where somebody wants to end it all, or where it is silent for too long.
pub(super) fn listen(
    guest: &mut Guest,
    stop: &AtomicBool,
    silent_max: Duration,
    mut hear: impl FnMut(&str) -> Next,
) -> Result<bool, Failure> {
    let mut heard_at = Instant::now();
    let mut is_up = false;
    loop {
        if stop.load(Ordering::Relaxed) {
            guest.kill();
            return Err(Failure::new(Exit::Interrupted, "interrupted", None));
        }
        match guest.hear(LOOK_EVERY) {
            Heard::Ended => return Ok(true),
            Heard::Line(line) => {
                is_up = true;
                heard_at = Instant::now();
                if let Next::Leave = hear(&line) {
                    return Ok(false);
                }
            }
            Heard::Nothing if !is_up && heard_at.elapsed() > UP_WITHIN => {
                guest.kill();
                return Err(ended(
                    guest,
                    format!("did not come up within {UP_WITHIN:?}"),
                ));
            }
            Heard::Nothing if heard_at.elapsed() > silent_max => {
                guest.kill();
                return Err(ended(guest, format!("said nothing for {silent_max:?}")));
            }
            Heard::Nothing => {}
        }
    }
}

/// Reads what a guest left, where it has ended.
pub(super) fn answer<A: DeserializeOwned>(path: &Path, guest: &Guest) -> Result<A, Failure> {
    match lab::vm::read_answer(path) {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(text)) => Err(Failure::quoted(Exit::System, text)),
        Err(_) => Err(ended(guest, "ended without an answer".to_owned())),
    }
}

fn ended(guest: &Guest, how: String) -> Failure {
    LabError::Guest {
        how,
        console: guest.last_words(),
    }
    .into()
}

/// Finds what runs guests and has one do nothing, in a lab of its own.
pub(crate) fn probe(stop: &AtomicBool) -> Result<Kernel, LabError> {
    lab::vm::probe(&lab::default_directory(), Task::Nothing, stop)
}

/// Refuses what guests would be needed for where they do not run.
pub(super) fn probe_in(lab: &mut Lab, host: &Host, stop: &AtomicBool) -> Result<(), Failure> {
    match lab.probe_guest(host, Task::Nothing, stop) {
        // Whoever goes on sees that it is to end, and says so.
        Ok(()) | Err(LabError::Stopped) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// In a guest: rules it as its first process, else does what was ordered.
pub(super) fn guest(path: &Path, place: &Place, at_once: fn() -> !) -> Result<Exit, Failure> {
    if lab::vm::is_init() {
        lab::vm::rule(path)?;
    }
    let order = Order::<Task>::read(path)?;
    match &order.task {
        Task::Measure { job, lab } => leave(&order, obey(&order, job, lab, place, at_once)),
        Task::Recover(part) => super::recover::obey(&order, *part),
        Task::Nothing => leave(&order, Ok(())),
    }
}

/// Leaves the answer for the host.
pub(super) fn leave<A: Serialize>(
    order: &Order<Task>,
    answer: Result<A, Failure>,
) -> Result<Exit, Failure> {
    let answer = answer.map_err(|failure| failure.text().to_owned());
    order.answer(&answer)?;
    Ok(match answer {
        Ok(_) => Exit::Measured,
        Err(_) => Exit::System,
    })
}

fn obey(
    order: &Order<Task>,
    job: &Job,
    lab: &str,
    place: &Place,
    at_once: fn() -> !,
) -> Result<Answer, Failure> {
    let cli = Cli::try_parse_from(&order.arguments)
        .map_err(|error| Failure::new(Exit::Usage, error, None))?;
    let side = match &cli.command {
        Command::Lab(args) => match &args.action {
            LabAction::Run(args) => super::run::guest_side(args)?,
            _ => return Err(Failure::bug()),
        },
        Command::Paper(args) => match &args.action {
            PaperAction::Run(args) => crate::command::paper::guest_side(args)?,
            _ => return Err(Failure::bug()),
        },
        _ => return Err(Failure::bug()),
    };
    let contest = side.contest(place, false, &crate::signals::stop_flag(at_once)?);
    let built = lab::vm::enter(&order.image)?;
    let described = super::contest::describe(&built);
    let (record, mut costs) = contest.measure(lab.to_owned(), job, &built)?;
    // Not all can.
    costs.trimmed_bytes = built.trim().ok();
    costs.unmount = Some(built.unmount()?);
    Ok(Answer {
        record: record.to_json(),
        costs,
        described,
    })
}
