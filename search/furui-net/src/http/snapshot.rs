use std::convert::Infallible;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

use super::client::OfOwner;
use super::lines::line;
use super::{ApiError, Backend, Face, MAX_SNAPSHOTS};
use crate::watched;

/// The number of bytes of a file that are sent at a time. The value is a choice, not a measurement.
const PIECE: usize = 256 << 10;

/// A line of the answer to `POST /snapshot`. The last one is [`End`](Self::End), or `{"error":…}` if the copy is not
/// complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SnapshotLine {
    /// After this line, the contents of a file follow.
    File {
        /// The path of the file in the directory of a node.
        file: String,
        /// The number of its bytes.
        bytes: u64,
    },
    /// The end of a complete copy.
    End {
        /// True.
        done: bool,
    },
}

/// Handles `POST /snapshot`: sends a copy of the node's files.
pub(super) async fn snapshot<N: Backend>(
    State(Face { node, watched, snapshots, .. }): State<Face<N>>,
    Extension(OfOwner(is_of_owner)): Extension<OfOwner>,
) -> Result<Response, ApiError> {
    if !is_of_owner {
        return Err(ApiError::forbidden("a node is copied for the users of its own machine, and with its token"));
    }
    let permit = snapshots.try_acquire_owned().map_err(|_| ApiError::busy(MAX_SNAPSHOTS, "snapshots"))?;
    let (sender, receiver) = mpsc::channel(2);
    tokio::spawn(async move {
        let _permit = permit;
        let (copy, problem) = match node.snapshot().await {
            Ok(copy) => (Some(copy), None),
            Err(why) => (None, Some(why.to_string())),
        };
        let sent = tokio::task::spawn_blocking(move || {
            let problem = problem.or_else(|| {
                let copy = copy.as_deref()?;
                let copied = watched.map_or(Ok(()), |watched| watched.copy(&copy.join(watched::FILE)));
                copied
                    .map_err(|why| why.to_string())
                    .and_then(|()| send_all(copy, &sender).map_err(|why| why.to_string()))
                    .err()
            });
            let last = match problem {
                Some(why) => line(&ApiError::node(why)),
                None => line(&SnapshotLine::End { done: true }),
            };
            // Sending fails if the client has gone; and a copy that is left is removed before the next one.
            let _ = sender.blocking_send(Bytes::from(last));
            copy.map(std::fs::remove_dir_all)
        });
        // The task ends when the files are sent or the client has gone.
        let _ = sent.await;
    });
    let body = stream::unfold(receiver, |mut receiver: mpsc::Receiver<Bytes>| async {
        let piece = receiver.recv().await?;
        Some((Ok::<_, Infallible>(piece), receiver))
    });
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], Body::from_stream(body)).into_response())
}

/// Sends all files in a directory and below it, each after a line with its path and size.
fn send_all(copy: &Path, sender: &mpsc::Sender<Bytes>) -> io::Result<()> {
    let mut directories = vec![PathBuf::new()];
    while let Some(below) = directories.pop() {
        for entry in std::fs::read_dir(copy.join(&below))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                directories.push(path);
            } else {
                send(&path, File::open(entry.path())?, sender)?;
            }
        }
    }
    Ok(())
}

fn send(path: &Path, mut file: File, sender: &mpsc::Sender<Bytes>) -> io::Result<()> {
    let gone = |_| io::Error::from(io::ErrorKind::BrokenPipe);
    let mut left = file.metadata()?.len();
    let head = SnapshotLine::File { file: path.to_string_lossy().into_owned(), bytes: left };
    sender.blocking_send(Bytes::from(line(&head))).map_err(gone)?;
    while left > 0 {
        let mut piece = vec![0; PIECE.min(usize::try_from(left).unwrap_or(PIECE))];
        file.read_exact(&mut piece)?;
        left -= piece.len() as u64;
        sender.blocking_send(Bytes::from(piece)).map_err(gone)?;
    }
    Ok(())
}
