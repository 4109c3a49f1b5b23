//! Laws as they are written.

use super::super::{Flaw, Step};
use crate::model::{LawChoice, LawTable, LawUnit, Mean};
use crate::nearest::listed;
use plan::program::{Band, Law, LawFlaw, Shape};

/// Shapes, each with the key that it takes beside it.
const SHAPES: [(&str, Option<&str>); 6] = [
    ("uniform", None),
    ("exponential", None),
    ("gamma", Some("shape")),
    ("normal", Some("deviation")),
    ("lognormal", Some("spread")),
    ("table", None),
];

/// The law of a value; what is wrong is placed in the value itself.
pub(super) fn law<U: LawUnit>(choice: &LawChoice<U>) -> Result<Law, Flaw> {
    let table = match choice {
        LawChoice::Fixed(value) => return Ok(Law::fixed(value.amount())),
        LawChoice::Drawn(table) => table,
    };
    let shape = one_shape(table)?;
    let law = Law {
        shape: shape_of(table, shape),
        base: table.base.map_or(0, LawUnit::amount),
        least: table.least.map_or(0, LawUnit::amount),
        most: table.most.map_or(u64::MAX, LawUnit::amount),
        step: table.step.map_or(0, LawUnit::amount),
    };
    match law.flaw() {
        None => Ok(law),
        Some(flaw) => {
            let key = match flaw {
                LawFlaw::Limits => "most",
                LawFlaw::Parameter(name) => name,
                LawFlaw::Shape => "shape",
                LawFlaw::Range | LawFlaw::Empty => shape,
            };
            let help = match flaw {
                LawFlaw::Limits => "write a larger `most`",
                LawFlaw::Range => "write the smaller one first",
                LawFlaw::Parameter(_) => "write a number above 0",
                LawFlaw::Shape => "a smaller one, or `normal` with a small `deviation`",
                LawFlaw::Empty => "write `table = [{ share = 1, low = 1, high = 8 }]`",
            };
            Err(Flaw::new(key, flaw.to_string(), help))
        }
    }
}

/// The only shape of a law, with what it takes and nothing else.
fn one_shape<U: LawUnit>(table: &LawTable<U>) -> Result<&'static str, Flaw> {
    let is_written = [
        table.uniform.is_some(),
        table.exponential.is_some(),
        table.gamma.is_some(),
        table.normal.is_some(),
        table.lognormal.is_some(),
        table.table.is_some(),
    ];
    let shapes = SHAPES.iter().zip(is_written);
    let written: Vec<_> = shapes
        .filter(|(_, is)| *is)
        .map(|(shape, _)| *shape)
        .collect();
    let (shape, parameter) = match written.as_slice() {
        [one] => *one,
        [] => {
            let help = format!(
                "write one of {}",
                listed(SHAPES.iter().map(|(name, _)| *name))
            );
            return Err(Flaw {
                path: Vec::new(),
                message: "the law says nothing of how it draws".to_owned(),
                help,
            });
        }
        [(first, _), (second, _), ..] => {
            let message = format!("`{first}` and `{second}` are two laws");
            return Err(Flaw::new(second, message, "leave one of them out"));
        }
    };
    let parameters = [
        ("shape", table.shape.is_some()),
        ("deviation", table.deviation.is_some()),
        ("spread", table.spread.is_some()),
    ];
    for (key, is_written) in parameters {
        let is_wanted = parameter == Some(key);
        if is_written && !is_wanted {
            let message = format!("`{key}` does not apply to `{shape}`");
            return Err(Flaw::new(key, message, format!("leave `{key}` out")));
        }
        if is_wanted && !is_written {
            let message = format!("`{shape}` needs `{key}`");
            return Err(Flaw::new(shape, message, format!("add `{key}`")));
        }
    }
    Ok(shape)
}

fn shape_of<U: LawUnit>(table: &LawTable<U>, shape: &str) -> Shape {
    let real = |value: Option<Mean<U>>| value.map_or(0.0, |it| it.amount);
    match shape {
        "uniform" => {
            let [low, high] = table
                .uniform
                .map_or([0, 0], |ends| ends.map(LawUnit::amount));
            Shape::Uniform { low, high }
        }
        "exponential" => Shape::Exponential {
            mean: real(table.exponential),
        },
        "gamma" => Shape::Gamma {
            mean: real(table.gamma),
            shape: table.shape.unwrap_or_default(),
        },
        "normal" => Shape::Normal {
            mean: real(table.normal),
            deviation: real(table.deviation),
        },
        "lognormal" => Shape::LogNormal {
            median: real(table.lognormal),
            spread: table.spread.unwrap_or_default(),
        },
        _ => {
            let bands = table.table.iter().flatten().map(|band| Band {
                weight: band.share,
                low: band.low.amount(),
                high: band.high.amount(),
            });
            Shape::Table(bands.collect())
        }
    }
}

/// As [`law`], of the value under a key.
pub(super) fn law_under<U: LawUnit>(key: &'static str, choice: &LawChoice<U>) -> Result<Law, Flaw> {
    law(choice).map_err(|mut flaw| {
        flaw.path.insert(0, Step::Key(key));
        flaw
    })
}
