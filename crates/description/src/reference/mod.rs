//! The reference page, the JSON Schema, the list of keys and a template of the workload file, all
//! generated from the types.

mod keys;
mod markdown;
mod schema;
mod template;

pub use keys::{WorkloadKey, find_keys, keys, nearest_key, range_of};
pub(crate) use keys::{key_at, key_elsewhere, keys_named, sibling_key};
pub(crate) use schema::{keys_of_table, outermost_keys};
pub use schema::{schema_json, schema_of_types};
pub use template::template;

/// How to regenerate the files.
const REGENERATE: &str =
    "run `cargo xtask docs`, or `cargo run -p description --example reference`";

/// The reference page of the workload file, in Markdown.
#[must_use]
pub fn markdown() -> String {
    markdown::page(
        include_str!("intro.md"),
        schema::generated().as_value(),
        REGENERATE,
    )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn assert_up_to_date(name: &str, wanted: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../docs")
            .join(name);
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            found == wanted,
            "docs/{name} is not what the types say; {REGENERATE}"
        );
    }

    #[test]
    fn the_reference_page_is_up_to_date() {
        assert_up_to_date("workload.md", &markdown());
    }

    #[test]
    fn every_definition_on_the_page_is_in_the_schema() {
        let schema = schema::generated();
        for name in markdown::definitions() {
            assert!(schema.as_value()["$defs"][name].is_object(), "`{name}`");
        }
    }

    #[test]
    fn the_schema_is_up_to_date() {
        assert_up_to_date("workload.schema.json", &schema_of_types());
        assert_eq!(schema_json(), schema_of_types());
    }

    #[test]
    fn the_examples_on_the_page_are_valid_workloads() {
        let examples = include_str!("intro.md").split("```toml\n").skip(1);
        let mut count = 0;
        for example in examples {
            let text = example.split("```").next().unwrap();
            crate::load("example.toml", text).unwrap();
            count += 1;
        }
        assert_eq!(count, 5);
    }

    #[test]
    fn every_key_is_explained_with_its_default() {
        let schema = schema::generated();
        let properties = schema.get("properties").unwrap().as_object().unwrap();
        for (key, property) in properties {
            let text = property["description"].as_str().unwrap_or_default();
            assert!(text.len() > 10, "`{key}` is not explained");
        }
        let page = markdown();
        for key in [
            "`iodepth`",
            "`of_size`",
            "`transactions_per_connection`",
            "`no-repeat`",
        ] {
            assert!(page.contains(key), "{key}");
        }
    }
}
