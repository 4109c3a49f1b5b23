//! What no ring knows: one system call or several, where the request is pushed.

use super::UringFiles;
use crate::file_operations::calls;
use crate::fileset::NameKey;
use crate::{Operation, Request};

impl UringFiles {
    #[cold]
    pub(super) fn by_call(&mut self, request: &Request) -> i32 {
        let lent = &mut *self.lent;
        let [name, _] = lent.names.of(request.slot);
        if request.operation == Operation::Sync {
            return calls::sync_all();
        }
        let at = lent.filesets.name(NameKey::of(request), name);
        at.map_or(-libc::EBADF, |at| calls::chmod(at, request.offset_bytes))
    }
}
