use std::path::Path;

use furui::store::{Directory, StoreKind};

use crate::error::Error;

/// The kind of a store. A directory that is no store is an error, and is not changed.
pub fn kind_of(path: &Path) -> Result<StoreKind, Error> {
    Ok(Directory::open_read_only(path)?.manifest()?.store)
}
