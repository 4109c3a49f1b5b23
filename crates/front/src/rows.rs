//! Tables written as text.

use std::str::FromStr;

/// Rows of a table: one per line, with `|` between cells; lines that begin with `#` are comments.
/// Blanks around a cell are removed, and missing cells are empty.
pub fn rows<const N: usize>(table: &'static str) -> impl Iterator<Item = [&'static str; N]> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| {
        let mut cells = line.splitn(N, '|').map(str::trim);
        [(); N].map(|()| cells.next().unwrap_or_default())
    })
}

/// Number in a cell; the type's default (0) if it is not a number.
pub fn number<T: FromStr + Default>(cell: &str) -> T {
    cell.parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_requested_number_of_cells() {
        let table = "# what | how many\nread   | 4 | x | y\nfsync\n";
        let found: Vec<[&str; 3]> = rows(table).collect();
        assert_eq!(found, [["read", "4", "x | y"], ["fsync", "", ""]]);
        let numbers: Vec<u32> = found.iter().map(|row| number(row[1])).collect();
        assert_eq!(numbers, [4, 0]);
    }
}
