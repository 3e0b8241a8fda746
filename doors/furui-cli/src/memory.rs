//! Finds out how much memory the machine or the container has.

use std::fs;

/// The memory in bytes that is assumed on systems that do not report it.
const UNKNOWN_MACHINE: u64 = 4 << 30;

/// A file of a set's run of keys is mapped if it takes at most 1 / `MAPPED_SHARE` of the memory that the process can
/// use. The runs that are newer than a given run are together smaller than it, so all mapped runs together fit into
/// this memory.
const MAPPED_SHARE: u64 = 2;

/// The maximum size of a run file that is mapped into memory, in bytes. It is 0, so that nothing is mapped, if the
/// address space is limited, because maps count towards that limit.
pub fn mappable() -> u64 {
    if addresses().is_some() { 0 } else { total() / MAPPED_SHARE }
}

/// The memory of a set unless the user says otherwise, in bytes: a quarter of [`total`].
pub fn quarter() -> u64 {
    total() / 4
}

/// The memory that this process can use, in bytes: the least of the machine's memory, the limit of the control group,
/// and the limit of the address space (`ulimit -v`).
pub fn total() -> u64 {
    let limits = [control_group(), addresses()].into_iter().flatten();
    limits.fold(machine().unwrap_or(UNKNOWN_MACHINE), u64::min)
}

/// Makes the allocator map every block of 128 KiB or more separately, so that its memory returns to the system when it
/// is freed. Otherwise glibc raises this threshold to the size of the largest block that was freed, and each thread
/// keeps the memory that its large lists have left.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the C library is called")]
pub fn return_freed() {
    const LARGE: libc::c_int = 128 << 10;
    // SAFETY: `mallopt` takes two numbers. This is called before there are other threads. If it fails, nothing changes.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn return_freed() {}

#[cfg(unix)]
fn addresses() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(unix))]
fn addresses() -> Option<u64> {
    None
}

/// The memory of the machine in bytes, from /proc/meminfo; `None` on systems other than Linux, which do not have this
/// file.
fn machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The memory limit of the process's control group, in bytes; `None` if it has none (its file then says "max").
fn control_group() -> Option<u64> {
    fs::read_to_string("/sys/fs/cgroup/memory.max").ok()?.trim().parse().ok()
}
