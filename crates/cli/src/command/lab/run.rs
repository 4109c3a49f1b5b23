//! `lab run`: workloads on file systems made for them, in one table.

use std::sync::atomic::Ordering;

use lab::{Order, schedule};
use report::Lineup;
use results::LabRecord;

use super::contest::{Entrant, Side};
use super::ground::Asked;
use super::outcome::{exit, record};
use super::stored::{keep, page_name, page_of_lab};
use crate::args::{JobsArg, LabRunArgs, LineupArg};
use crate::failure::{Exit, Failure};
use crate::pages::TablePage;
use crate::signals::stop_flag;
use crate::stored::Place;

/// Makes, measures, takes down, and prints.
pub(crate) fn run(args: &LabRunArgs, place: &Place, at_once: fn() -> !) -> Result<Exit, Failure> {
    let json = args.ground.table.open()?;
    let side = side(args, Asked::read(&args.ground, args.change.seed, &[])?)?;
    let mut page = TablePage::open(&args.page, place, args.ground.table.quiet)?;
    let start = LabRecord::new(target::environment(&[]), std::env::args().collect());
    let stop = stop_flag(at_once)?;
    let contest = side.contest(place, !args.ground.no_db, &stop);
    let order = match args.jobs {
        JobsArg::Turns => Order::Turns,
        JobsArg::Blocks => Order::Blocks,
        JobsArg::Random => Order::Random,
    };
    let seed = args.change.seed.unwrap_or(1);
    let jobs = schedule(
        side.asked.choices.len(),
        side.entrants.len(),
        args.repetitions,
        order,
        seed,
    );
    let held = contest.hold(&jobs)?;
    let title = title(&side.entrants, args.repetitions);
    let record = record(&contest, &held, (start, title));
    let table = Lineup::of(&record);
    let print = &args.ground.table;
    let printed = print.print(json, &record, |format, page| table.render(format, page));
    if !args.ground.no_db && !held.done.is_empty() {
        keep(&record, place, args.ground.table.quiet);
    }
    if print.format()? == LineupArg::Html || held.done.is_empty() {
        page.only_if_named();
    }
    let paged = page.finish(&page_name(&record), || page_of_lab(&record));
    printed.and(paged)?;
    Ok(exit(&held, stop.load(Ordering::Relaxed)))
}

/// What a guest needs of the arguments that its host was given.
pub(super) fn guest_side(args: &LabRunArgs) -> Result<Side, Failure> {
    let asked = Asked::read_unchecked(&args.ground, args.change.seed, &[])?;
    side(args, asked)
}

fn side(args: &LabRunArgs, asked: Asked) -> Result<Side, Failure> {
    let read = |name: &String| Entrant::read(name, &args.change, &asked);
    Ok(Side {
        entrants: args.workloads.iter().map(read).collect::<Result<_, _>>()?,
        is_cold: args.cold,
        is_quiet: args.ground.table.quiet,
        stdout: args.ground.table.json.stdout(),
        asked,
    })
}

fn title(entrants: &[Entrant], repetitions: u32) -> String {
    let names: Vec<&str> = entrants
        .iter()
        .map(|entrant| entrant.name.as_str())
        .collect();
    let often = match repetitions {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    format!("{} on new file systems, {often} each", names.join(", "))
}
