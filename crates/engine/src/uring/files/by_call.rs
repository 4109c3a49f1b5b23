//! Operations that io_uring does not have; they are executed when the request is pushed.

use super::UringFiles;
use crate::Request;
use crate::file_operations::by_call::SyscallContext;

impl UringFiles {
    #[cold]
    pub(super) fn by_call(&mut self, request: &Request) -> i32 {
        let owned = &mut *self.owned;
        let [name, _] = owned.names.of(request.slot);
        let context = SyscallContext {
            filesets: &owned.filesets,
            name,
            entries: &mut self.entries,
            stream: self.streams.of(request.slot),
        };
        context.execute(request)
    }
}
