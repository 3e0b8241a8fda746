use url::Url;

use crate::Error;
use crate::client::Client;

/// Shows the document at a URL in the program that the system has for it, without waiting for that program. `node` is
/// the address of the node that `client` asks.
///
/// Only addresses of the web are opened. A file is opened as the node shows it, which it does for a file that it
/// publishes itself: a `file:` URL of strangers may name anything on this machine.
///
/// # Errors
/// If the URL has another scheme, the node does not show the file, or the system has no such program.
pub fn open(url: &str, client: &Client, node: &str) -> Result<(), Error> {
    let parsed = Url::parse(url).ok();
    let target = match parsed.as_ref().map(Url::scheme) {
        Some("http" | "https") => url.to_owned(),
        Some("file") => {
            client.get("/open", &[("url", url)])?;
            let mut page = Url::parse(node).map_err(|error| Error::Message(format!("{node}: {error}")))?;
            page.set_path("/open");
            page.query_pairs_mut().append_pair("url", url);
            page.into()
        }
        _ => {
            return Err(Error::Message(format!(
                "{url:?} is not opened, because it is neither of the web nor a file; `furui search` without --open \
                 prints its text"
            )));
        }
    };
    open::that_detached(&target).map_err(|error| Error::io("cannot open", target, error))
}
