//! Real workers, on threads of this process.
