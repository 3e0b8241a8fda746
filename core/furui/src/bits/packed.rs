use super::arch::{self, Cpu};

/// The maximum width of packed numbers, in bits. A number of 56 bits lies within eight bytes, whichever bit of a byte
/// it begins at.
pub(crate) const MAX_PACKED_BITS: u32 = 56;

/// The number of values that are packed together as a group. Eight numbers of b bits fill exactly b bytes, so every
/// group starts on a byte.
const GROUP: usize = 8;

/// The size in bytes of the buffer in which a group is packed or unpacked. Each number is loaded or stored as eight
/// bytes, which may reach beyond the group.
const ROOM: usize = 64;

/// Packs the low `bits` bits of every number, one after the other, into the front of `packed`. The bytes after the
/// packed numbers must be zero, and remain zero. `bits` must be at most 56, and `packed` long enough.
pub(crate) fn pack(numbers: &[u64], bits: u32, packed: &mut [u8]) {
    assert!(bits <= MAX_PACKED_BITS, "at most 56 bits are packed");
    let (groups, last) = numbers.as_chunks::<GROUP>();
    let mut start = 0;
    for group in groups {
        pack_group(group, bits, &mut packed[start..]);
        start += bits as usize;
    }
    if !last.is_empty() {
        let mut group = [0; GROUP];
        group[..last.len()].copy_from_slice(last);
        pack_group(&group, bits, &mut packed[start..]);
    }
}

/// Unpacks numbers that [`pack`] packed, and appends their bits to those of `values`: every value v becomes
/// v · 2^`bits` + p, where p is the packed number with the same index. `bits` must be at most 56, and `packed` long
/// enough.
pub(crate) fn append_packed(packed: &[u8], bits: u32, values: &mut [u64]) {
    assert!(bits <= MAX_PACKED_BITS, "at most 56 bits are packed");
    assert!(packed.len() * 8 >= values.len() * bits as usize, "a packed number for every value");
    arch::append_packed(Cpu::detect(), packed, bits, values);
}

#[inline]
fn pack_group(group: &[u64; GROUP], bits: u32, packed: &mut [u8]) {
    if let Some(room) = packed.first_chunk_mut::<ROOM>() {
        pack_room(group, bits, room);
    } else {
        let mut room = [0; ROOM];
        pack_room(group, bits, &mut room);
        let len = packed.len();
        packed.copy_from_slice(&room[..len]);
    }
}

/// Stores eight bytes for every number, each store overlapping the one before. There are no loads, and nothing is
/// carried over to the next group.
#[inline(always)]
fn pack_room(group: &[u64; GROUP], bits: u32, room: &mut [u8; ROOM]) {
    assert!(bits <= MAX_PACKED_BITS, "lets the compiler see that every store is inside the room");
    let bits = bits as usize;
    let mask = (1 << bits) - 1;
    let mut carried = 0;
    for (j, number) in group.iter().enumerate() {
        let bit = j * bits;
        carried |= (number & mask) << (bit % 8);
        room[bit / 8..bit / 8 + 8].copy_from_slice(&carried.to_le_bytes());
        carried >>= ((bit + bits) / 8 - bit / 8) * 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_at_every_width_and_length() {
        let numbers: Vec<u64> = (1..100u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        for bits in 1..=MAX_PACKED_BITS {
            for len in 0..numbers.len() {
                let mut packed = vec![0; (len * bits as usize).div_ceil(8)];
                pack(&numbers[..len], bits, &mut packed);
                let mut values: Vec<u64> = (0..len as u64).map(|i| i % 2).collect();
                append_packed(&packed, bits, &mut values);
                for (i, value) in values.iter().enumerate() {
                    assert_eq!(*value, (i as u64 % 2) << bits | numbers[i] & ((1 << bits) - 1));
                }
            }
        }
    }
}
