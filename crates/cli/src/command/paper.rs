//! `paper`: repeats published experiments, and prints the results next to the published ones.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use lab::{
    DevicePeak, FileSystemChoice, JobOrder, LabMatrix, LabWorkload, MatrixOutcome, MatrixRequest,
    schedule,
};
use report::{Page, Paper, PaperList, PaperSide, PaperTable, TableFormat};
use results::RunRecord;
use units::JsonDocument;

use super::board::BoardSubmitter;
use super::lab::remarks::{alarms, built_as, notes_of, remarks};
use super::lab::request::{read_request, read_unchecked, refuse_mount_options};
use super::lab::runner::{StoringRunner, own_peak_of, peak_of};
use super::lab::table::costs;
use super::lab::workload::fit_workload;
use crate::args::{
    JsonArg, PaperAction, PaperArgs, PaperRunArgs, PaperShowArgs, TableArgs, TableFormatArg,
};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::format::choose_format;
use crate::json::JsonOutput;
use crate::output::{page_of, write_new};
use crate::pages::TablePage;
use crate::signals::stop_flag;
use crate::stored::StoreLocation;

/// Explains why shares of a peak are missing.
const NO_PEAK: &str = "no peak was measured, because there is neither a bare device nor direct I/O";

/// Peaks that shares refer to.
#[derive(Default)]
struct Peaks {
    /// Peak of the medium under the file systems.
    device: Option<DevicePeak>,
    /// Own peak of each choice.
    own: Vec<Option<RunRecord>>,
}

impl Peaks {
    /// Returns the peak for the shares of a choice.
    fn of(&self, index: usize, choice: &FileSystemChoice) -> Option<&RunRecord> {
        let device = self.device.as_ref().filter(|_| choice.needs_device());
        let own = || self.own.get(index).and_then(Option::as_ref);
        device.map(|it| &it.record).or_else(own)
    }
}

/// Lists, shows or repeats published experiments.
pub(crate) fn paper(
    args: &PaperArgs,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    match &args.action {
        PaperAction::List { json } => list(json),
        PaperAction::Show(args) => show(args),
        PaperAction::Run(args) => run(args, location, on_second_interrupt),
    }
}

fn list(json: &JsonArg) -> Result<Exit, CliError> {
    let output = json.open()?;
    let list = PaperList::current();
    output.give(&list, || OutputText::prose(listed(&list)))?;
    Ok(Exit::Success)
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

fn show(args: &PaperShowArgs) -> Result<Exit, CliError> {
    let output = args.output.as_deref();
    let format = choose_format(args.format, output)?;
    let json = args.json.open()?;
    let has_place = json.has_destination_for_text(output)?;
    let paper = find(&args.name)?;
    let table = PaperTable {
        paper,
        heading: paper.heading().into(),
        remarks: Vec::new(),
        failures: Vec::new(),
        sides: Vec::new(),
        costs: Vec::new(),
        is_of_guests: false,
        peak: None,
    };
    if has_place {
        write_new(output, &shown(&table, format, page_of(output)))?;
    }
    json.write(&table.document())?;
    Ok(Exit::Success)
}

/// Renders the table of an experiment, followed by its workload where the format allows that.
fn shown(table: &PaperTable, format: TableFormatArg, page: Page) -> OutputText {
    let Some(format) = format.format() else {
        return OutputText::Json(table.document().to_document());
    };
    let (text, workload) = (table.render(format, page), table.paper.workload);
    let text = match format {
        TableFormat::Text => text.then("\n").then(workload),
        TableFormat::Markdown => text.then("\n```toml\n").then(workload).then("```\n"),
        TableFormat::Html | TableFormat::Csv => text,
    };
    OutputText::side_by_side(format, text)
}

fn find(name: &str) -> Result<&'static Paper, CliError> {
    Paper::find(name).ok_or_else(|| {
        let message = format!(
            "there is no published experiment `{}`",
            plan::printable(name)
        );
        let help = match Paper::nearest(name) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "`pgmeter paper list` shows them all".to_owned(),
        };
        CliError::new(Exit::Usage, message, Some(help))
    })
}

fn run(
    args: &PaperRunArgs,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    let on = &args.file_systems;
    let paper = find(&args.name)?;
    refuse_mount_options(on)?;
    let json = on.table.open()?;
    let page = TablePage::open(&args.page, location, on.table.quiet)?;
    let submitter = BoardSubmitter::open(&args.submit, args.repetitions)?;
    let matrix = matrix(
        paper,
        args,
        read_request(on, args.change.seed, &args.target)?,
    )?;
    if let Some(submitter) = &submitter {
        submitter.refuse_unranked(paper, &matrix)?;
    }
    let stop = stop_flag(on_second_interrupt)?;
    let runner = StoringRunner::new(&matrix, on, location, !on.no_db, &stop);
    let count = matrix.request.choices.len();
    // In turns, so that a drift affects all file systems alike.
    let jobs = schedule(count, 1, args.repetitions, JobOrder::Turns, 1);
    // Before any file system is created on the device.
    let peaks = match paper.has_peak_shares() {
        true => Peaks {
            device: matrix.measure_device_peak(args.repetitions, &runner)?,
            own: matrix.measure_target_peaks(args.repetitions, &runner)?,
        },
        false => Peaks::default(),
    };
    let outcome = matrix.measure(&jobs, &runner, &stop)?;
    let printed = print_comparison((paper, &peaks), &matrix, &outcome, (&on.table, json, page));
    let added = submitter.map_or(Ok(()), |it| it.add(&matrix, &outcome, on.table.quiet));
    printed.and(added)?;
    Ok(outcome.verdict(stop.load(Ordering::Relaxed)).into())
}

fn workload(
    paper: &Paper,
    args: &PaperRunArgs,
    request: &MatrixRequest,
) -> Result<LabWorkload, CliError> {
    let workloads = description::load(paper.name, paper.workload)?;
    fit_workload(paper.name, workloads, &args.change, request)
}

/// Returns the matrix of a guest, from the arguments of its host.
pub(super) fn guest_matrix(args: &PaperRunArgs) -> Result<LabMatrix, CliError> {
    let request = read_unchecked(&args.file_systems, args.change.seed, &args.target)?;
    matrix(find(&args.name)?, args, request)
}

fn matrix(
    paper: &Paper,
    args: &PaperRunArgs,
    request: MatrixRequest,
) -> Result<LabMatrix, CliError> {
    Ok(LabMatrix {
        workloads: vec![workload(paper, args, &request)?],
        is_cold: args.cold,
        request,
    })
}

/// Prints the published results of the experiment next to the measured ones.
fn print_comparison(
    (paper, peaks): (&Paper, &Peaks),
    matrix: &LabMatrix,
    outcome: &MatrixOutcome,
    (print, json, mut page): (&TableArgs, JsonOutput, TablePage),
) -> Result<(), CliError> {
    let choices = &matrix.request.choices;
    let choice_records = |index: usize| -> Vec<RunRecord> {
        let measured = outcome.of_job(0, index);
        measured.map(|it| it.record.clone()).collect()
    };
    let records: Vec<Vec<RunRecord>> = (0..choices.len()).map(choice_records).collect();
    let measured: Vec<usize> = (0..choices.len())
        .filter(|index| !records[*index].is_empty())
        .collect();
    let table = PaperTable {
        paper,
        heading: paper.heading().into(),
        remarks: comparison_remarks((paper, peaks), matrix, outcome),
        failures: alarms(matrix, outcome),
        sides: measured
            .iter()
            .map(|index| PaperSide {
                name: choices[*index].label.clone(),
                peak: peaks.of(*index, &choices[*index]),
                records: &records[*index],
            })
            .collect(),
        costs: costs(outcome, 0, &measured),
        is_of_guests: matrix.request.host.is_some(),
        peak: peaks.device.as_ref().map(|it| &it.record),
    };
    let render = |format, page| table.render(format, page);
    let printed = print.print(json, &table.document(), render);
    // Without a measurement, a page would contain only published results.
    let Some(first) = outcome.measured.first().map(|it| &it.record.id) else {
        return printed;
    };
    if print.format()? == TableFormatArg::Html {
        page.skip_automatic_page();
    }
    let name = format!("pgmeter-{}-{first}.html", paper.name);
    let paged = page.finish(&name, || {
        OutputText::prose(table.render(TableFormat::Html, Page::PLAIN))
    });
    printed.and(paged)
}

/// Returns general conditions, a description of each file system, and notes.
fn comparison_remarks(
    (paper, peaks): (&Paper, &Peaks),
    matrix: &LabMatrix,
    outcome: &MatrixOutcome,
) -> Vec<String> {
    let mut all = remarks(&matrix.request);
    for (choice, built) in matrix.request.choices.iter().zip(&outcome.setups) {
        let built = built.as_ref().map(built_as);
        let built = built.unwrap_or_else(|| "not mounted".to_owned());
        all.push(format!("{}: {built}", choice.label));
    }
    if paper.has_peak_shares() {
        let device = peaks.device.as_ref();
        all.extend(device.map(|it| peak_of(&it.medium)));
        let choices = matrix.request.choices.iter().enumerate();
        all.extend(choices.filter_map(|(index, choice)| {
            match (peaks.of(index, choice), choice.needs_device()) {
                // The remark about the device already covers it.
                (Some(_), true) => None,
                (Some(_), false) => Some(own_peak_of(&choice.label)),
                (None, _) => Some(format!("{}: {NO_PEAK}", choice.label)),
            }
        }));
    }
    all.extend(notes_of(matrix, outcome));
    all
}
