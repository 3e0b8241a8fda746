//! Encodes how well the documents of an answer answer a word.

use super::bit_reader::BitReader;
use super::bit_writer::BitWriter;
use super::rice;
use super::{CodecError, Coded};
use crate::Grade;

/// The maximum Rice parameter for grades, which are below 256.
const MOST_RICE: u32 = 7;

/// Encodes grades in Rice code with the parameter that needs the fewest bits. Most documents have most words once and
/// as asked, so a grade needs some 3 bits.
pub(crate) fn encode_grades(grades: &[Grade]) -> Coded {
    if grades.is_empty() {
        return Coded { bytes: Vec::new(), bits: 0 };
    }
    let numbers = || grades.iter().map(|grade| u64::from(grade.bits()));
    let bits = |rice: &u32| numbers().map(|number| rice::len(number, *rice)).sum::<u64>();
    let rice = (0..=MOST_RICE).min_by_key(bits).expect("there are some");
    let mut writer = BitWriter::default();
    numbers().for_each(|number| rice::push(&mut writer, number, rice));
    let bits = writer.len();
    let mut bytes = vec![rice as u8];
    bytes.extend(writer.finish());
    Coded { bytes, bits }
}

/// Decodes the grades of `count` documents that [`encode_grades`] has encoded.
///
/// # Errors
/// If the bytes are not exactly `count` grades.
pub(crate) fn decode_grades(bytes: &[u8], count: usize) -> Result<Vec<Grade>, CodecError> {
    let Some((&rice, coded)) = bytes.split_first() else {
        return if count == 0 { Ok(Vec::new()) } else { Err(CodecError::Malformed("no grades")) };
    };
    let malformed = CodecError::Malformed("numbers that are no grades, or not one grade for each match");
    if u32::from(rice) > MOST_RICE || count == 0 || coded.len().saturating_mul(8) < count {
        return Err(malformed);
    }
    let mut reader = BitReader::new(coded, 0);
    let mut grades = Vec::with_capacity(count);
    for _ in 0..count {
        let number = reader.rice(rice.into()).and_then(|number| u8::try_from(number).ok());
        match number.and_then(Grade::of_bits) {
            Some(grade) => grades.push(grade),
            None => return Err(malformed),
        }
    }
    if reader.is_done() { Ok(grades) } else { Err(malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_come_back_and_nothing_else_is_taken_for_them() {
        let all: Vec<u8> = (0..=u8::MAX).filter(|bits| Grade::of_bits(*bits).is_some()).collect();
        for bits in [vec![], vec![0], vec![243; 9], vec![0, 0, 16, 0, 0, 3, 0, 240, 0], all] {
            let grades: Vec<Grade> = bits.iter().filter_map(|bits| Grade::of_bits(*bits)).collect();
            let Coded { bytes, bits } = encode_grades(&grades);
            assert_eq!(decode_grades(&bytes, grades.len()), Ok(grades.clone()));
            assert!(decode_grades(&bytes, grades.len() + 9).is_err());
            assert!(bytes.is_empty() || decode_grades(&bytes[..bytes.len() - 1], grades.len()).is_err());
            assert!(decode_grades(&[bytes, vec![0]].concat(), grades.len()).is_err());
            assert!(bits <= 9 * grades.len() as u64);
        }
        assert!(decode_grades(&[8, 0], 1).is_err());
        // Twelve is no grade.
        let mut writer = BitWriter::default();
        rice::push(&mut writer, 12, 3);
        assert!(decode_grades(&[vec![3], writer.finish()].concat(), 1).is_err());
        assert!(decode_grades(&[0], usize::MAX).is_err());
    }
}
