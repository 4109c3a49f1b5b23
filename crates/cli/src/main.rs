//! The command pgmeter.

fn main() {}
