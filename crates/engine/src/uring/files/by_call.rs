//! Operations that io_uring does not have; they are executed when the request is pushed.

use super::UringFiles;
use crate::Request;
use crate::file_operations::by_call::SyscallContext;

impl UringFiles {
    #[cold]
    pub(super) fn by_call(&mut self, request: &Request) -> i32 {
        let lent = &mut *self.lent;
        let [name, _] = lent.names.of(request.slot);
        let by_call = SyscallContext {
            filesets: &lent.filesets,
            name,
            entries: &mut self.entries,
            stream: self.streams.of(request.slot),
        };
        by_call.execute(request)
    }
}
