//! Operations on pipes that files do not have.

use std::fs::File;
use std::io;
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

/// The capacity in bytes that is requested for a pipe: the maximum that Linux grants to an unprivileged process.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 1 << 20;

/// Enlarges the buffer of a pipe to hold a whole block, so that writer and reader wait for each other less often. Does
/// nothing where the system cannot do that.
#[cfg(target_os = "linux")]
pub fn widen(file: &File) {
    let _ = rustix::pipe::fcntl_setpipe_size(file, PIPE_BYTES);
}

#[cfg(not(target_os = "linux"))]
pub fn widen(_: &File) {}

/// Makes a pipe: what is written to the second file is read from the first.
#[cfg(unix)]
pub fn pipe() -> io::Result<(File, File)> {
    use std::os::fd::OwnedFd;
    let (reader, writer) = io::pipe()?;
    Ok((File::from(OwnedFd::from(reader)), File::from(OwnedFd::from(writer))))
}

/// Makes a pipe: what is written to the second file is read from the first.
#[cfg(windows)]
pub fn pipe() -> io::Result<(File, File)> {
    use std::os::windows::io::OwnedHandle;
    let (reader, writer) = io::pipe()?;
    Ok((File::from(OwnedHandle::from(reader)), File::from(OwnedHandle::from(writer))))
}

/// Opens a pipe a second time, in non-blocking mode. Other processes that write to the pipe are not affected, as they
/// would be if the mode of the open file were changed. Returns `None` where the system cannot do that.
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

/// Waits until `file` can be written to, at most until `until`.
#[cfg(unix)]
pub fn wait_writable(file: &File, until: Option<Instant>) {
    let within = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
    poll_one(file, PollFlags::OUT, within.as_ref());
}

#[cfg(not(unix))]
pub fn wait_writable(_: &File, _: Option<Instant>) {
    std::thread::yield_now();
}

/// True if `file` is a pipe, and the system tells how much of it was read.
#[cfg(unix)]
pub fn is_pipe(file: &File) -> bool {
    file.metadata().is_ok_and(|data| data.file_type().is_fifo())
}

/// True if the file at `path` is a pipe.
#[cfg(unix)]
pub fn is_pipe_at(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.file_type().is_fifo())
}

/// False, because this system does not tell how much of a pipe was read.
#[cfg(not(unix))]
pub fn is_pipe(_: &File) -> bool {
    false
}

#[cfg(not(unix))]
pub fn is_pipe_at(_: &Path) -> bool {
    false
}

/// The number of bytes in a pipe that have not been read. `None` if the reader has closed the pipe.
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

/// Waits until the reader of a pipe has read everything in it or has closed it, at most until `until`. Returns what
/// [`unread`] returns then.
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

/// Waits up to `within` for the reader of a pipe to close it, and returns true if it did.
#[cfg(unix)]
fn closed_within(pipe: &File, within: Duration) -> bool {
    // Without requested events, poll waits for an error only, which a pipe reports when its reader closes it.
    poll_one(pipe, PollFlags::empty(), Some(&timespec(within))) == Wait::Ready
}
