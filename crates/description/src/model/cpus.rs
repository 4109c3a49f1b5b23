//! Lists of CPUs, as a TOML list or in the kernel's format.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Largest CPU number, which is the kernel's own limit (8192 CPUs).
const CPU_MAX: u32 = 8191;

/// CPU numbers, in the order in which workers use them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CpuList(pub Vec<u32>);

impl CpuList {
    /// Parses the kernel's format, such as `0-3,8`.
    fn parse(text: &str) -> Option<Self> {
        let mut cpus = Vec::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let first: u32 = first.trim().parse().ok()?;
            let last: u32 = last.trim().parse().ok()?;
            // Checked in each turn, because `0-8191,0-8191,...` would make a list of any length.
            if last > CPU_MAX || first > last || cpus.len() > CPU_MAX as usize {
                return None;
            }
            cpus.extend(first..=last);
        }
        Some(Self(cpus))
    }
}

impl Serialize for CpuList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for CpuList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CpuListVisitor)
    }
}

struct CpuListVisitor;

impl<'de> Visitor<'de> for CpuListVisitor {
    type Value = CpuList;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "CPU numbers from 0 to {CPU_MAX}, as `[0, 2]` or `\"0-3,8\"`"
        )
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<CpuList, E> {
        match u32::try_from(value) {
            Ok(cpu) if cpu <= CPU_MAX => Ok(CpuList(vec![cpu])),
            _ => Err(E::invalid_value(Unexpected::Signed(value), &self)),
        }
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<CpuList, E> {
        match u32::try_from(value) {
            Ok(cpu) if cpu <= CPU_MAX => Ok(CpuList(vec![cpu])),
            _ => Err(E::invalid_value(Unexpected::Unsigned(value), &self)),
        }
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<CpuList, E> {
        CpuList::parse(value).ok_or_else(|| E::invalid_value(Unexpected::Str(value), &self))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<CpuList, A::Error> {
        let mut cpus = Vec::new();
        while let Some(cpu) = values.next_element::<u32>()? {
            if cpu > CPU_MAX {
                return Err(A::Error::invalid_value(
                    Unexpected::Unsigned(cpu.into()),
                    &self,
                ));
            }
            cpus.push(cpu);
        }
        Ok(CpuList(cpus))
    }
}

impl JsonSchema for CpuList {
    fn schema_name() -> Cow<'static, str> {
        "CpuList".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "CPUs by number: a list, or a text such as `0-3,8`.",
            "anyOf": [
                {"type": "integer", "minimum": 0},
                {"type": "string"},
                {"type": "array", "items": {"type": "integer", "minimum": 0}},
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Holder {
        cpus: CpuList,
    }

    fn read(text: &str) -> Result<Vec<u32>, String> {
        toml::from_str::<Holder>(text)
            .map(|holder| holder.cpus.0)
            .map_err(|error| error.message().to_owned())
    }

    #[test]
    fn cpu_lists_and_kernel_style_ranges_are_read() {
        assert_eq!(read("cpus = [2, 0]"), Ok(vec![2, 0]));
        assert_eq!(read("cpus = 3"), Ok(vec![3]));
        assert_eq!(read("cpus = \"0-3,8\""), Ok(vec![0, 1, 2, 3, 8]));
    }

    #[test]
    fn huge_and_backward_ranges_are_refused() {
        for text in ["0-4294967295", "3-1", "", "a", "0-", "9000"] {
            let message = read(&format!("cpus = \"{text}\"")).unwrap_err();
            assert_eq!(
                message,
                format!(
                    "invalid value: string \"{text}\", expected CPU numbers from 0 to 8191, as \
                     `[0, 2]` or `\"0-3,8\"`"
                )
            );
        }
    }
}
