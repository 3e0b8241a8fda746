use std::io::{self, BufRead, Read};

use flate2::bufread::GzDecoder;

/// The first bytes of a gzip member: the magic number, and the only compression method.
const MAGIC: [u8; 3] = [0x1f, 0x8b, 8];

/// Reads a gzip file of any number of members, and yields their decompressed content, one after the other.
///
/// A member that is damaged or cut off is an error of kind [`InvalidData`](io::ErrorKind::InvalidData). The next read
/// continues at the next position that looks like the beginning of a member. Other errors come from the underlying
/// reader.
pub struct Gunzip<R: BufRead> {
    state: State<R>,
}

enum State<R: BufRead> {
    Between(R),
    Inside(Box<GzDecoder<R>>),
    /// A placeholder while one state becomes another.
    Moving,
}

impl<R: BufRead> Gunzip<R> {
    /// Makes a reader that decompresses the bytes of `from`.
    pub fn new(from: R) -> Self {
        Self { state: State::Between(from) }
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            match std::mem::replace(&mut self.state, State::Moving) {
                State::Between(mut from) => {
                    let found = find_member(&mut from);
                    self.state = match found {
                        Ok(true) => State::Inside(Box::new(GzDecoder::new(from))),
                        Ok(false) | Err(_) => State::Between(from),
                    };
                    if !found? {
                        return Ok(0);
                    }
                }
                State::Inside(mut member) => match member.read(buffer) {
                    Ok(0) => self.state = State::Between(member.into_inner()),
                    Ok(read) => {
                        self.state = State::Inside(member);
                        return Ok(read);
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => self.state = State::Inside(member),
                    Err(error) => {
                        let is_damage = matches!(
                            error.kind(),
                            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
                        );
                        self.state = State::Between(member.into_inner());
                        return Err(if is_damage {
                            io::Error::new(io::ErrorKind::InvalidData, "a damaged gzip member")
                        } else {
                            error
                        });
                    }
                },
                State::Moving => unreachable!("every way out of the match above sets the state, or loops"),
            }
        }
    }
}

/// Skips to the next position at which a member may begin. Returns false if there is none.
fn find_member(from: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffer = match from.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok(false);
        }
        match buffer.iter().position(|byte| *byte == MAGIC[0]) {
            // If the buffer has fewer bytes than the magic number, the decoder checks them.
            Some(0) if buffer.len() < MAGIC.len() || buffer.starts_with(&MAGIC) => return Ok(true),
            Some(0) => from.consume(1),
            Some(at) => from.consume(at),
            None => {
                let all = buffer.len();
                from.consume(all);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::*;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    /// Reads everything through a buffer of this size. Returns the bytes, and the number of errors.
    fn read(bytes: &[u8], buffer: usize) -> (Vec<u8>, usize) {
        let mut gunzip = Gunzip::new(BufReader::with_capacity(buffer, bytes));
        let (mut all, mut errors) = (Vec::new(), 0);
        let mut piece = [0; 7];
        loop {
            match gunzip.read(&mut piece) {
                Ok(0) => return (all, errors),
                Ok(read) => all.extend_from_slice(&piece[..read]),
                Err(error) => {
                    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
                    errors += 1;
                }
            }
        }
    }

    #[test]
    fn members_are_read_on_after_one_that_is_damaged() {
        let (one, two, three) = (member(b"one "), member(b"two "), member(b"three"));
        let mut damaged = two.clone();
        let middle = damaged.len() - 6;
        damaged[middle] ^= 1;
        for buffer in [1, 2, 3, 16, 4096] {
            assert_eq!(read(&[&one[..], &two, &three].concat(), buffer), (b"one two three".to_vec(), 0));
            let (text, errors) = read(&[&one[..], &damaged, &three].concat(), buffer);
            assert!(text.starts_with(b"one ") && text.ends_with(b"three") && errors > 0, "{buffer}");
            let (text, errors) = read(&[&one[..], b"rubbish", &two[..two.len() - 3]].concat(), buffer);
            assert!(text.starts_with(b"one ") && errors == 1, "{buffer}");
        }
        assert_eq!(read(b"", 10), (vec![], 0));
        assert_eq!(read(b"no gzip at all", 10), (vec![], 0));
    }

    proptest! {
        #[test]
        fn any_bytes_end(mut bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0..200usize) {
            if let Some(rest) = bytes.get_mut(at..at + 3) {
                rest.copy_from_slice(&MAGIC);
            }
            read(&bytes, 16);
        }
    }
}
