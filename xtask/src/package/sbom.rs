//! The list of all packages in the program, as CycloneDX 1.5, which scanners for known
//! vulnerabilities read.
//!
//! cargo-cyclonedx writes such a file into the source tree, with the paths of this machine in its
//! names, so two machines would write different ones.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};

use super::licenses::LinkedPackages;
use super::{PackageSet, SUMMARY, VERSION, tree};
use crate::error::Failure;
use crate::workspace;

/// Writes the list for the program of a set.
pub fn write(set: &PackageSet) -> Result<(), Failure> {
    let packages = LinkedPackages::of(set.platform)?;
    let lock = workspace::read(&workspace::root(), Path::new("Cargo.lock"))?;
    let document = document(&packages, &checksums(&lock));
    let name = format!("pgmeter-{VERSION}-{}-linux.cdx.json", set.platform.arch);
    tree::write(
        &set.packages.join(name),
        format!("{document:#}\n").as_bytes(),
    )
}

fn document(packages: &LinkedPackages, checksums: &BTreeMap<String, String>) -> Value {
    let component = |package: &Value| {
        let (name, version) = (&package["name"], &package["version"]);
        let mut component = json!({
            "type": "library",
            "bom-ref": reference(package),
            "name": name,
            "version": version,
            "scope": "required",
            "licenses": [{"expression": expression(package)}],
        });
        // Packages of this workspace are in no registry.
        if !package["source"].is_null() {
            component["purl"] = reference(package).into();
        }
        if let Some(sum) = checksums.get(&reference(package)) {
            component["hashes"] = json!([{"alg": "SHA-256", "content": sum}]);
        }
        component
    };
    let is_program = |package: &Value| package["name"] == "pgmeter";
    let dependencies = packages.iter().map(|package| {
        let used = packages.dependencies(package).map(reference);
        json!({"ref": reference(package), "dependsOn": used.collect::<Vec<_>>()})
    });
    json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": format!("pkg:cargo/pgmeter@{VERSION}"),
                "name": "pgmeter",
                "version": VERSION,
                "description": SUMMARY,
                "licenses": [{"expression": env!("CARGO_PKG_LICENSE")}],
            },
        },
        "components": packages
            .iter()
            .filter(|package| !is_program(package))
            .map(component)
            .collect::<Vec<_>>(),
        "dependencies": dependencies.collect::<Vec<_>>(),
    })
}

/// Package URL, which contains no path of this machine.
fn reference(package: &Value) -> String {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    // A `+` in a version stands for a space in URLs.
    let version = text("version").replace('+', "%2B");
    format!("pkg:cargo/{}@{version}", text("name"))
}

/// Some packages still separate licenses by a slash.
fn expression(package: &Value) -> String {
    let license = package["license"].as_str().unwrap_or("NOASSERTION");
    let separated = license.split('/').map(str::trim);
    separated.collect::<Vec<_>>().join(" OR ")
}

/// Checksums of packages in `Cargo.lock` by package URL.
fn checksums(lock: &str) -> BTreeMap<String, String> {
    let mut sums = BTreeMap::new();
    for package in lock.split("[[package]]") {
        let value = |key: &str| {
            let line = package.lines().find(|line| line.starts_with(key))?;
            line.split('"').nth(1)
        };
        if let (Some(name), Some(version), Some(sum)) =
            (value("name ="), value("version ="), value("checksum ="))
        {
            let package = json!({"name": name, "version": version});
            sums.insert(reference(&package), sum.to_owned());
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_found_by_package_url() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0+spec\"\n\
            source = \"registry\"\nchecksum = \"12ab\"\n\n[[package]]\nname = \"own\"\n\
            version = \"0.1.0\"\n";
        let sums: Vec<_> = checksums(lock).into_iter().collect();
        let expected = ("pkg:cargo/a@1.0.0%2Bspec".to_owned(), "12ab".to_owned());
        assert_eq!(sums, [expected]);
    }

    #[test]
    fn licenses_are_expressions() {
        assert_eq!(
            expression(&json!({"license": "MIT/Apache-2.0"})),
            "MIT OR Apache-2.0"
        );
        assert_eq!(expression(&json!({})), "NOASSERTION");
    }
}
