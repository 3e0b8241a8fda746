use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::node::owner_list::{BLOCKED, TRUSTED};
use crate::node::remembered::PEERS;
use crate::node::{Node, NodeError, private};

/// The name of the directory, in that of the node, into which the node copies its files.
pub(super) const SNAPSHOT: &str = "snapshot";
/// The files, apart from databases, that a copy has. Secret keys are not among them.
const PLAIN: [&str; 3] = [BLOCKED, TRUSTED, PEERS];

impl Node {
    /// Copies the files of the node, without its secret keys, in the state of one moment, into the directory `snapshot`
    /// in that of the node. A copy that was left there is removed first. While the lists and documents are copied, no
    /// requests of other nodes are answered.
    ///
    /// # Errors
    /// If the node has no directory, its storage fails, or there is no room.
    pub async fn snapshot(&self) -> Result<PathBuf, NodeError> {
        let directory = self.0.keeper.ask(|shelf| shelf.directory().map(Path::to_owned)).await;
        let Some(directory) = directory.ok_or(NodeError::Stopped)? else {
            let source = io::Error::new(io::ErrorKind::Unsupported, "the node has no directory");
            return Err(NodeError::Directory { file: PathBuf::from(SNAPSHOT), source });
        };
        let to = directory.join(SNAPSHOT);
        clear(&to)?;
        private::make(&to)?;
        let target = to.clone();
        self.0.keeper.ask(move |shelf| shelf.copy(&target)).await.ok_or(NodeError::Stopped)??;
        let (published, target) = (self.0.published.clone(), to.clone());
        let copied = tokio::task::spawn_blocking(move || {
            published.copy(&target)?;
            for name in PLAIN {
                match fs::copy(directory.join(name), target.join(name)) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        return Err(furui::Error::io("cannot copy", directory.join(name).display().to_string(), error));
                    }
                    _ => {}
                }
            }
            Ok(())
        });
        copied.await.map_err(|_| NodeError::Stopped)??;
        Ok(to)
    }
}

/// Removes a copy, if there is one.
pub(super) fn clear(copy: &Path) -> Result<(), NodeError> {
    match fs::remove_dir_all(copy) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => {
            Err(NodeError::Directory { file: copy.to_owned(), source })
        }
        _ => Ok(()),
    }
}
