//! Random numbers in block headers, which fio draws again when it verifies what it wrote.

/// A combined Tausworthe generator of 32 bits.
///
/// Source: P. L'Ecuyer, "Maximally Equidistributed Combined Tausworthe Generators", Mathematics of
/// Computation 65 (1996), 203-213.
#[derive(Debug, Clone)]
struct Tausworthe([u32; 3]);

impl Tausworthe {
    /// Seeds it as fio seeds its own, of which the first six numbers are dropped.
    fn new(seed: u32) -> Self {
        let next = |before: u32, least: u32| {
            let mixed = before.wrapping_mul(69_069) ^ seed;
            mixed + if mixed < least { least } else { 0 }
        };
        // fio adds powers of two, but `^` is an exclusive or in C: 29 + 19 + 5.
        let first = next(53, 1);
        let second = next(first, 7);
        let mut new = Self([first, second, next(second, 15)]);
        for _ in 0..6 {
            new.next_u32();
        }
        new
    }

    fn next_u32(&mut self) -> u32 {
        let [first, second, third] = &mut self.0;
        *first = ((*first & !1) << 12) ^ (((*first << 13) ^ *first) >> 19);
        *second = ((*second & !7) << 4) ^ (((*second << 2) ^ *second) >> 25);
        *third = ((*third & !15) << 17) ^ (((*third << 3) ^ *third) >> 11);
        *first ^ *second ^ *third
    }
}

/// The numbers of consecutive writes of a job.
#[derive(Debug, Clone)]
pub(super) struct HeaderNumbers(Tausworthe);

impl HeaderNumbers {
    /// Numbers of the `job_number`-th job of a fio process without `randseed`, counted from 1.
    pub(super) fn new(job_number: u64) -> Self {
        const DEFAULT_SEED: u64 = 0x89;
        const FACTOR: u64 = 0x9e37_0001;
        // The state for verification is the fourth of fio's states, each with its own seed.
        let base = (0..7).fold(DEFAULT_SEED, |seed, _| seed.wrapping_mul(FACTOR));
        let seed = base.wrapping_mul(job_number).wrapping_add(3);
        Self(Tausworthe::new(seed as u32))
    }

    /// The number of the next write.
    pub(super) fn next(&mut self) -> u64 {
        let first = u64::from(self.0.next_u32());
        first.wrapping_mul(self.0.next_u32().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_in_files_of_fio() {
        // From the first block that fio 3.33 wrote with `verify=md5`.
        assert_eq!(HeaderNumbers::new(1).next(), 0x00a4_cc01_c509_543c);
    }
}
