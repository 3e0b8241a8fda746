use std::env;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::Error;
use crate::program::Program;

/// The pager of users who have chosen none.
const USUAL: &str = "less";
/// The options of `less` for users who have set none: it ends at once if everything fits on the screen, which it does
/// not clear, and shows bold words.
const LESS: &str = "FRX";

/// Standard output or, if that is a terminal, a program through which the user reads it page by page. Dropping it waits
/// until the user has read everything.
pub struct Pager<'a> {
    program: &'a dyn Program,
    /// True if the pager is to be started with the first output.
    is_wanted: bool,
    child: Option<Child>,
}

impl<'a> Pager<'a> {
    /// Output for the user's pager (`PAGER`) if `is_wanted`, standard input and output are terminals, and `NO_PAGER` is
    /// not set. If the pager does not start, output is printed as it is.
    pub fn new(program: &'a dyn Program, is_wanted: bool) -> Self {
        let refuses = env::var_os("NO_PAGER").is_some_and(|value| !value.is_empty());
        let is_wanted = is_wanted && !refuses && io::stdout().is_terminal() && io::stdin().is_terminal();
        Self { program, is_wanted, child: None }
    }

    /// Prints bytes. Returns false if nobody reads them any more.
    ///
    /// # Errors
    /// If standard output is closed, or cannot be written to.
    pub fn print(&mut self, bytes: &[u8]) -> Result<bool, Error> {
        if std::mem::take(&mut self.is_wanted) {
            self.child = start();
        }
        match self.child.as_mut().and_then(|child| child.stdin.as_mut()) {
            // A user who ends the pager has read enough.
            Some(stdin) => Ok(stdin.write_all(bytes).and_then(|()| stdin.flush()).is_ok()),
            None => self.program.print(bytes),
        }
    }
}

impl Drop for Pager<'_> {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        // The user's ^C is for the pager now: if this process ended before it, both the pager and the shell would read
        // what the user types.
        let _interrupts = interrupts();
        drop(child.stdin.take());
        let _ = child.wait();
    }
}

/// Receives SIGINT from now on, so that it does not end the process any more. `None` if the system does not allow it.
fn interrupts() -> Option<Signal> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    let _entered = runtime.enter();
    signal(SignalKind::interrupt()).ok()
}

/// Starts the pager. `None` if it does not start, or the user has chosen none.
fn start() -> Option<Child> {
    let mut command = match env::var("PAGER") {
        Ok(pager) if ["", "cat"].contains(&pager.trim()) => return None,
        // It may have options, so the shell reads it.
        Ok(pager) => {
            let mut shell = Command::new("sh");
            shell.args(["-c", &pager]);
            shell
        }
        Err(_) => Command::new(USUAL),
    };
    if env::var_os("LESS").is_none() {
        command.env("LESS", LESS);
    }
    command.stdin(Stdio::piped()).spawn().ok()
}
