use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use furui_search::{NoPublisherKey, PublisherKey};

/// The path of the file in which a site names its publisher.
pub(super) const FILE: &str = ".well-known/furui-publisher";
/// The maximum size, in bytes, of the file in which a site names its publisher.
pub(super) const MAX_FILE: usize = 1 << 10;

/// The publisher keys that the files of sites name.
#[derive(Default)]
pub(super) struct SiteKeys {
    /// The key of the site whose pages are being published.
    pub(super) current: Option<PublisherKey>,
    /// The keys of sites by host and port, so that each site is asked only once.
    pub(super) fetched: HashMap<String, Option<PublisherKey>>,
}

/// Parses the publisher key in the contents of the file [`FILE`].
pub(super) fn read(bytes: &[u8]) -> Result<PublisherKey, NoPublisherKey> {
    str::from_utf8(bytes).map_err(|_| NoPublisherKey)?.trim().parse()
}

/// Reads the file [`FILE`] in the directory of a site; `None` if it does not exist, or cannot be read.
pub(super) fn in_directory(root: &Path) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    File::open(root.join(FILE)).ok()?.take(MAX_FILE as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
