//! Fields of a line.

use memchr::memchr2;

/// Maximum number of fields that are looked at; further ones are ignored.
pub(crate) const FIELDS_MAX: usize = 40;

/// Fields of a line, without allocation.
pub(crate) struct LineFields<'a> {
    fields: [&'a [u8]; FIELDS_MAX],
    count: usize,
}

impl<'a> LineFields<'a> {
    fn empty() -> Self {
        Self {
            fields: [b""; FIELDS_MAX],
            count: 0,
        }
    }

    fn push(&mut self, field: &'a [u8]) {
        if let Some(place) = self.fields.get_mut(self.count) {
            *place = field;
            self.count += 1;
        }
    }

    /// Words between blanks and tabs.
    pub(crate) fn blank(line: &'a [u8]) -> Self {
        let mut fields = Self::empty();
        let words = line.split(|byte| matches!(byte, b' ' | b'\t'));
        words
            .filter(|word| !word.is_empty())
            .for_each(|word| fields.push(word));
        fields
    }

    /// Fields between commas, without the blanks around them. A field in quotation marks may
    /// contain commas; doubled quotation marks in it stay doubled.
    pub(crate) fn comma(line: &'a [u8]) -> Self {
        let mut fields = Self::empty();
        let mut rest = Some(line);
        while let Some(text) = rest {
            let text = text.trim_ascii_start();
            let (field, next) = match text.strip_prefix(b"\"") {
                Some(quoted) => quoted_field(quoted),
                None => {
                    let end = memchr::memchr(b',', text);
                    let end = end.unwrap_or(text.len());
                    (text[..end].trim_ascii_end(), text.get(end + 1..))
                }
            };
            fields.push(field);
            rest = next;
        }
        fields
    }

    pub(crate) fn all(&self) -> &[&'a [u8]] {
        &self.fields[..self.count]
    }

    /// A field, or an empty one.
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        self.all().get(index).copied().unwrap_or(b"")
    }
}

/// A field after its opening quotation mark, and the rest of the line after its comma.
fn quoted_field(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let mut from = 0;
    while let Some(found) = memchr::memchr(b'"', &text[from..]) {
        let at = from + found;
        if text.get(at + 1) != Some(&b'"') {
            let rest = &text[at + 1..];
            let comma = memchr::memchr(b',', rest);
            return (&text[..at], comma.map(|comma| &rest[comma + 1..]));
        }
        from = at + 2;
    }
    (text, None)
}

/// Splits the first word from a text; both parts lack the blanks between them.
pub(crate) fn first_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = trim_blanks_start(text);
    let end = memchr2(b' ', b'\t', text).unwrap_or(text.len());
    (&text[..end], trim_blanks_start(&text[end..]))
}

/// Splits the last word from a text; both parts lack the blanks between them.
pub(crate) fn last_word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_end();
    let start = memchr::memrchr2(b' ', b'\t', text).map_or(0, |at| at + 1);
    (text[..start].trim_ascii_end(), &text[start..])
}

fn trim_blanks_start(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !matches!(byte, b' ' | b'\t'));
    &text[start.unwrap_or(text.len())..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_fields_may_contain_commas_and_quotation_marks() {
        let fields = LineFields::comma(b"a, \"b, \"\"c\"\"\",,d ,\"e");
        assert_eq!(fields.all(), [&b"a"[..], b"b, \"\"c\"\"", b"", b"d", b"e"]);
        assert_eq!(fields.get(9), b"");
        assert_eq!(LineFields::comma(b"").all(), [b""]);
    }

    #[test]
    fn words_are_split_from_both_ends() {
        assert_eq!(first_word(b"  a b c"), (&b"a"[..], &b"b c"[..]));
        assert_eq!(last_word(b"a b\t c "), (&b"a b"[..], &b"c"[..]));
        assert_eq!(last_word(b"a"), (&b""[..], &b"a"[..]));
        let long = vec![b','; 100];
        assert_eq!(LineFields::comma(&long).all().len(), FIELDS_MAX);
    }
}
