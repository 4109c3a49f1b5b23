//! Deserializes large tables key by key, into a default value. Serde's derived code keeps a slot
//! for each key, once per input format, and is many times as long.

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

/// A table in which every key is optional.
pub(crate) trait Keyed {
    /// The keys that are written, in the order of the fields.
    fn written(&self) -> Vec<&'static str>;

    /// Fills keys that are not written from another table.
    fn fill_from(&mut self, under: Self);
}

/// Merges two optional values; if only one is written, returns that one.
pub(crate) fn both<T>(under: Option<T>, over: Option<T>, merge: impl Fn(T, T) -> T) -> Option<T> {
    match (under, over) {
        (Some(under), Some(over)) => Some(merge(under, over)),
        (under, over) => over.or(under),
    }
}

/// Visitor that returns the index of a key in this list.
pub(crate) struct KeyIndexVisitor(pub &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for KeyIndexVisitor {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for KeyIndexVisitor {
    type Value = usize;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<usize, E> {
        let index = self.0.iter().position(|key| *key == name);
        index.ok_or_else(|| E::unknown_field(name, self.0))
    }
}

/// Reads the value of a key.
// Inlined, the code for a type would be in the program once for each key of that type.
#[inline(never)]
pub(crate) fn put<'de, T, A>(value: &mut T, map: &mut A) -> Result<(), A::Error>
where
    T: Deserialize<'de>,
    A: MapAccess<'de>,
{
    *value = map.next_value()?;
    Ok(())
}

/// Implements deserialization of a table in which every key is optional, with fields in any order.
/// A key with another name than its field is given after `=`.
macro_rules! keyed_deserialize {
    (@key $field:ident) => {
        stringify!($field)
    };
    (@key $field:ident $key:literal) => {
        $key
    };
    ($table:ident, $module:ident: $($field:ident $(= $key:literal)?),* $(,)?) => {
        impl<'de> serde::Deserialize<'de> for $table {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                // `deserialize_struct` also accepts lists, for which more code would be compiled.
                from.deserialize_map($module::Reader)
            }
        }

        impl $crate::model::keyed::Keyed for $table {
            fn written(&self) -> Vec<&'static str> {
                // Every field is an option or a list, so a default value means that the key is not
                // written.
                let usual = Self::default();
                let keys = $module::KEYS.into_iter();
                let written = keys.zip([$(self.$field != usual.$field),*]);
                written.filter_map(|(key, is)| is.then_some(key)).collect()
            }

            fn fill_from(&mut self, under: Self) {
                let usual = Self::default();
                // A list replaces the other list, because its elements have no identity to merge
                // by.
                $(if self.$field == usual.$field {
                    self.$field = under.$field;
                })*
            }
        }

        mod $module {
            use std::fmt;

            use serde::de::{MapAccess, Visitor};

            use super::$table;
            use crate::model::keyed::{KeyIndexVisitor, keyed_deserialize, put};

            #[expect(non_camel_case_types, reason = "named after the fields")]
            #[derive(Clone, Copy)]
            // A macro cannot number the arms of a `match`, but it can name variants.
            enum Field {
                $($field),*
            }

            const FIELDS: [Field; KEYS.len()] = [$(Field::$field),*];

            pub(super) const KEYS: [&str; [$(stringify!($field)),*].len()] =
                [$(keyed_deserialize!(@key $field $($key)?)),*];

            pub(super) struct Reader;

            impl<'de> Visitor<'de> for Reader {
                type Value = $table;

                fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    // `native::toml_error` recognizes tables by the word `struct`.
                    f.write_str(concat!("struct ", stringify!($table)))
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<$table, A::Error> {
                    let mut table = $table::default();
                    // TOML refuses a key that is written twice, so no value is replaced here.
                    while let Some(index) = map.next_key_seed(KeyIndexVisitor(&KEYS))? {
                        match FIELDS[index] {
                            $(Field::$field => put(&mut table.$field, &mut map)?),*
                        }
                    }
                    Ok(table)
                }
            }
        }
    };
}
pub(crate) use keyed_deserialize;

#[cfg(test)]
mod tests {
    use crate::model::{ActTable, JobTable, Workload};

    /// The keys that a table reads, from the mistake of another one.
    fn keys_of<T: serde::de::DeserializeOwned>() -> Vec<String> {
        let Err(error) = toml::from_str::<T>("no_such_key = 1") else {
            return Vec::new();
        };
        let keys = error.message().split('`').skip(3).step_by(2);
        let mut keys: Vec<String> = keys.map(str::to_owned).collect();
        keys.sort();
        keys
    }

    fn keys_of_schema(schema: &schemars::Schema) -> Vec<String> {
        let properties = schema.get("properties").unwrap().as_object().unwrap();
        let mut keys: Vec<String> = properties.keys().cloned().collect();
        keys.sort();
        keys
    }

    #[test]
    fn all_keys_are_read() {
        let schema = |schema: schemars::Schema| keys_of_schema(&schema);
        assert_eq!(
            keys_of::<Workload>(),
            schema(schemars::schema_for!(Workload))
        );
        assert_eq!(
            keys_of::<JobTable>(),
            schema(schemars::schema_for!(JobTable))
        );
        assert_eq!(
            keys_of::<ActTable>(),
            schema(schemars::schema_for!(ActTable))
        );
    }
}
