//! Workloads of other programs that several tests run.

/// Each round opens one of 20 files of 16 KiB, reads it and closes it.
pub const READING_FILEBENCH: &str = "set $dir=/tmp\n\
     define fileset name=files,path=$dir,size=16k,entries=20,prealloc=100\n\
     define process name=p,instances=1 {\n thread name=t,memsize=1m,instances=1 {\n  \
     flowop openfile name=open,filesetname=files,fd=1\n  \
     flowop readwholefile name=read,fd=1,iosize=1m\n  flowop closefile name=close,fd=1\n }\n}\n\
     run 1\n";

/// Calls of a client of dbench, which writes 4 KiB and reads them.
pub const DBENCH_CALLS: &str = "Deltree \"\\clients\\client1\" NT_STATUS_OK\n\
     Mkdir \"\\clients\" NT_STATUS_OK\n\
     NTCreateX \"\\clients\\client1\" 0x1 0x2 1 NT_STATUS_OK\nClose 1 NT_STATUS_OK\n\
     NTCreateX \"\\clients\\client1\\a\" 0x40 0x2 2 NT_STATUS_OK\n\
     WriteX 2 0 4096 4096 NT_STATUS_OK\nReadX 2 0 4096 4096 NT_STATUS_OK\n\
     Close 2 NT_STATUS_OK\n";
