//! The documents that several publishers have published under one URL.

use furui::Result;
use furui_search::{ContentId, Publication, PublisherKey};

use super::Shelf;
use super::documents::Documents;
use super::publications::{Standing, standing, url_of};

impl Shelf {
    /// Returns the publisher and the publication of a document; `None` if its record is not kept.
    ///
    /// # Errors
    /// [`Error::Io`](furui::Error::Io) if the database cannot be read, or is damaged.
    pub fn publication(&mut self, id: ContentId) -> Result<Option<(PublisherKey, Publication)>> {
        self.asking(|shelf| {
            let Some(number) = shelf.number(id)? else { return Ok(None) };
            Ok(match standing(&shelf.tables.view()?.publications, number)? {
                Some(Standing::Published(publisher, publication)) => Some((publisher, publication)),
                _ => None,
            })
        })
    }

    /// Returns the first `most` of the other documents with the same URL whose records are kept, in the order in which
    /// they came.
    ///
    /// # Errors
    /// Those of [`publication`](Self::publication).
    pub fn others_of_url(&mut self, id: ContentId, most: usize) -> Result<Vec<ContentId>> {
        self.asking(|shelf| {
            let view = shelf.tables.view()?;
            let (url, mut older) = (url_of(id), Documents::new(view));
            let mut others = vec![];
            for row in view.urls.range((url, 0)..=(url, u32::MAX))? {
                let number = row?.0.value().1;
                if let Some(Standing::Published(_, publication)) = standing(&view.publications, number)? {
                    let other = shelf.recent.known(&mut older, number)?.id;
                    if other != id {
                        others.push((publication.first, other));
                    }
                }
            }
            others.sort_unstable();
            others.truncate(most);
            Ok(others.into_iter().map(|(_, other)| other).collect())
        })
    }
}
