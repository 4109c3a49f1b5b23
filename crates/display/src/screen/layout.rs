//! How the sections of the screen share its height.

/// Lines for the title and the keys.
const EDGES_HEIGHT: usize = 2;

/// Heights of the sections between the title and the keys, in lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SectionHeights {
    /// The current activity or the selected cell.
    pub panel: usize,
    /// The charts.
    pub charts: usize,
    /// The operations of the last interval.
    pub operations: usize,
    /// The list of cells.
    pub cells: usize,
    /// The warnings.
    pub warnings: usize,
}

impl SectionHeights {
    /// Divides the height of the screen; `wanted.charts` is the least height of the charts. The
    /// charts get all lines that the others leave, and at least half of the screen unless the panel
    /// needs it. If they do not fit, the cells get their lines.
    pub fn shared(height: usize, wanted: &Self) -> Self {
        let mut free = height.saturating_sub(EDGES_HEIGHT);
        let mut take = |wanted: usize, reserved: usize| {
            let taken = wanted.min(free.saturating_sub(reserved));
            free -= taken;
            taken
        };
        let reserved = height / 2;
        let panel = take(wanted.panel, 0);
        let folded = take(wanted.cells.min(1), 0);
        let warnings = take(wanted.warnings, reserved);
        let cells = folded + take(wanted.cells - folded, reserved);
        // All operations or none.
        let operations = match free >= wanted.operations + reserved {
            true => wanted.operations,
            false => 0,
        };
        let rest = free - operations;
        let (charts, cells) = match rest >= wanted.charts {
            true => (rest, cells),
            false => (0, cells + rest),
        };
        Self {
            panel,
            charts,
            operations,
            cells,
            warnings,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_get_half_of_the_screen_and_all_that_is_left() {
        let wanted = SectionHeights {
            panel: 3,
            charts: 4,
            operations: 3,
            cells: 5,
            warnings: 2,
        };
        for (height, [panel, charts, operations, cells, warnings]) in [
            (0, [0, 0, 0, 0, 0]),
            (5, [3, 0, 0, 0, 0]),
            (12, [3, 6, 0, 1, 0]),
            (24, [3, 12, 0, 5, 2]),
            (40, [3, 25, 3, 5, 2]),
        ] {
            let heights = SectionHeights {
                panel,
                charts,
                operations,
                cells,
                warnings,
            };
            assert_eq!(SectionHeights::shared(height, &wanted), heights, "{height}");
        }
    }
}
