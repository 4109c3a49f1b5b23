//! The numbers with units that a page shows.

use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::DeflateDecoder;

use crate::chart_numbers;

/// Quantities of which a page shows the measured values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// Operations or transactions per second.
    Rate,
    /// Bytes per second.
    Bandwidth,
    /// Nanoseconds.
    Time,
    /// Number of operations.
    Count,
}

/// A number on a page.
#[derive(Debug, Clone, PartialEq)]
pub struct ShownNumber {
    pub quantity: Quantity,
    /// The smallest and the largest value that have this text when rounded.
    pub range: [f64; 2],
    /// The number, and the text or the heads of the table around it.
    pub context: String,
}

/// A piece of text, or a cell of a table with its heads.
#[derive(Debug, Default)]
struct Piece {
    text: String,
    heads: String,
}

/// Units of numbers, with the factor to base units.
const UNITS: [(&str, Quantity, f64); 11] = [
    ("GiB/s", Quantity::Bandwidth, 1_073_741_824.0),
    ("MiB/s", Quantity::Bandwidth, 1_048_576.0),
    ("KiB/s", Quantity::Bandwidth, 1024.0),
    ("ns", Quantity::Time, 1.0),
    ("µs", Quantity::Time, 1e3),
    ("ms", Quantity::Time, 1e6),
    ("IOPS", Quantity::Rate, 1.0),
    // Also `per second`.
    ("per s", Quantity::Rate, 1.0),
    ("/s", Quantity::Rate, 1.0),
    ("s", Quantity::Time, 1e9),
    ("count", Quantity::Count, 1.0),
];

/// Returns the numbers with units on a page, also in parts that are packed until opened.
pub fn numbers(page: &str) -> Vec<ShownNumber> {
    let start = page.find("</style>").expect("a page has a style");
    let end = page.find("<!-- uPlot:").expect("a page has a script");
    of_markup(&page[start..end])
}

fn of_markup(html: &str) -> Vec<ShownNumber> {
    let mut numbers: Vec<ShownNumber> = pieces(html).iter().flat_map(of_piece).collect();
    let packed = html.split("<script type=\"text/plain\">").skip(1);
    for part in packed.filter_map(|it| Some(unpacked(it.split('<').next()?))) {
        numbers.extend(match part.starts_with('<') {
            true => of_markup(&part),
            false => chart_numbers::numbers(&part),
        });
    }
    numbers
}

fn pieces(html: &str) -> Vec<Piece> {
    let mut scanner = Scanner::default();
    let mut is_script = false;
    for part in html.split('<').skip(1) {
        let (tag, text) = part.split_once('>').unwrap_or((part, ""));
        let name = tag.split([' ', '/']).find(|it| !it.is_empty());
        let is_end = tag.starts_with('/');
        let name = name.unwrap_or_default();
        if ["script", "style"].contains(&name) {
            is_script = !is_end;
        }
        scanner.tag(name, tag, is_end, text);
        if !is_script {
            scanner.text.push_str(&unescaped(text));
        }
    }
    scanner.flush();
    scanner.pieces
}

/// Returns packed markup, or the packed data of charts.
fn unpacked(text: &str) -> String {
    let bytes = BASE64_STANDARD.decode(text).expect("it is base64");
    let mut unpacked = String::new();
    let mut decoder = DeflateDecoder::new(&bytes[..]);
    decoder.read_to_string(&mut unpacked).expect("it is text");
    unpacked
}

fn unescaped(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&quot;", "\"").replace("&amp;", "&")
}

/// Splits markup into pieces of text.
#[derive(Default)]
struct Scanner {
    pieces: Vec<Piece>,
    text: String,
    /// Heads of the columns of the current table. `true` for a head that spans columns, until the
    /// second row names them.
    heads: Vec<(String, bool)>,
    head_rows: usize,
    /// Column of the next cell.
    column: usize,
    row_head: String,
    is_head: bool,
    is_cell: bool,
    /// Number of columns of the current head.
    span: usize,
}

impl Scanner {
    /// Takes a tag, whose text follows.
    fn tag(&mut self, name: &str, tag: &str, is_end: bool, text: &str) {
        match (name, is_end) {
            ("strong" | "code" | "a" | "i" | "b", _) => {}
            // Smaller text is in a new line, unless it is the unit of a number.
            ("small", false) if !text.starts_with(' ') => self.text.push_str(" | "),
            ("small" | "span" | "br", _) => self.text.push(' '),
            _ if self.is_cell && !["td", "th"].contains(&name) => self.text.push(' '),
            ("table", _) => {
                self.flush();
                self.heads.clear();
                self.head_rows = 0;
            }
            ("thead", _) => self.is_head = !is_end,
            ("tr", false) => {
                self.column = 0;
                self.head_rows += 1;
            }
            ("th" | "td", false) => {
                self.text.clear();
                self.is_cell = true;
                let span = tag.split("colspan=\"").nth(1);
                let span = span.and_then(|it| it.split('"').next()?.parse().ok());
                self.span = span.unwrap_or(1);
            }
            ("th" | "td", true) => self.cell(),
            _ => self.flush(),
        }
    }

    fn flush(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.pieces.push(Piece {
                text,
                heads: String::new(),
            });
        }
    }

    fn cell(&mut self) {
        let text = std::mem::take(&mut self.text).trim().to_owned();
        self.is_cell = false;
        if self.is_head {
            self.head(&text);
            return;
        }
        if self.column == 0 {
            self.row_head.clone_from(&text);
        }
        let head = self.heads.get(self.column).map_or("", |it| it.0.as_str());
        // Columns of the sides of a comparison have letters, and their rows have units.
        let is_side = head == "value" || (head.len() == 1 && head < "[");
        let heads = match is_side && self.column > 0 {
            true => self.row_head.clone(),
            false => head.to_owned(),
        };
        self.pieces.push(Piece { text, heads });
        self.column += 1;
    }

    /// Adds a head. Heads of the second row belong to the columns that a head of the first spans.
    fn head(&mut self, text: &str) {
        if self.head_rows == 1 {
            let head = (text.to_owned(), self.span > 1);
            self.heads.extend(std::iter::repeat_n(head, self.span));
        } else if let Some((head, is_open)) = self.heads.iter_mut().find(|it| it.1) {
            *head = format!("{head} {text}");
            *is_open = false;
        }
    }
}

/// Returns the numbers of a piece whose unit is known.
fn of_piece(piece: &Piece) -> Vec<ShownNumber> {
    let head_unit = unit_of_head(&piece.heads);
    let words: Vec<&str> = piece.text.split_whitespace().collect();
    let mut numbers: Vec<ShownNumber> = Vec::new();
    let mut previous = None;
    for (index, word) in words.iter().enumerate() {
        let Some((value, step, suffix)) = number(word) else {
            continue;
        };
        let rest = &words[index + 1..];
        if rest.first().is_some_and(|it| it.starts_with('%')) {
            continue;
        }
        let is_precision = index > 0 && words[index - 1] == "±";
        let unit = unit_after(suffix, rest)
            .or(head_unit)
            .or(previous.filter(|_| is_precision));
        // Numbers such as `11.50k` in sentences are rates.
        let is_rate = ["k", "M", "G"].contains(&suffix);
        let Some((quantity, factor)) = unit.or(is_rate.then_some((Quantity::Rate, 1.0))) else {
            continue;
        };
        previous = Some((quantity, factor));
        let factor = factor * prefix(suffix);
        numbers.push(ShownNumber {
            quantity,
            range: [value - step / 2.0, value + step / 2.0].map(|it| it * factor),
            context: format!("`{word}` in `{}` below `{}`", piece.text, piece.heads),
        });
    }
    numbers
}

fn prefix(suffix: &str) -> f64 {
    match suffix.chars().next() {
        Some('k') => 1e3,
        Some('M') => 1e6,
        Some('G') => 1e9,
        _ => 1.0,
    }
}

/// Reads a number: its value, the value of one unit of its last digit, and the text after it.
fn number(word: &str) -> Option<(f64, f64, &str)> {
    let word = word.trim_matches(|it| "(),;:*±×~".contains(it));
    let end = word.find(|it: char| !it.is_ascii_digit() && it != '.' && it != ',');
    let (digits, suffix) = word.split_at(end.unwrap_or(word.len()));
    let digits = digits.trim_end_matches('.').replace(',', "");
    let decimals = digits.split_once('.').map_or(0, |(_, it)| it.len());
    let is_known = ["", "k", "M", "G", "/s", "k/s", "M/s"].contains(&suffix);
    let value = digits.parse().ok().filter(|_| is_known)?;
    Some((value, 10_f64.powi(-(decimals as i32)), suffix))
}

/// Returns the unit after a number: in the same word, in the next one, or after another number of
/// the same range.
fn unit_after(suffix: &str, rest: &[&str]) -> Option<(Quantity, f64)> {
    if suffix.ends_with("/s") {
        return Some((Quantity::Rate, 1.0));
    }
    let word = |index: usize| {
        let word: &&str = rest.get(index)?;
        Some(word.trim_matches(|it| "(),;:.".contains(it)))
    };
    if ["to", "and", "±"].contains(&word(0)?) {
        let (_, _, suffix) = number(rest.get(1)?)?;
        return unit_after(suffix, rest.get(2..)?);
    }
    let words = (0..4).map_while(word).take_while(|it| number(it).is_none());
    let words: Vec<&str> = words.collect();
    if words.windows(2).any(|pair| pair == ["per", "second"]) {
        return Some((Quantity::Rate, 1.0));
    }
    let (_, quantity, factor) = UNITS
        .iter()
        .find(|(name, ..)| Some(name) == words.first())?;
    Some((*quantity, *factor))
}

/// Returns the unit that the head of a column or row names.
fn unit_of_head(head: &str) -> Option<(Quantity, f64)> {
    // Values in percent of another one, and statistics without a unit.
    if head.contains('%') && !head.contains("confidence") {
        return None;
    }
    let is_named = |name: &str| match name.contains(' ') {
        true => head.contains(name),
        false => head
            .split([' ', ','])
            .any(|it| it == name || it.ends_with(name) && name == "/s"),
    };
    let found = UNITS.iter().find(|(name, ..)| is_named(name))?;
    Some((found.1, found.2))
}
