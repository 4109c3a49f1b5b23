//! Documents held against the schemas that the program prints.

use std::collections::BTreeSet;

use end_to_end::ScratchTarget;
use serde_json::{Map, Value, json};

/// What a schema finds wrong with a document; fields that it does not describe are wrong.
pub fn complaints(bed: &ScratchTarget, schema: &str, document: &Value) -> Vec<String> {
    let printed = bed.run(&["schema", schema]);
    assert_eq!(printed.code, 0, "{}", printed.text());
    let mut schema: Value = serde_json::from_str(&printed.stdout).unwrap();
    close(&mut schema);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let errors = validator.iter_errors(document);
    let messages = errors.map(|error| {
        let (place, rule) = (error.instance_path(), error.schema_path());
        format!("{place}: {}, by {rule}", error.masked())
    });
    messages.collect()
}

/// Lets a schema refuse fields that it does not describe. What is only a part of an object is
/// closed where the whole is.
fn close(schema: &mut Value) {
    let mut parts = BTreeSet::new();
    visit(schema, &mut |object| {
        let part = object
            .get("$ref")
            .filter(|_| object.contains_key("properties"));
        let name = part.and_then(|part| part.as_str()?.rsplit('/').next());
        parts.extend(name.map(str::to_owned));
    });
    visit(schema, &mut |object| {
        if object.get("properties").is_some_and(Value::is_object)
            && object.get("type") == Some(&json!("object"))
        {
            object.insert("unevaluatedProperties".to_owned(), json!(false));
        }
    });
    // The choices of an object with fields of its own are parts, too.
    visit(schema, &mut |object| {
        let is_whole = object.contains_key("properties");
        let choices = object.get_mut("oneOf").filter(|_| is_whole);
        for choice in choices.and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(choice) = choice {
                choice.remove("unevaluatedProperties");
            }
        }
    });
    for part in parts {
        if let Some(Value::Object(part)) = schema.pointer_mut(&format!("/$defs/{part}")) {
            part.remove("unevaluatedProperties");
        }
    }
}

/// Goes through every object of a schema.
fn visit(schema: &mut Value, see: &mut dyn FnMut(&mut Map<String, Value>)) {
    match schema {
        Value::Object(object) => {
            see(object);
            object.values_mut().for_each(|value| visit(value, see));
        }
        Value::Array(values) => values.iter_mut().for_each(|value| visit(value, see)),
        _ => {}
    }
}
