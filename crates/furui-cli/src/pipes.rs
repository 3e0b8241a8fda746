//! Pipes, as far as they differ from files.

use std::fs::File;
#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use rustix::event::{PollFlags, Timespec};

#[cfg(unix)]
use crate::interrupt::{Wait, poll_one};

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

/// Waits until `file` can be written to.
#[cfg(unix)]
pub fn wait_writable(file: &File) {
    poll_one(file, PollFlags::OUT, None);
}

#[cfg(not(unix))]
pub fn wait_writable(_: &File) {
    std::thread::yield_now();
}

/// Waits until the reader of a pipe has taken all that is in it. False if the reader went away before; true at once for
/// whatever is no pipe.
#[cfg(unix)]
pub fn wait_drained(file: &File) -> bool {
    use std::os::unix::fs::FileTypeExt;
    if !file.metadata().is_ok_and(|data| data.file_type().is_fifo()) {
        return true;
    }
    let mut pause = Duration::from_millis(1);
    while rustix::io::ioctl_fionread(file).is_ok_and(|left| left > 0) {
        // Nothing is asked for but an error, which is what a reader that goes away is.
        let within = Timespec { tv_sec: 0, tv_nsec: pause.subsec_nanos().into() };
        if poll_one(file, PollFlags::empty(), Some(&within)) == Wait::Ready {
            return false;
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
    true
}

/// How much of a pipe was read nobody tells here.
#[cfg(not(unix))]
pub fn wait_drained(_: &File) -> bool {
    true
}
