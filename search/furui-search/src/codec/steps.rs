//! Encodes the numbers of a word's occurrences in the documents of an answer, as steps of [`Weight`]s.

use super::bit_reader::BitReader;
use super::bit_writer::BitWriter;
use super::rice;
use super::{CodecError, Coded};
use crate::Weight;

/// The maximum Rice parameter for steps, which are below 16.
const MOST_RICE: u32 = 3;

/// Encodes steps in Rice code with the parameter that needs the fewest bits. Most words occur once in most documents,
/// so a step needs about 1.5 bits.
pub(crate) fn encode_steps(steps: &[u8]) -> Coded {
    if steps.is_empty() {
        return Coded { bytes: Vec::new(), bits: 0 };
    }
    let bits = |rice: &u32| steps.iter().map(|&step| rice::len(step.into(), *rice)).sum::<u64>();
    let rice = (0..=MOST_RICE).min_by_key(bits).expect("there are some");
    let mut writer = BitWriter::default();
    steps.iter().for_each(|&step| rice::push(&mut writer, step.into(), rice));
    let bits = writer.len();
    let mut bytes = vec![rice as u8];
    bytes.extend(writer.finish());
    Coded { bytes, bits }
}

/// Decodes the steps of `count` documents that [`encode_steps`] has encoded.
///
/// # Errors
/// If the bytes are not exactly `count` steps.
pub(crate) fn decode_steps(bytes: &[u8], count: usize) -> Result<Vec<u8>, CodecError> {
    let Some((&rice, coded)) = bytes.split_first() else {
        return if count == 0 { Ok(Vec::new()) } else { Err(CodecError::Malformed("no steps")) };
    };
    let malformed = CodecError::Malformed("steps that are too large, or not one step for each match");
    if u32::from(rice) > MOST_RICE || count == 0 || coded.len().saturating_mul(8) < count {
        return Err(malformed);
    }
    let mut reader = BitReader::new(coded, 0);
    let mut steps = Vec::with_capacity(count);
    for _ in 0..count {
        match reader.rice(rice.into()).filter(|&step| step < Weight::STEPS.into()) {
            Some(step) => steps.push(step as u8),
            None => return Err(malformed),
        }
    }
    if reader.is_done() { Ok(steps) } else { Err(malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_come_back_and_nothing_else_is_taken_for_them() {
        for steps in [vec![], vec![0], vec![15; 9], vec![0, 0, 1, 0, 0, 3, 0, 15, 0], (0..16).collect()] {
            let Coded { bytes, bits } = encode_steps(&steps);
            assert_eq!(decode_steps(&bytes, steps.len()), Ok(steps.clone()));
            assert!(decode_steps(&bytes, steps.len() + 9).is_err());
            assert!(bytes.is_empty() || decode_steps(&bytes[..bytes.len() - 1], steps.len()).is_err());
            assert!(decode_steps(&[bytes, vec![0]].concat(), steps.len()).is_err());
            assert!(bits <= 5 * steps.len() as u64);
        }
        assert!(decode_steps(&[4, 0], 1).is_err());
        assert!(decode_steps(&[0], usize::MAX).is_err());
    }
}
