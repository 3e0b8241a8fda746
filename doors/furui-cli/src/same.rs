//! Telling whether an output is an input, too.

use std::fs::File;
use std::path::Path;

use crate::error::Error;

/// Returns an error if a regular file that is written to is one of the inputs, of which "-" is standard input. `path` is where it was
/// opened, if that is known, and `role` is what it is for.
pub fn refuse_input(output: &File, path: Option<&Path>, role: &str, inputs: &[&Path]) -> Result<(), Error> {
    match inputs.iter().find(|input| is_same(output, path, input)) {
        Some(input) => Err(Error::Message(format!("{}: an input cannot be {role}, too", input.display()))),
        None => Ok(()),
    }
}

#[cfg(unix)]
fn is_same(output: &File, _: Option<&Path>, input: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    use crate::streams::standard_input;

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
