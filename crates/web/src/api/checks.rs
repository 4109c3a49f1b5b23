//! A workload before it is run: verdicts, the plan, and the same in another format.

use std::ffi::OsString;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use units::JsonDocument;

use crate::answer::{Answer, Refusal, document};
use crate::blocking::blocking;
use crate::body::Body;
use crate::choice::{WorkloadChoice, WorkloadRequest};
use crate::own::OwnFolder;
use crate::program::{Said, ask, ask_at_most, words};
use crate::scratch::Given;
use crate::shared::{Shared, State};

/// Bytes of the longest plan that a page is shown.
const PLAN_BYTES_MAX: u64 = 32 << 20;

/// What there is to say of a workload before it is run.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct CheckAnswer {
    /// Whether it is understood and can be planned.
    pub is_understood: bool,
    /// Whether all targets are beneath the roots, so that it could be started from here.
    pub may_start: bool,
    /// What is wrong or doubtful, in the order in which `check` tells it.
    pub verdicts: Vec<LineVerdict>,
    /// The plan, as `pgmeter schema check` describes it, without its warnings; none where it is
    /// not understood.
    pub plan: Option<Value>,
    /// How long the cells of the plan take that end by time, in nanoseconds.
    pub planned_ns: u64,
}

impl JsonDocument for CheckAnswer {
    const FORMAT: &'static str = "pgmeter-serve-check/1";
}

/// Something wrong or doubtful, and where.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LineVerdict {
    /// `error`, `warning` or `note`.
    pub severity: String,
    /// The file; empty when it is of none.
    pub file: String,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// What was seen against what was wanted.
    pub message: String,
    /// One action.
    pub help: Option<String>,
}

/// What to convert, and into what.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConvertRequest {
    /// Which workload.
    pub workload: WorkloadChoice,
    /// Into what.
    pub to: ConvertTo,
}

/// Formats that workloads can be converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ConvertTo {
    /// pgmeter's own format.
    Toml,
    /// Iometer configuration.
    Icf,
    /// Job file of fio.
    Fio,
}

/// A workload in another format.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ConvertAnswer {
    /// The text; none where it cannot be said in that format.
    pub text: Option<String>,
    /// What is wrong or doubtful.
    pub verdicts: Vec<LineVerdict>,
}

impl JsonDocument for ConvertAnswer {
    const FORMAT: &'static str = "pgmeter-serve-convert/1";
}

/// `POST /api/check`
pub(crate) async fn check(shared: State, Body(asked): Body<WorkloadRequest>) -> Answer {
    let (arguments, given) = resolved(&shared, asked).await?;
    let found = checked(&shared, (arguments, given)).await?;
    // A plan may be long.
    blocking(move || document(&found)).await
}

/// `POST /api/convert`
pub(crate) async fn convert(shared: State, Body(asked): Body<ConvertRequest>) -> Answer {
    let ConvertRequest { workload, to } = asked;
    let options = workload.options()?;
    let folder = OwnFolder::beside(&shared.options.store);
    let (word, given) = blocking(move || workload.resolve(&folder)).await?;
    let mut arguments = words(["convert", "--to"]);
    arguments.push(match to {
        ConvertTo::Toml => "toml".into(),
        ConvertTo::Icf => "icf".into(),
        ConvertTo::Fio => "fio".into(),
    });
    arguments.extend(options);
    arguments.push(word.into());
    let said = ask(&shared, arguments, given).await?;
    let verdicts = verdicts(&said)?;
    let is_done = said.code == Some(0);
    document(&ConvertAnswer {
        text: is_done.then(|| String::from_utf8_lossy(&said.output).into_owned()),
        verdicts,
    })
}

/// The words after `check` or `run`, with the file that they name, which is read now.
pub(crate) async fn resolved(
    shared: &Arc<Shared>,
    asked: WorkloadRequest,
) -> Result<(Vec<OsString>, Option<Given>), Refusal> {
    let shared = Arc::clone(shared);
    blocking(move || {
        asked.check_counts()?;
        let folder = OwnFolder::beside(&shared.options.store);
        let (word, given) = asked.workload.resolve(&folder)?;
        Ok((arguments(&shared, &asked, word)?, given))
    })
    .await
}

/// The words after `check` or `run`; `word` stands for the workload.
pub(crate) fn arguments(
    shared: &Shared,
    asked: &WorkloadRequest,
    word: String,
) -> Result<Vec<OsString>, Refusal> {
    let mut arguments = asked.workload.options()?;
    for target in &asked.targets {
        arguments.push("--target".into());
        arguments.push(shared.roots.admit(target)?.into());
    }
    for (key, value) in &asked.settings {
        arguments.push(format!("--set={key}={value}").into());
    }
    arguments.push(word.into());
    Ok(arguments)
}

/// What `check` says of that command line.
pub(crate) async fn checked(
    shared: &Arc<Shared>,
    (arguments, given): (Vec<OsString>, Option<Given>),
) -> Result<CheckAnswer, Refusal> {
    let mut whole = words(["check", "--json"]);
    whole.extend(arguments);
    let said = ask_at_most(shared, (whole, given), PLAN_BYTES_MAX).await?;
    let shared = Arc::clone(shared);
    blocking(move || found_in(&shared, &said)).await
}

/// Refuses work that may not be started from here: what is not understood, and what touches
/// something that was not offered.
pub(crate) async fn admitted(
    shared: &Arc<Shared>,
    line: (Vec<OsString>, Option<Given>),
) -> Result<(), Refusal> {
    let found = checked(shared, line).await?;
    let Some(plan) = &found.plan else {
        let error = found.verdicts.iter().find(|it| it.severity == "error");
        let error = error.map_or("the workload is not understood", |it| &it.message);
        return Err(Refusal::bad(error).help("`POST /api/check` tells where"));
    };
    let has_target = !plan["targets"].as_array().is_none_or(Vec::is_empty);
    if !has_target {
        return Err(Refusal::bad("no target was chosen").help("name one in `targets`"));
    }
    match strangers(shared, plan).first() {
        Some(path) => shared.roots.admit(path).map(drop),
        None => Ok(()),
    }
}

/// What `check` said, with whether it could be started from here.
fn found_in(shared: &Shared, said: &Said) -> Result<CheckAnswer, Refusal> {
    if said.code != Some(0) {
        return Ok(CheckAnswer {
            is_understood: false,
            may_start: false,
            verdicts: verdicts(said)?,
            plan: None,
            planned_ns: 0,
        });
    }
    let text = String::from_utf8_lossy(&said.output);
    let mut plan: Value = units::parse_json(&text)
        .map_err(|error| Refusal::failed(format!("`check` printed something else: {error}")))?;
    let found = plan.as_object_mut().and_then(|plan| {
        plan.remove("format");
        plan.remove("warnings")
    });
    let verdicts: Vec<LineVerdict> = serde_json::from_value(found.unwrap_or_default())
        .map_err(|error| Refusal::failed(format!("`check` printed other warnings: {error}")))?;
    Ok(CheckAnswer {
        is_understood: true,
        may_start: strangers(shared, &plan).is_empty(),
        verdicts: verdicts.into_iter().map(in_short).collect(),
        planned_ns: planned_ns(&plan),
        plan: Some(plan),
    })
}

/// The targets of a plan that may not be measured from here.
fn strangers(shared: &Shared, plan: &Value) -> Vec<String> {
    let targets = plan["targets"].as_array().into_iter().flatten();
    let touched = targets.filter(|target| target["kind"] != "null");
    let paths = touched.map(|target| target["path"].as_str().unwrap_or_default());
    let strange = paths.filter(|path| shared.roots.admit(path).is_err());
    strange.map(str::to_owned).collect()
}

fn planned_ns(plan: &Value) -> u64 {
    let cells = plan["cells"].as_array().into_iter().flatten();
    let time = |cell: &Value, key: &str| cell[key].as_u64().unwrap_or(0);
    cells.fold(0, |sum, cell| {
        let cell_ns = time(cell, "run_time_ns").saturating_add(time(cell, "ramp_time_ns"));
        u64::saturating_add(sum, cell_ns)
    })
}

/// What a command said on standard error, where it says what is wrong with a file; what is wrong
/// with the server's own doing is an error.
fn verdicts(said: &Said) -> Result<Vec<LineVerdict>, Refusal> {
    let found = parsed(&said.remarks);
    match said.code {
        Some(0 | 2 | 3) if said.code == Some(0) || !found.is_empty() => Ok(found),
        _ => Err(said.refusal()),
    }
}

/// Remarks as the program prints them: a message, its place, the line, what to do.
fn parsed(remarks: &str) -> Vec<LineVerdict> {
    let mut found: Vec<LineVerdict> = Vec::new();
    for line in remarks.lines() {
        let begins = ["error", "warning", "note"]
            .into_iter()
            .find_map(|severity| {
                let message = line.strip_prefix(severity)?.strip_prefix(": ")?;
                Some((severity, message))
            });
        if let Some((severity, message)) = begins {
            found.push(LineVerdict {
                severity: severity.to_owned(),
                message: message.to_owned(),
                ..LineVerdict::default()
            });
            continue;
        }
        let Some(last) = found.last_mut() else {
            continue;
        };
        if let Some(place) = line.strip_prefix("  --> ") {
            put_place(last, place);
        } else if let Some(help) = line.strip_prefix("help: ") {
            last.help = Some(help.to_owned());
        }
    }
    found.into_iter().map(in_short).collect()
}

/// `FILE`, `FILE:LINE` or `FILE:LINE:COLUMN`.
fn put_place(verdict: &mut LineVerdict, place: &str) {
    let mut rest = place;
    let mut numbers = Vec::new();
    while let Some((before, number)) = rest.rsplit_once(':')
        && let Ok(number) = number.parse::<u32>()
        && numbers.len() < 2
    {
        numbers.push(number);
        rest = before;
    }
    numbers.reverse();
    verdict.file = rest.to_owned();
    verdict.line = numbers.first().copied();
    verdict.column = numbers.get(1).copied();
}

/// The file as it was called in the request.
fn in_short(mut verdict: LineVerdict) -> LineVerdict {
    if let Some(name) = verdict.file.strip_prefix("./") {
        verdict.file = name.to_owned();
    }
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_become_verdicts_by_line() {
        let remarks = "warning: a\n  --> ./x.toml:3\nerror: b `c: d`\n  --> ./x.toml:12:7\n\
                       \x20 12 | size = 3 x\nhelp: write it\nnote: e\n";
        let found = parsed(remarks);
        let places: Vec<_> = found
            .iter()
            .map(|it| (it.severity.as_str(), it.file.as_str(), it.line, it.column))
            .collect();
        assert_eq!(
            places,
            [
                ("warning", "x.toml", Some(3), None),
                ("error", "x.toml", Some(12), Some(7)),
                ("note", "", None, None)
            ]
        );
        assert_eq!(found[1].message, "b `c: d`");
        assert_eq!(found[1].help.as_deref(), Some("write it"));
    }

    #[test]
    fn what_is_said_of_no_file_is_a_refusal() {
        let said = |code: i32, remarks: &str| Said {
            code: Some(code),
            output: Vec::new(),
            remarks: remarks.to_owned(),
        };
        assert!(verdicts(&said(2, "error: x")).is_ok_and(|found| found.len() == 1));
        assert!(verdicts(&said(2, "")).is_err());
        assert!(verdicts(&said(70, "error: this is a bug in pgmeter")).is_err());
        assert!(verdicts(&said(0, "")).is_ok_and(|found| found.is_empty()));
    }
}
