//! The kernel's `format` files, which describe the fields of an event. Their places differ between
//! kernels, so they are read each time.

use std::ops::Range;

/// Number and fields of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFormat {
    /// Number with which events of this kind begin.
    pub id: u16,
    fields: Vec<EventField>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct EventField {
    name: String,
    place: Range<usize>,
}

impl EventFormat {
    /// Parses the text of a `format` file; `None` if it has no number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let id = text.lines().find_map(|line| line.strip_prefix("ID:"))?;
        Some(Self {
            id: id.trim().parse().ok()?,
            fields: fields(text),
        })
    }

    /// Place of a field within an event.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<Range<usize>> {
        place_of(&self.fields, name)
    }
}

fn fields(text: &str) -> Vec<EventField> {
    text.lines().filter_map(field).collect()
}

/// Place of a field in a text without a number, such as `header_page`.
pub(crate) fn place_in(text: &str, name: &str) -> Option<Range<usize>> {
    place_of(&fields(text), name)
}

fn place_of(fields: &[EventField], name: &str) -> Option<Range<usize>> {
    let field = fields.iter().find(|field| field.name == name);
    field.map(|field| field.place.clone())
}

/// A line such as `field:char rwbs[10];  offset:34;  size:10;  signed:0;`.
fn field(line: &str) -> Option<EventField> {
    let mut parts = line.trim().strip_prefix("field:")?.split(';');
    let declaration = parts.next()?;
    let number = |part: Option<&str>, key: &str| -> Option<usize> {
        part?.trim().strip_prefix(key)?.parse().ok()
    };
    let offset = number(parts.next(), "offset:")?;
    let size = number(parts.next(), "size:")?;
    let name = declaration.split_whitespace().next_back()?;
    let name = name.split('[').next()?;
    Some(EventField {
        name: name.to_owned(),
        place: offset..offset.checked_add(size)?,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ISSUE: &str = include_str!("testdata/block_rq_issue.format");

    #[test]
    fn fields_have_their_places() {
        let format = EventFormat::parse(ISSUE).unwrap();
        assert_eq!(format.id, 2104);
        assert_eq!(format.field("common_pid"), Some(4..8));
        assert_eq!(format.field("sector"), Some(16..24));
        assert_eq!(format.field("rwbs"), Some(34..44));
        assert_eq!(format.field("cmd"), Some(60..64));
        assert_eq!(format.field("error"), None);
    }

    #[test]
    fn a_text_without_a_number_is_refused() {
        assert_eq!(EventFormat::parse("name: x\nID: many\n"), None);
        assert_eq!(EventFormat::parse(""), None);
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(lines in prop::collection::vec("[ -~\t]{0,60}", 0..12)) {
            let text = format!("ID: 1\n{}", lines.join("\n"));
            let _ = EventFormat::parse(&text);
        }

        #[test]
        fn any_field_line_is_parsed_or_left_out(
            name in "[a-z \\[\\]0-9]{0,20}", offset in "[0-9]{0,25}", size in "[0-9]{0,25}",
        ) {
            let text = format!("ID: 1\n field:{name}; offset:{offset}; size:{size};");
            let _ = EventFormat::parse(&text);
        }
    }
}
