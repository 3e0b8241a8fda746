//! The search for the smallest size with which a filter meets its requirement.

/// The smallest number from 1 to `most` whose `excess` is at most 0, if there is one. `excess` must not grow with the
/// number; it is, for instance, the logarithm of a false-positive rate divided by the allowed rate.
///
/// Cost: six to twelve calls of `excess` if `guess` is within a few hundredths of the result and `excess` is nearly
/// linear there; never many more than a bisection takes.
pub(super) fn least(guess: u64, most: u64, excess: impl Fn(u64) -> f64) -> Option<u64> {
    let at = |number: u64| (number, excess(number));
    let guess = at(guess.clamp(1, most.max(1)));
    let (mut too_few, mut enough) = ((0, f64::INFINITY), guess);
    let mut step = guess.0 / 32 + 1;
    if guess.1 > 0.0 {
        while enough.1 > 0.0 {
            if enough.0 >= most {
                return None;
            }
            too_few = enough;
            enough = at(enough.0.saturating_add(step).min(most));
            step *= 2;
        }
    } else {
        while enough.0 > 1 && too_few.0 == 0 {
            let fewer = at(enough.0.saturating_sub(step).max(1));
            if fewer.1 > 0.0 {
                too_few = fewer
            } else {
                enough = fewer
            }
            step *= 2;
        }
    }
    let mut bends = false;
    while enough.0 - too_few.0 > 1 {
        // `near` is where the line through `too_few` and `enough` is 0, or the middle if the last line did not help.
        // `error` is the distance from `near` within which the curve is expected to be 0.
        let width = (enough.0 - too_few.0) as f64;
        let share = if bends { 0.5 } else { too_few.1 / (too_few.1 - enough.1) };
        let (near, error) = (too_few.0 + (width * share) as u64, (width * (width / enough.0 as f64).min(0.125)) as u64);
        for number in [near.saturating_sub(error), near + error + 1] {
            let number = at(number.clamp(too_few.0 + 1, enough.0 - 1));
            if number.1 > 0.0 {
                too_few = number
            } else {
                enough = number
            }
            if enough.0 - too_few.0 == 1 {
                break;
            }
        }
        bends = (enough.0 - too_few.0) as f64 > width / 2.0;
    }
    (enough.0 <= most).then_some(enough.0)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The number that [`least`] finds, and how often it calls `excess`.
    fn found(guess: u64, most: u64, excess: impl Fn(u64) -> f64) -> (Option<u64>, u32) {
        let calls = Cell::new(0);
        let counted = |number| {
            calls.set(calls.get() + 1);
            excess(number)
        };
        (least(guess, most, counted), calls.get())
    }

    #[test]
    fn a_curve_that_is_guessed_well_takes_few_calls_and_any_a_hundred() {
        for n in [1e2, 1e4, 1e6, 1e9, 4e10] {
            for rate in [0.5, 0.01, 1e-6f64] {
                let excess = |bits: u64| 7.0 * (-(-7.0 * n / bits as f64).exp_m1()).ln() - rate.ln();
                let bits = found(1 << 20, 1 << 48, excess).0.unwrap();
                assert!(excess(bits) <= 0.0 && excess(bits - 1) > 0.0, "{n}, {rate}");
                for (guess, most) in
                    [(bits, 12), (bits + bits / 50, 12), (bits - bits / 50, 12), (bits * 3, 24), (1, 100)]
                {
                    let (answer, calls) = found(guess, 1 << 48, excess);
                    assert!(answer == Some(bits) && calls <= most, "{n}, {rate}, {guess}: {answer:?}, {calls} calls");
                }
            }
        }
    }

    #[test]
    fn any_shape_that_falls_is_searched_to_the_end() {
        let least_of = [1, 2, 3, 7, 1000, 999_999, 1_000_000];
        for (answer, guess) in
            least_of.into_iter().flat_map(|answer| [0, 1, 2, 500, u64::MAX].map(|guess| (answer, guess)))
        {
            let shapes: [fn(bool) -> f64; 4] = [
                |enough| if enough { 0.0 } else { 1.0 },
                |enough| if enough { f64::NEG_INFINITY } else { 1e-300 },
                |enough| if enough { -1e-300 } else { f64::INFINITY },
                |enough| if enough { f64::NEG_INFINITY } else { f64::INFINITY },
            ];
            for excess in shapes {
                let (found_at, calls) = found(guess, 1_000_000, |number| excess(number >= answer));
                assert!(found_at == Some(answer) && calls <= 100, "{answer}, {guess}: {found_at:?}, {calls} calls");
                assert_eq!(least(guess, answer - 1, |number| excess(number >= answer)), None, "{guess}");
            }
        }
    }
}
