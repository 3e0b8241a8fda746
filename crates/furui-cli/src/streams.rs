//! Standard input and output as files, if they were open when the process began.

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a standard stream was closed at the start, as by `<&-` and `>&-` in a shell.
///
/// Rust's runtime opens the null device in its place, so that no other file gets its number. What is printed there would
/// pass for delivered, and `seen --store` would record lines that nobody got; so it is found out before the runtime starts.
static INPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);
static OUTPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
ctor::declarative::ctor! {
    // Two system calls and two stores into statics: nothing that needs the runtime.
    #[ctor(unsafe)]
    fn look() {
        let is_closed = |stream| rustix::io::fcntl_getfd(stream) == Err(rustix::io::Errno::BADF);
        INPUT_IS_CLOSED.store(is_closed(rustix::stdio::stdin()), Ordering::Relaxed);
        OUTPUT_IS_CLOSED.store(is_closed(rustix::stdio::stdout()), Ordering::Relaxed);
    }
}

/// Standard input, without the standard library's buffer between.
pub fn standard_input() -> io::Result<File> {
    open(&INPUT_IS_CLOSED, &io::stdin())
}

/// Standard output, without the standard library's line buffer between.
pub fn standard_output() -> io::Result<File> {
    open(&OUTPUT_IS_CLOSED, &io::stdout())
}

#[cfg(unix)]
fn open(is_closed: &AtomicBool, stream: &impl std::os::fd::AsFd) -> io::Result<File> {
    if is_closed.load(Ordering::Relaxed) {
        return Err(rustix::io::Errno::BADF.into());
    }
    Ok(File::from(stream.as_fd().try_clone_to_owned()?))
}

#[cfg(windows)]
fn open(_: &AtomicBool, stream: &impl std::os::windows::io::AsHandle) -> io::Result<File> {
    Ok(File::from(stream.as_handle().try_clone_to_owned()?))
}
