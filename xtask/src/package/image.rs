//! A container image for all platforms, as an archive of an OCI image layout.
//!
//! No container engine is needed: an image is a set of files, named by their checksums. The program
//! needs a C library, so each platform's image has the packages of [`BASE`] from the distribution
//! of this machine, one layer per package.
//!
//! Source: the OCI image specification 1.1.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::archive::packing;
use super::platform::Platform;
use super::{PackageSet, SUMMARY, VERSION, sorted_names, tree};
use crate::error::Failure;
use crate::tool::run_tool;
use crate::workspace;

/// Debian packages below the program: the directories of a system, and the C library.
const BASE: [&str; 2] = ["base-files", "libc6"];
/// Directory in the container that the user mounts: it has the measured files and the store.
const DATA: &str = "/data";

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// Writes the image of all sets, or a note why it cannot be written.
pub fn write(sets: &[PackageSet]) -> Result<(), Failure> {
    let Some(first) = sets.first() else {
        return Ok(());
    };
    if !crate::test::is_on_path("apt-get") {
        println!("note: no container image, because its C library comes from apt-get");
        return Ok(());
    }
    let layout = ImageLayout::new(workspace::emptied(&first.target.join("image"))?)?;
    let mut manifests = Vec::new();
    for set in sets {
        let base = base_packages(set.platform, &first.target)?;
        manifests.push(layout.add_image(set, &base)?);
    }
    layout.finish(manifests)?;
    let file = first.packages.join(format!("pgmeter-{VERSION}-oci.tar"));
    let mut archive = packing(&layout.root);
    archive.arg("--file").arg(file);
    run_tool(archive.args(["blobs", "index.json", "oci-layout"])).map(drop)
}

/// A directory of blobs and their index.
struct ImageLayout {
    root: PathBuf,
}

/// A layer in the layout.
struct ImageLayer {
    descriptor: Value,
    /// Checksum of the layer before compression.
    diff_id: String,
}

impl ImageLayout {
    fn new(root: PathBuf) -> Result<ImageLayout, Failure> {
        let blobs = root.join("blobs/sha256");
        fs::create_dir_all(&blobs).map_err(Failure::file(&blobs))?;
        Ok(ImageLayout { root })
    }

    /// Adds a file under the name of its checksum, and returns its descriptor.
    fn add(&self, media_type: &str, content: &[u8]) -> Result<Value, Failure> {
        let sum = checksum(content);
        tree::write(&self.root.join("blobs/sha256").join(&sum), content)?;
        Ok(json!({
            "mediaType": media_type,
            "digest": format!("sha256:{sum}"),
            "size": content.len(),
        }))
    }

    fn add_layer(&self, archive: &[u8]) -> Result<ImageLayer, Failure> {
        Ok(ImageLayer {
            descriptor: self.add(LAYER, &tree::compressed(archive))?,
            diff_id: format!("sha256:{}", checksum(archive)),
        })
    }

    /// Adds the image of a platform, and returns the descriptor of its manifest.
    fn add_image(&self, set: &PackageSet, base: &[PathBuf]) -> Result<Value, Failure> {
        let mut layers = Vec::new();
        for package in base {
            let archive = run_tool(Command::new("dpkg-deb").arg("--fsys-tarfile").arg(package))?;
            layers.push(self.add_layer(&archive)?);
        }
        let program = run_tool(packing(set.tree.root()).arg("usr"))?;
        layers.push(self.add_layer(&program)?);
        let config = json!({
            "architecture": set.platform.image_arch,
            "os": "linux",
            "created": created()?,
            "config": {
                "Entrypoint": ["/usr/bin/pgmeter"],
                "Cmd": ["--help"],
                "WorkingDir": DATA,
                "Env": [
                    "PATH=/usr/sbin:/usr/bin:/sbin:/bin",
                    format!("PGMETER_DB={DATA}/results.db"),
                ],
                "Labels": {
                    "org.opencontainers.image.title": "pgmeter",
                    "org.opencontainers.image.description": SUMMARY,
                    "org.opencontainers.image.version": VERSION,
                    "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
                },
            },
            "rootfs": {
                "type": "layers",
                "diff_ids": layers.iter().map(|layer| &layer.diff_id).collect::<Vec<_>>(),
            },
        });
        let manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": self.add(CONFIG, config.to_string().as_bytes())?,
            "layers": layers.iter().map(|layer| &layer.descriptor).collect::<Vec<_>>(),
        });
        let mut descriptor = self.add(MANIFEST, manifest.to_string().as_bytes())?;
        descriptor["platform"] = json!({"architecture": set.platform.image_arch, "os": "linux"});
        Ok(descriptor)
    }

    /// Writes the index. It has one entry for all platforms, so that an engine chooses its own.
    fn finish(&self, manifests: Vec<Value>) -> Result<(), Failure> {
        let index = |manifests: Vec<Value>| {
            let mut index = json!({"schemaVersion": 2, "mediaType": INDEX});
            index["manifests"] = manifests.into();
            index
        };
        let mut entry = self.add(INDEX, index(manifests).to_string().as_bytes())?;
        entry["annotations"] = json!({"org.opencontainers.image.ref.name": VERSION});
        let whole = index(vec![entry]).to_string();
        tree::write(&self.root.join("index.json"), whole.as_bytes())?;
        let layout = json!({"imageLayoutVersion": "1.0.0"}).to_string();
        tree::write(&self.root.join("oci-layout"), layout.as_bytes())
    }
}

/// Paths of the packages of [`BASE`] for a platform, downloaded now.
fn base_packages(platform: Platform, target: &Path) -> Result<Vec<PathBuf>, Failure> {
    let state = target.join("tools").join(format!("apt-{}", platform.arch));
    let downloads = workspace::emptied(&state.join("downloads"))?;
    for directory in ["lists/partial", "archives/partial"] {
        let path = state.join(directory);
        fs::create_dir_all(&path).map_err(Failure::file(&path))?;
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .current_dir(&downloads)
            .args(["--quiet=2", "--option"])
            .arg(format!("APT::Architecture={}", platform.image_arch))
            .arg("--option")
            .arg(format!("APT::Architectures={}", platform.image_arch))
            // The lists and packages of this system stay as they are.
            .arg(format!("--option=Dir::State={}", state.display()))
            .arg(format!("--option=Dir::Cache={}", state.display()))
            .arg("--option=Dir::State::status=/dev/null")
            // As root, apt would download as a user that may not write to this directory.
            .arg("--option=APT::Sandbox::User=root")
            .args(arguments);
        run_tool(&mut command).map(drop)
    };
    apt(&["update"])?;
    apt(&[&["download"], &BASE[..]].concat())?;
    let names = sorted_names(&downloads)?;
    let paths: Vec<PathBuf> = names.iter().map(|name| downloads.join(name)).collect();
    match paths.len() == BASE.len() {
        true => Ok(paths),
        false => Err(Failure::Output {
            program: "apt-get download".to_owned(),
            message: format!("{names:?} instead of {BASE:?}"),
        }),
    }
}

/// Time of the sources, as in RFC 3339.
fn created() -> Result<String, Failure> {
    let date = format!("--date=@{}", tree::source_date());
    let printed = run_tool(Command::new("date").args(["--utc", &date, "+%Y-%m-%dT%H:%M:%SZ"]))?;
    Ok(String::from_utf8_lossy(&printed).trim().to_owned())
}

fn checksum(content: &[u8]) -> String {
    let sum = Sha256::digest(content);
    sum.iter().map(|byte| format!("{byte:02x}")).collect()
}
