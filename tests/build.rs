//! Builds what makes the kernel of guests run as on a processor that this machine need not have.

#[path = "../crates/preload/compile.rs"]
mod compile;

use std::path::Path;

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=../crates/preload/library");
    println!("cargo::rerun-if-changed=../crates/preload/compile.rs");
    let root = Path::new("../crates/preload/library/tests/long_area.rs");
    for (name, more) in [
        ("LONG_AREA", &[][..]),
        ("LONG_AREA_NOT_COMPLETED", &["--cfg=not_completed"]),
    ] {
        let file = format!("{}.so", name.to_lowercase());
        if let Some(path) = compile::compile(root, &file, more)? {
            println!("cargo::rustc-env=PGMETER_{name}={}", path.display());
        }
    }
    Ok(())
}
