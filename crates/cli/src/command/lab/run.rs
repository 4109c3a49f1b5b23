//! `lab run`: runs workloads on newly created file systems, and prints one table.

use std::sync::atomic::Ordering;

use lab::{FileSystemChoice, JobOrder, LabMatrix, MatrixRequest, schedule};
use report::SideBySide;
use results::LabRecord;

use super::request::{read_request, read_unchecked, refuse_mount_options};
use super::runner::StoringRunner;
use super::stored::{keep, page_name, page_of_lab};
use super::table::record;
use super::workload::read_workload;
use crate::args::{JobsArg, LabRunArgs, TableFormatArg};
use crate::command::board::BoardSubmitter;
use crate::failure::{CliError, Exit};
use crate::pages::TablePage;
use crate::signals::stop_flag;
use crate::stored::StoreLocation;
use crate::usage::command_words;

/// Creates the file systems, measures, removes them, and prints the table.
pub(crate) fn run(
    args: &LabRunArgs,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    let on = &args.file_systems;
    refuse_mount_options(on)?;
    let json = on.table.open()?;
    let submitter = BoardSubmitter::open(&args.submit, args.repetitions)?;
    let matrix = matrix(args, read_request(on, args.change.seed, &[])?)?;
    if let Some(submitter) = &submitter {
        submitter.refuse_several(&matrix)?;
    }
    let mut page = TablePage::open(&args.page, location, on.table.quiet)?;
    // Before the measurements, because it contains the start time and the state of the machine.
    let start = LabRecord::new(storage::environment(&[]), command_words());
    let stop = stop_flag(on_second_interrupt)?;
    let runner = StoringRunner::new(&matrix, on, location, !on.no_db, &stop);
    let jobs = schedule(
        matrix.request.choices.len(),
        matrix.workloads.len(),
        args.repetitions,
        order(args.jobs),
        // Workloads have the same default seed.
        args.change.seed.unwrap_or(1),
    );
    let outcome = matrix.measure(&jobs, &runner, &stop)?;
    let names: Vec<&str> = matrix.workloads.iter().map(|it| it.name.as_str()).collect();
    let title = title(&names, &matrix.request.choices, args.repetitions);
    let record = record(&matrix, &outcome, (start, title));
    let table = SideBySide::of(&record);
    // An output that fails must not prevent the others, so its error is returned last.
    let printed = on.table.print(json, &record, |format, page| {
        table.render_measured(format, page)
    });
    if !on.no_db && !outcome.measured.is_empty() {
        keep(&record, location, on.table.quiet);
    }
    if on.table.format()? == TableFormatArg::Html || outcome.measured.is_empty() {
        page.skip_automatic_page();
    }
    let paged = page.finish(&page_name(&record), || page_of_lab(&record));
    let added = submitter.map_or(Ok(()), |it| it.add(&matrix, &outcome, on.table.quiet));
    printed.and(paged).and(added)?;
    Ok(outcome.verdict(stop.load(Ordering::Relaxed)).into())
}

/// Returns the matrix of a guest, from the arguments of its host.
pub(super) fn guest_matrix(args: &LabRunArgs) -> Result<LabMatrix, CliError> {
    matrix(
        args,
        read_unchecked(&args.file_systems, args.change.seed, &[])?,
    )
}

fn matrix(args: &LabRunArgs, request: MatrixRequest) -> Result<LabMatrix, CliError> {
    let read = |name: &String| read_workload(name, &args.change, &request);
    Ok(LabMatrix {
        workloads: args.workloads.iter().map(read).collect::<Result<_, _>>()?,
        is_cold: args.cold,
        request,
    })
}

fn order(jobs: JobsArg) -> JobOrder {
    match jobs {
        JobsArg::Turns => JobOrder::Turns,
        JobsArg::Blocks => JobOrder::Blocks,
        JobsArg::Random => JobOrder::Random,
    }
}

fn title(workloads: &[&str], choices: &[FileSystemChoice], repetitions: u32) -> String {
    let made_count = choices.iter().filter(|it| it.entry().is_some()).count();
    let kind = match made_count {
        0 => "existing",
        made if made < choices.len() => "new and existing",
        _ => "new",
    };
    let often = match repetitions {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    format!(
        "{} on {kind} file systems, {often} each",
        workloads.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_says_whether_file_systems_are_new() {
        for (list, wanted) in [
            ("ext4,xfs", "oltp on new file systems, 5 times each"),
            (
                "path:/a,path:/b",
                "oltp on existing file systems, 5 times each",
            ),
            (
                "ext4,path:/a",
                "oltp on new and existing file systems, 5 times each",
            ),
        ] {
            let choices = FileSystemChoice::read_all(&[list.to_owned()]).expect("a list");
            assert_eq!(title(&["oltp"], &choices, 5), wanted);
        }
    }
}
