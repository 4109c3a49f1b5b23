//! Sizes in messages.

/// A size in the largest binary unit that divides it, or with one decimal.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let Some(power) = bytes
        .checked_ilog2()
        .map(|log| log / 10)
        .filter(|power| *power > 0)
    else {
        return format!("{bytes} B");
    };
    let unit = UNITS[power as usize - 1];
    let one = 1_u64 << (10 * power);
    if bytes.is_multiple_of(one) {
        return format!("{} {unit}", bytes / one);
    }
    // Rounded down, so that the largest possible size is not exceeded.
    let tenths = u128::from(bytes) * 10 / u128::from(one);
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

/// A size as an option value, rounded down to whole MiB from 64 MiB on.
pub(crate) fn argument(bytes: u64) -> String {
    const MIB: u64 = 1 << 20;
    if bytes >= 64 * MIB || (bytes >= MIB && bytes.is_multiple_of(MIB)) {
        format!("{}m", bytes / MIB)
    } else {
        format!("{}k", bytes / 1024)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_print_in_the_largest_unit_rounded_down() {
        assert_eq!(size(0), "0 B");
        assert_eq!(size(1023), "1023 B");
        assert_eq!(size(4096), "4 KiB");
        assert_eq!(size(1536), "1.5 KiB");
        assert_eq!(size((1 << 30) - 1), "1023.9 MiB");
        assert_eq!(size(u64::MAX), "15.9 EiB");
    }

    #[test]
    fn a_size_for_an_option_is_whole_and_rounded_down() {
        assert_eq!(argument(1 << 30), "1024m");
        assert_eq!(argument((1 << 30) - 1), "1023m");
        assert_eq!(argument(1 << 20), "1m");
        assert_eq!(argument(1_500_000), "1464k");
    }
}
