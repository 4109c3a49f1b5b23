//! `compare`: compares runs, and shows significant differences.

mod live;
mod measure;

use std::path::PathBuf;

use compare::{CompareError, Comparison, ComparisonOptions, compare_with_first};
use report::{
    ComparisonDocument, PublishedComparison, Reference, ReferenceError, ReportMedium,
    VerdictPosition, regression_lines, render_comparisons,
};
use results::RunRecord;
use units::JsonDocument;

use crate::args::{CompareArgs, CompareFormat, OneLineArgs, WorkloadOptions};
use crate::document::OutputText;
use crate::failure::{CliError, Exit};
use crate::format::choose_format;
use crate::output::{page_of, write_new};
use crate::stored::{StoreLocation, names_a_run};

/// Compares the given runs, or measures and compares two targets. The second Ctrl-C calls
/// `on_second_interrupt`.
pub(crate) fn compare(
    args: &CompareArgs,
    location: &StoreLocation,
    on_second_interrupt: fn() -> !,
) -> Result<Exit, CliError> {
    let format = choose_format(args.format, args.output.as_deref())?;
    if !args.measure.target.is_empty() {
        return measure::measure(args, format, location, on_second_interrupt);
    }
    // `run` shares these options, so clap cannot require `--target` for them here.
    if args.measure != WorkloadOptions::default() || args.one_line != OneLineArgs::default() {
        let message = "there are options for measuring, but no targets to measure";
        let help = "write `compare --target A --target B WORKLOAD`, or leave them out";
        return Err(CliError::new(Exit::Usage, message, Some(help.to_owned())));
    }
    // Mistakes in names are reported before an output file is opened.
    let references = references(args)?;
    refuse_too_few(args)?;
    let json = args.json.open()?;
    let has_place = json.has_destination_for_text(args.output.as_deref())?;
    let records = args.runs.iter().map(|path| location.records(path));
    let records: Vec<Vec<RunRecord>> = records.collect::<Result<_, CliError>>()?;
    let ids: Vec<Vec<&str>> = records
        .iter()
        .map(|side| side.iter().map(|run| run.id.as_str()).collect())
        .collect();
    refuse_the_same_run(&args.runs, &ids)?;
    let sides: Vec<&[RunRecord]> = records.iter().map(Vec::as_slice).collect();
    let options = ComparisonOptions {
        force: args.force,
        paired: args.paired,
    };
    let mut comparisons = compare_with_first(&sides, options)?;
    name_sides(&mut comparisons, &args.runs);
    let runs: Vec<&RunRecord> = records.iter().flatten().collect();
    let published = references
        .iter()
        .map(|reference| reference.compare_with(&runs));
    let published: Vec<PublishedComparison> = published.collect::<Result<_, ReferenceError>>()?;
    if has_place {
        let document = document(
            &comparisons,
            &published,
            (format, VerdictPosition::First),
            args,
        );
        write_new(args.output.as_deref(), &document)?;
    }
    json.write(&ComparisonDocument {
        comparisons: &comparisons,
        published: &published,
    })?;
    Ok(verdict(&comparisons, args))
}

/// Names the sides as the user does, where that says more than a run id.
fn name_sides(comparisons: &mut [Comparison], names: &[PathBuf]) {
    let name = |path: &PathBuf| {
        let text = path.to_str()?;
        match text.strip_prefix("tag:") {
            Some(tag) => Some(tag.to_owned()),
            None if names_a_run(text) => None,
            None => Some(path.file_stem()?.to_str()?.to_owned()),
        }
    };
    let names: Vec<Option<String>> = names.iter().map(name).collect();
    // Files of the same name in several directories are not told apart by it.
    let is_distinct = |name: &&Option<String>| names.iter().filter(|it| it == name).count() == 1;
    let distinct = |index: usize| names.get(index).filter(is_distinct).cloned().flatten();
    for (comparison, index) in comparisons.iter_mut().zip(1..) {
        comparison.a.name = distinct(0);
        comparison.b.name = distinct(index);
    }
}

/// Finds the published columns for `--published`.
fn references(args: &CompareArgs) -> Result<Vec<Reference>, CliError> {
    let references = args.published.iter().map(|text| Ok(Reference::find(text)?));
    references.collect()
}

/// Refuses a single run without published results. A regression check needs two runs in any case.
fn refuse_too_few(args: &CompareArgs) -> Result<(), CliError> {
    let refused = |message: String, help: &str| {
        Err(CliError::new(Exit::Usage, message, Some(help.to_owned())))
    };
    match args.runs.len() {
        2.. => Ok(()),
        _ if args.published.is_empty() => refused(
            format!(
                "a comparison takes at least two runs, not {}",
                args.runs.len()
            ),
            "name another run, as in `pgmeter compare @-2 last`, or published figures with \
             `--published`",
        ),
        _ if args.fail_on_regression.is_some() => refused(
            "published figures give no verdict, so there is no regression to fail on".into(),
            "name a run to compare with, or leave `--fail-on-regression` out",
        ),
        _ => Ok(()),
    }
}

/// Refuses to compare a stored run with itself, by whatever names. Two files may be compared even
/// if they are copies of each other.
fn refuse_the_same_run(names: &[PathBuf], ids: &[Vec<&str>]) -> Result<(), CliError> {
    let is_stored = |name: &PathBuf| name.to_str().is_some_and(names_a_run);
    let mut seen: Vec<(&PathBuf, &[&str])> = Vec::new();
    for (name, ids) in names.iter().zip(ids).filter(|(name, _)| is_stored(name)) {
        if let Some((other, _)) = seen.iter().find(|(_, known)| known == ids) {
            let (a, b) = (other.display(), name.display());
            let message = format!("`{a}` and `{b}` are the same run: {}", ids.join(", "));
            let help = "name another run; `pgmeter runs` lists them".to_owned();
            return Err(CliError::new(Exit::Usage, message, Some(help)));
        }
        seen.push((name, ids.as_slice()));
    }
    Ok(())
}

/// Renders the comparisons in the requested format.
fn document(
    comparisons: &[Comparison],
    published: &[PublishedComparison],
    (format, position): (CompareFormat, VerdictPosition),
    args: &CompareArgs,
) -> OutputText {
    let medium = match format {
        CompareFormat::Text => ReportMedium::Terminal,
        CompareFormat::Markdown => ReportMedium::Markdown,
        CompareFormat::Html => ReportMedium::Page,
        CompareFormat::Json => {
            let document = ComparisonDocument {
                comparisons,
                published,
            };
            return OutputText::Json(document.to_document());
        }
    };
    let page = page_of(args.output.as_deref());
    let text = render_comparisons(comparisons, published, (medium, position), page);
    match medium {
        ReportMedium::Terminal => OutputText::Prose(text),
        _ => OutputText::Markup(text),
    }
}

/// Applies `--fail-on-regression`, and prints the regressions on standard error.
fn verdict(comparisons: &[Comparison], args: &CompareArgs) -> Exit {
    let Some(percent) = args.fail_on_regression else {
        return Exit::Success;
    };
    let lines: Vec<String> = comparisons
        .iter()
        .flat_map(|comparison| regression_lines(comparison, percent.0))
        .collect();
    for line in &lines {
        tell!("regression: {line}");
    }
    if lines.is_empty() {
        Exit::Success
    } else {
        Exit::Regression
    }
}

impl From<CompareError> for CliError {
    fn from(error: CompareError) -> Self {
        let help = Some(error.help().to_owned());
        Self::new(Exit::Usage, error, help)
    }
}

impl From<ReferenceError> for CliError {
    fn from(error: ReferenceError) -> Self {
        let help = Some(error.help());
        Self::new(Exit::Usage, error, help)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_run_is_not_compared_with_itself() {
        let refusal = |names: [&str; 3], ids: [&str; 3]| {
            let names = names.map(PathBuf::from);
            let ids = ids.map(|id| vec![id]);
            let refused = refuse_the_same_run(&names, &ids);
            refused.err().map(|error| error.text().to_owned())
        };
        assert_eq!(
            refusal(["last", "@-2", "@-1"], ["b", "a", "b"]).unwrap(),
            "error: `last` and `@-1` are the same run: b\n\
             help: name another run; `pgmeter runs` lists them"
        );
        assert_eq!(refusal(["last", "@-2", "@-3"], ["c", "b", "a"]), None);
        assert_eq!(refusal(["a.json", "b.json", "last"], ["a", "a", "a"]), None);
    }
}
