//! Numbers as C's `printf` writes them.

use description::classics::postmark::Compat;

/// A number with so many decimals; C's words for those that are none.
pub(super) fn decimal(value: f32, decimals: usize) -> String {
    if value.is_nan() {
        // What zero divided by zero gives on the processors that this is compared with.
        return "-nan".to_owned();
    }
    // The decimals are those of the 32-bit value, exactly.
    format!("{:.decimals$}", f64::from(value))
}

/// Bytes in the unit that the report picks for them.
///
/// Exactly one megabyte is still written in kilobytes, and so is a single byte; divisions are in
/// 32 bits.
pub(super) fn data(compat: Compat, bytes: f32) -> String {
    let megabytes = bytes / compat.megabyte_bytes() as f32;
    let kilobytes = bytes / compat.kilobyte_bytes() as f32;
    if megabytes > 1.0 {
        format!("{} megabytes", decimal(megabytes, 2))
    } else if kilobytes != 0.0 {
        format!("{} kilobytes", decimal(kilobytes, 2))
    } else {
        format!("{} bytes", decimal(bytes, 6))
    }
}
