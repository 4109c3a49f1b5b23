//! Permitted targets: everything below the roots from the command line, and the peers named there.

use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use plan::TcpAddress;

use crate::answer::RefusedAnswer;
use crate::bounds::Bounds;
use crate::error::WebError;
use crate::options::ServeOptions;

/// Permitted targets and devices, with symbolic links resolved, and permitted TCP peers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Roots {
    roots: Vec<PathBuf>,
    devices: Vec<PathBuf>,
    peers: Vec<String>,
}

impl Roots {
    /// Resolves the roots and devices of the command line, and parses its TCP peers.
    pub fn new(options: &ServeOptions) -> Result<Self, WebError> {
        let root = |path: &PathBuf| {
            path.canonicalize().map_err(|error| WebError::Root {
                path: path.clone(),
                reason: error.to_string(),
            })
        };
        let device = |path: &PathBuf| {
            let refused = |reason: String| WebError::Device {
                path: path.clone(),
                reason,
            };
            let resolved = path
                .canonicalize()
                .map_err(|error| refused(error.to_string()))?;
            match is_device(&resolved) {
                true => Ok(resolved),
                false => Err(refused("it is another kind of file".to_owned())),
            }
        };
        let peer = |path: &PathBuf| {
            let name = path.to_string_lossy();
            let address = TcpAddress::of(&name).map_err(|_| WebError::Root {
                path: path.clone(),
                reason: "it is not `tcp://HOST:PORT`".to_owned(),
            });
            address.map(|address| address.to_string())
        };
        let (peers, paths): (Vec<_>, Vec<_>) = options
            .roots
            .iter()
            .partition(|it| it.to_str().is_some_and(TcpAddress::is_tcp_name));
        Ok(Self {
            roots: paths.into_iter().map(root).collect::<Result<_, _>>()?,
            peers: peers.into_iter().map(peer).collect::<Result<_, _>>()?,
            devices: options
                .overwrite_devices
                .iter()
                .map(device)
                .collect::<Result<_, _>>()?,
        })
    }

    /// The roots.
    pub fn all(&self) -> &[PathBuf] {
        &self.roots
    }

    /// Devices that may be overwritten.
    pub fn devices(&self) -> &[PathBuf] {
        &self.devices
    }

    /// TCP peers that may be measured.
    pub fn peers(&self) -> &[String] {
        &self.peers
    }

    /// The same limits for a child process.
    pub fn bounds(&self) -> Bounds {
        Bounds::new(&self.roots, &self.devices, &self.peers)
    }

    /// Resolves a path to a permitted target; a permitted TCP peer is returned as it is.
    pub fn admit(&self, path: &str) -> Result<PathBuf, RefusedAnswer> {
        let given = Path::new(path);
        if TcpAddress::is_tcp_name(path) {
            return match self.peers.iter().any(|peer| peer == path) {
                true => Ok(given.to_owned()),
                false => Err(RefusedAnswer::forbidden(format!(
                    "runs are not allowed to measure `{path}`"
                ))
                .help(format!("start `pgmeter serve` with `--target {path}`"))),
            };
        }
        // The processes that use the path have another current directory.
        if !given.is_absolute() {
            return Err(RefusedAnswer::bad(format!(
                "the target `{path}` is not an absolute path"
            )));
        }
        // The answer reveals nothing about other paths, not even whether they exist.
        let resolved = given.canonicalize().ok();
        match resolved.filter(|resolved| self.holds(resolved)) {
            Some(found) => Ok(found),
            None => Err(self.refusal(path)),
        }
    }

    /// Resolves a path to a device that may be overwritten.
    pub fn admit_overwriting(&self, path: &str) -> Result<PathBuf, RefusedAnswer> {
        let resolved = Path::new(path).canonicalize().ok();
        resolved
            .filter(|resolved| self.devices.contains(resolved))
            .ok_or_else(|| {
                RefusedAnswer::forbidden(format!("runs are not allowed to overwrite `{path}`"))
                    .help(format!(
                        "start `pgmeter serve` with `--overwrite-device {path}`"
                    ))
            })
    }

    fn holds(&self, path: &Path) -> bool {
        self.bounds().holds(path)
    }

    fn refusal(&self, path: &str) -> RefusedAnswer {
        let error = format!("there is no target `{path}` below the offered roots");
        let roots: Vec<String> = self
            .roots
            .iter()
            .map(|root| format!("`{}`", root.display()))
            .collect();
        RefusedAnswer::forbidden(error).help(match roots.is_empty() {
            true => "start `pgmeter serve` with `--target DIR` to offer a directory".to_owned(),
            false => format!("choose an existing one below {}", roots.join(" or ")),
        })
    }
}

fn is_device(path: &Path) -> bool {
    let file_type = std::fs::metadata(path).map(|found| found.file_type());
    file_type.is_ok_and(|kind| kind.is_block_device())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn roots(path: &Path) -> Roots {
        Roots {
            roots: vec![path.canonicalize().unwrap()],
            devices: Vec::new(),
            peers: vec!["tcp://10.0.0.2:7765".to_owned()],
        }
    }

    #[test]
    fn only_paths_really_below_a_root_are_admitted() {
        let site = tempfile::tempdir().unwrap();
        let root = site.path().join("root");
        let sibling = site.path().join("root-sibling");
        std::fs::create_dir_all(root.join("inner")).unwrap();
        std::fs::create_dir(&sibling).unwrap();
        symlink("/etc", root.join("link")).unwrap();
        symlink("inner", root.join("own-link")).unwrap();
        let roots = roots(&root);
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let inner = root.canonicalize().unwrap().join("inner");
        assert_eq!(roots.admit(&text(root.join("own-link"))).unwrap(), inner);
        assert!(roots.admit(&text(root.clone())).is_ok());
        for path in [
            text(sibling),
            text(root.join("link")),
            text(root.join("../root-sibling")),
            text(root.join("not-there")),
            text(site.path().to_owned()),
            "/".to_owned(),
            "inner".to_owned(),
            String::new(),
            "/etc\0".to_owned(),
        ] {
            assert!(roots.admit(&path).is_err(), "{path}");
        }
        assert!(roots.admit_overwriting("/dev/vda").is_err());
        assert!(roots.admit("tcp://10.0.0.2:7765").is_ok());
        for peer in [
            "tcp://10.0.0.2:77",
            "tcp://10.0.0.2",
            "tcp://",
            "tcp:/10.0.0.2:7765",
        ] {
            assert!(roots.admit(peer).is_err(), "{peer}");
        }
    }
}
