//! Maps keys of tables to the fields that they set, in both directions.

use units::{Bytes, Percent, Span};

use super::CpuList;

/// Conversion between a value of a plan and its form in a file.
pub trait FileForm<T>: Sized {
    /// The value for the plan.
    fn meant(&self) -> T;

    /// The form in a file.
    fn of(value: &T) -> Self;
}

impl<T: Clone> FileForm<T> for T {
    fn meant(&self) -> T {
        self.clone()
    }

    fn of(value: &T) -> Self {
        value.clone()
    }
}

macro_rules! written {
    ($($table:ty, $value:ty: $meant:expr, $of:expr;)*) => {
        $(impl FileForm<$value> for $table {
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
    // Only the `unit` of a way is this narrow. Requests are much smaller than 4 GiB, so a larger
    // unit has the same effect.
    Bytes, u32: |it: &Self| u32::try_from(it.0).unwrap_or(u32::MAX), |it: &u32| Self((*it).into());
    Span, u64: |it: &Self| it.0, |it: &u64| Self(*it);
    CpuList, Vec<u32>: |it: &Self| it.0.clone(), |it: &Vec<u32>| Self(it.clone());
    Percent, u64: |it: &Self| it.0 as u64, |it: &u64| Self(*it as f64);
    Percent, f64: |it: &Self| it.0, |it: &f64| Self(*it);
}

/// Defines two functions: one sets the fields of a value from the written keys of a table; the
/// other writes the fields that differ from the defaults.
macro_rules! keys {
    ($read:ident, $write:ident: $table:ty => $value:ty {
        $($key:ident => $first:ident $(. $field:ident)*),* $(,)?
    }) => {
        fn $read(table: &$table, mut value: $value) -> $value {
            $(if let Some(written) = &table.$key {
                value.$first $(.$field)* = $crate::model::keys::FileForm::meant(written);
            })*
            value
        }

        fn $write(value: &$value, usual: &$value, table: &mut $table) {
            $(if value.$first $(.$field)* != usual.$first $(.$field)* {
                table.$key = Some($crate::model::keys::FileForm::of(&value.$first $(.$field)*));
            })*
        }
    };
}
pub(crate) use keys;
