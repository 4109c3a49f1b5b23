//! Laws as they are written.

use crate::model::{BandTable, LawChoice, LawTable, LawUnit, Mean};
use plan::program::{Law, Shape};

pub(super) fn choice<U: LawUnit>(law: &Law) -> LawChoice<U> {
    if let Some(amount) = law.always() {
        return LawChoice::Fixed(U::of(amount));
    }
    let above = |amount: u64| (amount > 0).then(|| U::of(amount));
    let mean = |amount: &f64| Some(Mean::of(*amount));
    let mut table = LawTable {
        base: above(law.base),
        least: above(law.least),
        most: (law.most < u64::MAX).then(|| U::of(law.most)),
        step: above(law.step),
        ..LawTable::default()
    };
    match &law.shape {
        Shape::Fixed(amount) => table.uniform = Some([U::of(*amount); 2]),
        Shape::Uniform { low, high } => table.uniform = Some([U::of(*low), U::of(*high)]),
        Shape::Exponential { mean: of } => table.exponential = mean(of),
        Shape::Gamma { mean: of, shape } => {
            (table.gamma, table.shape) = (mean(of), Some(*shape));
        }
        Shape::Normal {
            mean: of,
            deviation,
        } => (table.normal, table.deviation) = (mean(of), mean(deviation)),
        Shape::LogNormal { median, spread } => {
            (table.lognormal, table.spread) = (mean(median), Some(*spread));
        }
        Shape::Table(bands) => {
            let bands = bands.iter().map(|band| BandTable {
                share: band.weight,
                low: U::of(band.low),
                high: U::of(band.high),
            });
            table.table = Some(bands.collect());
        }
    }
    LawChoice::Drawn(table)
}
