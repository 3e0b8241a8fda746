use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use furui_search::{NoPublisherKey, PublisherKey};

/// The place of the file in which a site names its publisher.
pub(super) const FILE: &str = ".well-known/furui-publisher";
/// The maximum size of the file in bytes.
pub(super) const MAX_FILE: usize = 1 << 10;

/// The publisher keys that the files of sites name.
#[derive(Default)]
pub(super) struct SiteKeys {
    /// The key of the site whose pages are being published.
    pub(super) current: Option<PublisherKey>,
    /// By hosts and ports, so that each is asked once.
    pub(super) fetched: HashMap<String, Option<PublisherKey>>,
}

/// Reads the key in the bytes of a file.
pub(super) fn read(bytes: &[u8]) -> Result<PublisherKey, NoPublisherKey> {
    str::from_utf8(bytes).map_err(|_| NoPublisherKey)?.trim().parse()
}

/// The bytes of the file in a directory; `None` if there is none, or it cannot be read.
pub(super) fn in_directory(root: &Path) -> Option<Vec<u8>> {
    let mut bytes = vec![];
    File::open(root.join(FILE)).ok()?.take(MAX_FILE as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
