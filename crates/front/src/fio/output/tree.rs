//! JSON in fio's layout, with keys in insertion order.

/// A JSON value. Real numbers always have six decimals and integers have none, because parsers
/// infer types from that.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum JsonTree {
    Count(u64),
    Signed(i64),
    Real(f64),
    Text(String),
    Map(Vec<(String, JsonTree)>),
    List(Vec<JsonTree>),
}

impl JsonTree {
    pub(super) fn text(text: &str) -> Self {
        Self::Text(text.to_owned())
    }

    /// A map of these pairs.
    pub(super) fn map<const N: usize>(pairs: [(&str, Self); N]) -> Self {
        let pairs = pairs.into_iter();
        Self::Map(pairs.map(|(key, it)| (key.to_owned(), it)).collect())
    }

    /// A map of real numbers.
    pub(super) fn reals<K: ToString>(pairs: impl IntoIterator<Item = (K, f64)>) -> Self {
        let pairs = pairs.into_iter();
        Self::Map(
            pairs
                .map(|(key, value)| (key.to_string(), Self::Real(value)))
                .collect(),
        )
    }

    /// The document, without a newline at the end.
    pub(super) fn document(&self) -> String {
        let mut text = String::new();
        self.write(&mut text, 0);
        text
    }

    fn write(&self, text: &mut String, depth: usize) {
        match self {
            Self::Count(count) => text.push_str(&count.to_string()),
            Self::Signed(number) => text.push_str(&number.to_string()),
            Self::Real(number) => {
                // JSON cannot represent other numbers.
                let number = if number.is_finite() { *number } else { 0.0 };
                text.push_str(&format!("{number:.6}"));
            }
            Self::Text(it) => text.push_str(&quoted(it)),
            Self::Map(pairs) => {
                let pairs = pairs.iter().map(|(key, value)| (Some(key.as_str()), value));
                write_all(text, depth, ['{', '}'], pairs);
            }
            Self::List(values) => {
                let values = values.iter().map(|value| (None, value));
                write_all(text, depth, ['[', ']'], values);
            }
        }
    }
}

fn write_all<'a>(
    text: &mut String,
    depth: usize,
    [open, close]: [char; 2],
    values: impl Iterator<Item = (Option<&'a str>, &'a JsonTree)>,
) {
    text.push(open);
    for (at, (key, value)) in values.enumerate() {
        text.push_str(if at == 0 { "\n" } else { ",\n" });
        text.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            text.push_str(&quoted(key));
            // fio's own writer puts a blank on both sides of the colon (`json_print_pair`).
            text.push_str(" : ");
        }
        value.write(text, depth + 1);
    }
    text.push('\n');
    text.push_str(&"  ".repeat(depth));
    text.push(close);
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
