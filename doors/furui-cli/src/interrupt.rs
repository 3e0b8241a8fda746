//! Orderly interruption: ^C, SIGTERM and SIGHUP end the input, so that printed lines can be recorded.

use std::fs::File;
use std::io;
use std::time::Duration;

#[cfg(unix)]
use rustix::event::{PollFlags, Timespec};

/// The reason why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The input can be read without waiting.
    Ready,
    /// The input cannot be read without waiting.
    Nothing,
    /// The user wants the program to end.
    Interrupted,
}

/// Reports an interruption by the user. Unless [`listen`](Self::listen) was called, signals have their default effect.
pub struct Interrupt {
    #[cfg(unix)]
    listener: Option<unix::Listener>,
}

impl Interrupt {
    /// Leaves signals as they are: ^C ends the process at once.
    pub fn ignore() -> Self {
        Self {
            #[cfg(unix)]
            listener: None,
        }
    }

    /// After this call, the methods below report ^C, SIGTERM and SIGHUP. A second signal ends the process at once.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            listener: Some(unix::Listener::new()?),
        })
    }
}

#[cfg(unix)]
impl Interrupt {
    /// Returns [`Wait::Interrupted`] if the user interrupted, without looking at the input.
    pub fn check(&self) -> Wait {
        match &self.listener {
            Some(listener) if listener.interrupted() => Wait::Interrupted,
            _ => Wait::Ready,
        }
    }

    /// If a signal was reported, ends the process in the way in which the signal does by default.
    pub fn end(&self) {
        if let Some(signal) = self.signal() {
            let _ = signal_hook::low_level::emulate_default_handler(signal.into());
        }
    }

    /// The number of the signal that was reported, if one was.
    pub fn signal(&self) -> Option<u8> {
        self.listener.as_ref().and_then(unix::Listener::signal)
    }

    /// True if signals are reported, so that a read must not wait.
    pub fn listens(&self) -> bool {
        self.listener.is_some()
    }

    /// Waits until `file` can be read or the user interrupts.
    pub fn wait(&self, file: &File) -> Wait {
        match &self.listener {
            Some(listener) => listener.poll(file, None),
            None => poll_one(file, PollFlags::IN, None),
        }
    }

    /// Waits until `file` can be read, but at most for `within`.
    pub fn ready(&self, file: &File, within: Duration) -> Wait {
        let within = timespec(within);
        match &self.listener {
            Some(listener) => listener.poll(file, Some(&within)),
            None => poll_one(file, PollFlags::IN, Some(&within)),
        }
    }
}

/// On systems where a process cannot wait for signals, a read may wait, and ^C ends the process at once.
#[cfg(not(unix))]
impl Interrupt {
    pub fn check(&self) -> Wait {
        Wait::Ready
    }

    pub fn end(&self) {}

    pub fn signal(&self) -> Option<u8> {
        None
    }

    pub fn listens(&self) -> bool {
        false
    }

    pub fn wait(&self, _: &File) -> Wait {
        Wait::Ready
    }

    pub fn ready(&self, _: &File, _: Duration) -> Wait {
        Wait::Nothing
    }
}

#[cfg(unix)]
pub(crate) use unix::poll_one;

#[cfg(unix)]
pub fn timespec(duration: Duration) -> Timespec {
    Timespec { tv_sec: duration.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: duration.subsec_nanos().into() }
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io;
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{flag, low_level::pipe};

    use super::Wait;

    /// Notices signals by a flag, which is tested between reads, and by a pipe, which ends a wait.
    pub(super) struct Listener {
        interrupted: Arc<AtomicBool>,
        /// The number of the signal that arrived, or 0 if none has arrived.
        signal: Arc<AtomicUsize>,
        wake: UnixStream,
    }

    impl Listener {
        pub(super) fn new() -> io::Result<Self> {
            let interrupted = Arc::new(AtomicBool::new(false));
            let number = Arc::new(AtomicUsize::new(0));
            let (wake, write) = UnixStream::pair()?;
            for signal in [SIGHUP, SIGINT, SIGTERM].into_iter().filter(|&signal| !is_ignored(signal)) {
                // Actions run in the order of registration, so the one for a second signal is registered first: at the
                // first signal the flag that it tests is not set yet.
                flag::register_conditional_default(signal, Arc::clone(&interrupted))?;
                flag::register_usize(signal, Arc::clone(&number), signal as usize)?;
                flag::register(signal, Arc::clone(&interrupted))?;
                pipe::register(signal, write.try_clone()?)?;
            }
            Ok(Self { interrupted, signal: number, wake })
        }

        pub(super) fn interrupted(&self) -> bool {
            self.interrupted.load(Ordering::Relaxed)
        }

        pub(super) fn signal(&self) -> Option<u8> {
            u8::try_from(self.signal.load(Ordering::Relaxed)).ok().filter(|&signal| signal != 0)
        }

        pub(super) fn poll(&self, file: &File, timeout: Option<&Timespec>) -> Wait {
            let mut ends = [PollFd::new(&self.wake, PollFlags::IN), PollFd::new(file, PollFlags::IN)];
            loop {
                let result = poll(&mut ends, timeout);
                if self.interrupted() {
                    return Wait::Interrupted;
                }
                // If another signal, such as SIGCONT after ^Z, has interrupted the poll, the poll is repeated.
                if result != Err(rustix::io::Errno::INTR) {
                    return answer(result, ends[1].revents(), timeout.is_some());
                }
            }
        }
    }

    pub(crate) fn poll_one(file: &File, events: PollFlags, within: Option<&Timespec>) -> Wait {
        let mut ends = [PollFd::new(file, events)];
        loop {
            let result = poll(&mut ends, within);
            // A signal that does not end the process, such as SIGUSR1, has interrupted the poll.
            if result != Err(rustix::io::Errno::INTR) {
                return answer(result, ends[0].revents(), within.is_some());
            }
        }
    }

    /// True if the signal was ignored when the process began, as ^C is in background jobs of a script and SIGHUP under
    /// nohup. The program then ignores it, too. Only Linux tells which signals are ignored; elsewhere, this returns
    /// false.
    fn is_ignored(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
    }

    /// Converts the result of a poll. An error of the poll or of the file counts as ready, and is reported by the read.
    fn answer(result: rustix::io::Result<usize>, events: PollFlags, may_be_nothing: bool) -> Wait {
        match result {
            Ok(_) if may_be_nothing && events.is_empty() => Wait::Nothing,
            _ => Wait::Ready,
        }
    }
}
