//! Keys of tables beside the fields of what they stand for, for both ways.

use units::{Bytes, Percent, Span};

use super::CpuList;

/// How a value of a program or a job is written.
pub trait Written<T>: Sized {
    /// What it means.
    fn meant(&self) -> T;

    /// How that is written.
    fn of(value: &T) -> Self;
}

impl<T: Clone> Written<T> for T {
    fn meant(&self) -> T {
        self.clone()
    }

    fn of(value: &T) -> Self {
        value.clone()
    }
}

macro_rules! written {
    ($($table:ty, $value:ty: $meant:expr, $of:expr;)*) => {
        $(impl Written<$value> for $table {
            fn meant(&self) -> $value {
                $meant(self)
            }

            fn of(value: &$value) -> Self {
                $of(value)
            }
        })*
    };
}

written! {
    Bytes, u64: |it: &Self| it.0, |it: &u64| Self(*it);
    Bytes, u32: |it: &Self| u32::try_from(it.0).unwrap_or(u32::MAX), |it: &u32| Self((*it).into());
    Span, u64: |it: &Self| it.0, |it: &u64| Self(*it);
    CpuList, Vec<u32>: |it: &Self| it.0.clone(), |it: &Vec<u32>| Self(it.clone());
    Percent, u64: |it: &Self| it.0 as u64, |it: &u64| Self(*it as f64);
    Percent, f64: |it: &Self| it.0, |it: &f64| Self(*it);
}

/// Functions that read keys of a table into a value with what holds where nothing is written, and
/// write what differs from such a value into the table.
macro_rules! keys {
    ($read:ident, $write:ident: $table:ty => $value:ty {
        $($key:ident => $first:ident $(. $field:ident)*),* $(,)?
    }) => {
        fn $read(table: &$table, mut value: $value) -> $value {
            $(if let Some(written) = &table.$key {
                value.$first $(.$field)* = $crate::model::keys::Written::meant(written);
            })*
            value
        }

        fn $write(value: &$value, usual: &$value, table: &mut $table) {
            $(if value.$first $(.$field)* != usual.$first $(.$field)* {
                table.$key = Some($crate::model::keys::Written::of(&value.$first $(.$field)*));
            })*
        }
    };
}
pub(crate) use keys;
