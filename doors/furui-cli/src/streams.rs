//! Opens standard input and output as files, if they were open when the process began, and finds out if an output file
//! is an input, too.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::Error;

/// True if standard input was closed when the process began, as by `<&-` in a shell.
///
/// Rust's runtime opens the null device in the place of a closed standard stream. Output to it would count as
/// delivered, and `seen --store` would record lines that nobody received. So closed streams are found out before the
/// runtime starts.
static INPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);
/// True if standard output was closed when the process began, as by `>&-`.
static OUTPUT_IS_CLOSED: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
ctor::declarative::ctor! {
    // The function makes two system calls and two stores into statics, which do not need the runtime.
    #[ctor(unsafe)]
    fn look() {
        let is_closed = |stream| rustix::io::fcntl_getfd(stream) == Err(rustix::io::Errno::BADF);
        INPUT_IS_CLOSED.store(is_closed(rustix::stdio::stdin()), Ordering::Relaxed);
        OUTPUT_IS_CLOSED.store(is_closed(rustix::stdio::stdout()), Ordering::Relaxed);
    }
}

/// Standard input, without the buffer of the standard library. An error if it was closed.
pub fn standard_input() -> io::Result<File> {
    open(&INPUT_IS_CLOSED, &io::stdin())
}

/// Standard output, without the buffer of the standard library. An error if it was closed.
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

/// Returns an error if the regular file `output`, which is written to, is one of the inputs, of which "-" is standard
/// input. `path` is the path of the file, if it is known, and `role` says in the message what the file is for.
pub fn refuse_input(output: &File, path: Option<&Path>, role: &str, inputs: &[&Path]) -> Result<(), Error> {
    match inputs.iter().find(|input| is_same(output, path, input)) {
        Some(input) => Err(Error::Message(format!("{}: an input cannot be {role}, too", input.display()))),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn is_same(output: &File, _: Option<&Path>, input: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    let data = match input.as_os_str() == "-" {
        true => standard_input().and_then(|input| input.metadata()),
        false => input.metadata(),
    };
    let id = |data: std::fs::Metadata| data.is_file().then(|| (data.dev(), data.ino()));
    let output = output.metadata().ok().and_then(id);
    output.is_some() && output == data.ok().and_then(id)
}

#[cfg(not(unix))]
fn is_same(_: &File, path: Option<&Path>, input: &Path) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    path.and_then(whole).is_some_and(|output| Some(output) == whole(input))
}
