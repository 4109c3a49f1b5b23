//! Matches cells of pgmeter with results of another program, and finds known differences of their
//! work.

use crate::difference::Difference;
use crate::figure::{Figure, Scope};
use crate::group::SideGroup;
use crate::judge::Pair;

/// Request sizes that differ by a larger share are different.
const SIZE_TOLERANCE: f64 = 0.01;

/// Returns the pairs of groups to compare, as indexes: groups of the same name, or else the only
/// two groups with a metric in common.
pub(crate) fn pairs(a: &[SideGroup], b: &[SideGroup]) -> Vec<(usize, usize)> {
    let all = || (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j)));
    let has_common = |&(i, j): &(usize, usize)| has_common_metric(&a[i], &b[j]);
    let named = |&(i, j): &(usize, usize)| has_common_name(&a[i], &b[j]);
    let named: Vec<(usize, usize)> = all().filter(named).filter(has_common).collect();
    let candidates = match named.is_empty() {
        true => all().filter(has_common).collect(),
        false => named,
    };
    // Among several counterparts, any choice would be a guess.
    let is_unique = |pair: &&(usize, usize)| {
        let same = |other: &&(usize, usize)| other.0 == pair.0 || other.1 == pair.1;
        candidates.iter().filter(same).count() == 1
    };
    candidates.iter().filter(is_unique).copied().collect()
}

fn has_common_metric(a: &SideGroup, b: &SideGroup) -> bool {
    let pair = Pair {
        a: &a.cells,
        b: &b.cells,
        paired: false,
    };
    !pair.figures().is_empty()
}

/// Returns `true` if a workload, access specification or phase of one has the name of the other.
fn has_common_name(a: &SideGroup, b: &SideGroup) -> bool {
    let names = |group: &SideGroup| {
        let work = &group.planned.properties;
        let phase = Some(work.phase.as_str()).filter(|it| *it != "measure");
        // Programs with many results per run name the parameters after a comma.
        let workload = work.workload.split(", ").next();
        let names = workload
            .into_iter()
            .chain(phase)
            .chain(work.access_spec.as_deref());
        names.map(simplified).collect::<Vec<String>>()
    };
    let names_b = names(b);
    names(a).iter().any(|name| names_b.contains(name))
}

/// Lower case, without separators: `Seq Read` and `seq-read` are the same name.
fn simplified(name: &str) -> String {
    let letters = name.chars().filter(|it| it.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// Returns the differences that both sides state.
pub(crate) fn differences(a: &SideGroup, b: &SideGroup) -> Vec<Difference> {
    let (one, other) = (&a.planned.properties, &b.planned.properties);
    let settings = [
        ("iodepth", one.iodepth, other.iodepth),
        ("workers", one.workers, other.workers),
    ];
    let settings = settings.into_iter().filter_map(|(what, a, b)| {
        let (a, b) = (a?, b?);
        (a != b).then(|| difference(what, a.to_string(), b.to_string()))
    });
    let operations = a.cells.iter().chain(&b.cells);
    let operations = operations.flat_map(|cell| cell.operations());
    let mut scopes: Vec<Scope> = vec![Scope::Total];
    for name in operations {
        let scope = Scope::Operation(name.to_owned());
        if !scopes.contains(&scope) {
            scopes.push(scope);
        }
    }
    let sizes = scopes.iter().filter_map(|scope| {
        let (a, b) = (request_bytes(a, scope)?, request_bytes(b, scope)?);
        let is_other = (a / b - 1.0).abs() > SIZE_TOLERANCE;
        let bytes = |size: f64| format!("{size:.0} bytes");
        is_other.then(|| difference("request size", bytes(a), bytes(b)))
    });
    let mut found: Vec<Difference> = settings.chain(sizes).collect();
    // A single operation has the same size as the total.
    found.dedup();
    found
}

fn difference(what: &str, a: String, b: String) -> Difference {
    Difference {
        what: what.to_owned(),
        a: Some(a),
        b: Some(b),
    }
}

/// Returns the mean size of a request, if rate and bandwidth are known.
fn request_bytes(group: &SideGroup, scope: &Scope) -> Option<f64> {
    let first = group.cells.first()?;
    let of = |figure| first.value(scope, figure).filter(|value| *value > 0.0);
    Some(of(Figure::BytesPerSecond)? / of(Figure::PerSecond)?)
}
