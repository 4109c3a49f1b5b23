//! Builds the library, which is loaded into another program and not linked into this one.

#[path = "compile.rs"]
mod compile;

use std::path::Path;

fn main() -> Result<(), String> {
    println!("cargo::rerun-if-changed=library");
    println!("cargo::rerun-if-changed=compile.rs");
    println!("cargo::rustc-check-cfg=cfg(has_library)");
    if compile::compile(Path::new("library/lib.rs"), "ptrace.so", &[])?.is_some() {
        println!("cargo::rustc-cfg=has_library");
    }
    Ok(())
}
