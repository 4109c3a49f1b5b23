//! Waiting times of threads for a CPU, sampled repeatedly at low cost.

use std::fs::File;
use std::os::unix::fs::FileExt;

use crate::cpu::schedule;

/// Maximum number of threads. Each needs a file descriptor, which the run then lacks.
const THREADS_MAX: usize = 128;

/// Open kernel counters of waiting. A sample takes one system call per thread plus one.
#[derive(Debug)]
pub struct WaitCounters {
    threads: Vec<Thread>,
    pressure: Pressure,
}

/// The kernel's counter of the time in which at least one task of the machine waited for a CPU.
#[derive(Debug)]
pub struct Pressure(Option<File>);

impl Pressure {
    /// Opens the counter.
    #[must_use]
    pub fn open() -> Self {
        Self(File::open("/proc/pressure/cpu").ok())
    }

    /// The time so far, in nanoseconds; `None` if the kernel does not count it.
    #[must_use]
    pub fn sample_ns(&self) -> Option<u64> {
        read(self.0.as_ref()?, pressure)
    }
}

#[derive(Debug)]
struct Thread {
    schedstat: File,
    /// Last values read; kept for a thread that has ended.
    ran_ns: u64,
    waited_ns: u64,
}

/// Waiting times so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WaitSample {
    /// Time that the threads were runnable but waited for a CPU, added up, in nanoseconds. `None`
    /// if the kernel does not count it.
    pub waited_ns: Option<u64>,
    /// Time that the threads ran, added up, in nanoseconds; `None` if the kernel does not count it.
    pub ran_ns: Option<u64>,
    /// Time in which at least one task of the machine waited for a CPU, in nanoseconds. `None` if
    /// the kernel does not count it.
    pub pressure_ns: Option<u64>,
}

impl WaitCounters {
    /// Counters of threads of this process.
    #[must_use]
    pub fn open(thread_ids: &[i32]) -> Self {
        let open = |id: &i32| {
            Some(Thread {
                schedstat: File::open(format!("/proc/self/task/{id}/schedstat")).ok()?,
                ran_ns: 0,
                waited_ns: 0,
            })
        };
        // A sum over only a part of the threads would look like less waiting, so it is all or none.
        let threads = match thread_ids.len() {
            0..=THREADS_MAX => thread_ids.iter().map(open).collect(),
            _ => None,
        };
        Self {
            threads: threads.unwrap_or_default(),
            pressure: Pressure::open(),
        }
    }

    /// Reads all counters.
    pub fn sample(&mut self) -> WaitSample {
        for thread in &mut self.threads {
            // The read of an ended thread fails; its last values keep the sum from falling.
            if let Some((ran_ns, waited_ns)) = read(&thread.schedstat, schedule) {
                (thread.ran_ns, thread.waited_ns) = (ran_ns, waited_ns);
            }
        }
        let threads = Some(&self.threads).filter(|threads| !threads.is_empty());
        let sum = |of: fn(&Thread) -> u64| threads.map(|all| all.iter().map(of).sum());
        WaitSample {
            waited_ns: sum(|thread| thread.waited_ns),
            ran_ns: sum(|thread| thread.ran_ns),
            pressure_ns: self.pressure.sample_ns(),
        }
    }
}

fn read<T>(file: &File, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
    let mut text = [0; 256];
    let length = file.read_at(&mut text, 0).ok()?;
    parse(std::str::from_utf8(&text[..length]).ok()?)
}

/// Source: Linux, `Documentation/accounting/psi.rst`: `total` is in microseconds.
fn pressure(text: &str) -> Option<u64> {
    let some = text.lines().find(|line| line.starts_with("some "))?;
    let (_, total) = some.rsplit_once("total=")?;
    total.trim().parse::<u64>().ok()?.checked_mul(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_is_the_total_of_the_some_line() {
        let text = "some avg10=96.15 avg60=95.40 avg300=93.26 total=9399686604\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(pressure(text), Some(9_399_686_604_000));
        assert_eq!(pressure("full total=7\n"), None);
        assert_eq!(pressure("some total=x\n"), None);
    }

    #[test]
    fn wait_time_never_decreases_and_outlives_its_thread() {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let (tell_id, id) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let id = rustix::thread::gettid().as_raw_nonzero().get();
            tell_id.send(id).expect("a listener");
            let _ = receiver.recv();
        });
        let mut counters = WaitCounters::open(&[id.recv().expect("an id")]);
        let before = counters.sample();
        drop(sender);
        thread.join().expect("a thread");
        let after = counters.sample();
        assert!(after.waited_ns >= before.waited_ns);
        assert!(after.pressure_ns >= before.pressure_ns);
        assert_eq!(WaitCounters::open(&[]).sample().waited_ns, None);
        assert_eq!(WaitCounters::open(&[1; 129]).sample().waited_ns, None);
    }
}
