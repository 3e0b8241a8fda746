//! Prints the shell completions and manual pages of the command.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{self, ExitCode};

use clap::Command;
use clap_complete::env::Shells;
use clap_complete::{CompleteEnv, Shell};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::{self, notes};
use crate::error::Error;
use crate::output::print;

/// The environment variable with which a shell's completion script requests completions; see [`CompleteEnv`].
const COMPLETE: &str = "FURUI_COMPLETE";

/// Prints completions and ends the process, if a shell requests them.
pub fn complete() {
    if std::env::var_os(COMPLETE).is_none() {
        return;
    }
    let mut words: Vec<OsString> = std::env::args_os().collect();
    end_options(&cli::arranged(), &mut words);
    let here = std::env::current_dir().ok();
    match CompleteEnv::with_factory(cli::command).var(COMPLETE).try_complete(words, here.as_deref()) {
        Ok(true) => process::exit(0),
        Ok(false) => {}
        Err(error) => error.exit(),
    }
}

/// Appends an equals sign to each option, such as `--stats`, whose value may be left out. Otherwise clap would read the
/// next word as its value. The last word is the one to complete, and is not changed.
fn end_options(command: &Command, words: &mut [OsString]) {
    let Some((_, before)) = words.split_last_mut() else { return };
    for option in command.get_arguments().filter(|option| option.is_require_equals_set()) {
        let short = option.get_short().map(|letter| format!("-{letter}"));
        let long = option.get_long().map(|name| format!("--{name}"));
        for word in before
            .iter_mut()
            .filter(|word| [&short, &long].into_iter().flatten().any(|name| word.to_str() == Some(name)))
        {
            word.push("=");
        }
    }
    command.get_subcommands().for_each(|below| end_options(below, words));
}

/// Prints a script with which a shell asks furui for completions.
pub fn completions(shell: Shell) -> Result<ExitCode, Error> {
    let failed = |error| Error::io("cannot print", "completions", error);
    let mut script = Vec::new();
    let shells = Shells::builtins();
    let completer = shells.completer(&shell.to_string()).ok_or_else(|| failed(io::ErrorKind::Unsupported.into()))?;
    completer.write_registration(COMPLETE, "furui", "furui", "furui", &mut script).map_err(failed)?;
    print(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page, or writes one for each command into a directory.
pub fn pages(directory: Option<&Path>) -> Result<ExitCode, Error> {
    // A page has its own sections for the examples and exit statuses.
    let mut command = cli::arranged().disable_help_subcommand(true);
    command.build();
    match directory {
        Some(directory) => {
            let describe = |error| Error::io("cannot write manual pages to", directory.display().to_string(), error);
            std::fs::create_dir_all(directory).and_then(|()| write_each(&command, directory)).map_err(describe)?;
        }
        None => {
            let page = whole_page(&command).map_err(|error| Error::io("cannot print", "the manual page", error))?;
            print(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the manual page of a command, and those of its subcommands, into a directory.
fn write_each(command: &Command, directory: &Path) -> io::Result<()> {
    let man = Man::new(command.clone());
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    sections(command, &mut page)?;
    if shown(command).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    see_also(command).to_writer(&mut page)?;
    std::fs::write(directory.join(man.get_filename()), page)?;
    shown(command).try_for_each(|below| write_each(below, directory))
}

/// Returns one manual page for the whole command, in which every subcommand is a section.
fn whole_page(command: &Command) -> io::Result<Vec<u8>> {
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    sections(command, &mut page)?;
    shown(command).try_for_each(|below| section_of(below, &mut page))?;
    Ok(page)
}

/// Appends a command to a manual page as a section, whose own sections become subsections.
fn section_of(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    page.extend(format!(".SH {}\n", name_of(command).to_uppercase()).into_bytes());
    let mut own = Vec::new();
    sections(command, &mut own)?;
    let own = String::from_utf8_lossy(&own).replace("\n.SH ", "\n.SS ").replacen(".SH ", ".SS ", 1);
    page.extend(own.into_bytes());
    shown(command).try_for_each(|below| section_of(below, page))
}

/// Appends the sections of one command to a manual page: synopsis, description, options, exit statuses and examples.
fn sections(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let usage = command.clone().render_usage().to_string();
    let mut synopsis = Roff::new();
    synopsis.control("SH", ["SYNOPSIS"]).text([bold(usage.trim_start_matches("Usage: "))]);
    synopsis.to_writer(page)?;
    let man = Man::new(command.clone());
    man.render_description_section(page)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(page)?;
    }
    let Some(notes) = name_of(command).split_once(' ').and_then(|(_, name)| notes::of(name)) else { return Ok(()) };
    let mut roff = Roff::new();
    for (title, entries) in [("EXIT STATUS", notes.statuses), ("EXAMPLES", notes.examples)] {
        roff.control("SH", [title]);
        for (head, text) in entries {
            roff.control("TP", []).text([bold(*head)]).text([roman(*text)]);
        }
    }
    roff.to_writer(page)
}

/// The section "SEE ALSO" of a manual page, with the pages of the parent commands and the subcommands.
fn see_also(command: &Command) -> Roff {
    let name = name_of(command).replace(' ', "-");
    let above = name.rmatch_indices('-').map(|(end, _)| name[..end].to_string());
    let below = shown(command).map(|below| name_of(below).replace(' ', "-"));
    let pages: Vec<String> = above.chain(below).map(|page| format!("{page}(1)")).collect();
    let mut roff = Roff::new();
    roff.control("SH", ["SEE ALSO"]).text([roman(pages.join(", "))]);
    roff
}

/// The subcommands of a command, except those that this build does not have.
fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|below| !below.is_hide_set())
}

/// The full name of a command as it is typed, with the names of its parents.
fn name_of(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}
