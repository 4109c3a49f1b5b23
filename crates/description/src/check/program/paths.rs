//! Places in files by chance and along paths, as they are written.

use units::Bytes as Size;

use super::super::Flaw;
use crate::model::PlaceTable;
use plan::Distribution;
use plan::program::{FilePath, Where};

/// The place of a table, where requests have so many bytes.
pub(super) fn of_table(table: &PlaceTable, request_bytes: u32) -> Result<Where, Flaw> {
    let forms = [
        ("random", table.random.is_some(), &["align"][..]),
        ("shuffled", table.shuffled.is_some(), &[]),
        ("backward", table.backward.is_some(), &[]),
        ("strided", table.strided.is_some(), &["shift", "margin"]),
        ("blocks", table.blocks.is_some(), &["stride", "each"]),
    ];
    let mut written = forms.iter().filter(|(_, is_written, _)| *is_written);
    let (Some((form, _, taken)), None) = (written.next(), written.next()) else {
        let message = "a place is one of `random`, `shuffled`, `backward`, `strided` and `blocks`";
        return Err(Flaw::new("at", message, "write one of them"));
    };
    let keys = [
        ("align", table.align),
        ("shift", table.shift),
        ("margin", table.margin),
        ("stride", table.stride),
        ("each", table.each),
    ];
    let is_idle = |(key, value): &&(&str, Option<Size>)| value.is_some() && !taken.contains(key);
    if let Some((key, _)) = keys.iter().find(is_idle) {
        let message = format!("`{key}` does not apply to `{form}`");
        return Err(Flaw::new("at", message, format!("leave `{key}` out")));
    }
    if table.nominal.is_some() && *form != "random" {
        let message = format!("`nominal` does not apply to `{form}`");
        return Err(Flaw::new("at", message, "leave `nominal` out"));
    }
    let bytes = |key: Option<Size>, default: u64| key.map_or(default, |it| it.0);
    let step = |key: Option<Size>| u32::try_from(bytes(key, 0)).unwrap_or(u32::MAX);
    Ok(match (&table.random, *form) {
        (Some(random), _) => Where::Random {
            distribution: Distribution::from(random),
            align_bytes: table.align.map_or(request_bytes, |align| step(Some(align))),
            is_nominal: table.nominal == Some(true),
        },
        (None, "shuffled") => Where::Along(FilePath::Shuffled {
            step_bytes: step(table.shuffled),
        }),
        (None, "backward") => Where::Along(FilePath::Backward {
            step_bytes: step(table.backward),
        }),
        (None, "strided") => Where::Along(FilePath::Strided {
            stride_bytes: bytes(table.strided, 0),
            shift_bytes: bytes(table.shift, 0),
            margin_bytes: bytes(table.margin, 0),
        }),
        (None, _) => {
            let block_bytes = bytes(table.blocks, 0);
            Where::Along(FilePath::Blocks {
                block_bytes,
                stride_bytes: bytes(table.stride, block_bytes),
                each_bytes: bytes(table.each, block_bytes),
            })
        }
    })
}
