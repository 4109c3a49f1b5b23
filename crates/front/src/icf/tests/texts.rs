//! Small configurations, put together from sections.

/// `TEST SETUP` with every key.
pub const SETUP: &str = "\
'TEST SETUP ====
'Test Description
\tnightly - array 7
'Run Time
'\thours      minutes    seconds
\t0          5          30
'Ramp Up Time (s)
\t15
'Default Disk Workers to Spawn
\tNUMBER_OF_CPUS
'Default Network Workers to Spawn
\t0
'Record Results
\tNO_TARGETS
'Worker Cycling
'\tstart      step       step type
\t1          2          LINEAR
'Disk Cycling
'\tstart      step       step type
\t1          1          LINEAR
'Queue Depth Cycling
'\tstart      end        step       step type
\t4          64         4          EXPONENTIAL
'Test Type
\tCYCLE_OUTSTANDING_IOS
'END test setup
";

/// `RESULTS DISPLAY` with a chart of each kind.
pub const DISPLAY: &str = "\
'RESULTS DISPLAY ====
'Record Last Update Results,Update Frequency,Update Type
\tENABLED,5,LAST_UPDATE
'Bar chart 1 statistic
\tTotal I/Os per Second
'Bar chart 2 statistic
\t% CPU Utilization (total)
'Bar chart 2 manager ID, manager name
\t1,alpha
'Bar chart 2 worker ID, worker name
\t2,Worker 2
'END results display
";

/// Two specifications, one with a line that is never used.
pub const SPECS: &str = "\
'ACCESS SPECIFICATIONS ====
'Access specification name,default assignment
\tmixed,ALL
'size,% of size,% reads,% random,delay,burst,align,reply
\t0,0,0,0,0,0,0,0
\t4096,70,60,100,5,4,4096,0
\t8192,30,0,0,0,1,0,512
'Access specification name,default assignment
\tscan,NONE
'size,% of size,% reads,% random,delay,burst,align,reply
\t65536,100,100,0,0,1,0,0
'END access specifications
";

/// One manager with two disk workers.
pub const MANAGERS: &str = "\
'MANAGER LIST ====
'Manager ID, manager name
\t1,alpha
'Manager network address
\t
'Worker
\tWorker 1
'Worker type
\tDISK
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection,\
use fixed seed,fixed seed value
\t16,ENABLED,5,ENABLED,18446744073709551615
'Disk maximum size,starting sector,Data pattern
\t2048,64,1
'End default target settings for worker
'Assigned access specs
\tscan
\tIdle
\tMIXED
'End assigned access specs
'Target assignments
'Target
\t/mnt/a [ext4]
'Target type
\tDISK
'End target
'Target
\t0: \"disk\"
'Target type
\tDISK
'End target
'End target assignments
'End worker
'Worker
\tWorker 2
'Worker type
\tDISK
'End worker
'End manager
'END manager list
";

/// A manager with a TCP and a VI worker.
pub const NETWORK: &str = "\
'MANAGER LIST ====
'Manager ID, manager name
\t1,alpha
'Manager network address
\t10.0.0.1
'Worker
\tserver
'Worker type
\tNETWORK,TCP
'Default target settings for worker
'Number of outstanding IOs,test connection rate,transactions per connection,\
use fixed seed,fixed seed value
\t2,DISABLED,1,DISABLED,0
'Local network interface
\t10.0.0.1
'End default target settings for worker
'Target assignments
'Target
\t10.0.0.2
'Target type
\tNETWORK,TCP
'Target manager ID, manager name
\t2,beta
'End target
'End target assignments
'End worker
'Worker
\tdisk worker
'Worker type
\tDISK
'End worker
'Worker
\told
'Worker type
\tNETWORK,VI
'Default target settings for worker
'VI outstanding IOs
\t8
'End default target settings for worker
'End worker
'End manager
'END manager list
";

/// A file of 1.1.0 with the given sections.
pub fn file(sections: &[&str]) -> String {
    format!("Version 1.1.0 \n{}Version 1.1.0 \n", sections.concat())
}

/// A file with all sections.
pub fn full() -> String {
    file(&[SETUP, DISPLAY, SPECS, MANAGERS])
}

/// A section of one specification `t` with these access lines.
pub fn spec(lines: &[&str]) -> String {
    let lines: String = lines.iter().map(|line| format!("\t{line}\n")).collect();
    format!(
        "'ACCESS SPECIFICATIONS ====\n'Access specification name,default assignment\n\tt,NONE\n\
         'size,% of size,% reads,% random,delay,burst,align,reply\n{lines}\
         'END access specifications\n"
    )
}
