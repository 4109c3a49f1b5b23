//! Generates docs/api.md from the server's routes and their types.

use std::path::Path;

fn main() -> std::io::Result<()> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    std::fs::write(page, web::api_page())
}
