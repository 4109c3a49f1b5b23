//! A value or a list of values.

use std::fmt;
use std::marker::PhantomData;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// One value, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
#[schemars(untagged)]
pub enum OneOrMany<T> {
    /// Written without brackets.
    One(T),
    /// Written as a list.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    /// All values, in order.
    pub fn as_slice(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

impl<T> From<Vec<T>> for OneOrMany<T> {
    fn from(mut values: Vec<T>) -> Self {
        // `pop` moves the only value out of the list without a clone.
        match values.pop() {
            Some(value) if values.is_empty() => Self::One(value),
            Some(value) => {
                values.push(value);
                Self::Many(values)
            }
            None => Self::Many(values),
        }
    }
}

impl<T: Serialize> Serialize for OneOrMany<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::One(value) => value.serialize(serializer),
            Self::Many(values) => values.serialize(serializer),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for OneOrMany<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor(PhantomData))
    }
}

/// Leaves everything but a list to the element, so that the element's own error messages are kept.
struct OneOrManyVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OneOrManyVisitor<T> {
    type Value = OneOrMany<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value or a list of values")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Self::Value, E> {
        T::deserialize(value.into_deserializer()).map(OneOrMany::One)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<Self::Value, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(values)).map(OneOrMany::Many)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(OneOrMany::One)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Holder {
        value: OneOrMany<u32>,
    }

    #[test]
    fn a_value_and_a_list_read_back_as_written() {
        for text in ["value = 3\n", "value = [1, 4, 16]\n", "value = []\n"] {
            let holder: Holder = toml::from_str(text).unwrap();
            assert_eq!(toml::to_string(&holder).unwrap(), text);
        }
    }

    #[test]
    fn the_error_message_comes_from_the_element() {
        let error = toml::from_str::<Holder>("value = \"x\"").unwrap_err();
        assert_eq!(error.message(), "invalid type: string \"x\", expected u32");
    }

    #[test]
    fn a_list_of_one_becomes_a_single_value() {
        assert_eq!(OneOrMany::from(vec![1]), OneOrMany::One(1));
        assert_eq!(OneOrMany::from(vec![1, 2]).as_slice(), [1, 2]);
        assert!(OneOrMany::<u32>::from(vec![]).as_slice().is_empty());
    }
}
