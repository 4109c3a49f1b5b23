//! `lab run`: workloads on file systems made for them, in one table.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use lab::{Order, schedule};
use report::LineupFormat;

use super::contest::{Contest, Entrant};
use super::ground::Asked;
use super::guest::Side;
use super::outcome::{exit, lineup};
use crate::args::{JobsArg, LabRunArgs, LineupArg};
use crate::failure::{Exit, Failure};
use crate::output::{is_stdout, page, write_new};
use crate::signals::stop_flag;
use crate::stored::Place;

/// Makes, measures, takes down, and prints.
pub(crate) fn run(args: &LabRunArgs, place: &Place, at_once: fn() -> !) -> Result<Exit, Failure> {
    refuse_existing(args.ground.output.as_deref())?;
    let asked = Asked::read(&args.ground, args.change.seed, &[])?;
    let entrants = entrants(args, &asked)?;
    let stop = stop_flag(at_once)?;
    let contest = Contest {
        asked: &asked,
        entrants: &entrants,
        place,
        stores: !args.ground.no_db,
        is_cold: args.cold,
        is_quiet: args.ground.quiet,
        stop: Arc::clone(&stop),
    };
    let order = match args.jobs {
        JobsArg::Turns => Order::Turns,
        JobsArg::Blocks => Order::Blocks,
        JobsArg::Random => Order::Random,
    };
    let seed = args.change.seed.unwrap_or(1);
    let jobs = schedule(
        asked.choices.len(),
        entrants.len(),
        args.repetitions,
        order,
        seed,
    );
    let held = contest.hold(&jobs)?;
    let table = lineup(&contest, &held, title(&entrants, args.repetitions));
    let format = args.ground.format;
    let output = args
        .ground
        .output
        .as_deref()
        .filter(|path| !is_stdout(path));
    let page = match output {
        Some(_) => report::Page::PLAIN,
        None => page(&std::io::stdout()),
    };
    write_new(output, &table.render(format.format(), page))?;
    if format != LineupArg::Html && !held.done.is_empty() && !args.no_html {
        let html = table.render(LineupFormat::Html, report::Page::PLAIN);
        write_page(&held.done[0].record.id, &html);
    }
    Ok(exit(&held, stop.load(Ordering::Relaxed)))
}

/// What a guest needs of the arguments that its host was given.
pub(super) fn guest_side(args: &LabRunArgs) -> Result<Side, Failure> {
    let asked = Asked::read_unchecked(&args.ground, args.change.seed, &[])?;
    let entrants = entrants(args, &asked)?;
    Ok((asked, entrants, args.cold, args.ground.quiet))
}

fn entrants(args: &LabRunArgs, asked: &Asked) -> Result<Vec<Entrant>, Failure> {
    let read = |name: &String| Entrant::read(name, &args.change, asked);
    args.workloads.iter().map(read).collect()
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

/// A name that is taken is told before hours are spent.
pub(crate) fn refuse_existing(output: Option<&Path>) -> Result<(), Failure> {
    match output.filter(|path| !is_stdout(path) && path.exists()) {
        None => Ok(()),
        Some(path) => {
            let message = format!("`{}` is there already", path.display());
            let help = Some("choose another name".to_owned());
            Err(Failure::new(Exit::Usage, message, help))
        }
    }
}

/// Writes the page beside the current directory's other files; nobody asked for it, so it is no
/// failure when it cannot be written.
fn write_page(id: &str, html: &str) {
    let path = PathBuf::from(format!("pgmeter-lab-{id}.html"));
    match write_new(Some(&path), html) {
        Ok(()) => tell!("page: {}", path.display()),
        Err(failure) => failure.print(),
    }
}
