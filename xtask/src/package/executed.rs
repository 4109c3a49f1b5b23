//! Which functions a program executes, in the order of their first calls.
//!
//! Every function begins with a breakpoint, which is taken away when it is reached. So a function
//! costs one stop, however often it is called, and the program is hardly slower than by itself.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::error::Failure;

/// The instruction that stops a traced program.
const BREAKPOINT: u8 = 0xcc;

/// A function of a program: where it begins in the program's file and how the linker calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub offset: u64,
    pub name: String,
}

/// The functions of a program that has its symbols, by their place.
pub fn functions(program: &Path) -> Result<Vec<Function>, Failure> {
    let listed = super::run_tool(
        Command::new("nm")
            .args(["--numeric-sort", "--print-size", "--defined-only"])
            .arg(program),
    )?;
    let mut functions: Vec<Function> = Vec::new();
    for line in String::from_utf8_lossy(&listed).lines() {
        // Place, size, kind and name; what has no size is no function.
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let [place, _, "t" | "T" | "w" | "W", name] = fields[..] else {
            continue;
        };
        let Ok(offset) = u64::from_str_radix(place, 16) else {
            continue;
        };
        // One body may have several names, of which one is enough.
        if functions.last().is_none_or(|last| last.offset < offset) {
            let name = name.to_owned();
            functions.push(Function { offset, name });
        }
    }
    Ok(functions)
}

/// Runs the program to its end and returns which of its functions were called, the first first.
/// The program may start threads, but no further program.
///
/// # Errors
/// The system lets nobody trace, or the program fails.
pub fn executed<'f>(
    program: &Path,
    arguments: &[&str],
    functions: &'f [Function],
) -> Result<Vec<&'f Function>, Failure> {
    let tracer = |errno: Errno| Failure::Program {
        program: format!("ptrace {}", program.display()),
        message: errno.to_string(),
    };
    // It waits for a line, so that it is traced before it becomes the program.
    let mut shell = Command::new("sh")
        .args(["-c", "read line; exec \"$0\" \"$@\""])
        .arg(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map_err(Failure::start("sh"))?;
    let process = Pid::from_raw(shell.id() as i32);
    let options =
        Options::PTRACE_O_TRACEEXEC | Options::PTRACE_O_TRACECLONE | Options::PTRACE_O_EXITKILL;
    if let Err(errno) = ptrace::seize(process, options) {
        // It would run the program when nobody writes the line.
        let _ = shell.kill().and_then(|()| shell.wait());
        return Err(tracer(errno));
    }
    if let Some(mut input) = shell.stdin.take() {
        input.write_all(b"\n").map_err(Failure::start("sh"))?;
    }
    let mut trace = None;
    loop {
        // Other threads have children of their own.
        let which = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        let status = waitpid(None, Some(which)).map_err(tracer)?;
        let (thread, mut signal) = match status {
            WaitStatus::Exited(thread, code) if thread == process => {
                return ended(program, code, trace);
            }
            WaitStatus::Signaled(thread, signal, _) if thread == process => {
                return Err(Failure::Program {
                    program: program.display().to_string(),
                    message: format!("it was ended by {signal}"),
                });
            }
            WaitStatus::PtraceEvent(thread, _, event) => {
                // The shell's own may still be to come.
                if event == ptrace::Event::PTRACE_EVENT_EXEC as i32
                    && let Some(base) = base(process, program)?
                {
                    trace = Some(Trace::begin(process, base, functions)?);
                }
                (thread, None)
            }
            WaitStatus::Stopped(thread, signal) => (thread, Some(signal)),
            _ => continue,
        };
        if signal == Some(Signal::SIGTRAP)
            && let Some(trace) = &mut trace
            && trace.reached(thread)?
        {
            signal = None;
        }
        match ptrace::cont(thread, signal) {
            // A thread may be gone with its process.
            Ok(()) | Err(Errno::ESRCH) => {}
            Err(errno) => return Err(tracer(errno)),
        }
    }
}

fn ended<'f>(
    program: &Path,
    code: i32,
    trace: Option<Trace<'f>>,
) -> Result<Vec<&'f Function>, Failure> {
    match trace {
        Some(trace) if code == 0 => Ok(trace.called),
        _ => Err(Failure::Program {
            program: program.display().to_string(),
            message: format!("it ended with {code} when its functions were traced"),
        }),
    }
}

/// A program with breakpoints.
struct Trace<'f> {
    memory: File,
    path: PathBuf,
    /// Where the program lies in the memory of its process.
    base: u64,
    /// What stood where a breakpoint is or was, with the function that begins there.
    first_bytes: HashMap<u64, (u8, &'f Function)>,
    called: Vec<&'f Function>,
    is_called: HashSet<u64>,
}

impl<'f> Trace<'f> {
    fn begin(process: Pid, base: u64, functions: &'f [Function]) -> Result<Self, Failure> {
        let path = PathBuf::from(format!("/proc/{process}/mem"));
        let opened = File::options().read(true).write(true).open(&path);
        let mut trace = Self {
            memory: opened.map_err(Failure::file(&path))?,
            base,
            path,
            first_bytes: HashMap::with_capacity(functions.len()),
            called: Vec::new(),
            is_called: HashSet::new(),
        };
        trace.set_all(functions)?;
        Ok(trace)
    }

    /// Writes all breakpoints at once: one by one they would take longer than the program.
    fn set_all(&mut self, functions: &'f [Function]) -> Result<(), Failure> {
        let (Some(first), Some(last)) = (functions.first(), functions.last()) else {
            return Ok(());
        };
        let mut text = vec![0; (last.offset - first.offset + 1) as usize];
        let start = self.base + first.offset;
        let read = self.memory.read_exact_at(&mut text, start);
        read.map_err(Failure::file(&self.path))?;
        for function in functions {
            let byte = &mut text[(function.offset - first.offset) as usize];
            self.first_bytes.insert(function.offset, (*byte, function));
            *byte = BREAKPOINT;
        }
        let written = self.memory.write_all_at(&text, start);
        written.map_err(Failure::file(&self.path))
    }

    /// Whether a thread has stopped at a breakpoint, which it then finds gone.
    fn reached(&mut self, thread: Pid) -> Result<bool, Failure> {
        let Ok(mut registers) = ptrace::getregs(thread) else {
            return Ok(false);
        };
        let at = registers.rip.wrapping_sub(1);
        let offset = at.wrapping_sub(self.base);
        let Some((byte, function)) = self.first_bytes.get(&offset) else {
            return Ok(false);
        };
        registers.rip = at;
        ptrace::setregs(thread, registers).map_err(|errno| Failure::Output {
            program: "ptrace".to_owned(),
            message: errno.to_string(),
        })?;
        // Two threads may have stopped there.
        if self.is_called.insert(offset) {
            let written = self.memory.write_all_at(&[*byte], at);
            written.map_err(Failure::file(&self.path))?;
            self.called.push(function);
        }
        Ok(true)
    }
}

/// Where a process has the first byte of a program's file; none if it runs another.
fn base(process: Pid, program: &Path) -> Result<Option<u64>, Failure> {
    let path = PathBuf::from(format!("/proc/{process}/maps"));
    let maps = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    let program = program.canonicalize().map_err(Failure::file(program))?;
    let name = program.to_string_lossy();
    let line = maps.lines().find(|line| line.ends_with(name.as_ref()));
    let start = line.and_then(|line| line.split('-').next());
    Ok(start.and_then(|start| u64::from_str_radix(start, 16).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_listed_in_the_order_of_their_first_calls() {
        let program = std::env::current_exe().expect("this is a program");
        let functions = functions(&program).expect("nm lists what cargo built");
        let called = match executed(&program, &["--list"], &functions) {
            Err(refused) if refused.to_string().contains("EPERM") => {
                end_to_end::skip!("nobody may trace here: {refused}")
            }
            called => called.expect("it is traced"),
        };
        let place = |name: &str| called.iter().position(|it| it.name == name);
        let (start, main) = (place("_start"), place("main"));
        assert!(start.is_some() && start < main, "{start:?} {main:?}");
        assert!(called.len() * 2 < functions.len(), "{}", called.len());
        let refused = executed(&program, &["--no-such-option"], &functions).unwrap_err();
        assert!(
            refused.to_string().contains("when its functions"),
            "{refused}"
        );
    }
}
