//! Host lists in the notation of cluster launchers.

use crate::ClusterError;

/// Maximum number of hosts.
const HOSTS_MAX: usize = 4096;

/// Expands a list such as `a,b,node[01-16,20]`, in order.
///
/// # Errors
/// The list is empty, too long or malformed.
pub fn hosts(list: &str) -> Result<Vec<String>, ClusterError> {
    let mut all = Vec::new();
    for entry in split(list) {
        expand(entry, &mut all).map_err(|why| ClusterError::Hosts {
            entry: entry.to_owned(),
            why,
        })?;
    }
    match all.is_empty() {
        true => Err(ClusterError::Hosts {
            entry: list.to_owned(),
            why: "names no host".to_owned(),
        }),
        false => Ok(all),
    }
}

/// Parts between the commas outside of brackets.
fn split(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let parts = list.split(move |c| {
        depth += i32::from(c == '[') - i32::from(c == ']');
        c == ',' && depth == 0
    });
    parts.map(str::trim).filter(|part| !part.is_empty())
}

fn expand(entry: &str, all: &mut Vec<String>) -> Result<(), String> {
    // Rejects names that an ssh command would take for an option.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._@:[]%,".contains(c);
    if entry.starts_with('-') || !entry.chars().all(is_plain) {
        return Err("is not a host name".to_owned());
    }
    let Some((before, rest)) = entry.split_once('[') else {
        return push(entry.to_owned(), all);
    };
    let (ranges, after) = rest.split_once(']').ok_or("has a `[` without a `]`")?;
    if after.contains('[') {
        return Err("has more than one range".to_owned());
    }
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let number = |text: &str| {
            text.parse::<u64>()
                .map_err(|_| format!("has no numbers in `{range}`"))
        };
        // A huge range ends soon, because `push` fails at the maximum number of hosts.
        for value in number(first)?..=number(last)? {
            push(
                // Leading zeros of the first number set the width, as in the launchers' notation.
                format!("{before}{value:0>width$}{after}", width = first.len()),
                all,
            )?;
        }
    }
    Ok(())
}

fn push(host: String, all: &mut Vec<String>) -> Result<(), String> {
    if all.len() == HOSTS_MAX {
        return Err(format!("names more than {HOSTS_MAX} hosts"));
    }
    all.push(host);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_keep_leading_zeros() {
        let all = hosts("a, node[08-10,12].x,user@b").expect("a list");
        let wanted = [
            "a", "node08.x", "node09.x", "node10.x", "node12.x", "user@b",
        ];
        assert_eq!(all, wanted);
    }

    #[test]
    fn invalid_host_lists_are_refused() {
        for list in [
            "",
            ",",
            "-oProxyCommand=x",
            "a[1-",
            "a[x]",
            "a[1-99999999]",
            "a b",
            "a;b",
        ] {
            assert!(hosts(list).is_err(), "{list}");
        }
    }
}
