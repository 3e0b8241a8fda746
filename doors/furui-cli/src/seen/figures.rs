//! Prints a line of figures on standard error for each SIGUSR1 and, on systems that have it, for each SIGINFO, which ^T
//! sends.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::batch::Batch;
use crate::say::number::{counted, grouped};
use crate::say::size;

/// The figures of one run of the command. A thread prints them when a signal requests them, even while the command
/// waits for input or output.
pub struct Figures {
    latest: Arc<Latest>,
}

struct Latest {
    started: Instant,
    lines: AtomicU64,
    keys: AtomicU64,
    new: AtomicU64,
    bytes: AtomicU64,
}

impl Figures {
    /// Makes SIGUSR1 and SIGINFO print the figures, on systems that have these signals.
    pub fn listen() -> io::Result<Self> {
        let zero = || AtomicU64::new(0);
        let latest =
            Arc::new(Latest { started: Instant::now(), lines: zero(), keys: zero(), new: zero(), bytes: zero() });
        #[cfg(unix)]
        unix::answer(Arc::clone(&latest))?;
        Ok(Self { latest })
    }

    /// Sets the figures to those at the end of a batch that was printed.
    pub fn set(&self, batch: &Batch) {
        // A signal may come between these lines, so that the printed line mixes the figures of two blocks. That does no
        // harm.
        self.latest.keys.store(batch.keys_so_far, Ordering::Relaxed);
        self.latest.new.store(batch.new_so_far, Ordering::Relaxed);
        self.latest.lines.fetch_add(batch.fates.len() as u64, Ordering::Relaxed);
        self.latest.bytes.fetch_add(batch.block.bytes().len() as u64, Ordering::Relaxed);
    }
}

#[cfg_attr(not(unix), expect(dead_code, reason = "there are no signals that ask"))]
impl Latest {
    fn line(&self) -> String {
        let (keys, new) = (self.keys.load(Ordering::Relaxed), self.new.load(Ordering::Relaxed));
        format!(
            "furui: {} ({}) in {:.1} s, {} new, {}\n",
            counted(self.lines.load(Ordering::Relaxed), "line"),
            size::display(self.bytes.load(Ordering::Relaxed)),
            self.started.elapsed().as_secs_f64(),
            grouped(new),
            counted(keys.saturating_sub(new), "repeat")
        )
    }
}

#[cfg(unix)]
mod unix {
    use std::io::{self, Read, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::Arc;
    use std::thread;

    use signal_hook::consts::SIGUSR1;
    use signal_hook::low_level::pipe;

    use super::Latest;

    #[cfg(any(target_os = "macos", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd"))]
    const SIGNALS: [i32; 2] = [SIGUSR1, signal_hook::consts::SIGINFO];
    #[cfg(not(any(target_os = "macos", target_os = "freebsd", target_os = "netbsd", target_os = "openbsd")))]
    const SIGNALS: [i32; 1] = [SIGUSR1];

    /// The size of the stack of the thread that prints figures, in bytes.
    const STACK_BYTES: usize = 128 << 10;

    /// Starts the thread that answers signals. It waits for them until the process ends.
    pub(super) fn answer(latest: Arc<Latest>) -> io::Result<()> {
        let (mut asked, write) = UnixStream::pair()?;
        for signal in SIGNALS {
            pipe::register(signal, write.try_clone()?)?;
        }
        let work = move || {
            while asked.read_exact(&mut [0]).is_ok() {
                // If standard error cannot be written to, nobody waits for the figures.
                let _ = io::stderr().write_all(latest.line().as_bytes());
            }
        };
        thread::Builder::new().name("figures".into()).stack_size(STACK_BYTES).spawn(work).map(drop)
    }
}
