//! The manifest of a target: lists the files of pgmeter, and is written before they are created.

use plan::ContentPlan;
use results::ProcessIdentity;
use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};

/// The format that is written: `pgmeter-manifest/` and its number.
///
/// 1: files. 2: also trees.
const FORMAT: &str = "pgmeter-manifest/2";
/// The formats that are read; each extends the previous one.
const FORMATS: [&str; 2] = ["pgmeter-manifest/1", FORMAT];
/// Maximum size; longer files are not manifests.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 1 << 20;
const FILES_MAX: usize = 4096;
const NAME_BYTES_MAX: usize = 255;
const TEXT_BYTES_MAX: usize = 1024;
/// Why a file with the right name and size is not removed.
const INODE_CHANGED: &str = "its inode number is not the one in the manifest";
const OTHER_OWNER: &str = "it belongs to another user";
/// Start of every manifest, complete or torn.
const PREFIX: &[u8] = b"{\n  \"format\": \"pgmeter-manifest/";

/// Content of a manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Manifest {
    format: String,
    /// Version of the program that wrote it.
    version: String,
    /// Id of the run, for the user.
    pub run: String,
    /// Process that uses the files; `None` if the run ended normally and kept them.
    pub owner: Option<ProcessIdentity>,
    /// Files, in order of creation.
    pub files: Vec<ManifestFile>,
    /// Directories, in order of creation.
    #[serde(default)]
    pub trees: Vec<ManifestTree>,
}

/// A file that pgmeter has created or is about to create.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManifestFile {
    /// Name in the manifest's directory; never a path.
    pub name: String,
    /// Requested size, in bytes.
    pub size_bytes: u64,
    /// Set once the file exists. Before that, a file with this name belongs to someone else.
    pub inode: Option<u64>,
    /// Content that was written.
    pub content: ContentPlan,
    /// Seed of the content.
    pub seed: u64,
    /// Length of stamped blocks; `None` without stamps, or if they may be overwritten.
    pub verify_block_bytes: Option<u32>,
    /// `true` if the file was written completely.
    pub complete: bool,
}

/// A directory that pgmeter has created or is about to create. Everything in it belongs to pgmeter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ManifestTree {
    /// Name in the manifest's directory; never a path.
    pub name: String,
    /// Set before anything is created in the directory; before that, it is empty.
    pub inode: Option<u64>,
}

impl Manifest {
    pub(crate) fn new(run: &str) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            // Shorter than the maximum that `parse` accepts, so that every manifest can be read
            // again.
            run: run.chars().take(64).collect(),
            owner: Some(ProcessIdentity::current()),
            files: Vec::new(),
            trees: Vec::new(),
        }
    }

    /// Parses a manifest; `allows` accepts the names that its directory may have.
    pub(crate) fn parse(text: &[u8], allows: impl Fn(&str) -> bool) -> Result<Self, String> {
        // The file may be damaged or made by others: each part is checked before it is used for
        // removal.
        if text.len() as u64 > MANIFEST_BYTES_MAX {
            return Err(format!("it is longer than {MANIFEST_BYTES_MAX} bytes"));
        }
        let mut manifest: Self =
            units::read_json(&mut &*text).map_err(|error| error.to_string())?;
        if !FORMATS.contains(&manifest.format.as_str()) {
            return Err(format!(
                "its format is {:?}, not `{FORMAT}`",
                cut(&manifest.format)
            ));
        }
        // It is saved again in the current format, which contains the older one.
        manifest.format = FORMAT.to_owned();
        let count = manifest.files.len() + manifest.trees.len();
        if count > FILES_MAX {
            return Err(format!("it names {count} files"));
        }
        let file_names = manifest.files.iter().map(|it| &it.name);
        let tree_names = manifest.trees.iter().map(|it| &it.name);
        let strange = file_names
            .clone()
            .find(|name| !is_plain(name) || !allows(name))
            .or_else(|| tree_names.clone().find(|name| !is_tree_name(name)));
        if let Some(name) = strange {
            return Err(format!(
                "it names {:?}, which pgmeter never makes",
                cut(name)
            ));
        }
        let longest = |owner: &ProcessIdentity| owner.boot.len().max(owner.host.len());
        let texts = manifest
            .run
            .len()
            .max(manifest.owner.as_ref().map_or(0, longest));
        if texts > TEXT_BYTES_MAX {
            return Err("its texts are too long".to_owned());
        }
        let mut names: Vec<_> = file_names.chain(tree_names).collect();
        names.sort_unstable();
        // With two entries for a name, it would not be certain which inode number decides.
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err("it names a file twice".to_owned());
        }
        Ok(manifest)
    }

    pub(crate) fn to_text(&self) -> Vec<u8> {
        units::json_page(self)
            .expect("a manifest has no maps with keys that are not text")
            .into_bytes()
    }

    /// `true` for a manifest or the start of one.
    pub(crate) fn begins(bytes: &[u8]) -> bool {
        let length = bytes.len().min(PREFIX.len());
        bytes[..length] == PREFIX[..length]
    }

    /// `true` if it lists no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.trees.is_empty()
    }

    pub(crate) fn made(&self, name: &str) -> Option<&ManifestFile> {
        self.files.iter().find(|it| it.name == name)
    }
}

impl ManifestFile {
    /// Why an existing file is not the one in the manifest; `None` if it is. `owner_uid` is the
    /// owner of the manifest.
    pub(crate) fn foreign(&self, found: &Stat, owner_uid: u32) -> Option<&'static str> {
        if let Some(reason) = self.unlike(found, owner_uid) {
            return Some(reason);
        }
        match self.inode {
            Some(inode) if inode == found.st_ino => None,
            Some(_) if self.has_size_of(found) => Some(INODE_CHANGED),
            Some(_) => Some("it is not the file that pgmeter made"),
            // The run was killed between creating the file and recording it. Removing an empty file
            // loses nothing.
            None if found.st_size == 0 => None,
            None => Some("nothing shows that pgmeter made it"),
        }
    }

    /// `true` if a file could be a copy of this one: only the inode number differs, and the size if
    /// the file was not written completely.
    pub(crate) fn could_be_copy(&self, found: &Stat, owner_uid: u32) -> bool {
        let is_part = || {
            let size = u64::try_from(found.st_size);
            !self.complete && size.is_ok_and(|size| size < self.size_bytes)
        };
        self.unlike(found, owner_uid).is_none()
            && self.inode.is_some_and(|inode| inode != found.st_ino)
            && (self.has_size_of(found) || is_part())
    }

    fn unlike(&self, found: &Stat, owner_uid: u32) -> Option<&'static str> {
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Some("it is not a regular file");
        }
        // Another program may use the file by its other name.
        if found.st_nlink > 1 {
            return Some("it has another name (hard link)");
        }
        (found.st_uid != owner_uid).then_some(OTHER_OWNER)
    }

    fn has_size_of(&self, found: &Stat) -> bool {
        u64::try_from(found.st_size) == Ok(self.size_bytes)
    }
}

impl ManifestTree {
    /// Why an existing directory is not the one in the manifest; `None` if it is. `owner_uid` is
    /// the owner of the manifest.
    pub(crate) fn foreign(&self, found: &Stat, owner_uid: u32) -> Option<&'static str> {
        if FileType::from_raw_mode(found.st_mode) != FileType::Directory {
            return Some("it is not a directory");
        }
        if found.st_uid != owner_uid {
            return Some(OTHER_OWNER);
        }
        // Without an inode, only an empty directory is removed, which loses nothing.
        self.inode
            .is_some_and(|inode| inode != found.st_ino)
            .then_some("it is not the directory that pgmeter made")
    }

    /// `true` if a directory could be a copy of this one.
    pub(crate) fn could_be_copy(&self, found: &Stat, owner_uid: u32) -> bool {
        FileType::from_raw_mode(found.st_mode) == FileType::Directory
            && found.st_uid == owner_uid
            && self.inode.is_some_and(|inode| inode != found.st_ino)
    }
}

/// `true` if pgmeter uses this name for trees in a work directory.
pub(crate) fn is_tree_name(name: &str) -> bool {
    let digits = name.strip_prefix("files-");
    digits.is_some_and(|it| (1..=6).contains(&it.len()) && it.bytes().all(|b| b.is_ascii_digit()))
}

/// `true` for a single path component that is not special and has no control characters.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= NAME_BYTES_MAX
        && name != "."
        && name != ".."
        && !name.contains('/')
        && !name.contains(char::is_control)
}

fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::manifest_location::is_test_name;

    fn sample() -> Manifest {
        let mut manifest = Manifest::new("r1");
        manifest.files.push(ManifestFile {
            name: "test-0.dat".to_owned(),
            size_bytes: 1 << 20,
            inode: Some(12),
            content: ContentPlan::Incompressible,
            seed: 7,
            verify_block_bytes: None,
            complete: true,
        });
        manifest.trees.push(ManifestTree {
            name: "files-0".to_owned(),
            inode: Some(13),
        });
        manifest
    }

    fn refused(change: impl FnOnce(&mut Manifest)) -> String {
        let mut manifest = sample();
        change(&mut manifest);
        Manifest::parse(&manifest.to_text(), is_test_name).expect_err("a refusal")
    }

    #[test]
    fn a_manifest_reads_back_as_written() {
        let manifest = sample();
        assert_eq!(
            Manifest::parse(&manifest.to_text(), is_test_name),
            Ok(manifest)
        );
    }

    #[test]
    fn a_partly_written_manifest_is_recognized_by_its_beginning() {
        let text = sample().to_text();
        assert!((0..text.len()).all(|length| Manifest::begins(&text[..length])));
        assert!(!Manifest::begins(b"precious"));
    }

    #[test]
    fn a_manifest_of_the_first_format_reads_as_one_without_trees() {
        let text = String::from_utf8(sample().to_text()).expect("text");
        let (before, after) = (text.find(",\n  \"trees\""), text.rfind('}'));
        let old = format!(
            "{}\n{}",
            &text[..before.expect("trees")],
            &text[after.expect("}")..]
        )
        .replace("pgmeter-manifest/2", "pgmeter-manifest/1");
        assert!(!old.contains("trees"), "{old}");
        assert_eq!(
            Manifest::parse(old.as_bytes(), is_test_name),
            Ok(Manifest {
                trees: Vec::new(),
                ..sample()
            })
        );
        let newer = text.replace("pgmeter-manifest/2", "pgmeter-manifest/3");
        assert!(Manifest::parse(newer.as_bytes(), is_test_name).is_err());
    }

    #[test]
    fn trees_have_their_own_names() {
        for name in [
            "test-0.dat",
            "files-",
            "files-x",
            "files-0/a",
            "../files-0",
            "files-1234567",
        ] {
            let reason = refused(|manifest| manifest.trees[0].name = name.to_owned());
            assert!(
                reason.contains("which pgmeter never makes"),
                "{name}: {reason}"
            );
        }
        let reason = refused(|manifest| manifest.trees.push(manifest.trees[0].clone()));
        assert_eq!(reason, "it names a file twice");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        for name in [
            "../x",
            "/etc/passwd",
            "..",
            ".",
            "",
            "a/b",
            "test-0.dat/..",
            "test-\n.dat",
        ] {
            let reason = refused(|manifest| manifest.files[0].name = name.to_owned());
            assert!(
                reason.contains("which pgmeter never makes"),
                "{name}: {reason}"
            );
        }
        let reason = refused(|manifest| manifest.files[0].name = "data.db".to_owned());
        assert_eq!(reason, "it names \"data.db\", which pgmeter never makes");
    }

    #[test]
    fn manifests_of_other_formats_or_with_repeated_or_too_many_files_fail() {
        let reason = refused(|manifest| manifest.format = "other/1".to_owned());
        assert_eq!(
            reason,
            "its format is \"other/1\", not `pgmeter-manifest/2`"
        );
        let reason = refused(|manifest| manifest.files.push(manifest.files[0].clone()));
        assert_eq!(reason, "it names a file twice");
        let reason = refused(|manifest| manifest.files = vec![manifest.files[0].clone(); 5000]);
        assert!(reason.starts_with("it is longer") || reason == "it names 5000 files");
        let reason = refused(|manifest| manifest.run = "r".repeat(2000));
        assert_eq!(reason, "its texts are too long");
    }

    #[test]
    fn deeply_nested_and_long_manifests_are_errors() {
        let deep = "[".repeat(100_000);
        assert!(Manifest::parse(deep.as_bytes(), is_test_name).is_err());
        let long = vec![b' '; MANIFEST_BYTES_MAX as usize + 1];
        assert!(Manifest::parse(&long, is_test_name).is_err());
    }

    proptest! {
        #[test]
        fn parsing_a_manifest_never_panics(
            bytes in prop::collection::vec(any::<u8>(), 0..400)
        ) {
            prop_assert!(Manifest::parse(&bytes, is_test_name).is_err());
        }

        #[test]
        fn a_damaged_manifest_never_names_a_foreign_file(
            at in 0_usize..600, byte in any::<u8>()
        ) {
            let mut text = sample().to_text();
            let at = at % text.len();
            text[at] = byte;
            if let Ok(manifest) = Manifest::parse(&text, is_test_name) {
                prop_assert!(manifest.files.iter().all(|it| is_test_name(&it.name)));
                prop_assert!(manifest.trees.iter().all(|it| is_tree_name(&it.name)));
            }
        }

        #[test]
        fn only_plain_names_pass_whatever_the_directory_allows(name in "[./a-z\\x00-\\x1f]{0,6}") {
            let mut manifest = sample();
            manifest.files[0].name.clone_from(&name);
            if Manifest::parse(&manifest.to_text(), |_| true).is_ok() {
                let leads_away = name.contains('/') || name == ".." || name == ".";
                prop_assert!(!leads_away && !name.is_empty());
            }
        }
    }
}
