//! Collects the last messages of a guest's kernel, without registers and stacks, which are useless
//! without its symbols.

use std::collections::VecDeque;

/// Number of last lines kept if the kernel does not report a crash.
const LAST_LINES_MAX: usize = 6;
/// Number of lines kept from the first crash message on.
const CRASH_LINES_MAX: usize = 4;

/// Prefixes of lines in which a kernel reports a crash.
///
/// Source: Linux, `kernel/panic.c`, `arch/um/kernel/trap.c`, `mm/oom_kill.c`.
const CRASH_PREFIXES: [&str; 8] = [
    "Kernel panic",
    "Segfault with no mm",
    "Kernel tried to access user memory",
    "BUG:",
    "kernel BUG at",
    "Oops",
    "Out of memory",
    "Bus error",
];
/// Prefixes of lines with registers, stacks and memory tables, and of lines that every guest
/// prints.
const IGNORED_PREFIXES: [&str; 30] = [
    "[<",
    "CPU:",
    "Stack:",
    "Call Trace:",
    "Modules linked in:",
    "Pid:",
    "RIP:",
    "RSP:",
    "RAX:",
    "RDX:",
    "RBP:",
    "R10:",
    "R13:",
    "EFLAGS:",
    "Code:",
    "---[",
    "Mem-Info:",
    "Node ",
    "Normal",
    "lowmem_reserve",
    "active_anon",
    "slab_",
    "mapped:",
    "free:",
    "Tasks state",
    "[ ",
    "Core dump limits",
    "soft -",
    "hard -",
    "SELinux:",
];
/// Printed by every guest, because it maps no memory of the host.
const MAPPER_LINE: &str = "mmapper_init";
/// Parts of messages about lack of memory.
const OUT_OF_MEMORY: [&str; 6] = [
    "out of memory",
    "oom-killer",
    "deadlocked on memory",
    "cannot allocate memory",
    "page allocation failure",
    "memory allocation of",
];

/// The lines that explain why a guest ended.
#[derive(Debug, Default)]
pub(super) struct KernelMessages {
    recent: VecDeque<String>,
    final_lines: Vec<String>,
}

impl KernelMessages {
    /// Adds a line of the console.
    pub fn add_line(&mut self, line: &str) {
        let line = line.trim();
        if !is_useful_line(line) {
            return;
        }
        let is_dying =
            !self.final_lines.is_empty() || CRASH_PREFIXES.iter().any(|it| line.starts_with(it));
        if !is_dying {
            if self.recent.len() == LAST_LINES_MAX {
                self.recent.pop_front();
            }
            self.recent.push_back(line.to_owned());
        // The first lines name the cause; what follows are its consequences.
        } else if self.final_lines.len() < CRASH_LINES_MAX {
            self.final_lines.push(line.to_owned());
        }
    }

    /// The lines, in printable form.
    pub fn text(&self) -> String {
        let lines = self.recent.iter().chain(&self.final_lines);
        let lines: Vec<String> = lines.map(|it| plan::printable(it)).collect();
        lines.join("\n")
    }
}

/// `true` if a line is useful to people.
fn is_useful_line(line: &str) -> bool {
    let is_address =
        |word: &str| word.len() >= 8 && word.bytes().all(|letter| letter.is_ascii_hexdigit());
    let is_dump = line.split_whitespace().all(is_address);
    !is_dump
        && !line.starts_with(MAPPER_LINE)
        && !IGNORED_PREFIXES.iter().any(|it| line.starts_with(it))
}

/// `true` if the last messages of a guest are about lack of memory.
pub(crate) fn mentions_memory(words: &str) -> bool {
    let words = words.to_lowercase();
    OUT_OF_MEMORY.iter().any(|it| words.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(console: &str) -> String {
        let mut words = KernelMessages::default();
        console.lines().for_each(|line| words.add_line(line));
        words.text()
    }

    #[test]
    fn a_panic_is_reported_with_its_cause_and_without_addresses() {
        // As User-mode Linux 6.1.176 says it.
        let console = "\
SELinux: https://github.com/SELinuxProject/selinux-kernel/wiki/DEPRECATE-checkreqprot
mmapper_init - find_iomem failed
userspace - ptrace set fp regs failed, errno = 14
Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b
CPU: 0 PID: 1 Comm: pgmeter Not tainted 6.1.176 #1
Stack:
 606944ba 607e7fcd 66043b90 6067bb96
 00000001 607e7fcd 60045fda 0000000b
Call Trace:
 [<606944ba>] ? _printk+0x0/0x94
 [<6002d37a>] show_stack+0x184/0x193
";
        assert_eq!(
            words(console),
            "userspace - ptrace set fp regs failed, errno = 14\n\
             Kernel panic - not syncing: Attempted to kill init! exitcode=0x0000000b"
        );
        assert!(!mentions_memory(&words(console)));
    }

    #[test]
    fn the_first_lines_of_a_panic_are_kept_however_many_follow() {
        let mut console = "Kernel panic - not syncing: Segfault with no mm\n".to_owned();
        for number in 0..100 {
            console.push_str(&format!("more {number}\n"));
        }
        let kept = words(&console);
        assert!(kept.starts_with("Kernel panic - not syncing: Segfault with no mm\nmore 0"));
        assert_eq!(kept.lines().count(), CRASH_LINES_MAX);
    }

    #[test]
    fn the_last_lines_of_a_kernel_that_ends_silently_are_kept() {
        let kept = words("1 one\n2 two\n3 three\n4 four\n5 five\n6 six\n\n7 seven\n");
        assert!(
            kept.starts_with("2 two") && kept.ends_with("7 seven"),
            "{kept}"
        );
        assert_eq!(words(""), "");
    }

    #[test]
    fn only_messages_about_memory_count_as_out_of_memory() {
        let console = "\
pgmeter invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
Mem-Info:
active_anon:0 inactive_anon:2153 isolated_anon:0
Kernel panic - not syncing: System is deadlocked on memory
";
        assert!(mentions_memory(&words(console)));
        assert_eq!(words(console).lines().count(), 2);
        assert!(!mentions_memory("EXT4-fs (ubda): mounted filesystem"));
    }

    #[test]
    fn control_characters_of_a_guest_are_not_printed() {
        assert!(!words("a\u{1b}[2Jb").contains('\u{1b}'));
    }
}
