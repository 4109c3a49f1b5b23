//! Upgrade from format 1 to 2: a program's named results become typed ones.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::{
    FilesetFigures, PhaseFigures, PoolFigures, ReportedRound, RoundFigures, RoundRule, StepFigures,
};

const MIB: f64 = 1_048_576.0;
const SECOND_NS: f64 = 1e9;

type ResultsByName = BTreeMap<String, Value>;

/// Upgrades a cell's record of format 1. A record of a later format is unchanged.
pub fn upgrade_cell(cell: &mut Value) {
    let Some(cell) = cell.as_object_mut() else {
        return;
    };
    let figures = match cell.remove("classic") {
        None | Some(Value::Null) => return,
        Some(Value::Object(named)) => {
            let figures = phase_figures(cell, named.into_iter().collect());
            units::json_value(&figures).unwrap_or_default()
        }
        // Not an object: left as it is, so that reading the record fails.
        Some(other) => other,
    };
    cell.insert("phase_figures".to_owned(), figures);
}

/// The cell's typed results. Values without a typed field keep their names.
fn phase_figures(cell: &Map<String, Value>, mut named: ResultsByName) -> PhaseFigures {
    let mut figures = PhaseFigures::default();
    let fileset = |count: &str| {
        Some(FilesetFigures {
            file_count: integer(&named, count)?,
            file_bytes: integer(&named, "size_bytes")?,
        })
    };
    // Format 1 named the number of files `files_asked` in create-remove and `files` in lat_fs.
    if let Some(fileset) = fileset("files_asked") {
        figures.steps = steps(cell, &named).unwrap_or_default();
        figures.filesets = vec![fileset];
    } else if let (Some(fileset), Some(round)) = (fileset("files"), reported_round(&named)) {
        figures.reported_round = Some(round);
        figures.filesets = vec![fileset];
    }
    figures.rounds = rounds(cell, &named).unwrap_or_default();
    figures.pool = pool(&named);
    for (name, value) in names(&figures) {
        // Only exact matches are dropped: a value that cannot be recalculated must not be lost.
        if named.get(name) == Some(&value) {
            named.remove(name);
        }
    }
    figures.figures_before = named;
    figures
}

fn integer(named: &ResultsByName, name: &str) -> Option<u64> {
    named.get(name)?.as_u64()
}

fn steps(cell: &Map<String, Value>, named: &ResultsByName) -> Option<Vec<StepFigures>> {
    // The earliest of these records have no step name, only whether it creates.
    let label = match (named.get("step"), named.get("is_create")?.as_bool()?) {
        (Some(step), _) => step.as_str()?.to_owned(),
        (None, true) => "create".to_owned(),
        (None, false) => "remove".to_owned(),
    };
    let cpu = |name: &str| cell.get("cpu")?.get(name)?.as_u64();
    let step = StepFigures {
        label,
        count: cell.get("total")?.get("count")?.as_u64()?,
        errors: errors(cell),
        time_ns: integer(named, "real_ns")?,
        user_ns: cpu("user_ns").unwrap_or(0),
        system_ns: cpu("system_ns").unwrap_or(0),
    };
    let baseline = named.get("baseline").and_then(|programs| {
        let figure = |name: &str| programs.get(name)?.as_u64();
        Some(StepFigures {
            label: "baseline".to_owned(),
            count: figure("count")?,
            errors: 0,
            time_ns: figure("real_ns")?,
            user_ns: figure("user_ns")?,
            system_ns: figure("system_ns")?,
        })
    });
    Some([step].into_iter().chain(baseline).collect())
}

/// Number of failed transactions, or of all failures if transactions are not counted by kind.
fn errors(cell: &Map<String, Value>) -> u64 {
    let of = |figures: &Value| figures["errors"].as_u64().unwrap_or(0);
    match cell.get("transactions").and_then(Value::as_object) {
        Some(kinds) if !kinds.is_empty() => kinds.values().map(of).sum(),
        _ => cell.get("total").map_or(0, of),
    }
}

fn reported_round(named: &ResultsByName) -> Option<ReportedRound> {
    let rules = [
        ("best_ns", RoundRule::Best),
        ("median_ns", RoundRule::Median),
    ];
    rules.into_iter().find_map(|(name, rule)| {
        Some(ReportedRound {
            rule,
            time_ns: integer(named, name)?,
            round_count: integer(named, "passes").unwrap_or(0),
        })
    })
}

/// Rounds from their recorded rates; the times follow from the rates.
fn rounds(cell: &Map<String, Value>, named: &ResultsByName) -> Option<Vec<RoundFigures>> {
    let each_count = integer(named, "files_per_iteration")?;
    let file_count = each_count.saturating_mul(cell.get("workers")?.as_u64()?);
    let rates = named.get("files_per_second")?.as_array()?;
    let syncs = named.get("sync_ns").and_then(Value::as_array);
    let round = |(index, rate): (usize, &Value)| {
        let time_ns = file_count as f64 * SECOND_NS / rate.as_f64()?;
        Some(RoundFigures {
            file_count,
            time_ns: time_ns.round() as u64,
            sync_ns: syncs.and_then(|syncs| syncs.get(index)?.as_u64()),
            ..RoundFigures::default()
        })
    };
    rates.iter().enumerate().map(round).collect()
}

fn pool(named: &ResultsByName) -> Option<PoolFigures> {
    let count = |name: &str| integer(named, name);
    let float = |name: &str| Some(named.get(name)?.as_f64()? * MIB);
    Some(PoolFigures {
        transactions_count: count("transactions")?,
        created_count: count("created")?,
        created_before_count: count("created_alone")?,
        read_count: count("read")?,
        appended_count: count("appended")?,
        deleted_count: count("deleted")?,
        deleted_after_count: count("deleted_alone")?,
        read_bytes: count("read_bytes")?,
        written_bytes: count("written_bytes")?,
        read_bytes_float: float("read_mib_float32")?,
        written_bytes_float: float("written_mib_float32")?,
        creation_ns: count("creation_ns")?,
        transactions_ns: count("transactions_ns")?,
        deletion_ns: count("deletion_ns")?,
        ..PoolFigures::default()
    })
}

/// Typed results under their names of format 1.
fn names(figures: &PhaseFigures) -> Vec<(&'static str, Value)> {
    let mut names = Vec::new();
    if let Some(step) = figures.step() {
        names.extend(step_names(step));
    }
    if let Some(baseline) = figures.steps.get(1) {
        names.push(("baseline", programs(baseline)));
    }
    if let Some(reported) = &figures.reported_round {
        names.extend(reported_round_names(figures, reported));
    }
    if let Some(fileset) = figures.fileset() {
        let count = match figures.reported_round {
            Some(_) => "files",
            None => "files_asked",
        };
        names.push((count, json!(fileset.file_count)));
        names.push(("size_bytes", json!(fileset.file_bytes)));
    }
    if !figures.rounds.is_empty() {
        names.extend(round_names(&figures.rounds));
    }
    names.extend(figures.pool.iter().flat_map(pool_names));
    names
}

fn step_names(step: &StepFigures) -> [(&'static str, Value); 4] {
    [
        ("step", json!(step.label)),
        ("is_create", json!(step.label == "create")),
        ("real_ns", json!(step.time_ns)),
        ("programs", programs(step)),
    ]
}

fn programs(step: &StepFigures) -> Value {
    json!({
        "count": step.count.saturating_add(step.errors),
        "real_ns": step.time_ns,
        "user_ns": step.user_ns,
        "system_ns": step.system_ns,
    })
}

fn reported_round_names(
    figures: &PhaseFigures,
    reported: &ReportedRound,
) -> [(&'static str, Value); 3] {
    let [time, rate] = match reported.rule {
        RoundRule::Best => ["best_ns", "best_files_per_second"],
        RoundRule::Median => ["median_ns", "median_files_per_second"],
    };
    [
        (time, json!(reported.time_ns)),
        (
            rate,
            json!(figures.reported_files_per_second(reported.rule)),
        ),
        ("passes", json!(reported.round_count)),
    ]
}

fn round_names(rounds: &[RoundFigures]) -> [(&'static str, Value); 3] {
    let rates: Vec<f64> = rounds.iter().map(RoundFigures::files_per_second).collect();
    let syncs: Vec<u64> = rounds.iter().filter_map(|round| round.sync_ns).collect();
    [
        ("iterations", json!(rounds.len())),
        ("files_per_second", json!(rates)),
        ("sync_ns", json!(syncs)),
    ]
}

fn pool_names(pool: &PoolFigures) -> [(&'static str, Value); 20] {
    [
        ("transactions", json!(pool.transactions_count)),
        (
            "transactions_per_second",
            json!(pool.transactions_per_second()),
        ),
        ("total_ns", json!(pool.total_ns())),
        ("creation_ns", json!(pool.creation_ns)),
        ("transactions_ns", json!(pool.transactions_ns)),
        ("deletion_ns", json!(pool.deletion_ns)),
        ("created", json!(pool.created_count)),
        ("created_alone", json!(pool.created_before_count)),
        ("created_mixed", json!(pool.created_mixed_count())),
        ("read", json!(pool.read_count)),
        ("appended", json!(pool.appended_count)),
        ("deleted", json!(pool.deleted_count)),
        ("deleted_alone", json!(pool.deleted_after_count)),
        ("deleted_mixed", json!(pool.deleted_mixed_count())),
        ("read_bytes", json!(pool.read_bytes)),
        ("written_bytes", json!(pool.written_bytes)),
        ("read_mib", json!(pool.read_bytes as f64 / MIB)),
        ("written_mib", json!(pool.written_bytes as f64 / MIB)),
        ("read_mib_float32", json!(pool.read_bytes_float / MIB)),
        ("written_mib_float32", json!(pool.written_bytes_float / MIB)),
    ]
}

#[cfg(test)]
mod tests;
