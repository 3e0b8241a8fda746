//! What the command says about itself: completions and manual pages.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use furui::Error;

use crate::cli::Cli;
use crate::output::print;

/// Prints a shell's completions.
pub fn completions(shell: Shell) -> Result<ExitCode, Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "furui", &mut script);
    print(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the manual page, or writes one for each command into a directory.
pub fn pages(directory: Option<&Path>) -> Result<ExitCode, Error> {
    match directory {
        Some(directory) => {
            let describe = |error| Error::io("cannot write manual pages to", directory.display().to_string(), error);
            std::fs::create_dir_all(directory).map_err(describe)?;
            clap_mangen::generate_to(Cli::command(), directory).map_err(describe)?;
        }
        None => {
            let page = whole_page().map_err(|error| Error::io("cannot print", "the manual page", error))?;
            print(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One page for the whole command: every subcommand is a section.
fn whole_page() -> io::Result<Vec<u8>> {
    let mut command = Cli::command();
    command.build();
    let mut page = Vec::new();
    let man = Man::new(command.clone());
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        render(subcommand, &mut page)?;
    }
    Ok(page)
}

fn render(command: &clap::Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    page.extend(format!(".SH {}\n", name.to_uppercase()).into_bytes());
    let man = Man::new(command.clone());
    let mut sections = Vec::new();
    man.render_synopsis_section(&mut sections)?;
    man.render_description_section(&mut sections)?;
    if command.get_arguments().next().is_some() {
        man.render_options_section(&mut sections)?;
    }
    // Sections of a command are subsections of the page.
    page.extend(
        String::from_utf8_lossy(&sections).replace("\n.SH ", "\n.SS ").replacen(".SH ", ".SS ", 1).into_bytes(),
    );
    for subcommand in command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help") {
        render(subcommand, page)?;
    }
    Ok(())
}
