//! Formats numbers like C's `printf`.

use description::classics::postmark::Compat;

/// A number with this number of decimals. If it is not a number, as C prints it.
pub(super) fn decimal(value: f32, decimals: usize) -> String {
    if value.is_nan() {
        // Result of zero divided by zero on the CPUs of the original's reference output.
        return "-nan".to_owned();
    }
    // The decimals of the exact 32-bit value, as C converts it to a double.
    format!("{:.decimals$}", f64::from(value))
}

/// A number of bytes in the unit that the report selects.
///
/// Exactly one megabyte is still printed in kilobytes, and so is a single byte. Divisions are in 32
/// bits.
pub(super) fn data(compat: Compat, bytes: f32) -> String {
    let megabytes = bytes / compat.megabyte_bytes() as f32;
    let kilobytes = bytes / compat.kilobyte_bytes() as f32;
    // The original compares the unrounded quotients, so only 0 bytes are printed in bytes.
    if megabytes > 1.0 {
        format!("{} megabytes", decimal(megabytes, 2))
    } else if kilobytes != 0.0 {
        format!("{} kilobytes", decimal(kilobytes, 2))
    } else {
        format!("{} bytes", decimal(bytes, 6))
    }
}
