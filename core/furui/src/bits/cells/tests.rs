use super::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn cells_behave_as_a_vector_of_saturating_numbers(
        bits in prop::sample::select(vec![1u32, 2, 4, 8]),
        len in 1usize..200,
        operations in prop::collection::vec((0u8..6, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<u8>()), 0..200),
    ) {
        let mut cells = Cells::new(len, bits).unwrap();
        let mut model = vec![0u8; len];
        let max = cells.max();
        for (operation, index, other, value) in operations {
            let (index, other) = (index.index(len), other.index(len));
            match operation {
                0 => { cells.set(index, value); model[index] = value.min(max); }
                1 => { prop_assert_eq!(cells.fill(index), model[index] != 0); model[index] = max; }
                2 => { cells.increment(index); model[index] = (model[index] + u8::from(model[index] < max)).min(max); }
                3 => { cells.decrement(index); model[index] = model[index].saturating_sub(1); }
                4 => {
                    let mut shifted = Cells::new(len, bits).unwrap();
                    (0..len).for_each(|i| shifted.set(i, model[(i + index) % len]));
                    cells.add(&shifted);
                    let sums = (0..len).map(|i| model[i].saturating_add(model[(i + index) % len]).min(max));
                    model = sums.collect();
                }
                _ => {
                    let (start, end) = (index.min(other), index.max(other));
                    cells.decrement_range(start, end - start);
                    model[start..end].iter_mut().for_each(|cell| *cell = cell.saturating_sub(1));
                }
            }
            prop_assert_eq!((0..len).map(|i| cells.get(i)).collect::<Vec<_>>(), model.clone());
            prop_assert_eq!(cells.count_nonzero(), model.iter().filter(|&&cell| cell != 0).count());
        }
    }
}

#[test]
fn a_long_range_of_2_bit_cells_loses_one_each() {
    let mut cells = Cells::new(5000, 2).unwrap();
    (0..5000).for_each(|i| cells.set(i, (i * 7 % 4) as u8));
    let before: Vec<u8> = (0..5000).map(|i| cells.get(i)).collect();
    cells.decrement_range(3, 4990);
    for (i, &was) in before.iter().enumerate() {
        let expected = if (3..4993).contains(&i) { was.saturating_sub(1) } else { was };
        assert_eq!(cells.get(i), expected, "cell {i}");
    }
}

#[test]
fn bytes_that_are_no_cells_are_refused() {
    for (len, bits) in [(1, 1), (64, 1), (33, 2), (15, 4), (17, 4), (9, 8)] {
        let mut cells = Cells::new(len, bits).unwrap();
        (0..len).for_each(|i| assert!(!cells.fill(i)));
        let bytes = cells.as_bytes();
        assert_eq!(Cells::from_bytes(bytes, len, bits), Some(cells.lend()));
        assert_eq!(Cells::from_bytes(&bytes[8..], len, bits), None);
        assert_eq!(Cells::from_bytes(&[bytes, &[0; 8]].concat()[..], len, bits), None);
        let last = len - 1;
        assert_eq!(Cells::from_bytes(bytes, last, bits), None, "a bit beyond the last");
    }
}
