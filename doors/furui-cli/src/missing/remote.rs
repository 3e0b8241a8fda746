//! A build without the feature `net`: opening a set in a server is an error that says how to get a build with the
//! feature. The types that replace those of `remote` have no values.

use std::convert::Infallible;
use std::path::Path;

use furui::HashSpec;
use furui::store::Window;
use furui::store::cascade::Cascade;

use crate::error::Error;
use crate::files::Files;
use crate::missing::install;

pub use self::{NoFailure as Failure, NoKeys as RemoteKeys, NoSet as RemoteSet};

#[derive(Clone)]
pub struct NoKeys(Infallible);

pub struct NoSet(Infallible);

/// What other builds know of the layout of a set in a server. No value is ever made in this build.
pub struct Layout {
    pub shards: u32,
    pub window: Option<Window>,
}

/// The failure of a server, which cannot occur in this build.
pub struct NoFailure {
    pub reason: String,
    pub may_have_recorded: bool,
}

impl Layout {
    pub fn hash(self) -> HashSpec {
        HashSpec::default()
    }
}

impl NoKeys {
    pub fn clear(&mut self) {
        match self.0 {}
    }

    pub fn len(&self) -> usize {
        match self.0 {}
    }

    pub fn push(&mut self, _: &[u8]) {
        match self.0 {}
    }

    pub fn key(&self, _: usize) -> &[u8] {
        match self.0 {}
    }

    pub fn only(&self, _: impl Fn(usize) -> bool) -> Self {
        match self.0 {}
    }
}

impl NoSet {
    /// Returns the error for opening a set in a server.
    pub fn open(_: &Path, _: bool, _: Option<Window>) -> Result<Self, Error> {
        Err(Error::Message(format!(
            "the set is in a server, and this build of furui cannot reach servers; install one that can: {}",
            install("net")
        )))
    }

    /// Returns the error for opening a set in a server.
    pub fn open_existing(path: &Path) -> Result<Self, Error> {
        Self::open(path, false, None)
    }

    pub fn fetch(&mut self) -> Result<Cascade<Files>, Error> {
        match self.0 {}
    }

    pub fn count(&mut self) -> Result<u64, Error> {
        match self.0 {}
    }

    pub fn layout(&self) -> Layout {
        match self.0 {}
    }

    pub fn no_keys(&self) -> NoKeys {
        match self.0 {}
    }

    pub fn url(&self) -> String {
        match self.0 {}
    }

    pub fn told(&self, _: NoFailure) -> Error {
        match self.0 {}
    }

    pub fn send(&mut self, _: &NoKeys, _: bool) {
        match self.0 {}
    }

    pub fn in_flight(&self) -> usize {
        match self.0 {}
    }

    pub fn receive(&mut self, _: &NoKeys, _: bool, _: &mut Vec<bool>) -> Result<u64, NoFailure> {
        match self.0 {}
    }

    pub fn has(&mut self, _: &NoKeys, _: &mut Vec<bool>) -> Result<(), NoFailure> {
        match self.0 {}
    }

    pub fn forget(&mut self, _: &NoKeys) -> Result<(), NoFailure> {
        match self.0 {}
    }
}
