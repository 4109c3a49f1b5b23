//! Links and headings of Markdown files, as far as the documentation uses them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// A link or an image of a Markdown file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentLink<'a> {
    /// Line number from 1.
    pub line: usize,
    /// The target as written: a path, `#` and a heading, or a URL.
    pub target: &'a str,
    /// Bytes of the target in the text.
    range: Range<usize>,
}

/// A heading of a Markdown file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Number of `#`.
    pub level: usize,
    /// Text without markup.
    pub title: String,
    /// Anchor for links, without `#`.
    pub anchor: String,
}

/// `true` if the target is on another server.
pub fn is_external(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// All links outside of code, in order.
pub fn links(text: &str) -> Vec<DocumentLink<'_>> {
    let mut found = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if let Some(end) = fence(text, at) {
            at = end;
        } else if bytes[at] == b'`' {
            at = span_end(text, at);
        } else if text[at..].starts_with("](") {
            let start = at + 2;
            let length = text[start..].find([')', ' ', '\n']).unwrap_or(0);
            let range = start..start + length;
            found.push(DocumentLink {
                line: 1 + text[..at].matches('\n').count(),
                target: &text[range.clone()],
                range,
            });
            at = start + length;
        } else {
            at += text[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    found
}

/// The text with each target replaced by what `replace` returns for it, if anything.
pub fn with_targets(text: &str, replace: impl Fn(&str) -> Option<String>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut copied = 0;
    for link in links(text) {
        if let Some(target) = replace(link.target) {
            result.push_str(&text[copied..link.range.start]);
            result.push_str(&target);
            copied = link.range.end;
        }
    }
    result.push_str(&text[copied..]);
    result
}

/// Path of a link's file from the workspace root, without `#` and the heading.
pub fn resolved(document: &Path, target: &str) -> PathBuf {
    let directory = document.parent().unwrap_or(document);
    let mut path = PathBuf::new();
    for part in directory.join(target).components() {
        match part {
            Component::ParentDir if path.pop() => {}
            part => path.push(part),
        }
    }
    path
}

/// All headings, in order.
pub fn headings(text: &str) -> Vec<Heading> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        let Some(title) = line[level..].strip_prefix(' ') else {
            continue;
        };
        if is_code || !(1..=6).contains(&level) {
            continue;
        }
        let title = plain(title.trim());
        let mut anchor = anchor(&title);
        let count = seen.entry(anchor.clone()).or_default();
        // A repeated heading has the number of its earlier namesakes.
        if *count > 0 {
            anchor = format!("{anchor}-{count}");
        }
        *count += 1;
        found.push(Heading {
            level,
            title,
            anchor,
        });
    }
    found
}

/// End of the fenced block that begins at this byte, if one does.
fn fence(text: &str, at: usize) -> Option<usize> {
    let is_line_start = at == 0 || text.as_bytes()[at - 1] == b'\n';
    let line = text[at..].lines().next()?;
    if !is_line_start || !line.trim_start().starts_with("```") {
        return None;
    }
    let mut end = at + line.len() + 1;
    for line in text.get(end..)?.split_inclusive('\n') {
        end += line.len();
        if line.trim() == "```" {
            break;
        }
    }
    Some(end)
}

/// End of the code span that begins at this byte, or of its backticks if nothing closes them.
fn span_end(text: &str, at: usize) -> usize {
    let ticks = text[at..].bytes().take_while(|byte| *byte == b'`').count();
    let start = at + ticks;
    let paragraph = text[start..].split("\n\n").next().unwrap_or_default();
    match paragraph.find(&text[at..start]) {
        Some(length) => start + length + ticks,
        None => start,
    }
}

/// A heading without its markup.
fn plain(title: &str) -> String {
    let mut plain = String::new();
    let mut rest = title;
    while let Some((text, after)) = rest.split_once("](") {
        plain.push_str(&text.replace('[', ""));
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    plain.push_str(rest);
    plain.replace(['`', '*'], "")
}

/// The anchor that GitHub and mdBook give to a heading.
fn anchor(title: &str) -> String {
    let letters = title.to_lowercase();
    let kept = letters.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        _ if letter.is_alphanumeric() || matches!(letter, '-' | '_') => Some(letter),
        _ => None,
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<&str> {
        links(text).into_iter().map(|link| link.target).collect()
    }

    #[test]
    fn links_in_code_are_no_links() {
        let text = "[a](a.md) `[b](b.md)` ![c](c.png)\n```\n[d](d.md)\n```\n``[e](`e)`` [f](#f)\n";
        assert_eq!(targets(text), ["a.md", "c.png", "#f"]);
        assert_eq!(links(text)[2].line, 5);
        assert_eq!(targets("a ` alone\n\n[b](b.md) ` c"), ["b.md"]);
    }

    #[test]
    fn only_chosen_targets_are_replaced() {
        let text = "[a](a.md) and [b](b.md)";
        let replaced = with_targets(text, |target| (target == "b.md").then(|| "c.md#d".into()));
        assert_eq!(replaced, "[a](a.md) and [b](c.md#d)");
    }

    #[test]
    fn anchors_match_those_of_github() {
        let text = "# `run`: what's new?\n```\n# code\n```\n## A_b [c](d.md)\n### Run what's new\n\
            ## A_b c";
        let anchors: Vec<String> = headings(text).into_iter().map(|it| it.anchor).collect();
        assert_eq!(
            anchors,
            ["run-whats-new", "a_b-c", "run-whats-new-1", "a_b-c-1"]
        );
    }
}
