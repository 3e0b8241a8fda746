use xxhash_rust::xxh3::xxh3_64;

use super::field::{put, u16_at, u64_at};
use super::layout::*;
use super::{FormatError, Kind, Problem};
use crate::hash::{HashAlgorithm, HashSpec};

/// The header of a file, which is its first 64 bytes: the kind of the file, and the spec by which its keys are hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) kind: Kind,
    /// The spec by which keys are hashed. If the seed is kept elsewhere, its fingerprint stands in its place.
    pub(crate) hash: HashSpec,
    pub(crate) seed: SeedPlace,
}

/// The place where the seed of a file's hash is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeedPlace {
    /// The file has the seed, so whoever has the file can hash keys.
    File,
    /// The seed is known only to the people or programs that share it. The file has the seed's fingerprint.
    Elsewhere,
}

impl Header {
    /// The header of a file that holds the seed of its hash.
    pub(crate) fn new(kind: Kind, hash: HashSpec) -> Self {
        Self { kind, hash, seed: SeedPlace::File }
    }

    /// The header of a file that holds only the fingerprint of the seed of its hash.
    pub(crate) fn without_seed(kind: Kind, hash: HashSpec) -> Self {
        Self { kind, hash: HashSpec { seed: hash.seed_fingerprint(), ..hash }, seed: SeedPlace::Elsewhere }
    }
}

impl Header {
    pub(crate) const LEN: usize = HEADER_LEN;

    /// The bytes of this header, with which the file begins.
    pub(crate) fn encode(self) -> [u8; HEADER_LEN] {
        let mut header = [0; HEADER_LEN];
        put(&mut header, 0, MAGIC);
        put(&mut header, HEADER_VERSION, VERSION.to_le_bytes());
        put(&mut header, HEADER_KIND, self.kind.code().to_le_bytes());
        put(&mut header, HEADER_ALGORITHM, self.hash.algorithm.code().to_le_bytes());
        put(&mut header, HEADER_SEED_PLACE, (self.seed as u16).to_le_bytes());
        put(&mut header, HEADER_SEED, self.hash.seed.to_le_bytes());
        let checksum = xxh3_64(&header[..HEADER_CHECKSUM]);
        put(&mut header, HEADER_CHECKSUM, checksum.to_le_bytes());
        header
    }

    /// Decodes a header from `found`, the first bytes of the file `name`, at most 64. The file has `length` bytes, and
    /// a whole file has at least `shortest`.
    ///
    /// # Errors
    /// [`FormatError`] if the bytes are no header of furui, are cut off or damaged, or state a version, kind or hash
    /// that this program does not know.
    pub(crate) fn decode(found: &[u8], length: u64, shortest: u64, name: &str) -> Result<Self, FormatError> {
        let error = |offset: usize, problem| FormatError { file: name.to_owned(), offset: offset as u64, problem };
        let magic = MAGIC.len().min(found.len());
        if found[..magic] != MAGIC[..magic] {
            return Err(error(0, Problem::NotFurui));
        }
        let header: &[u8; HEADER_LEN] = match found.first_chunk() {
            Some(header) if length >= shortest => header,
            _ => {
                let problem = Problem::Truncated { expected: shortest, found: length };
                return Err(FormatError { file: name.to_owned(), offset: length, problem });
            }
        };
        // The checksum is checked before the version, so that a damaged version is not taken for a newer one.
        if xxh3_64(&header[..HEADER_CHECKSUM]) != u64_at(header, HEADER_CHECKSUM) {
            return Err(error(0, Problem::Checksum));
        }
        match u16_at(header, HEADER_VERSION) {
            VERSION => {}
            found @ 1.. => return Err(error(HEADER_VERSION, Problem::NewerVersion { found, supported: VERSION })),
            0 => return Err(error(HEADER_VERSION, Problem::Invalid("format version 0"))),
        }
        if let Some(at) = HEADER_RESERVED.clone().find(|&at| header[at] != 0) {
            return Err(error(at, Problem::Invalid("a reserved byte is not zero")));
        }
        let kind = u16_at(header, HEADER_KIND);
        let kind = Kind::from_code(kind).ok_or_else(|| error(HEADER_KIND, Problem::UnknownKind(kind)))?;
        let algorithm = u16_at(header, HEADER_ALGORITHM);
        let algorithm = HashAlgorithm::from_code(algorithm)
            .ok_or_else(|| error(HEADER_ALGORITHM, Problem::UnknownHash(algorithm)))?;
        let seed = match u16_at(header, HEADER_SEED_PLACE) {
            0 => SeedPlace::File,
            1 if kind.is_filter() => SeedPlace::Elsewhere,
            _ => {
                return Err(error(
                    HEADER_SEED_PLACE,
                    Problem::Invalid("it does not say where the seed of its hash is"),
                ));
            }
        };
        Ok(Self { kind, hash: HashSpec { algorithm, seed: u64_at(header, HEADER_SEED) }, seed })
    }
}
