use super::*;
use crate::bits::testing::random;

#[test]
fn every_way_to_set_and_test_equals_the_plain_words() {
    let mut random = random();
    for way in Lines::each() {
        let mut line = [0; 64];
        for i in 0..4000 {
            if i % 40 == 0 {
                line = [0; 64];
            }
            let choice = random();
            let sparse = Pattern(std::array::from_fn(|_| random() & random() & random() & random()));
            let pattern = &[
                Pattern::LINE,
                *Pattern::of_nine(KeyHash::new(choice)),
                *Pattern::window(Pattern::windows(i as u32 % 9), choice),
                sparse,
            ][i % 4];
            let before = line;
            let bit = |lane: usize, bit: u64| 64 * lane + ((bit + (choice >> (16 + 6 * lane))) % 64) as usize;
            let chosen: Vec<usize> = (0..8)
                .flat_map(|lane| (0..64).map(move |bit| (lane, bit)))
                .filter(|&(lane, bit)| pattern.0[lane] >> bit & 1 == 1)
                .map(|(lane, of_lane)| bit(lane, of_lane))
                .collect();
            let all = chosen.iter().all(|&bit| before[bit / 8] >> (bit % 8) & 1 == 1);
            let mut after = before;
            chosen.iter().for_each(|&bit| after[bit / 8] |= 1 << (bit % 8));

            let context = format!("{way:?}, {choice:#x}, {pattern:x?}");
            assert_eq!(
                way.run(&before, choice, pattern, |way, line, choice, pattern| way.test(line, choice, pattern)),
                all,
                "{context}"
            );
            assert_eq!(
                way.run(&mut line, choice, pattern, |way, line, choice, pattern| way.set(line, choice, pattern)),
                !all,
                "{context}"
            );
            assert_eq!(line, after, "{context}");
            let mut inline = before;
            assert_eq!((way.set_pattern_inline(&mut inline, choice, pattern), inline), (!all, after), "{context}");
            assert_eq!(way.test_pattern_inline(&before, choice, pattern), all, "{context}");
            assert!(way.test_pattern_inline(&after, choice, pattern), "{context}");
            if *pattern == Pattern::LINE {
                let (mut upper, mut lower) = (before, before);
                let ([low, _], [_, high]) = (halves_mut(&mut lower), halves_mut(&mut upper));
                let had = way.run([&*low, &*high], choice, (), |way, both, choice, ()| way.test_halves(both, choice));
                let new = way.run([low, high], choice, (), |way, both, choice, ()| way.set_halves(both, choice));
                assert_eq!((had, new), (all, !all), "{context}");
                assert_eq!((&lower[..32], &lower[32..]), (&after[..32], &before[32..]), "{context}");
                assert_eq!((&upper[..32], &upper[32..]), (&before[..32], &after[32..]), "{context}");
                let mut inline = before;
                assert_eq!((way.set_inline(&mut inline, choice), inline), (!all, after), "{context}");
                assert_eq!(way.test_inline(&before, choice), all, "{context}");
                assert!(way.test_inline(&after, choice), "{context}");
            }
            assert!(
                way.run(&after, choice, pattern, |way, line, choice, pattern| way.test(line, choice, pattern)),
                "{context}"
            );
        }
    }
}
