//! Links of the built site.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::Failure;
use crate::markdown;
use crate::workspace;

/// Pages that mdBook adds: an error page of web servers, and the table of contents of browsers
/// without scripts.
const UNCHECKED: [&str; 2] = ["404.html", "toc.html"];

/// Fails if a link or picture of any page leads nowhere; returns the number of pages.
pub fn check(site: &Path) -> Result<usize, Failure> {
    let mut pages = BTreeMap::new();
    for file in workspace::files(site, &[".html"])? {
        let text = workspace::read(site, &file)?;
        if UNCHECKED.iter().all(|name| file != Path::new(name)) {
            pages.insert(file, text);
        }
    }
    let ids: BTreeMap<&PathBuf, BTreeSet<&str>> = pages
        .iter()
        .map(|(path, text)| (path, values(text, " id=\"").collect()))
        .collect();
    let mut broken = BTreeSet::new();
    for (page, text) in &pages {
        for target in values(text, " href=\"").chain(values(text, " src=\"")) {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            let linked = match file {
                "" => page.clone(),
                file => markdown::resolved(page, file),
            };
            // An anchor of a page whose text is not known, such as a picture, is accepted.
            let has_anchor = |ids: &BTreeSet<&str>| anchor.is_empty() || ids.contains(anchor);
            let exists = site.join(&linked).is_file() && ids.get(&linked).is_none_or(has_anchor);
            if !markdown::is_external(target) && !exists {
                broken.insert(format!("`{}`: `{target}`", page.display()));
            }
        }
    }
    if broken.is_empty() {
        return Ok(pages.len());
    }
    let list: Vec<String> = broken.into_iter().collect();
    Err(Failure::ChecksFailed(format!(
        "links of the site lead nowhere:\n{}",
        list.join("\n")
    )))
}

/// All values of an attribute; `attribute` includes the opening quotation mark.
fn values<'a>(text: &'a str, attribute: &str) -> impl Iterator<Item = &'a str> {
    let after = text.split(attribute).skip(1);
    after.filter_map(|rest| rest.split('"').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_attribute_are_found() {
        let text = "<a href=\"a.html#b\" id=\"c\">x</a><img src=\"d.png\">";
        assert_eq!(values(text, " href=\"").collect::<Vec<_>>(), ["a.html#b"]);
        assert_eq!(values(text, " id=\"").collect::<Vec<_>>(), ["c"]);
    }
}
