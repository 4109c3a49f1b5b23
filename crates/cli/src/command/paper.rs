//! `paper`: published experiments, printed beside their published figures.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use lab::{Order, schedule};
use report::{LineupFormat, Page, Paper, PaperList, PaperSide, PaperTable};
use results::RunRecord;
use units::JsonDocument;
use workload::source::{LoadOptions, Loaded, load_with};

use super::lab::{Asked, Contest, Entrant, Held, Peak, Side, costs, exit, peak, shortfalls};
use crate::args::{
    JsonArg, LineupArg, PaperAction, PaperArgs, PaperRunArgs, PaperShowArgs, TableArgs,
};
use crate::document::Document;
use crate::failure::{Exit, Failure};
use crate::format::of_output;
use crate::json::JsonOutput;
use crate::output::{page_of, write_new};
use crate::pages::TablePage;
use crate::signals::stop_flag;
use crate::stored::Place;

/// What is said where shares of a peak are missing.
const NO_PEAK: &str = "the device's peak was not measured, because there is no bare device; make \
                       file systems on one with `--fs` and `--on`";

/// Lists, shows or repeats published experiments.
pub(crate) fn paper(args: &PaperArgs, place: &Place, at_once: fn() -> !) -> Result<Exit, Failure> {
    match &args.action {
        PaperAction::List { json } => list(json),
        PaperAction::Show(args) => show(args),
        PaperAction::Run(args) => run(args, place, at_once),
    }
}

fn list(json: &JsonArg) -> Result<Exit, Failure> {
    let output = json.open()?;
    let list = PaperList::current();
    output.give(&list, || Document::prose(listed(&list)))?;
    Ok(Exit::Measured)
}

fn listed(list: &PaperList) -> String {
    let names = list.papers.iter().map(|paper| paper.name.len());
    let width = names.max().unwrap_or(0);
    let mut text = String::new();
    for paper in &list.papers {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:width$}  {}", paper.name, paper.title);
    }
    text
}

fn show(args: &PaperShowArgs) -> Result<Exit, Failure> {
    let output = args.output.as_deref();
    let format = of_output(args.format, output)?;
    let json = args.json.open()?;
    let has_place = json.leaves_place_for(output)?;
    let paper = find(&args.name)?;
    let table = PaperTable {
        paper,
        heading: paper.heading().into(),
        remarks: Vec::new(),
        alarms: Vec::new(),
        sides: Vec::new(),
        costs: Vec::new(),
        is_of_guests: false,
        peak: None,
    };
    if has_place {
        write_new(output, &shown(&table, format, page_of(output)))?;
    }
    json.write(&table.document())?;
    Ok(Exit::Measured)
}

/// An experiment's table, with its workload where there is a place for it.
fn shown(table: &PaperTable, format: LineupArg, page: Page) -> Document {
    let Some(format) = format.format() else {
        return Document::Json(table.document().to_document());
    };
    let (text, workload) = (table.render(format, page), table.paper.workload);
    let text = match format {
        LineupFormat::Text => text.then("\n").then(workload),
        LineupFormat::Markdown => text.then("\n```toml\n").then(workload).then("```\n"),
        LineupFormat::Html | LineupFormat::Csv => text,
    };
    Document::lineup(format, text)
}

fn find(name: &str) -> Result<&'static Paper, Failure> {
    Paper::find(name).ok_or_else(|| {
        let message = format!(
            "there is no published experiment `{}`",
            workload::printable(name)
        );
        let help = Some("`pgmeter paper list` shows them all".to_owned());
        Failure::new(Exit::Usage, message, help)
    })
}

fn run(args: &PaperRunArgs, place: &Place, at_once: fn() -> !) -> Result<Exit, Failure> {
    let paper = find(&args.name)?;
    let json = args.ground.table.open()?;
    let page = TablePage::open(&args.page, place, args.ground.table.quiet)?;
    let asked = Asked::read(&args.ground, args.change.seed, &args.target)?;
    let side = side(paper, args, asked)?;
    let stop = stop_flag(at_once)?;
    let contest = side.contest(place, !args.ground.no_db, &stop);
    let jobs = schedule(
        side.asked.choices.len(),
        1,
        args.repetitions,
        Order::Turns,
        1,
    );
    let peak = match paper.is_of_peak() {
        true => peak(&contest, args.repetitions)?,
        false => None,
    };
    let held = contest.hold(&jobs)?;
    let print = &args.ground.table;
    print_beside((paper, peak), &contest, &held, (print, json, page))?;
    Ok(exit(&held, stop.load(Ordering::Relaxed)))
}

fn entrant(paper: &Paper, args: &PaperRunArgs, asked: &Asked) -> Result<Entrant, Failure> {
    let options = LoadOptions {
        has_target: true,
        ..LoadOptions::default()
    };
    let Loaded { workloads, .. } = load_with(paper.name, paper.workload.as_bytes(), &options)?;
    Entrant::of(paper.name, workloads, &args.change, asked)
}

/// What a guest needs of the arguments that its host was given.
pub(super) fn guest_side(args: &PaperRunArgs) -> Result<Side, Failure> {
    let asked = Asked::read_unchecked(&args.ground, args.change.seed, &args.target)?;
    side(find(&args.name)?, args, asked)
}

fn side(paper: &Paper, args: &PaperRunArgs, asked: Asked) -> Result<Side, Failure> {
    Ok(Side {
        entrants: vec![entrant(paper, args, &asked)?],
        is_cold: args.cold,
        is_quiet: args.ground.table.quiet,
        stdout: args.ground.table.json.stdout(),
        asked,
    })
}

/// Prints the experiment with what was measured.
fn print_beside(
    (paper, peak): (&Paper, Option<Peak>),
    contest: &Contest,
    held: &Held,
    (print, json, mut page): (&TableArgs, JsonOutput, TablePage),
) -> Result<(), Failure> {
    let choices = &contest.asked.choices;
    let of_choice = |index: usize| -> Vec<RunRecord> {
        let done = held
            .done
            .iter()
            .filter(|done| done.job.choice_index == index);
        done.map(|done| done.record.clone()).collect()
    };
    let records: Vec<Vec<RunRecord>> = (0..choices.len()).map(of_choice).collect();
    let measured: Vec<usize> = (0..choices.len())
        .filter(|index| !records[*index].is_empty())
        .collect();
    let mut remarks = contest.asked.remarks();
    for (choice, described) in choices.iter().zip(&held.described) {
        let described = described.as_deref().unwrap_or("not mounted");
        remarks.push(format!("{}: {described}", choice.label));
    }
    if paper.is_of_peak() {
        let described = peak.as_ref().map(|peak| peak.described.clone());
        remarks.push(described.unwrap_or_else(|| NO_PEAK.to_owned()));
    }
    remarks.extend(contest.entrants.iter().flat_map(|it| &it.notes).cloned());
    remarks.extend(held.notes.iter().cloned());
    let table = PaperTable {
        paper,
        heading: paper.heading().into(),
        remarks,
        alarms: [&held.alarms[..], &shortfalls(contest, held)].concat(),
        sides: measured
            .iter()
            .map(|index| PaperSide {
                name: choices[*index].label.clone(),
                is_on_device: choices[*index].needs_device(),
                records: &records[*index],
            })
            .collect(),
        costs: costs(held, 0, &measured),
        is_of_guests: contest.asked.host.is_some(),
        peak: peak.as_ref().map(|peak| &peak.record),
    };
    let render = |format, page| table.render(format, page);
    let printed = print.print(json, &table.document(), render);
    let Some(first) = held.done.first().map(|done| &done.record.id) else {
        return printed;
    };
    if print.format()? == LineupArg::Html {
        page.only_if_named();
    }
    let name = format!("pgmeter-{}-{first}.html", paper.name);
    let paged = page.finish(&name, || {
        Document::prose(table.render(LineupFormat::Html, Page::PLAIN))
    });
    printed.and(paged)
}
