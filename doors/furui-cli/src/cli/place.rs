//! The paths of stores among the arguments.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser};

use crate::schemes::{SCHEMES, is_url, scheme};

/// Parses the path of a store or the URL of a set in a server. A URL of another kind is an error, because a directory
/// of that name would be a set that nobody shares.
pub fn anywhere() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match scheme(&path) {
        Some(scheme) if !is_url(&path) => Err(format!(
            "furui knows no {scheme}://: a set in a server is {}://; a directory of this name is ./{scheme}://...",
            SCHEMES.join("://, ")
        )),
        _ => Ok(path),
    })
}

/// Parses the path of a store where no set in a server can be given. A URL is an error.
pub fn local() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| match scheme(&path) {
        Some(scheme) => Err(format!(
            "{scheme}:// is not taken here, only a path of this machine; a path of this name is ./{scheme}://..."
        )),
        None => Ok(path),
    })
}

#[cfg(test)]
mod tests {
    use clap::{Arg, Command, ValueHint};

    use crate::cli;

    /// Calls `check` for each argument of a command and its subcommands that is the path of a store. Those of the
    /// search engine take other directories, and pages.
    fn each(command: &Command, check: &mut impl FnMut(&Command, &Arg)) {
        if ["node", "publish"].contains(&command.get_name()) {
            return;
        }
        let is_store = |arg: &&Arg| matches!(arg.get_value_hint(), ValueHint::DirPath | ValueHint::AnyPath);
        command.get_arguments().filter(is_store).for_each(|arg| check(command, arg));
        command.get_subcommands().for_each(|command| each(command, check));
    }

    #[test]
    fn no_path_of_a_store_is_a_url_that_is_not_known() {
        let mut count = 0;
        each(&cli::arranged(), &mut |command, arg| {
            let parse = |text: &str| {
                let parser = arg.get_value_parser();
                let one = Command::new("x").arg(Arg::new("it").value_parser(parser.clone()));
                one.try_get_matches_from(["x", text]).is_ok()
            };
            let name = (command.get_name(), arg.get_id());
            for url in ["redis+cluster://h:7000/u", "redis-sentinel://h/u", "http://h/u", "://u", "REDISX://h/u"] {
                assert!(!parse(url), "{name:?} takes {url}");
            }
            for path in ["a", "./http://h/u", "/a://b", "a:b", "redis:/a"] {
                assert!(parse(path), "{name:?} refuses {path}");
            }
            assert_eq!(parse("redis://h/u"), parse("REDIS://h/u"), "{name:?}");
            count += 1;
        });
        assert!(count >= 20, "{count}");
    }
}
