/// The length and the checksum that identify a finished file. A file that refers to another one holds its seal, so that
/// an exchanged file is noticed.
///
/// ```
/// use furui::HashSpec;
/// use furui::format::{Envelope, EnvelopeWriter, Kind};
///
/// let mut file = vec![];
/// let seal = EnvelopeWriter::new(&mut file, Kind::Run, HashSpec::default())?.finish()?;
/// assert_eq!(seal.length, file.len() as u64);
/// assert!(Envelope::open(&file[..], "example")?.seal() == seal, "the file that was written, and no other");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seal {
    /// The file's length in bytes.
    pub length: u64,
    /// The checksum in the footer, which covers the header and the checksums of all sections.
    pub checksum: u64,
}
