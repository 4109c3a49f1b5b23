//! The numbers in the data tables of charts, which the page's script formats.

use serde_json::Value;

use crate::shown::{Quantity, ShownNumber};

/// Returns the numbers of all charts of a packed part of a page.
pub fn numbers(charts: &str) -> Vec<ShownNumber> {
    let charts: Value = serde_json::from_str(charts).expect("the data of charts is JSON");
    let mut numbers = Vec::new();
    for chart in items(&charts) {
        for view in items(&chart["views"]) {
            let unit = view["y"]["unit"].as_str().unwrap_or_default();
            for series in items(&view["series"]) {
                let ends = [&series["ends"]["low"], &series["ends"]["high"]];
                let values = std::iter::once(&series["values"]).chain(ends);
                let values = values.flat_map(items).filter_map(Value::as_f64);
                let context = format!("{} of {}", series["label"], chart["title"]);
                numbers.extend(values.filter_map(|it| shown(unit, it, &context)));
            }
        }
    }
    numbers
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Returns a number as the function `show` of the script formats it; `None` for shares.
fn shown(unit: &str, value: f64, context: &str) -> Option<ShownNumber> {
    const KIB: f64 = 1024.0;
    let (quantity, digits, sizes) = match unit {
        "per_second" => (Quantity::Rate, 4, [1.0, 1e3, 1e6]),
        "bytes_per_second" => (Quantity::Bandwidth, 4, [KIB, KIB.powi(2), KIB.powi(3)]),
        "nanoseconds" => (Quantity::Time, 3, [1e3, 1e6, 1e9]),
        _ => return None,
    };
    let size = sizes.into_iter().rfind(|size| value >= size * 0.9995);
    let size = size.unwrap_or(1.0);
    let scaled = value / size;
    let whole = scaled.max(f64::MIN_POSITIVE).log10().floor() as i32 + 1;
    let step = 10_f64.powi(-(digits - whole).clamp(0, digits - 1));
    let rounded = (scaled / step).round() * step;
    Some(ShownNumber {
        quantity,
        range: [rounded - step / 2.0, rounded + step / 2.0].map(|it| it * size),
        context: format!("{rounded} * {size} in {context}"),
    })
}
