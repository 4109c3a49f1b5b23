//! The table of fronts.

use crate::console::ConsoleFront;
use crate::front::{FileFront, Front};
use crate::text::TableText;
use crate::{
    bonnie, create_remove, dbench, filebench, fio, fs_mark, io500, ior, iozone, lat_fs, mdtest,
    postmark, smallfile,
};

/// All fronts, in the order of their names.
pub static FRONTS: &[Front] = &[
    bonnie::CLASSIC,
    bonnie::FRONT,
    dbench::FRONT,
    filebench::FRONT,
    fio::FRONT,
    fs_mark::FRONT,
    io500::FRONT,
    ior::FRONT,
    iozone::FRONT,
    lat_fs::FRONT,
    mdtest::FRONT,
    smallfile::FRONT,
];

/// All fronts that are talked to, in the order of their names.
pub static CONSOLES: &[ConsoleFront] = &[postmark::CONSOLE];

/// The texts of tables.
pub static TABLE_TEXTS: &[TableText] = &[create_remove::TEXT, fs_mark::TEXT, lat_fs::TEXT];

/// Bytes of a file that are looked at to tell whose it is.
const DETECTED_BYTES_MAX: usize = 1 << 20;

/// The front of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Front> {
    FRONTS.iter().find(|front| front.name == name)
}

/// The front of that name that is talked to.
#[must_use]
pub fn find_console(name: &str) -> Option<&'static ConsoleFront> {
    CONSOLES.iter().find(|front| front.name == name)
}

/// The front whose file it is, by its content, or else by its name.
#[must_use]
pub fn detect(name: &str, bytes: &[u8]) -> Option<(&'static Front, &'static FileFront)> {
    let readers = || {
        let fronts = FRONTS.iter();
        fronts.filter_map(|front| Some((front, front.file.as_ref()?)))
    };
    let begin = &bytes[..bytes.len().min(DETECTED_BYTES_MAX)];
    let of_content = readers().find(|(_, file)| (file.detect)(begin));
    let is_of_name = |file: &FileFront| file.endings.iter().any(|it| name.ends_with(it));
    of_content.or_else(|| readers().find(|(_, file)| is_of_name(file)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helps_name_no_option_that_a_program_does_not_have() {
        let direct = "add `--cache buffered`";
        for front in FRONTS {
            let help = front.own_help(direct);
            assert_ne!(help, direct, "{}", front.name);
            let device = front.own_help("add `--overwrite-device /dev/vdb`");
            assert!(device.starts_with("with `pgmeter run`, "), "{}", front.name);
            assert_eq!(front.own_help("use a smaller size"), "use a smaller size");
        }
        let fio = find("fio").unwrap();
        assert!(fio.own_help(direct).contains("`direct=0`"));
    }

    #[test]
    fn fronts_have_names_of_their_own_in_order() {
        assert!(FRONTS.is_sorted_by(|one, next| one.name < next.name));
        for front in FRONTS {
            assert!(std::ptr::eq(find(front.name).unwrap(), front));
            assert!(front.usage.ends_with('\n') && !front.title.ends_with('.'));
        }
        assert!(find("no such program").is_none());
        for front in CONSOLES {
            assert!(std::ptr::eq(find_console(front.name).unwrap(), front));
            assert!(find(front.name).is_none());
            assert!(front.usage.ends_with('\n') && !front.title.ends_with('.'));
        }
    }
}
