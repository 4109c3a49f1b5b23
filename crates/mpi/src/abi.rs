//! The three sets of constants (ABIs) that MPI libraries use.

use std::ffi::{CStr, c_int};

/// Set of constants that a library's functions use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Abi {
    /// Handles are addresses of symbols that the library exports: Open MPI 4 and 5.
    OpenMpi,
    /// Handles are 32-bit numbers: MPICH 3 to 5, Intel MPI, and other MPICH derivatives.
    Mpich,
    /// Handles are as wide as pointers and constants are small: the ABI of the MPI 5.0 standard.
    Standard,
}

impl Abi {
    /// Name for messages and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenMpi => "Open MPI",
            Self::Mpich => "MPICH",
            Self::Standard => "MPI 5.0",
        }
    }

    pub(crate) const fn constants(self) -> Constants {
        match self {
            Self::OpenMpi => OPEN_MPI,
            Self::Mpich => MPICH,
            Self::Standard => STANDARD,
        }
    }
}

/// Value of a predefined handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandleConstant {
    /// Address of the symbol that the library exports under this name.
    Symbol(&'static CStr),
    /// The number itself.
    Number(usize),
}

/// Constants that the functions used here take and return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Constants {
    /// `MPI_COMM_WORLD`.
    pub comm_world: HandleConstant,
    /// `MPI_BYTE`.
    pub byte: HandleConstant,
    /// `MPI_ERRORS_RETURN`.
    pub errors_return: HandleConstant,
    /// `MPI_ANY_SOURCE`.
    pub any_source: c_int,
    /// `MPI_ANY_TAG`.
    pub any_tag: c_int,
    /// `MPI_THREAD_FUNNELED`; levels that grant more are larger.
    pub thread_funneled: c_int,
    /// Byte offset of `MPI_SOURCE` in an `MPI_Status`.
    pub status_source_offset: usize,
    /// Byte offset of `MPI_TAG` in an `MPI_Status`.
    pub status_tag_offset: usize,
}

/// Room for the largest `MPI_Status`, which has 32 bytes, with the alignment of a pointer.
pub(crate) type Status = [u64; 8];

/// Source: `mpi.h` of Open MPI 4.1.4 and 5.0.11.
const OPEN_MPI: Constants = Constants {
    comm_world: HandleConstant::Symbol(c"ompi_mpi_comm_world"),
    byte: HandleConstant::Symbol(c"ompi_mpi_byte"),
    errors_return: HandleConstant::Symbol(c"ompi_mpi_errors_return"),
    any_source: -1,
    any_tag: -1,
    thread_funneled: 1,
    status_source_offset: 0,
    status_tag_offset: 4,
};

/// Source: `mpi.h` of MPICH 4.0.2, 4.3.2 and 5.0.2 and of Intel MPI 2021.18.
const MPICH: Constants = Constants {
    comm_world: HandleConstant::Number(0x4400_0000),
    byte: HandleConstant::Number(0x4c00_010d),
    errors_return: HandleConstant::Number(0x5400_0001),
    any_source: -2,
    any_tag: -1,
    thread_funneled: 1,
    status_source_offset: 8,
    status_tag_offset: 12,
};

/// Source: MPI: A Message-Passing Interface Standard, version 5.0, the chapter on its ABI.
const STANDARD: Constants = Constants {
    comm_world: HandleConstant::Number(0x101),
    byte: HandleConstant::Number(0x247),
    errors_return: HandleConstant::Number(0x143),
    any_source: -1,
    any_tag: -2,
    thread_funneled: 1024,
    status_source_offset: 0,
    status_tag_offset: 4,
};

impl Constants {
    /// Sender and tag in a status.
    pub(crate) fn envelope(&self, status: &Status) -> (c_int, c_int) {
        let read = |offset_bytes: usize| {
            // `library::open` rejects processors with another byte order.
            let word = status[offset_bytes / 8].to_le_bytes();
            let at = offset_bytes % 8;
            c_int::from_le_bytes([word[at], word[at + 1], word[at + 2], word[at + 3]])
        };
        (
            read(self.status_source_offset),
            read(self.status_tag_offset),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Abi; 3] = [Abi::OpenMpi, Abi::Mpich, Abi::Standard];

    #[test]
    fn handles_are_numbers_except_in_open_mpi() {
        for abi in ALL {
            let it = abi.constants();
            for handle in [it.comm_world, it.byte, it.errors_return] {
                let is_symbol = matches!(handle, HandleConstant::Symbol(_));
                assert_eq!(is_symbol, abi == Abi::OpenMpi, "{handle:?}");
            }
        }
    }

    #[test]
    fn constants_match_the_mpi_headers() {
        let numbers = |abi: Abi| {
            let it = abi.constants();
            (it.any_source, it.any_tag, it.thread_funneled)
        };
        assert_eq!(ALL.map(numbers), [(-1, -1, 1), (-2, -1, 1), (-1, -2, 1024)]);
        let mpich = Abi::Mpich.constants();
        assert_eq!(mpich.comm_world, HandleConstant::Number(0x4400_0000));
        // The second byte of a type's handle in MPICH is the type's size.
        assert_eq!(
            mpich.byte,
            HandleConstant::Number(0x4c00_0000 + (1 << 8) + 13)
        );
        let standard = Abi::Standard.constants();
        assert_eq!(standard.byte, HandleConstant::Number(0b10_0100_0111));
    }

    #[test]
    fn a_status_is_read_at_the_field_offsets_of_the_abi() {
        // Each number says where in the status it lies, in steps of four bytes.
        let status: Status = std::array::from_fn(|index| {
            let index = index as u64;
            (2 * index) | ((2 * index + 1) << 32)
        });
        let read = |abi: Abi| abi.constants().envelope(&status);
        assert_eq!(ALL.map(read), [(0, 1), (2, 3), (0, 1)]);
    }

    #[test]
    fn a_negative_field_stays_negative() {
        let mut status: Status = [0; 8];
        status[0] = (u64::from(u32::MAX) << 32) | 7;
        assert_eq!(Abi::OpenMpi.constants().envelope(&status), (7, -1));
    }
}
