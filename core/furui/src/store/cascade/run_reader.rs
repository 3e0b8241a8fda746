use super::k_way::{MERGE_WINDOW, SortedSource};
use super::page::{PAGE_BYTES, Page};
use super::room::{fill_to, reserve};
use super::run::Run;
use crate::error::Result;
use crate::format::{Problem, ReadAt};

/// The number of pages of a run that are read at once, 64 KiB in all.
const READ_PAGES: usize = 16;

/// Reads all keys of a [`Run`], ascending, in one pass from front to back, for a merge. Keys are returned as the
/// [places](crate::store::Fingerprints) of their fingerprints.
///
/// The checksum, the place, the order and the number of keys of every page are checked. Pages are read into a buffer,
/// even if the file is mapped, so that a pass over a large file leaves nothing resident. Memory: 64 KiB and two
/// [`MERGE_WINDOW`]s.
///
/// ```
/// use std::sync::Arc;
/// use furui::HashSpec;
/// use furui::raw::{Merge, RunWriter};
/// use furui::store::cascade::Run;
///
/// let run = |keys: &[u64]| -> furui::Result<Run<Arc<[u8]>>> {
///     let mut file = Vec::new();
///     let mut writer = RunWriter::new(&mut file, "example", HashSpec::default(), keys.len() as u64)?;
///     writer.push(keys)?;
///     writer.finish()?;
///     Run::open(file.into(), "example", HashSpec::default())
/// };
/// let (old, new) = (run(&[2, 4])?, run(&[1, 4, 6])?);
/// let mut merge = Merge::new(vec![old.reader(), new.reader()]);
/// let mut all = vec![];
/// while let keys @ [_, ..] = merge.next_keys()? {
///     all.extend_from_slice(keys);
/// }
/// assert_eq!(all, [1, 2, 4, 6]);
/// # Ok::<(), furui::Error>(())
/// ```
#[derive(Debug)]
pub struct RunReader<'a, F> {
    run: &'a Run<F>,
    pages: Vec<[u8; PAGE_BYTES]>,
    /// The index of the page that is decoded next.
    next: usize,
    keys: Vec<u64>,
    /// The number of `keys` that the caller has consumed.
    consumed: usize,
    decoded: u64,
}

impl<F: ReadAt> Run<F> {
    /// A reader of all keys of the run, ascending.
    pub fn reader(&self) -> RunReader<'_, F> {
        RunReader { run: self, pages: vec![], next: 0, keys: vec![], consumed: 0, decoded: 0 }
    }
}

impl<F: ReadAt> RunReader<'_, F> {
    /// Decodes all remaining pages, and drops the keys. Each page is also encoded again: bytes that a writer would not
    /// have written, such as padding that is not zero, are damage.
    ///
    /// # Errors
    /// [`Error::Format`](crate::Error::Format) at the first page that is damaged; [`Error::Io`](crate::Error::Io).
    pub(super) fn check_all(mut self) -> Result<()> {
        let mut written = [0; PAGE_BYTES];
        while self.next < self.run.pages() {
            let index = self.next;
            self.keys.clear();
            self.decode_next()?;
            Page::encode(&self.keys, self.run.remainder_bits(), &mut written);
            if written != self.pages[index % READ_PAGES] {
                return Err(self.run.page_error(index, Problem::Invalid("a page is not as a writer writes its keys")));
            }
        }
        Ok(())
    }

    /// Decodes the fingerprints of the next page, and reads it with some pages after it if they are not in memory yet.
    fn decode_next(&mut self) -> Result<()> {
        let (run, index) = (self.run, self.next);
        if index % READ_PAGES == 0 {
            let count = READ_PAGES.min(run.pages() - index);
            fill_to(&mut self.pages, count, [0; PAGE_BYTES])?;
            run.read_pages(index, &mut self.pages[..count])?;
        }
        let page = run.checked_page(index, &self.pages[index % READ_PAGES])?;
        reserve(&mut self.keys, page.len())?;
        page.decode(&mut self.keys).map_err(|problem| run.page_error(index, problem))?;
        self.decoded += page.len() as u64;
        self.next += 1;
        let last = self.keys.last().copied().unwrap_or(0);
        let problem = match run.next_fence(index) {
            _ if last > run.fingerprints().last() => "a page has a fingerprint above the greatest",
            Some(fence) if run.fingerprints().place(last) >= fence => {
                "the last key of a page is not less than the next page's first"
            }
            None if run.fingerprints().place(last) != run.greatest() => {
                "the last key of a run is not the one it describes"
            }
            None if self.decoded != run.len() => {
                "the pages of a run hold a different number of keys than the run states"
            }
            _ => return Ok(()),
        };
        Err(run.page_error(index, Problem::Invalid(problem)))
    }
}

impl<F: ReadAt> SortedSource for RunReader<'_, F> {
    fn fill(&mut self) -> Result<&[u64]> {
        if self.keys.len() - self.consumed < MERGE_WINDOW && self.next < self.run.pages() {
            self.keys.drain(..self.consumed);
            self.consumed = 0;
            let decoded = self.keys.len();
            while self.keys.len() < MERGE_WINDOW && self.next < self.run.pages() {
                self.decode_next()?;
            }
            let fingerprints = self.run.fingerprints();
            if !fingerprints.is_exact() {
                self.keys[decoded..].iter_mut().for_each(|key| *key = fingerprints.place(*key));
            }
        }
        Ok(&self.keys[self.consumed..])
    }

    fn consume(&mut self, count: usize) {
        self.consumed += count;
        debug_assert!(self.consumed <= self.keys.len());
    }
}
