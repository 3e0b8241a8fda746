//! Pipes, as far as they differ from files.

use std::fs::File;
#[cfg(unix)]
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
#[cfg(unix)]
use std::time::Duration;
use std::time::Instant;

#[cfg(unix)]
use rustix::event::PollFlags;

#[cfg(unix)]
use crate::interrupt::{Wait, poll_one, timespec};

/// What a pipe is asked to hold: the most that Linux grants everybody.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// Lets a pipe hold a whole block, so that writer and reader wait for each other less often. A system that cannot
/// leaves it as it is.
#[cfg(target_os = "linux")]
pub fn widen(file: &File) {
    let _ = rustix::pipe::fcntl_setpipe_size(file, PIPE_BYTES);
}

#[cfg(not(target_os = "linux"))]
pub fn widen(_: &File) {}

/// Opens a pipe once more, so that writing to it does not wait for its reader; other processes that write to it are not
/// affected. Returns `None` where the system cannot do that.
#[cfg(target_os = "linux")]
pub fn without_waiting(file: &File) -> Option<File> {
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).ok()?;
    File::options().write(true).custom_flags(flags).open(format!("/proc/self/fd/{}", file.as_raw_fd())).ok()
}

#[cfg(not(target_os = "linux"))]
pub fn without_waiting(_: &File) -> Option<File> {
    None
}

/// Waits until `file` can be written to, at most until then.
#[cfg(unix)]
pub fn wait_writable(file: &File, until: Option<Instant>) {
    let within = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
    poll_one(file, PollFlags::OUT, within.as_ref());
}

#[cfg(not(unix))]
pub fn wait_writable(_: &File, _: Option<Instant>) {
    std::thread::yield_now();
}

/// Whether it is a pipe, which tells how much of it was read.
#[cfg(unix)]
pub fn is_pipe(file: &File) -> bool {
    file.metadata().is_ok_and(|data| data.file_type().is_fifo())
}

/// Whether there is a pipe of this name.
#[cfg(unix)]
pub fn is_pipe_at(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.file_type().is_fifo())
}

/// How much of a pipe was read nobody tells here.
#[cfg(not(unix))]
pub fn is_pipe(_: &File) -> bool {
    false
}

#[cfg(not(unix))]
pub fn is_pipe_at(_: &Path) -> bool {
    false
}

/// How many bytes in a pipe nobody has read yet; none if its reader went away.
#[cfg(unix)]
pub fn unread(pipe: &File) -> Option<u64> {
    if closed_within(pipe, Duration::ZERO) {
        return None;
    }
    rustix::io::ioctl_fionread(pipe).ok()
}

#[cfg(not(unix))]
pub fn unread(_: &File) -> Option<u64> {
    Some(0)
}

/// Waits until the reader of a pipe has taken all that is in it, or went away, at most until then; returns what
/// [`unread`] does.
#[cfg(unix)]
pub fn wait_drained(pipe: &File, until: Option<Instant>) -> Option<u64> {
    let mut pause = Duration::from_millis(1);
    loop {
        let left = unread(pipe)?;
        if left == 0 || until.is_some_and(|until| until <= Instant::now()) {
            return Some(left);
        }
        if closed_within(pipe, pause) {
            return None;
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

#[cfg(not(unix))]
pub fn wait_drained(_: &File, _: Option<Instant>) -> Option<u64> {
    Some(0)
}

/// Whether the reader of a pipe goes away within so much time.
#[cfg(unix)]
fn closed_within(pipe: &File, within: Duration) -> bool {
    // The poll waits for an error alone, which a pipe has when its reader goes away.
    poll_one(pipe, PollFlags::empty(), Some(&timespec(within))) == Wait::Ready
}
