use super::*;

#[test]
fn every_way_to_set_and_test_equals_the_plain_words() {
    let mut x = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = || {
        x = x.wrapping_mul(0xD129_0DAC_6E5A_42B5).wrapping_add(1);
        x.rotate_left(29).wrapping_mul(x | 1)
    };
    for way in Lines::each() {
        let mut line = [0; 64];
        for i in 0..4000 {
            if i % 40 == 0 {
                line = [0; 64];
            }
            let (choice, lanes) = (random(), [0xFF, random() as u8][i % 2]);
            let before = line;
            let bit = |lane: u32| (choice >> (16 + 6 * lane) & 63) as usize + 64 * lane as usize;
            let chosen: Vec<usize> = (0..8).filter(|lane| lanes >> lane & 1 == 1).map(bit).collect();
            let all = chosen.iter().all(|&bit| before[bit / 8] >> (bit % 8) & 1 == 1);
            let mut after = before;
            chosen.iter().for_each(|&bit| after[bit / 8] |= 1 << (bit % 8));

            let context = format!("{way:?}, {choice:#x}, {lanes:#b}");
            assert_eq!(
                way.run(&before, choice, lanes, |way, line, choice, lanes| way.test(line, choice, lanes)),
                all,
                "{context}"
            );
            assert_eq!(
                way.run(&mut line, choice, lanes, |way, line, choice, lanes| way.set(line, choice, lanes)),
                !all,
                "{context}"
            );
            assert_eq!(line, after, "{context}");
            let mut inline = before;
            assert_eq!((way.set_lanes_inline(&mut inline, choice, lanes), inline), (!all, after), "{context}");
            assert_eq!(way.test_lanes_inline(&before, choice, lanes), all, "{context}");
            assert!(way.test_lanes_inline(&after, choice, lanes), "{context}");
            if lanes == 0xFF {
                let both = |way: Lines, line: &mut Line, lower: &mut Line, inline: bool| {
                    let ([low, _], [_, high]) = (halves_mut(lower), halves_mut(line));
                    let all = if inline {
                        way.test_halves_inline([low, high], choice)
                    } else {
                        way.run([&*low, &*high], choice, (), |way, halves, choice, ()| way.test_halves(halves, choice))
                    };
                    let new = if inline {
                        way.set_halves_inline([low, high], choice)
                    } else {
                        way.run([low, high], choice, (), |way, halves, choice, ()| way.set_halves(halves, choice))
                    };
                    (all, new)
                };
                for inline in [false, true] {
                    let (mut upper, mut lower) = (before, before);
                    assert_eq!(both(way, &mut upper, &mut lower, inline), (all, !all), "{context}");
                    assert_eq!((&lower[..32], &lower[32..]), (&after[..32], &before[32..]), "{context}");
                    assert_eq!((&upper[..32], &upper[32..]), (&before[..32], &after[32..]), "{context}");
                }
                let mut inline = before;
                assert_eq!((way.set_inline(&mut inline, choice), inline), (!all, after), "{context}");
                assert_eq!(way.test_inline(&before, choice), all, "{context}");
                assert!(way.test_inline(&after, choice), "{context}");
            }
            assert!(
                way.run(&after, choice, lanes, |way, line, choice, lanes| way.test(line, choice, lanes)),
                "{context}"
            );
        }
    }
}
