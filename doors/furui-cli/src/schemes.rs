//! The schemes of the URLs of sets in servers, by which they are told from paths.

use std::path::Path;

/// The schemes of the URLs of sets in servers, in lower case.
pub const SCHEMES: [&str; 7] = ["redis", "rediss", "valkey", "valkeys", "unix", "redis+unix", "redis+sentinel"];

/// The text before the `://` of a URL. `None` if the path is that of a file or a directory.
pub fn scheme(path: &Path) -> Option<String> {
    let text = path.to_string_lossy();
    let (scheme, _) = text.split_once("://")?;
    (!scheme.contains('/')).then(|| scheme.to_owned())
}

/// True if a `--store` or a set is the URL of a server, not the path of a directory or a file.
pub fn is_url(path: &Path) -> bool {
    scheme(path).is_some_and(|scheme| SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_no_urls() {
        for path in ["redis", "redis:/a", "./redis://a", "http://a/b", "/redis://"] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
        assert!(is_url(Path::new("redis://a/b")) && is_url(Path::new("VALKEYS://")));
    }
}
