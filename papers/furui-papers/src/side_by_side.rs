//! Runs measurements in several threads at the same time.

use std::sync::{Mutex, PoisonError};
use std::thread;

/// Runs `work` for each input, and returns the results in the order of the inputs. There are as many threads as the
/// machine has processors; a thread that is done takes the next input. For measurements at the papers' scale, which
/// would take hours one after the other.
pub(crate) fn side_by_side<I: Send, R: Send>(inputs: Vec<I>, work: impl Fn(I) -> R + Sync) -> Vec<R> {
    let inputs = Mutex::new(inputs.into_iter().enumerate());
    // The lock is released before the work begins.
    let next = || inputs.lock().unwrap_or_else(PoisonError::into_inner).next();
    let run = || std::iter::from_fn(next).map(|(i, input)| (i, work(input))).collect::<Vec<_>>();
    let count = thread::available_parallelism().map_or(1, usize::from);
    let mut results = thread::scope(|scope| {
        let threads: Vec<_> = (0..count).map(|_| scope.spawn(run)).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("a measurement does not panic")).collect::<Vec<_>>()
    });
    results.sort_unstable_by_key(|&(i, _)| i);
    results.into_iter().map(|(_, result)| result).collect()
}

#[test]
fn results_have_the_order_of_their_inputs() {
    let inputs: Vec<u64> = (0..1000).collect();
    assert_eq!(side_by_side(inputs.clone(), |i| i * i), inputs.iter().map(|i| i * i).collect::<Vec<_>>());
    assert!(side_by_side(vec![], |i: u64| i).is_empty());
}
