//! Checks that the user and the group of the command line exist.

use crate::FileAccess;
use crate::options::all_of;

/// Sources of `/etc/nsswitch.conf` that have no more accounts than the file of the database.
const FILE_SOURCES: [&str; 3] = ["files", "compat", "systemd"];

/// Checks `-u USER[:GROUP]` and `-g GROUP`; numbers are always accepted.
///
/// # Errors
/// The user or group is unknown on this machine.
pub(super) fn check(
    user: Option<&str>,
    group: Option<&str>,
    files: &FileAccess<'_>,
) -> Result<(), String> {
    let (user, joined) = match user.and_then(|it| it.split_once(':')) {
        Some((user, group)) => (Some(user), Some(group)),
        None => (user, None),
    };
    let users = user.map(|name| ("-u", "user", name, "passwd"));
    let groups = [joined, group].into_iter().flatten();
    let groups = groups.map(|name| ("-g", "group", name, "group"));
    let unknown = users.into_iter().chain(groups);
    let unknown = unknown.filter(|(.., name, database)| is_unknown(name, database, files));
    all_of(unknown.map(|(option, kind, name, _)| {
        let name = plan::printable(name);
        format!("`{option}`: there is no {kind} `{name}` on this machine")
    }))
}

fn is_unknown(name: &str, database: &str, files: &FileAccess<'_>) -> bool {
    let is_number = !name.is_empty() && name.bytes().all(|it| it.is_ascii_digit());
    let read = |path: String| Some(String::from_utf8_lossy(&files.read(&path).ok()?).into_owned());
    // Without the file, nothing is known about accounts.
    let Some(accounts) = read(format!("/etc/{database}")).filter(|_| !is_number) else {
        return false;
    };
    let mut names = accounts.lines().filter_map(|line| line.split(':').next());
    let is_listed = names.any(|it| it == name);
    !is_listed && !has_other_sources(database, read("/etc/nsswitch.conf".to_owned()))
}

/// `true` if another source, such as LDAP, may know more accounts.
fn has_other_sources(database: &str, switch: Option<String>) -> bool {
    let switch = switch.unwrap_or_default();
    let line = switch
        .lines()
        .find_map(|line| line.trim().strip_prefix(database)?.strip_prefix(':'));
    let mut sources = line.unwrap_or_default().split_whitespace();
    sources.any(|it| !it.starts_with('[') && !FILE_SOURCES.contains(&it))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_access::VirtualFiles;

    fn checked(user: Option<&str>, group: Option<&str>, sources: &str) -> Result<(), String> {
        let read = |path: &str| match path {
            "/etc/passwd" => Ok(b"root:x:0:0:::\nme:x:7:7:::\n".to_vec()),
            "/etc/group" => Ok(b"root:x:0:\nstaff:x:5:me\n".to_vec()),
            "/etc/nsswitch.conf" => Ok(format!("passwd: {sources}\ngroup: files\n").into_bytes()),
            _ => Err("it does not exist".to_owned()),
        };
        let files = VirtualFiles {
            read: &read,
            ..VirtualFiles::EMPTY
        };
        check(user, group, &FileAccess::scripted(files))
    }

    #[test]
    fn only_unknown_names_are_refused() {
        for (user, group) in [
            (Some("root"), None),
            (Some("me:staff"), Some("root")),
            (Some("0:0"), None),
            (None, Some("staff")),
            (None, None),
        ] {
            assert_eq!(checked(user, group, "files systemd"), Ok(()), "{user:?}");
        }
        assert_eq!(
            checked(Some("nobody-here"), Some("x"), "files").unwrap_err(),
            "`-u`: there is no user `nobody-here` on this machine\n`-g`: there is no group `x` on \
             this machine"
        );
        assert!(checked(Some("me:no"), None, "files").is_err());
        // These may know the user.
        assert_eq!(
            checked(Some("far"), None, "files [NOTFOUND=return] ldap"),
            Ok(())
        );
    }
}
